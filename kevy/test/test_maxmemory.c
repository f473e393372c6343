/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * maxmemory: which keys give way under each policy, what cannot give way is
 * refused in Redis's words, the log knows, and readers who warm keys race with
 * it all.
 */
#include <pthread.h>
#include <stdatomic.h>
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

static int32_t set(KevyDb *db, char kind, unsigned number, uint64_t ttl_ms)
{
    char key[16];
    static const uint8_t value[200] = {1};
    int size = snprintf(key, sizeof key, "%c%u", kind, number);
    return kevy_set(db, u(key), (size_t)size, value, sizeof value, ttl_ms);
}

static bool has(KevyDb *db, char kind, unsigned number)
{
    char key[16];
    uint8_t value[200];
    size_t value_size;
    int size = snprintf(key, sizeof key, "%c%u", kind, number);
    return kevy_get_into(db, u(key), (size_t)size, value, sizeof value, &value_size) == 1;
}

static unsigned count_of(KevyDb *db, char kind, unsigned from, unsigned to)
{
    unsigned count = 0;
    for (unsigned i = from; i < to; i++) {
        count += has(db, kind, i);
    }
    return count;
}

static const char *say(KevyDb *db, const char *words)
{
    static char reply[1024];
    const uint8_t *argv[8];
    size_t sizes[8], argc = 0;
    for (const char *p = words; *p != '\0' && argc < 8; argc++) {
        argv[argc] = u(p);
        sizes[argc] = strcspn(p, " ");
        p += sizes[argc] + (p[sizes[argc]] == ' ');
    }
    KevyBuf buf;
    REQUIRE_INT(kevy_cmd(db, argc, argv, sizes, &buf), 0);
    (void)snprintf(reply, sizeof reply, "%.*s", (int)buf.len - 2, (const char *)buf.ptr);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return reply;
}

/* Room for about so many keys beyond what the store holds now. */
static void bound(KevyDb *db, unsigned keys, int32_t policy)
{
    CHECK_INT(kevy_set_maxmemory(db, stats_of(db).memory_used + keys * UINT64_C(260), policy), 0);
}

#define OOM "-OOM command not allowed when used memory > 'maxmemory'."

TEST(without_a_policy_writes_that_need_room_are_refused)
{
    KevyDb *db = kevy_open_mem();
    unsigned i = 0;
    bound(db, 500, KEVY_EVICT_NONE);
    while (i < 10000 && set(db, 'k', i, 0) == 0) {
        i++;
    }
    CHECK(i > 300 && i < 700);
    CHECK_INT(set(db, 'k', i, 0), -2);
    CHECK(!has(db, 'k', i));
    CHECK_STR(say(db, "SET k v"), OOM);
    CHECK_STR(say(db, "MSET k v l w"), OOM);
    CHECK_STR(say(db, "GET k"), "$-1");
    CHECK_INT(stats_of(db).keys, i);
    const uint8_t *key = u("many");
    size_t size = 4;
    CHECK_INT(kevy_set_many(db, 1, &key, &size, &key, &size), -2);
    for (unsigned n = 0; n < 50; n++) {
        char command[32];
        (void)snprintf(command, sizeof command, "DEL k%u", n);
        CHECK_STR(say(db, command), ":1");
    }
    CHECK_STR(say(db, "SET k v"), "+OK");
    CHECK_INT(stats_of(db).evicted_keys, 0);
    kevy_close(db);
}

TEST(under_each_policy_the_bound_holds)
{
    for (int32_t policy = KEVY_EVICT_ALLKEYS_LRU; policy <= KEVY_EVICT_VOLATILE_TTL; policy++) {
        KevyDb *db = kevy_open_mem();
        bool is_volatile = policy >= KEVY_EVICT_VOLATILE_LRU;
        bound(db, 500, policy);
        uint64_t most = 0, max = stats_of(db).memory_max;
        for (unsigned i = 0; i < 100; i++) {
            CHECK_INT(set(db, 's', i, 0), 0);
        }
        for (unsigned i = 0; i < 3000; i++) {
            CHECK_INT(set(db, 'k', i, i % 2 == 0 || is_volatile ? 100000 + i : 0), 0);
            KevyStats stats = stats_of(db);
            most = stats.memory_used > most ? stats.memory_used : most;
        }
        KevyStats stats = stats_of(db);
        /* A new block of the table may come after the room was made. */
        CHECK(most < max + 40000);
        CHECK(stats.evicted_keys > 2000);
        CHECK_INT(stats.keys + stats.evicted_keys, 3100);
        CHECK(!is_volatile || count_of(db, 's', 0, 100) == 100);
        CHECK(kv_keyspace_verify(&db->engine->keyspace));
        kevy_close(db);
    }
}

