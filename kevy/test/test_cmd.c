/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands from the inside: the table and its lookup, sessions, time by a fake
 * clock, and every command with each allocation and each append failing once:
 * then the reply is an error or none, and nothing has changed.
 */
#include "kevy/src/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/fake_journal.h"
#include "testing/harness.h"
#include "testing/transcript.h"

struct world {
    struct fake_journal journal;
    struct kv_keyspace ks;
    struct kv_clock clock;
    kevy_os os;
    uint64_t now_ms;
    struct kv_bus *bus;
    struct kv_port port;
    struct kv_mem mem;
    size_t allocations_left; /* before they fail */
    struct kv_session session;
    struct kv_host host;
    struct kv_reply reply;
};

static uint64_t world_wall(void *self)
{
    return ((struct world *)self)->now_ms;
}

static uint64_t world_boot(void *self)
{
    return ((struct world *)self)->now_ms * 1000000;
}

static int world_random(void *self, void *buf, size_t size)
{
    (void)self;
    memset(buf, 7, size);
    return 0;
}

static void *world_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct world *world = self;
    if (new_size > 0 && world->allocations_left == 0) {
        return NULL;
    }
    world->allocations_left -= new_size > 0;
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

static void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
    fake_journal_init(&world->journal);
    world->os = kv_os_posix;
    world->os.self = world;
    world->os.wall_ms = world_wall;
    world->os.boot_ns = world_boot;
    world->os.random = world_random;
    world->now_ms = 1000000;
    world->allocations_left = SIZE_MAX;
    kv_mem_init(&world->mem, &(kevy_mem){world, world_resize});
    kv_clock_init(&world->clock, &world->os);
    kv_keyspace_init(&world->ks, &world->mem, &world->journal.space, &world->journal.table,
                     &world->clock, test_seed());
    world->bus = kv_bus_new(&kv_mem_libc, &world->journal.mem, 1);
    kv_port_open(&world->port, world->bus);
}

static void world_done(struct world *world)
{
    CHECK(kv_keyspace_verify(&world->ks));
    kv_keyspace_done(&world->ks);
    CHECK_INT(world->mem.used, 0);
    kv_port_close(&world->port);
    kv_bus_drop(world->bus);
    fake_journal_done(&world->journal);
}

/* Runs a command of words; the reply stays in world->reply. */
static void run(struct world *world, const char *words, struct kv_session *session)
{
    struct bytes argv[64];
    size_t argc = 0;
    for (const char *p = words + strspn(words, " "); *p != '\0' && argc < 64;) {
        size_t size = strcspn(p, " ");
        argv[argc++] = bytes_of(p, size);
        p += size;
        p += strspn(p, " ");
    }
    struct kv_call call = {.keyspace = &world->ks,
                           .port = &world->port,
                           .session = session,
                           .reply = &world->reply,
                           .mem = &world->mem,
                           .host = &world->host,
                           .argc = argc,
                           .argv = argv};
    kv_reply_init(&world->reply, &world->mem, 2);
    const struct kv_command *command = kv_command_resolve(&world->reply, argc, argv);
    if (command != NULL) {
        kv_command_run(command, &call);
    }
}

/* Runs, and returns the reply as text without its last line end. */
static const char *say_as(struct world *world, const char *words, struct kv_session *session)
{
    static char text[4][4096];
    static unsigned turn;
    char *out = text[turn++ % 4];
    run(world, words, session);
    CHECK(!world->reply.failed);
    snprintf(out, sizeof text[0], "%.*s", (int)world->reply.size - 2, (char *)world->reply.data);
    kv_reply_done(&world->reply);
    return out;
}

static const char *say(struct world *world, const char *words)
{
    return say_as(world, words, NULL);
}

/* ---- The table ---- */

TEST(every_name_is_found_in_any_case)
{
    for (size_t i = 0; i < kv_command_count(); i++) {
        const struct kv_command *command = &kv_commands[i];
        char upper[32];
        size_t size = strlen(command->name);
        for (size_t j = 0; j <= size; j++) {
            char c = command->name[j];
            CHECK(c == '\0' || c == '_' || (c >= 'a' && c <= 'z'));
            upper[j] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
        }
        CHECK(kv_command_find(bytes_of(command->name, size)) == command);
        CHECK(kv_command_find(bytes_of(upper, size)) == command);
        CHECK(kv_command_find(bytes_of(upper, size - 1)) != command);
        CHECK(kv_command_find(bytes_of(upper, size + 1)) == NULL);
    }
}

