/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Deadlines: the tree against a plain list, reclaiming against what should
 * have expired, what watchers are told of each key, and stores of expiring
 * keys that do not grow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/cmd_world.h"
#include "testing/harness.h"

/* ---- The tree ---- */

enum { LEAVES_MAX = 700 };

static uint64_t least_of(const uint64_t *leaves, size_t count)
{
    uint64_t least = KV_DEADLINE_NEVER;
    for (size_t i = 0; i < count; i++) {
        least = leaves[i] < least ? leaves[i] : least;
    }
    return least;
}

TEST(the_tree_knows_the_least_of_its_leaves)
{
    struct kv_mem mem;
    struct kv_deadlines tree = {0};
    uint64_t leaves[LEAVES_MAX], state = test_seed();
    size_t count = 0;
    kv_mem_init(&mem, &kv_mem_libc);
    memset(leaves, 0xff, sizeof leaves);
    CHECK(kv_deadlines_first(&tree) == KV_DEADLINE_NEVER);
    for (unsigned step = 0; step < 6000; step++) {
        if (count < LEAVES_MAX && step % 8 == 0) {
            count++;
            REQUIRE_INT(kv_deadlines_reserve(&tree, &mem, count * KV_DEADLINE_BUCKETS), 0);
        }
        size_t leaf = (size_t)(test_random(&state) % count);
        uint64_t time = test_random(&state) % 1000 + 1;
        if (test_random(&state) % 3 != 0) {
            kv_deadlines_lower(&tree, leaf * KV_DEADLINE_BUCKETS + step % 4, time);
            leaves[leaf] = time < leaves[leaf] ? time : leaves[leaf];
        } else {
            leaf = leaves[leaf] == KV_DEADLINE_NEVER ? leaf : kv_deadlines_first_leaf(&tree);
            leaves[leaf] = step % 2 == 0 ? KV_DEADLINE_NEVER : time + 500;
            kv_deadlines_set(&tree, leaf, leaves[leaf]);
        }
        uint64_t least = least_of(leaves, count);
        CHECK(kv_deadlines_first(&tree) == least);
        if (least != KV_DEADLINE_NEVER) {
            CHECK(leaves[kv_deadlines_first_leaf(&tree)] == least);
            size_t random = kv_deadlines_random_leaf(&tree, test_random(&state));
            CHECK(leaves[random] != KV_DEADLINE_NEVER);
        }
    }
    CHECK(kv_deadlines_verify(&tree));
    CHECK_INT(mem.used, kv_deadlines_memory(&tree));
    kv_deadlines_free(&tree, &mem);
    CHECK_INT(mem.used, 0);
}

/* ---- What is told ---- */

enum { KEY_COUNT = 500 };

struct told {
    unsigned causes[KEY_COUNT][KEVY_CHANGE_LOST];
    unsigned clears[KV_DATABASE_COUNT];
    unsigned all;
};

static void note_change(void *self, uint32_t db, struct bytes key, int32_t cause)
{
    struct told *told = self;
    unsigned number = 0;
    told->all++;
    if (cause == KEVY_CHANGE_CLEAR) {
        told->clears[db]++;
        return;
    }
    for (size_t i = 1; i < key.size; i++) {
        number = number * 10 + (unsigned)(key.data[i] - '0');
    }
    REQUIRE(number < KEY_COUNT);
    told->causes[number][cause]++;
}

static void set_key(struct cmd_world *world, unsigned number, uint64_t expiry_ms)
{
    char name[8];
    int size = snprintf(name, sizeof name, "k%u", number);
    struct kv_pair pair = {bytes_of(name, (size_t)size), bytes_of("value", 5), expiry_ms};
    CHECK_INT(kv_keyspace_put(&world->ks, 0, &pair, 1), 0);
}

static void reclaim_all(struct cmd_world *world)
{
    while (kv_keyspace_deadline(&world->ks, 0) <= world->now_ms) {
        CHECK(kv_keyspace_reclaim(&world->ks, 0, world->now_ms) >= 0);
    }
}