TEST(a_policy_for_expiring_keys_leaves_the_others)
{
    KevyDb *db = kevy_open_mem();
    unsigned i = 0;
    bound(db, 300, KEVY_EVICT_VOLATILE_LRU);
    for (unsigned n = 0; n < 20; n++) {
        CHECK_INT(set(db, 't', n, 100000), 0);
    }
    while (i < 10000 && set(db, 'k', i, 0) == 0) {
        i++;
    }
    CHECK(i > 100 && i < 700);
    CHECK_INT(count_of(db, 't', 0, 20), 0);
    CHECK_INT(count_of(db, 'k', 0, i), i);
    CHECK_INT(stats_of(db).evicted_keys, 20);
    CHECK_STR(say(db, "SET k v"), OOM);
    kevy_close(db);
}

TEST(the_first_to_expire_goes_first)
{
    KevyDb *db = kevy_open_mem();
    bound(db, 400, KEVY_EVICT_VOLATILE_TTL);
    for (unsigned i = 0; i < 1500; i++) {
        CHECK_INT(set(db, 'k', i, 10000000 - i * 100), 0);
    }
    /* Later keys expire earlier, so each new one makes the one before it go. */
    unsigned kept = 0;
    while (has(db, 'k', kept)) {
        kept++;
    }
    CHECK(kept > 200);
    CHECK_INT(count_of(db, 'k', kept, 1499), 0);
    kevy_close(db);
}

TEST(what_is_used_stays)
{
    for (int32_t policy = KEVY_EVICT_ALLKEYS_LRU; policy <= KEVY_EVICT_ALLKEYS_LFU; policy++) {
        KevyDb *db = kevy_open_mem();
        unsigned warm = 100;
        bound(db, 1000, policy);
        for (unsigned i = 0; i < warm; i++) {
            CHECK_INT(set(db, 'w', i, 0), 0);
        }
        for (unsigned i = 0; i < 6000; i++) {
            CHECK_INT(set(db, 'k', i, 0), 0);
            for (unsigned n = 0; n < 4; n++) {
                (void)has(db, 'w', (i * 4 + n) % warm);
            }
        }
        CHECK(stats_of(db).evicted_keys > 4000);
        CHECK(count_of(db, 'w', 0, warm) >= warm * 95 / 100);
        kevy_close(db);
    }
}

TEST(uses_are_counted_for_object_freq)
{
    KevyDb *db = kevy_open_mem();
    CHECK_STR(say(db, "SET k v"), "+OK");
    CHECK_STR(say(db, "CONFIG SET maxmemory-policy allkeys-lfu"), "+OK");
    CHECK_STR(say(db, "OBJECT FREQ none"), "$-1");
    long before = strtol(say(db, "OBJECT FREQ k") + 1, NULL, 10);
    for (int i = 0; i < 2000; i++) {
        (void)say(db, "GET k");
    }
    long after = strtol(say(db, "OBJECT FREQ k") + 1, NULL, 10);
    CHECK(before <= 6);
    CHECK(after > before + 3 && after < 100);
    kevy_close(db);
}

TEST(a_lower_bound_evicts_at_once_and_listeners_hear)
{
    KevyDb *db = kevy_open_mem();
    for (unsigned i = 0; i < 5000; i++) {
        CHECK_INT(set(db, 'k', i, 0), 0);
    }
    uint64_t used = stats_of(db).memory_used;
    CHECK_INT(kevy_set_maxmemory(db, used * 3 / 4, KEVY_EVICT_ALLKEYS_RANDOM), 0);
    KevyStats stats = stats_of(db);
    CHECK(stats.memory_used <= used * 3 / 4);
    CHECK(stats.evicted_keys > 1024);
    CHECK_INT(stats.keys, 5000 - stats.evicted_keys);
    CHECK_INT(kevy_set_maxmemory(db, 0, KEVY_EVICT_NONE), 0);
    CHECK_INT(set(db, 'k', 9999, 0), 0);
    kevy_close(db);
}

static void count_evictions(void *user, const KevyChange *change)
{
    *(uint64_t *)user += change->cause == KEVY_CHANGE_EVICT && change->is_other != 0;
}

TEST(evictions_are_deletes_in_the_log)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    uint64_t heard = 0;
    REQUIRE(db != NULL);
    CHECK(kevy_listen(db, count_evictions, &heard) > 0);
    bound(db, 300, KEVY_EVICT_ALLKEYS_LRU);
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_INT(set(db, 'k', i, 0), 0);
    }
    KevyStats stats = stats_of(db);
    CHECK_INT(heard, stats.evicted_keys);
    static unsigned char there[1000];
    for (unsigned i = 0; i < 1000; i++) {
        there[i] = has(db, 'k', i);
    }
    kevy_close(db);
    db = kevy_open(u(dir), strlen(dir));
    CHECK_INT(stats_of(db).keys, stats.keys);
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_INT(has(db, 'k', i), there[i]);
    }
    kevy_close(db);
}