TEST(other_bytes_are_no_letters)
{
    static const char *const names[] = {"",
                                        "g",
                                        "ge",
                                        "gets",
                                        "GET ",
                                        " GET",
                                        "G\x65\xf4",
                                        "'et",
                                        "G%T",
                                        "[et",
                                        "\xe7"
                                        "et",
                                        "g\x05t",
                                        "@et",
                                        "`et",
                                        "bitfield\x7fro",
                                        "bitfield?ro",
                                        "averyveryverylongname"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!CHECK(kv_command_find(bytes_of(names[i], strlen(names[i]))) == NULL)) {
            printf("    %s\n", names[i]);
        }
    }
    for (unsigned c = 0; c < 256; c++) {
        uint8_t name[3] = {'g', 'e', (uint8_t)c};
        CHECK_INT(kv_command_find(bytes_of(name, 3)) != NULL, c == 't' || c == 'T');
    }
}

TEST(the_table_makes_sense)
{
    for (size_t i = 0; i < kv_command_count(); i++) {
        const struct kv_command *command = &kv_commands[i];
        bool touches_keys = (command->flags & (KV_READ | KV_WRITE)) != 0;
        bool is_free = (command->flags & KV_NOLOCK) != 0;
        bool held = CHECK(command->arity != 0) && CHECK(touches_keys != is_free) &&
                    CHECK(command->first_key == 0 || touches_keys) &&
                    CHECK((command->flags & KV_GROWS) == 0 || (command->flags & KV_WRITE) != 0) &&
                    CHECK(command->summary[0] != '\0' && command->run != NULL) &&
                    CHECK(strchr(command->summary, '.') != NULL);
        for (size_t j = 0; j < i; j++) {
            held = CHECK(strcmp(command->name, kv_commands[j].name) != 0) && held;
        }
        if (!held) {
            printf("    %s\n", command->name);
        }
    }
}

TEST(sessions)
{
    struct world world;
    struct kv_session session = {0};
    world_init(&world);
    CHECK_STR(say_as(&world, "SELECT 1", &session), "+OK");
    CHECK_STR(say_as(&world, "SET k one", &session), "+OK");
    CHECK_STR(say(&world, "GET k"), "$-1");
    CHECK_STR(say_as(&world, "GET k", &session), "$3\r\none");
    CHECK_STR(say_as(&world, "SELECT 16", &session), "-ERR DB index is out of range");
    CHECK_STR(say_as(&world, "SELECT a", &session), "-ERR value is not an integer or out of range");
    CHECK_STR(say_as(&world, "MOVE k 0", &session), ":1");
    CHECK_STR(say(&world, "GET k"), "$3\r\none");
    CHECK_STR(say_as(&world, "COPY x k DB 0", &session), ":0");
    CHECK_STR(say(&world, "SELECT 1"),
              "-ERR 'select' needs a connection of its own; this call has none");
    world_done(&world);
}

/* ---- Time ---- */

TEST(expiry_is_exact)
{
    struct world world;
    world_init(&world);
    CHECK_STR(say(&world, "SET k v PX 100"), "+OK");
    CHECK_STR(say(&world, "PTTL k"), ":100");
    world.now_ms += 99;
    CHECK_STR(say(&world, "PTTL k"), ":1");
    CHECK_STR(say(&world, "GET k"), "$1\r\nv");
    world.now_ms += 1;
    CHECK_STR(say(&world, "GET k"), "$-1");
    CHECK_STR(say(&world, "PTTL k"), ":-2");
    CHECK_STR(say(&world, "SET k v EX 1"), "+OK");
    CHECK_STR(say(&world, "EXPIRETIME k"), ":1001");
    CHECK_STR(say(&world, "EXPIRE k 2 GT"), ":1");
    CHECK_STR(say(&world, "EXPIRE k 2 GT"), ":0");
    CHECK_STR(say(&world, "EXPIRE k 2 LT"), ":0");
    CHECK_STR(say(&world, "TTL k"), ":2");
    world.now_ms += 501;
    CHECK_STR(say(&world, "TTL k"), ":1");
    CHECK_STR(say(&world, "TIME"), "*2\r\n$4\r\n1000\r\n$6\r\n601000");
    world_done(&world);
}

/* The one rule of times, near its bounds: what overflows is refused by every
 * command, and the key is as it was. */