TEST(every_key_expires_once_and_at_its_time)
{
    struct cmd_world world;
    static struct told told;
    struct kv_watch watch = {&told, note_change};
    uint64_t expiries[KEY_COUNT] = {0}, state = test_seed();
    unsigned expired[KEY_COUNT] = {0};
    cmd_world_init(&world);
    world.ks.watch = &watch;
    for (int step = 0; step < 5000; step++) {
        unsigned key = (unsigned)(test_random(&state) % KEY_COUNT);
        uint64_t ttl = test_random(&state) % 3 == 0 ? 0 : 1 + test_random(&state) % 400;
        uint64_t until = expiries[key];
        expired[key] += until != 0 && until <= world.now_ms;
        expiries[key] = ttl == 0 ? 0 : world.now_ms + ttl;
        set_key(&world, key, expiries[key]);
        world.now_ms += test_random(&state) % 3;
        if (step % 7 == 0) {
            reclaim_all(&world);
            for (unsigned i = 0; i < KEY_COUNT; i++) {
                bool is_due = expiries[i] != 0 && expiries[i] <= world.now_ms;
                expired[i] += is_due;
                expiries[i] = is_due ? 0 : expiries[i];
                CHECK_INT(told.causes[i][KEVY_CHANGE_EXPIRE], expired[i]);
            }
        }
        if (step % 500 == 0) {
            CHECK(kv_keyspace_verify(&world.ks));
        }
    }
    world.now_ms += 10000;
    reclaim_all(&world);
    CHECK_INT(kv_keyspace_expiring(&world.ks, 0), 0);
    CHECK(kv_keyspace_deadline(&world.ks, 0) == KV_DEADLINE_NEVER);
    cmd_world_done(&world);
}

/* What one command is told as: for each key and cause of `want` ("k1 set"). */
static void check_told(struct cmd_world *world, struct told *told, const char *command,
                       unsigned all, unsigned key, int32_t cause, unsigned times)
{
    memset(told, 0, sizeof *told);
    (void)cmd_say_in(world, command);
    CHECK_INT(told->all, all);
    CHECK_INT(told->causes[key][cause], times);
}

TEST(each_command_is_told_as_what_it_does)
{
    struct cmd_world world;
    static struct told told;
    struct kv_watch watch = {&told, note_change};
    cmd_world_init(&world);
    world.ks.watch = &watch;
    check_told(&world, &told, "SET k1 a", 1, 1, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "GET k1", 0, 1, KEVY_CHANGE_SET, 0);
    check_told(&world, &told, "APPEND k1 b", 1, 1, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "MSET k2 a k3 b", 2, 3, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "EXPIRE k1 100", 1, 1, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "PERSIST k1", 1, 1, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "PERSIST k1", 0, 1, KEVY_CHANGE_SET, 0);
    check_told(&world, &told, "SETNX k1 x", 0, 1, KEVY_CHANGE_SET, 0);
    check_told(&world, &told, "COPY k1 k4", 1, 4, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "RENAME k1 k5", 2, 1, KEVY_CHANGE_DEL, 1);
    CHECK_INT(told.causes[5][KEVY_CHANGE_SET], 1);
    check_told(&world, &told, "GETDEL k5", 1, 5, KEVY_CHANGE_DEL, 1);
    check_told(&world, &told, "DEL k2 k2 k99", 1, 2, KEVY_CHANGE_DEL, 1);
    check_told(&world, &told, "EXPIRE k3 -1", 1, 3, KEVY_CHANGE_EXPIRE, 1);
    check_told(&world, &told, "PEXPIREAT k4 1", 1, 4, KEVY_CHANGE_EXPIRE, 1);
    check_told(&world, &told, "FLUSHALL", 0, 0, KEVY_CHANGE_SET, 0);
    check_told(&world, &told, "SET k1 a PX 10", 1, 1, KEVY_CHANGE_SET, 1);
    world.now_ms += 10;
    check_told(&world, &told, "INCR k1", 2, 1, KEVY_CHANGE_EXPIRE, 1);
    CHECK_INT(told.causes[1][KEVY_CHANGE_SET], 1);
    check_told(&world, &told, "PEXPIRE k1 10", 1, 1, KEVY_CHANGE_SET, 1);
    world.now_ms += 10;
    check_told(&world, &told, "DEL k1", 1, 1, KEVY_CHANGE_EXPIRE, 1);
    check_told(&world, &told, "SET k1 a", 1, 1, KEVY_CHANGE_SET, 1);
    check_told(&world, &told, "SWAPDB 0 3", 2, 1, KEVY_CHANGE_SET, 0);
    CHECK_INT(told.clears[0], 1);
    CHECK_INT(told.clears[3], 1);
    check_told(&world, &told, "SWAPDB 1 2", 0, 1, KEVY_CHANGE_SET, 0);
    check_told(&world, &told, "FLUSHALL", 1, 1, KEVY_CHANGE_DEL, 0);
    CHECK_INT(told.clears[3], 1);
    cmd_world_done(&world);
}