TEST(config_reads_and_sets_it)
{
    KevyDb *db = kevy_open_mem();
    CHECK_STR(say(db, "CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru"), "+OK");
    CHECK_STR(say(db, "CONFIG GET maxmemory"), "*2\r\n$9\r\nmaxmemory\r\n$9\r\n104857600");
    CHECK_STR(say(db, "CONFIG GET maxmemory-policy"),
              "*2\r\n$16\r\nmaxmemory-policy\r\n$11\r\nallkeys-lru");
    CHECK_INT(stats_of(db).memory_max, 104857600);
    CHECK(strstr(say(db, "INFO memory"), "maxmemory_policy:allkeys-lru") != NULL);
    CHECK_STR(say(db, "CONFIG SET maxmemory 2k"), "+OK");
    CHECK_INT(stats_of(db).memory_max, 2000);
    CHECK_STR(say(db, "CONFIG SET maxmemory 1Gb"), "+OK");
    CHECK_INT(stats_of(db).memory_max, 1073741824);
    static const char *const bad[] = {"", "x", "-1", "1tb", "12 k", "99999999999gb", "1.5mb"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char command[64];
        (void)snprintf(command, sizeof command, "CONFIG SET maxmemory %s", bad[i]);
        CHECK(say(db, command)[0] == '-');
    }
    CHECK_STR(say(db, "CONFIG SET maxmemory-policy none"),
              "-ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - "
              "argument(s) must be one of the following: volatile-lru, volatile-lfu, "
              "volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, "
              "noeviction");
    CHECK_INT(stats_of(db).memory_max, 1073741824);
    CHECK_INT(kevy_set_maxmemory(db, 0, -1), -1);
    CHECK_INT(kevy_set_maxmemory(db, 0, 8), -1);
    CHECK_INT(kevy_set_maxmemory(NULL, 0, 0), -1);
    kevy_close(db);
}

static _Atomic bool has_memory = true;

static void *failing_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    return new_size > 0 && !has_memory ? NULL : kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

TEST(without_memory_for_the_bytes_the_policy_stays)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    kevy_mem mem = {NULL, failing_resize};
    struct kv_open open = {.options = &options, .os = &kv_os_posix, .mem = &mem};
    KevyDb *db;
    KevyError error;
    REQUIRE_INT(kv_engine_open(&open, &db, &error), 0);
    bound(db, 100000, KEVY_EVICT_ALLKEYS_LRU);
    uint64_t max = stats_of(db).memory_max;
    has_memory = false;
    CHECK_INT(kevy_set_maxmemory(db, 1, KEVY_EVICT_ALLKEYS_LFU), -2);
    has_memory = true;
    CHECK_INT(stats_of(db).memory_max, max);
    CHECK_INT(db->engine->keyspace.policy, KEVY_EVICT_ALLKEYS_LRU);
    /* When the bytes cannot grow with the keys, keys share them. */
    for (unsigned i = 0; i < 2000; i++) {
        CHECK_INT(set(db, 'k', i, 0), 0);
    }
    kevy_close(db);
}

struct warmers {
    KevyDb *db;
    _Atomic int is_going;
};

static void *warm_all(void *user)
{
    struct warmers *warmers = user;
    for (unsigned i = 0; atomic_load(&warmers->is_going); i++) {
        (void)has(warmers->db, 'k', i % 3000);
    }
    return NULL;
}

TEST_LIMIT(readers_beside_evictions_and_other_policies, 120)
{
    struct warmers warmers = {.db = kevy_open_mem(), .is_going = 1};
    pthread_t threads[2];
    bound(warmers.db, 500, KEVY_EVICT_ALLKEYS_LRU);
    for (int i = 0; i < 2; i++) {
        REQUIRE_INT(pthread_create(&threads[i], NULL, warm_all, &warmers), 0);
    }
    for (unsigned i = 0; i < test_scale(40000); i++) {
        CHECK_INT(set(warmers.db, 'k', i % 3000, i % 3 * UINT64_C(100000)), 0);
        if (i % 1000 == 999) {
            int32_t policy = (int32_t)(i / 1000 % 3) + 1;
            CHECK_INT(kevy_set_maxmemory(warmers.db, stats_of(warmers.db).memory_max, policy), 0);
        }
    }
    atomic_store(&warmers.is_going, 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(kv_keyspace_verify(&warmers.db->engine->keyspace));
    kevy_close(warmers.db);
}