TEST(times_near_the_bounds)
{
    static const char *const refused[] = {
        "SET k w EX 9223372036854775",    "SET k w EX 9223372036854776",
        "SET k w PX 9223372036854775807", "SET k w PX 9223372036853775808",
        "SET k w EXAT 9223372036854776",  "SETEX k 9223372036854775 w",
        "PSETEX k 9223372036854775807 w", "GETEX k EX 9223372036854775",
        "GETEX k PX 9223372036854775807", "EXPIRE k 9223372036854775",
        "PEXPIRE k 9223372036854775807",  "PEXPIRE k 9223372036853775808",
        "EXPIREAT k 9223372036854776",    "EXPIRE k -9223372036854776"};
    struct world world;
    world_init(&world);
    CHECK_STR(say(&world, "SET k v PX 5000"), "+OK");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!CHECK(strncmp(say(&world, refused[i]), "-ERR invalid expire time in '", 29) == 0)) {
            printf("    %s\n", refused[i]);
        }
        CHECK_STR(say(&world, "PTTL k"), ":5000");
        CHECK_STR(say(&world, "GET k"), "$1\r\nv");
    }
    CHECK_STR(say(&world, "PEXPIRE k 9223372036853775807"), ":1");
    CHECK_STR(say(&world, "PEXPIRETIME k"), ":9223372036854775807");
    CHECK_STR(say(&world, "GET k"), "$1\r\nv");
    CHECK_STR(say(&world, "EXPIRE k -9223372036854775"), ":1");
    CHECK_STR(say(&world, "EXISTS k"), ":0");
    world_done(&world);
}

/* ---- Failures ---- */

static const char *const setup[] = {"SET s hello", "SET n 41", "SET f 1.5", "SET t v PX 100000",
                                    "MSET a abcabcabcabc b cbacba"};

static const char *const writes[] = {
    "SET s new",
    "SET s new EX 10 GET",
    "SET fresh v NX",
    "SETNX fresh v",
    "SETEX s 10 v",
    "GETSET s new",
    "GETDEL s",
    "GETEX t PERSIST",
    "GETEX s EX 10",
    "MSET s 1 n 2 fresh 3",
    "MSET k1 1 k2 2 k3 3 k4 4 k5 5 k6 6 k7 7 k8 8 k9 9 k10 1 k11 1 k12 1 k13 1 k14 1 k15 1 k16 1 "
    "k17 1 k18 1",
    "MSETNX x 1 y 2",
    "APPEND s more",
    "APPEND fresh more",
    "SETRANGE s 400 x",
    "INCR n",
    "DECRBY n 5",
    "INCR fresh",
    "INCRBYFLOAT f 0.5",
    "DEL s n missing",
    "UNLINK t",
    "RENAME s z",
    "RENAME s n",
    "RENAMENX s z",
    "COPY s z",
    "COPY s n REPLACE",
    "MOVE s 3",
    "EXPIRE s 100",
    "PEXPIREAT s 1",
    "PERSIST t",
    "SETBIT s 5000 1",
    "BITOP OR z s n",
    "BITOP AND s missing missing",
    "BITFIELD s SET u8 0 1 INCRBY u8 5000 1 GET u8 0 GET u8 1 GET "
    "u8 2",
    "FLUSHDB",
    "FLUSHALL",
    "SWAPDB 0 3"};

static const char *const reads[] = {"GET s",
                                    "MGET s n missing",
                                    "STRLEN s",
                                    "GETRANGE s 0 -1",
                                    "LCS a b",
                                    "LCS a b IDX",
                                    "GETBIT s 1",
                                    "BITCOUNT s",
                                    "BITPOS s 1",
                                    "BITFIELD_RO s GET u8 0 GET u8 8 GET u8 16 GET u8 24 "
                                    "GET u8 32",
                                    "EXISTS s n",
                                    "TYPE s",
                                    "KEYS *",
                                    "SCAN 0 COUNT 100",
                                    "RANDOMKEY",
                                    "OBJECT HELP",
                                    "TTL t",
                                    "PING hello",
                                    "PUBSUB CHANNELS",
                                    "PUBSUB NUMSUB a",
                                    "DBSIZE",
                                    "TIME",
                                    "COMMAND DOCS",
                                    "COMMAND",
                                    "INFO",
                                    "CONFIG GET *",
                                    "MEMORY USAGE s",
                                    "nonsense a b c",
                                    "GET"};

static void world_fill(struct world *world)
{
    world_init(world);
    for (size_t i = 0; i < sizeof setup / sizeof *setup; i++) {
        CHECK_STR(say(world, setup[i]), "+OK");
    }
}

/* All that can be seen of databases 0 and 3. */
static void look(struct world *world, struct transcript_buffer *out)
{
    static const char *const names[] = {"s", "n", "f",     "t",  "a",  "b",  "z",
                                        "x", "y", "fresh", "k1", "k9", "k18"};
    struct kv_session sessions[] = {{0}, {3}};
    char words[64];
    for (size_t db = 0; db < 2; db++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(words, sizeof words, "GET %s", names[i]);
            const char *value = say_as(world, words, &sessions[db]);
            transcript_append(out, value, strlen(value));
            snprintf(words, sizeof words, "PEXPIRETIME %s", names[i]);
            value = say_as(world, words, &sessions[db]);
            transcript_append(out, value, strlen(value));
        }
        const char *count = say_as(world, "DBSIZE", &sessions[db]);
        transcript_append(out, count, strlen(count));
    }
}

