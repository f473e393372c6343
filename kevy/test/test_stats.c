/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_stats: the memory it tells is what an allocator that counts has given
 * out, the records are those that MEMORY USAGE tells, INFO says the same, and
 * the structure may be of another version.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static KevyStats stats_of(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    return stats;
}

/* Runs a command of words without spaces; the reply is in a static buffer. */
static const char *say(KevyDb *db, const char *words)
{
    static char reply[8192];
    const uint8_t *argv[8];
    size_t sizes[8], argc = 0;
    for (const char *p = words; *p != '\0' && argc < 8; argc++) {
        argv[argc] = u(p);
        sizes[argc] = strcspn(p, " ");
        p += sizes[argc] + (p[sizes[argc]] == ' ');
    }
    KevyBuf buf;
    REQUIRE_INT(kevy_cmd(db, argc, argv, sizes, &buf), 0);
    (void)snprintf(reply, sizeof reply, "%.*s", (int)buf.len, (const char *)buf.ptr);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return reply;
}

/* The number of a line `name:number` of INFO. */
static uint64_t info_of(KevyDb *db, const char *name)
{
    char line[64];
    (void)snprintf(line, sizeof line, "\n%s:", name);
    const char *at = strstr(say(db, "INFO"), line);
    REQUIRE(at != NULL);
    return strtoull(at + strlen(line), NULL, 10);
}

/* ---- Memory ---- */

static void *counting_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    size_t *given = self;
    void *block = kv_mem_libc.resize(NULL, ptr, old_size, new_size);
    if (new_size == 0 || block != NULL) {
        *given += new_size - old_size;
    }
    return block;
}

static void fill(KevyDb *db)
{
    char key[16];
    uint8_t *value = calloc(1, 600000);
    for (int i = 0; i < 3000; i++) {
        int size = snprintf(key, sizeof key, "key%d", i % 2000);
        CHECK_INT(
            kevy_set(db, u(key), (size_t)size, value, (size_t)i % 300, (uint64_t)(i % 3) * 100000),
            0);
    }
    CHECK_INT(kevy_set(db, u("large"), 5, value, 600000, 0), 0);
    free(value);
}

TEST(what_it_tells_is_what_was_allocated)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    size_t given = 0;
    kevy_mem mem = {&given, counting_resize};
    struct kv_open open = {.options = &options, .os = &kv_os_posix, .mem = &mem};
    KevyDb *db;
    KevyError error;
    REQUIRE_INT(kv_engine_open(&open, &db, &error), 0);
    for (int round = 0; round < 3; round++) {
        KevyStats stats = stats_of(db);
        CHECK_INT(stats.memory_table + stats.memory_bus + stats.memory_other,
                  given - sizeof(KevyDb));
        CHECK_INT(stats.memory_used, stats.memory_table + stats.memory_bus + stats.memory_other +
                                         stats.memory_records);
        if (round == 0) {
            fill(db);
        } else {
            (void)say(db, "FLUSHALL");
            CHECK_INT(stats_of(db).memory_records, 0);
        }
    }
    kevy_close(db);
    CHECK_INT(given, 0);
}

TEST(records_are_what_memory_usage_tells)
{
    KevyDb *db = kevy_open_mem();
    fill(db);
    KevyStats stats = stats_of(db);
    CHECK_INT(stats.keys, 2001);
    CHECK_INT(stats.expiring_keys, 1334);
    uint64_t sum = 0;
    for (int i = 0; i <= 2000; i++) {
        char command[64];
        (void)snprintf(command, sizeof command,
                       i < 2000 ? "MEMORY USAGE key%d" : "MEMORY USAGE large", i);
        sum += strtoull(say(db, command) + 1, NULL, 10);
    }
    uint64_t share = (sum - stats.memory_records) / stats.keys;
    CHECK_INT(sum, stats.memory_records + share * stats.keys);
    CHECK(share > 0 && share < 12);
    CHECK(stats.memory_table / stats.keys < 64);
    CHECK_INT(info_of(db, "used_memory_dataset"), stats.memory_records);
    CHECK_INT(info_of(db, "used_memory"), stats.memory_used);
    kevy_close(db);
}

/* ---- The log, the bus ---- */

TEST(the_log_and_its_flushes_are_told)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    REQUIRE(db != NULL);
    uint64_t flushes = stats_of(db).log_flushes;
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 0), 0);
    CHECK_INT(kevy_sync(db), 0);
    KevyStats stats = stats_of(db);
    CHECK(stats.log_flushes > flushes);
    CHECK_INT(stats.log_lsn_durable, stats.log_lsn_end);
    CHECK(stats.log_files > 0 && stats.log_size > 0);
    CHECK_INT(stats.log_error, 0);
    CHECK_INT(info_of(db, "kevy_flushes"), stats.log_flushes);
    kevy_close(db);
}

TEST(deliveries_and_drops_are_counted)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = kevy_subscribe(db, u("c"), 1);
    CHECK_INT(kevy_sub_limit(sub, 4, 0, KEVY_SUB_DROP_OLDEST), 0);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(kevy_publish(db, u("c"), 1, u("m"), 1), 1);
    }
    KevyStats stats = stats_of(db);
    CHECK_INT(stats.bus_deliveries, 10);
    CHECK_INT(stats.bus_dropped, kevy_sub_dropped(sub));
    CHECK(stats.bus_dropped >= 6);
    CHECK_INT(kevy_sub_limit(sub, 4, 0, KEVY_SUB_FAIL), 0);
    CHECK_INT(kevy_publish(db, u("c"), 1, u("m"), 1), 0);
    CHECK_INT(stats_of(db).bus_dropped, stats.bus_dropped + 1);
    kevy_close(db);
    kevy_sub_close(sub);
}

/* ---- Other versions ---- */

TEST(a_smaller_and_a_larger_structure_are_filled_as_far_as_both_know)
{
    KevyDb *db = kevy_open_mem();
    uint64_t words[64];
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 0), 0);
    memset(words, 0xee, sizeof words);
    words[0] = 16;
    CHECK_INT(kevy_stats(db, (KevyStats *)(void *)words), 0);
    CHECK_INT(words[0], 16);
    CHECK_INT(words[1], 1);
    CHECK(words[2] == UINT64_C(0xeeeeeeeeeeeeeeee));
    words[0] = sizeof words;
    CHECK_INT(kevy_stats(db, (KevyStats *)(void *)words), 0);
    CHECK_INT(words[0], sizeof(KevyStats));
    CHECK_INT(words[1], 1);
    CHECK_INT(words[63], 0);
    words[0] = 7;
    CHECK_INT(kevy_stats(db, (KevyStats *)(void *)words), -1);
    CHECK_INT(kevy_stats(db, NULL), -1);
    CHECK_INT(kevy_stats(NULL, (KevyStats *)(void *)words), -1);
    kevy_close(db);
}
