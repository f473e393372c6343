/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random commands, from --seed, to a store and to a real redis-server: every
 * reply and, at the end, every key must be the same.
 *
 * A line of the table is a command; a capital letter stands for a random
 * argument of its kind (see argument_of). Replies are compared byte for byte,
 * but for arrays without an order (`s` sorts them) and for times (`t`: within
 * two seconds, or 2,000 milliseconds). Times are far off or past, so that no
 * key expires in between. DBSIZE is left out: Redis counts a key that was set
 * with a past time until it meets it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/test/cmd_kit.h"
#include "testing/harness.h"
#include "testing/redis_server.h"

static const struct {
    const char *line;
    char compare; /* 0 exactly, 's' sorted, 't' times */
} templates[] = {{"SET K V", 0},
                 {"SET K V", 0},
                 {"SET K V", 0},
                 {"SET K V O", 0},
                 {"SET K V O O", 0},
                 {"SET K V O O O", 0},
                 {"SET K V EX T", 0},
                 {"SET K V PX T O", 0},
                 {"SET K V EXAT T", 0},
                 {"GET K", 0},
                 {"GET K", 0},
                 {"GETSET K V", 0},
                 {"GETDEL K", 0},
                 {"GETEX K", 0},
                 {"GETEX K EX T", 0},
                 {"GETEX K PERSIST", 0},
                 {"GETEX K PXAT T", 0},
                 {"GETEX K O T", 0},
                 {"SETNX K V", 0},
                 {"SETEX K T V", 0},
                 {"PSETEX K T V", 0},
                 {"MGET K K K", 0},
                 {"MSET K V K V K V", 0},
                 {"MSET K V K", 0},
                 {"MSETNX K V K V", 0},
                 {"APPEND K V", 0},
                 {"APPEND K V", 0},
                 {"STRLEN K", 0},
                 {"SETRANGE K S V", 0},
                 {"SETRANGE K N V", 0},
                 {"GETRANGE K S S", 0},
                 {"GETRANGE K N N", 0},
                 {"SUBSTR K S S", 0},
                 {"INCR K", 0},
                 {"DECR K", 0},
                 {"INCRBY K S", 0},
                 {"INCRBY K N", 0},
                 {"DECRBY K N", 0},
                 {"INCRBYFLOAT K F", 0},
                 {"INCRBYFLOAT K F", 0},
                 {"SET K F", 0},
                 {"SET K S", 0},
                 {"DEL K", 0},
                 {"DEL K K K", 0},
                 {"UNLINK K K", 0},
                 {"EXISTS K K K", 0},
                 {"TOUCH K K", 0},
                 {"TYPE K", 0},
                 {"RENAME K K", 0},
                 {"RENAMENX K K", 0},
                 {"COPY K K", 0},
                 {"COPY K K REPLACE", 0},
                 {"COPY K K DB D", 0},
                 {"COPY K K DB D REPLACE", 0},
                 {"MOVE K D", 0},
                 {"SWAPDB D D", 0},

                 {"KEYS P", 's'},
                 {"KEYS *", 's'},
                 {"EXPIRE K T", 0},
                 {"EXPIRE K T E", 0},
                 {"PEXPIRE K T E", 0},
                 {"EXPIRE K T E E", 0},
                 {"EXPIREAT K T", 0},
                 {"PEXPIREAT K T E", 0},
                 {"PERSIST K", 0},
                 {"TTL K", 't'},
                 {"PTTL K", 't'},
                 {"EXPIRETIME K", 't'},
                 {"PEXPIRETIME K", 't'},
                 {"SETBIT K I B", 0},
                 {"SETBIT K S B", 0},
                 {"SETBIT K N B", 0},
                 {"GETBIT K I", 0},
                 {"GETBIT K N", 0},
                 {"BITCOUNT K", 0},
                 {"BITCOUNT K S S", 0},
                 {"BITCOUNT K S S BIT", 0},
                 {"BITCOUNT K N N U", 0},
                 {"BITPOS K B", 0},
                 {"BITPOS K B S", 0},
                 {"BITPOS K B S S", 0},
                 {"BITPOS K B S S U", 0},
                 {"BITPOS K B N N U", 0},
                 {"BITOP AND K K K", 0},
                 {"BITOP OR K K K", 0},
                 {"BITOP XOR K K K K", 0},
                 {"BITOP NOT K K", 0},
                 {"BITOP U K K", 0},
                 {"BITFIELD K GET Y I SET Y I S", 0},
                 {"BITFIELD K INCRBY Y I N", 0},
                 {"BITFIELD K OVERFLOW W INCRBY Y I N OVERFLOW W SET Y I N GET Y I", 0},
                 {"BITFIELD K OVERFLOW W SET Y I S INCRBY Y #3 S", 0},
                 {"BITFIELD_RO K GET Y I GET Y #2", 0},
                 {"BITFIELD K GET Y N", 0},
                 {"LCS K K", 0},
                 {"LCS K K LEN", 0},
                 {"LCS K K IDX WITHMATCHLEN", 0},
                 {"LCS K K IDX MINMATCHLEN S", 0},
                 {"ECHO V", 0},
                 {"PING V", 0},
                 {"V K", 0},
                 {"FOO V V", 0},
                 {"OBJECT ENCODING missing", 0},
                 {"CONFIG GET nosuch", 0},
                 {"PUBSUB NUMSUB V", 0}};