static bool same(const struct transcript_buffer *a, const struct transcript_buffer *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Runs a command with `left` allocations; returns whether it went well. */
static bool run_scarce(const char *words, size_t left)
{
    struct world world;
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    world_fill(&world);
    look(&world, &before);
    world.allocations_left = left;
    run(&world, words, NULL);
    bool refused = world.reply.size >= 4 && memcmp(world.reply.data, "-OOM", 4) == 0;
    bool lacked = world.reply.failed || refused;
    CHECK(lacked || world.allocations_left > 0 || left > 0);
    world.allocations_left = SIZE_MAX;
    kv_reply_done(&world.reply);
    look(&world, &after);
    if (lacked && !CHECK(same(&before, &after))) {
        printf("    %s, after %zu allocations\n", words, left);
    }
    world_done(&world);
    transcript_free(&before);
    transcript_free(&after);
    return !lacked;
}

static void every_allocation_fails(const char *const *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t left = 0;
        while (!run_scarce(commands[i], left) && left < 100) {
            left++;
        }
        if (!CHECK(left > 0 && left < 100)) {
            printf("    %s\n", commands[i]);
        }
    }
}

TEST_LIMIT(every_allocation_of_a_write_fails_once, 120)
{
    every_allocation_fails(writes, sizeof writes / sizeof *writes);
}

TEST_LIMIT(every_allocation_of_a_read_fails_once, 120)
{
    every_allocation_fails(reads, sizeof reads / sizeof *reads);
}

static void fail_append(const char *words, int status, const char *want)
{
    struct world world;
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    world_fill(&world);
    look(&world, &before);
    char reply[256];
    world.journal.fail_with = status;
    snprintf(reply, sizeof reply, "%s", say(&world, words));
    world.journal.fail_with = 0;
    look(&world, &after);
    if (!CHECK(same(&before, &after)) || !CHECK(strncmp(reply, want, strlen(want)) == 0)) {
        printf("    %s: %s\n", words, reply);
    }
    CHECK(reply[0] == '-' && strchr(reply, '\n') == NULL);
    world_done(&world);
    transcript_free(&before);
    transcript_free(&after);
}

TEST(every_write_on_a_failing_store)
{
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        fail_append(writes[i], KEVY_ENOSPC, "-MISCONF the disk of the store is full");
        fail_append(writes[i], KEVY_EIO, "-MISCONF the log could not be written");
        fail_append(writes[i], KEVY_ENOMEM, "-OOM out of memory");
        fail_append(writes[i], KEVY_ECLOSED, "-ERR the store is shut down");
        fail_append(writes[i], KEVY_ELIMIT, "-ERR a limit of the store");
    }
}

/* Every write command of the table is in the list above, or shares the code of
 * one that is. */
TEST(the_list_of_writes_is_whole)
{
    static const char *const twins[] = {"psetex", "decr", "incrby", "touch", "pexpire", "expireat"};
    for (size_t i = 0; i < kv_command_count(); i++) {
        if ((kv_commands[i].flags & KV_WRITE) == 0) {
            continue;
        }
        bool found = false;
        for (size_t j = 0; j < sizeof writes / sizeof *writes; j++) {
            size_t size = strcspn(writes[j], " ");
            found = found || kv_command_find(bytes_of(writes[j], size)) == &kv_commands[i];
        }
        for (size_t j = 0; j < sizeof twins / sizeof *twins; j++) {
            found = found || strcmp(twins[j], kv_commands[i].name) == 0;
        }
        if (!CHECK(found)) {
            printf("    %s\n", kv_commands[i].name);
        }
    }
}

TEST(an_argument_that_is_too_long)
{
    struct world world;
    uint8_t byte = 'x';
    struct bytes argv[] = {BYTES_LITERAL("GET"), {&byte, KEVY_SIZE_MAX + 1}};
    world_init(&world);
    kv_reply_init(&world.reply, &world.mem, 2);
    CHECK(kv_command_resolve(&world.reply, 2, argv) == NULL);
    CHECK(kv_reply_is_error(&world.reply));
    kv_reply_done(&world.reply);
    argv[1].size = KEVY_SIZE_MAX;
    CHECK(kv_command_resolve(&world.reply, 2, argv) != NULL);
    world_done(&world);
}
