/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every command with each allocation and each append failing once: then the
 * reply is an error or none, and nothing has changed.
 */
#include <stdio.h>
#include <string.h>

#include "kevy.h"
#include "kevy/test/cmd_world.h"
#include "testing/harness.h"
#include "testing/transcript.h"

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

static void world_fill(struct cmd_world *world)
{
    cmd_world_init(world);
    for (size_t i = 0; i < sizeof setup / sizeof *setup; i++) {
        CHECK_STR(cmd_say_in(world, setup[i]), "+OK");
    }
}

/* All that can be seen of databases 0 and 3. */
static void look(struct cmd_world *world, struct transcript_buffer *out)
{
    static const char *const names[] = {"s", "n", "f",     "t",  "a",  "b",  "z",
                                        "x", "y", "fresh", "k1", "k9", "k18"};
    struct kv_session sessions[] = {{0}, {3}};
    char words[64];
    for (size_t db = 0; db < 2; db++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(words, sizeof words, "GET %s", names[i]);
            const char *value = cmd_say_as(world, words, &sessions[db]);
            transcript_append(out, value, strlen(value));
            snprintf(words, sizeof words, "PEXPIRETIME %s", names[i]);
            value = cmd_say_as(world, words, &sessions[db]);
            transcript_append(out, value, strlen(value));
        }
        const char *count = cmd_say_as(world, "DBSIZE", &sessions[db]);
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
    struct cmd_world world;
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    world_fill(&world);
    look(&world, &before);
    world.allocations_left = left;
    cmd_world_run(&world, words, NULL);
    bool refused = world.reply.size >= 4 && memcmp(world.reply.data, "-OOM", 4) == 0;
    bool lacked = world.reply.failed || refused;
    CHECK(lacked || world.allocations_left > 0 || left > 0);
    world.allocations_left = SIZE_MAX;
    kv_reply_done(&world.reply);
    look(&world, &after);
    if (lacked && !CHECK(same(&before, &after))) {
        printf("    %s, after %zu allocations\n", words, left);
    }
    cmd_world_done(&world);
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
    struct cmd_world world;
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    world_fill(&world);
    look(&world, &before);
    char reply[256];
    world.journal.fail_with = status;
    snprintf(reply, sizeof reply, "%s", cmd_say_in(&world, words));
    world.journal.fail_with = 0;
    look(&world, &after);
    if (!CHECK(same(&before, &after)) || !CHECK(strncmp(reply, want, strlen(want)) == 0)) {
        printf("    %s: %s\n", words, reply);
    }
    CHECK(reply[0] == '-' && strchr(reply, '\n') == NULL);
    cmd_world_done(&world);
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