/* ---- Arguments ---- */

struct chance {
    uint64_t state;
};

static uint64_t below(struct chance *chance, uint64_t end)
{
    return test_random(&chance->state) % end;
}

static const char *pick(struct chance *chance, const char *const *list, size_t count)
{
    return list[below(chance, count)];
}

#define PICK(chance, ...)                                                                          \
    pick(chance, (const char *const[]){__VA_ARGS__},                                               \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* A value: a number, a few letters of a small alphabet, or many random bytes. */
static void random_value(struct chance *chance, struct transcript_buffer *out)
{
    char text[32];
    size_t size = below(chance, 4) == 0 ? below(chance, 300) : below(chance, 12);
    switch (below(chance, 4)) {
    case 0:
        size = (size_t)snprintf(text, sizeof text, "%d", (int)below(chance, 2000) - 1000);
        transcript_append(out, text, size);
        return;
    case 1:
        for (size_t i = 0; i < size; i++) {
            transcript_append(out, &"ab\xff\0"[below(chance, 4)], 1);
        }
        return;
    default:
        for (size_t i = 0; i < size; i++) {
            uint8_t c = (uint8_t)below(chance, 256);
            transcript_append(out, &c, 1);
        }
        return;
    }
}

static void random_float(struct chance *chance, char *out, size_t size)
{
    if (below(chance, 8) == 0) {
        snprintf(out, size, "%s",
                 PICK(chance, "inf", "-inf", "nan", "1e300", "-1e300", "1e-300", "1e4932", "1e5000",
                      "0x1p3", " 1", "1 ", "", ".5", "5.", "1e3", "+1", "abc"));
        return;
    }
    double number = ((double)below(chance, 2000000) - 1000000) / (double)(1 + below(chance, 1000));
    snprintf(out, size, "%.*g", (int)below(chance, 18), number);
}

static const char *number_of(struct chance *chance, char *out, size_t size)
{
    if (below(chance, 2) == 0) {
        snprintf(out, size, "%d", (int)below(chance, 200) - 100);
        return out;
    }
    return PICK(chance, "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                "9223372036854775806", "-9223372036854775807", "18446744073709551615", "4294967295",
                "4294967296", "536870911", "536870912", "536870913", "2147483647", "-2147483649",
                "1.5", "", " 1", "01", "-0", "+1", "abc", "0");
}

/* A time: seconds or milliseconds, from now or from 1970. Two of them are the
 * same or at least 1,000 apart, so that the moment at which each side reads its
 * clock does not decide which is greater. */
static const char *time_of(struct chance *chance, char *out, size_t size)
{
    static const uint64_t bases[] = {100000000, 1000000000, 4000000000000, 9000000000000000};
    if (below(chance, 3) == 0) {
        return PICK(chance, "0", "-1", "-1000", "9223372036854775807", "-9223372036854775808",
                    "9223372036854775808", "abc");
    }
    snprintf(out, size, "%llu",
             (unsigned long long)(bases[below(chance, 4)] + below(chance, 100000) * 1000));
    return out;
}

/* Replaces the capital letter of a kind by an argument. SETRANGE, SETBIT and
 * BITFIELD to half a gigabyte are left to other tests: N is only used where it
 * is refused or read, which `is_write` says. */
static void argument_of(struct chance *chance, char kind, struct transcript_buffer *out)
{
    char text[64] = "";
    const char *word = text;
    switch (kind) {
    case 'K':
        word = PICK(chance, "k1", "k2", "k3", "k4", "k5", "k6", "");
        break;
    case 'V':
        random_value(chance, out);
        return;
    case 'S':
        snprintf(text, sizeof text, "%d", (int)below(chance, 60) - 30);
        break;
    case 'I':
        snprintf(text, sizeof text, "%d", (int)below(chance, 400));
        break;
    case 'N':
        word = number_of(chance, text, sizeof text);
        break;
    case 'F':
        random_float(chance, text, sizeof text);
        break;
    case 'T':
        word = time_of(chance, text, sizeof text);
        break;
    case 'O':
        word = PICK(chance, "NX", "XX", "GET", "KEEPTTL", "EX", "persist", "foo", "100000000");
        break;
    case 'E':
        word = PICK(chance, "NX", "XX", "GT", "LT", "gt", "foo");
        break;
    case 'B':
        word = PICK(chance, "0", "1", "0", "1", "0", "1", "2", "x");
        break;
    case 'U':
        word = PICK(chance, "BIT", "BYTE", "bit", "foo");
        break;
    case 'W':
        word = PICK(chance, "WRAP", "SAT", "FAIL", "wrap", "foo");
        break;
    case 'Y':
        word = PICK(chance, "u8", "i8", "u1", "i1", "u63", "i64", "u5", "i13", "u32", "i32", "u64");
        break;
    case 'D':
        word = PICK(chance, "0", "1", "2", "0", "1", "2", "16", "x");
        break;
    case 'P':
        word = PICK(chance, "k*", "?1", "k[1-3]", "[^k]*", "", "**", "k\\1", "*[2-", "nothing");
        break;
    default:
        word = "?";
        break;
    }
    transcript_append(out, word, strlen(word));
}

enum { ARGS = 24 };

struct line {
    struct transcript_buffer args[ARGS];
    struct bytes argv[ARGS];
    size_t argc;
};

static bool is_kind(const char *word, size_t size)
{
    return size == 1 && word[0] >= 'A' && word[0] <= 'Z';
}

static void line_make(struct chance *chance, const char *template, struct line *line)
{
    line->argc = 0;
    for (const char *p = template; line->argc < ARGS && *p != '\0'; p += *p == ' ') {
        size_t size = strcspn(p, " ");
        struct transcript_buffer *arg = &line->args[line->argc];
        arg->size = 0;
        transcript_append(arg, "", 0);
        if (is_kind(p, size)) {
            argument_of(chance, p[0], arg);
        } else {
            transcript_append(arg, p, size);
        }
        line->argv[line->argc++] = bytes_of(arg->data, arg->size);
        p += size;
    }
}

/* Whether a command may make a value of hundreds of megabytes. */
static bool is_huge(const struct line *line)
{
    bool writes = bytes_equal(line->argv[0], BYTES_LITERAL("SETRANGE")) ||
                  bytes_equal(line->argv[0], BYTES_LITERAL("SETBIT"));
    if (!writes || line->argc < 3) {
        return false;
    }
    long long offset = strtoll((const char *)line->argv[2].data, NULL, 10);
    return offset > 1000000 && offset < 4294967296;
}

/* ---- Comparing ---- */

/* Milliseconds, or seconds, that one side may be later than the other on a busy machine. */
enum { TIMES_APART = 30000 };

static bool same_times(const struct transcript_buffer *a, const struct transcript_buffer *b)
{
    if (a->size < 4 || b->size < 4 || a->data[0] != ':' || b->data[0] != ':') {
        return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
    }
    long long x = strtoll((const char *)a->data + 1, NULL, 10),
              y = strtoll((const char *)b->data + 1, NULL, 10);
    return (x < 0) == (y < 0) && llabs(x - y) <= TIMES_APART;
}

static bool same_reply(struct transcript_buffer *a, struct transcript_buffer *b, char compare)
{
    if (compare == 't') {
        return same_times(a, b);
    }
    if (compare == 's') {
        transcript_sort(a, 1);
        transcript_sort(b, 1);
    }
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void show_difference(const struct line *line, const struct transcript_buffer *kevy,
                            const struct transcript_buffer *redis)
{
    struct transcript_buffer text = {NULL, 0, 0};
    for (size_t i = 0; i < line->argc; i++) {
        transcript_append(&text, " \"", 2);
        transcript_show(line->argv[i], &text);
        transcript_append(&text, "\"", 1);
    }
    transcript_append(&text, "\n      kevy  ", 13);
    transcript_show(bytes_of(kevy->data, kevy->size), &text);
    transcript_append(&text, "\n      redis ", 13);
    transcript_show(bytes_of(redis->data, redis->size), &text);
    printf("    seed %llu:%s\n", (unsigned long long)test_seed(), (const char *)text.data);
    transcript_free(&text);
}

struct pair {
    struct transcript_target kevy, redis;
    struct transcript_buffer from_kevy, from_redis;
};

static bool run_both(struct pair *pair, const struct line *line, char compare)
{
    pair->from_kevy.size = 0;
    pair->from_redis.size = 0;
    bool answered = pair->kevy.run(pair->kevy.self, line->argc, line->argv, &pair->from_kevy) &&
                    pair->redis.run(pair->redis.self, line->argc, line->argv, &pair->from_redis);
    if (CHECK(answered) && CHECK(same_reply(&pair->from_kevy, &pair->from_redis, compare))) {
        return true;
    }
    show_difference(line, &pair->from_kevy, &pair->from_redis);
    return false;
}

static void compare_all(struct pair *pair)
{
    pair->from_kevy.size = 0;
    pair->from_redis.size = 0;
    cmd_dump(&pair->kevy, false, &pair->from_kevy);
    cmd_dump(&pair->redis, false, &pair->from_redis);
    CHECK_BYTES(pair->from_kevy.data, pair->from_kevy.size, pair->from_redis.data,
                pair->from_redis.size);
}

static void run_random(KevyDb *db, size_t rounds)
{
    static struct line line;
    struct chance chance = {test_seed()};
    struct pair pair = {.kevy = cmd_target(db)};
    redis_start(&pair.redis);
    bool same = true;
    for (size_t i = 0; i < rounds && same; i++) {
        size_t which = below(&chance, sizeof templates / sizeof *templates);
        line_make(&chance, templates[which].line, &line);
        if (!is_huge(&line)) {
            same = run_both(&pair, &line, templates[which].compare);
        }
    }
    if (same) {
        compare_all(&pair);
    }
    transcript_free(&pair.from_kevy);
    transcript_free(&pair.from_redis);
    redis_stop();
}

TEST_LIMIT(random_commands_in_memory, 120)
{
    KevyDb *db = kevy_open_mem();
    REQUIRE(db != NULL);
    run_random(db, 60000);
    kevy_close(db);
}

TEST_LIMIT(random_commands_in_files, 120)
{
    const char *dir = test_path("store");
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    run_random(db, 20000);
    struct transcript_target target = cmd_target(db);
    cmd_dump(&target, true, &before);
    kevy_close(db);
    db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    target = cmd_target(db);
    cmd_dump(&target, true, &after);
    CHECK_BYTES(after.data, after.size, before.data, before.size);
    kevy_close(db);
    transcript_free(&before);
    transcript_free(&after);
}