TEST(without_memory_or_journal_a_key_with_an_expiry_leaves_no_trace)
{
    struct cmd_world world;
    unsigned failures = 0;
    for (;; failures++) {
        cmd_world_init(&world);
        world.allocations_left = failures;
        struct kv_pair pair = {bytes_of("k1", 2), bytes_of("v", 1), world.now_ms + 5};
        int status = kv_keyspace_put(&world.ks, 0, &pair, 1);
        world.allocations_left = SIZE_MAX;
        if (status == 0) {
            break;
        }
        CHECK_INT(status, KEVY_ENOMEM);
        CHECK_INT(kv_keyspace_count(&world.ks, 0), 0);
        cmd_world_done(&world);
    }
    CHECK(failures >= 4);
    world.now_ms += 5;
    world.journal.fail_with = KEVY_ENOSPC;
    CHECK_INT(kv_keyspace_reclaim(&world.ks, 0, world.now_ms), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 1);
    world.journal.fail_with = 0;
    CHECK_INT(kv_keyspace_reclaim(&world.ks, 0, world.now_ms), 1);
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 0);
    cmd_world_done(&world);
}

/* ---- Stores that do not grow ---- */

static _Atomic uint64_t test_boot_ns = 1000000000;

static uint64_t fast_boot(void *self)
{
    (void)self;
    return test_boot_ns;
}

static uint64_t fast_wall(void *self)
{
    (void)self;
    return UINT64_C(1700000000000) + test_boot_ns / 1000000;
}

/* Sets keys that never come back, each for a tenth of a second, 10 in a
 * millisecond; returns how many the store held at most. */
static uint64_t churn(KevyDb *db, unsigned count)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        char name[16];
        KevyStats stats = {.size = sizeof stats};
        int size = snprintf(name, sizeof name, "k%u", i);
        CHECK_INT(kevy_set(db, (const uint8_t *)name, (size_t)size, (const uint8_t *)"0123456789",
                           10, 100),
                  0);
        test_boot_ns += 100000;
        if (i % 1000 == 0) {
            CHECK_INT(kevy_stats(db, &stats), 0);
            most = stats.keys > most ? stats.keys : most;
        }
    }
    return most;
}

static KevyDb *open_fast(const char *dir)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    static kevy_os os;
    KevyDb *db;
    KevyError error;
    os = kv_os_posix;
    os.boot_ns = fast_boot;
    os.wall_ms = fast_wall;
    struct kv_open open = {
        .dir = bytes_of(dir, strlen(dir)), .options = &options, .os = &os, .mem = &kv_mem_libc};
    REQUIRE_INT(kv_engine_open(&open, &db, &error), 0);
    return db;
}

TEST_LIMIT(a_memory_store_of_expiring_keys_does_not_grow, 120)
{
    unsigned count = (unsigned)test_scale(60000);
    KevyDb *db = open_fast("");
    uint64_t most = churn(db, count);
    /* 1,000 live ones, and those of about a second that wait to go. */
    CHECK(most > 1000);
    CHECK(most < 25000);
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK(stats.memory_records < 64 * 25000);
    /* What is left goes with the writes that come, whatever they write. */
    test_boot_ns += UINT64_C(5000000000);
    for (int i = 0; i < 400000 && stats.expiring_keys != 0; i++) {
        CHECK_INT(kevy_set(db, (const uint8_t *)"plain", 5, (const uint8_t *)"v", 1, 0), 0);
        if (i % 5000 == 0) {
            CHECK_INT(kevy_stats(db, &stats), 0);
        }
    }
    CHECK_INT(stats.expiring_keys, 0);
    CHECK_INT(stats.keys, 1);
    CHECK_INT(stats.expired_keys, count);
    kevy_close(db);
}

TEST_LIMIT(a_file_store_of_expiring_keys_does_not_grow_and_they_stay_gone, 120)
{
    unsigned count = (unsigned)test_scale(20000);
    const char *dir = test_path("store");
    KevyDb *db = open_fast(dir);
    (void)churn(db, count);
    test_boot_ns += UINT64_C(5000000000);
    KevyStats stats = {.size = sizeof stats, .expiring_keys = 1};
    for (int i = 0; i < 400000 && stats.expiring_keys != 0; i++) {
        CHECK_INT(kevy_set(db, (const uint8_t *)"plain", 5, (const uint8_t *)"v", 1, 0), 0);
        if (i % 1000 == 0) {
            CHECK_INT(kevy_stats(db, &stats), 0);
        }
    }
    CHECK_INT(stats.keys, 1);
    CHECK(stats.memory_records < 4096);
    kevy_close(db);
    db = open_fast(dir);
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK_INT(stats.keys, 1);
    kevy_close(db);
}
