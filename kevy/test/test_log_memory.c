/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The log in memory: what is appended is read back, dead segments and extents
 * are given back, failures leave no trace, an empty log costs nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "kevy/src/log/log.h"
#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

static struct kv_mem memory;

static struct kv_log *memory_log(void)
{
    struct kv_log *log = NULL;
    kv_mem_init(&memory, &kv_mem_libc);
    REQUIRE_INT(kv_log_open_memory(&log, &memory, &kv_os_posix), 0);
    return log;
}

static struct kv_draft value_draft(const char *key, const void *value, size_t size)
{
    return (struct kv_draft){
        .type = KV_RECORD_VALUE, .key = bytes_of(key, strlen(key)), .value = bytes_of(value, size)};
}

static int append(struct kv_log *log, struct kv_draft *drafts, size_t count)
{
    struct kv_journal *journal = kv_log_journal(log);
    return journal->append(journal->self, drafts, count);
}

static void retire(struct kv_log *log, uint32_t ref)
{
    struct kv_journal *journal = kv_log_journal(log);
    journal->retire(journal->self, ref);
}

static void close_checked(struct kv_log *log)
{
    kv_log_close(log);
    CHECK_INT(memory.used, 0);
    CHECK_INT(memory.blocks, 0);
}

TEST(memory_values_come_back)
{
    struct kv_log *log = memory_log();
    struct kv_draft draft = value_draft("key", "value", 5);
    draft.expiry_ms = 1234567890123;
    draft.namespace_id = 77;
    REQUIRE_INT(append(log, &draft, 1), 0);
    const uint8_t *record = kv_space_record(kv_log_space(log), draft.ref);
    struct bytes key = kv_record_key(kv_log_space(log), record);
    struct bytes value = kv_record_value(kv_log_space(log), record);
    CHECK_BYTES(key.data, key.size, "key", 3);
    CHECK_BYTES(value.data, value.size, "value", 5);
    CHECK_INT(kv_record_expiry(record), 1234567890123);
    CHECK_INT(kv_record_namespace(record), 77);
    CHECK_INT(kv_record_size(record), 48);
    CHECK_INT(kv_log_end(log), 1);
    close_checked(log);
}

TEST(memory_every_size_comes_back)
{
    struct kv_log *log = memory_log();
    size_t sizes[] = {0, 1, 15, 16, 17, 65535, 262084, 262085, 262128, 262129, 262144, 5000000};
    uint8_t *bytes = (uint8_t *)malloc(5000000);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < 5000000; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct kv_draft draft = value_draft("k", bytes, sizes[i]);
        REQUIRE_INT(append(log, &draft, 1), 0);
        const uint8_t *record = kv_space_record(kv_log_space(log), draft.ref);
        struct bytes value = kv_record_value(kv_log_space(log), record);
        CHECK_BYTES(value.data, value.size, bytes, sizes[i]);
    }
    free(bytes);
    close_checked(log);
}

TEST(memory_an_empty_log_takes_little)
{
    struct kv_log *log = memory_log();
    CHECK(memory.used < 4096);
    struct kv_log_stats stats;
    kv_log_stats(log, &stats);
    CHECK_INT(stats.segment_count, 0);
    close_checked(log);
}

TEST(memory_dead_segments_are_given_back)
{
    struct kv_log *log = memory_log();
    struct kv_log_stats stats;
    uint8_t value[1000] = {1};
    uint32_t last = 0;
    for (int i = 0; i < 50000; i++) {
        struct kv_draft draft = value_draft("hot", value, sizeof value);
        REQUIRE_INT(append(log, &draft, 1), 0);
        if (last != 0) {
            retire(log, last);
        }
        last = draft.ref;
    }
    kv_log_stats(log, &stats);
    CHECK(stats.segment_count <= 2);
    CHECK(stats.file_size <= 2 * KV_SLOT_SIZE);
    CHECK_INT(stats.live_size, 1024);
    close_checked(log);
}

TEST(memory_retired_extents_are_given_back)
{
    struct kv_log *log = memory_log();
    struct kv_log_stats stats;
    uint8_t *value = (uint8_t *)calloc(1, (size_t)9 << 20);
    REQUIRE(value != NULL);
    for (int i = 0; i < 20; i++) {
        struct kv_draft draft = value_draft("large", value, (size_t)9 << 20);
        REQUIRE_INT(append(log, &draft, 1), 0);
        kv_log_stats(log, &stats);
        CHECK_INT(stats.segment_count, 2);
        retire(log, draft.ref);
    }
    kv_log_stats(log, &stats);
    CHECK_INT(stats.segment_count, 1);
    CHECK_INT(stats.live_size, 0);
    free(value);
    close_checked(log);
}

/* A system that gives memory only a few times. */
static int maps_left;

static int few_maps(void *self, int file, size_t size, int is_small, void **out)
{
    return maps_left-- > 0 ? kv_os_posix.map(self, file, size, is_small, out) : -12;
}

TEST(memory_a_batch_that_fails_leaves_nothing)
{
    kevy_os os = kv_os_posix;
    os.map = few_maps;
    uint8_t *value = (uint8_t *)calloc(1, 300000);
    REQUIRE(value != NULL);
    for (maps_left = 0; maps_left < 6; maps_left++) {
        int start = maps_left;
        struct kv_log *log = NULL;
        struct kv_log_stats stats;
        kv_mem_init(&memory, &kv_mem_libc);
        REQUIRE_INT(kv_log_open_memory(&log, &memory, &os), 0);
        struct kv_draft drafts[] = {value_draft("a", "1", 1), value_draft("b", value, 300000),
                                    value_draft("c", value, 300000)};
        int status = append(log, drafts, 3);
        CHECK_INT(status, start < 3 ? KEVY_ENOMEM : KEVY_OK);
        kv_log_stats(log, &stats);
        CHECK_INT(stats.lsn_end, status == 0 ? 3 : 0);
        CHECK(status == 0 || stats.live_size == 0);
        close_checked(log);
        maps_left = start;
    }
    free(value);
}

/* ---- Collection ---- */

enum { SWEEP_KEYS = 20000 };

static uint32_t sweep_refs[SWEEP_KEYS];
static uint32_t sweep_versions[SWEEP_KEYS];
static struct kv_log *sweep_log;

static uint32_t key_of(uint32_t ref)
{
    return load_u32(
        kv_record_data(kv_log_space(sweep_log), kv_space_record(kv_log_space(sweep_log), ref)));
}

static int sweep_move(void *user, uint32_t old_ref, uint32_t new_ref)
{
    uint32_t key = key_of(old_ref);
    (void)user;
    if (sweep_refs[key] != old_ref) {
        return 0;
    }
    sweep_refs[key] = new_ref;
    return 1;
}

static void sweep_put(uint32_t key, uint32_t version, size_t size)
{
    static uint8_t value[400000];
    store_u32(value, version);
    struct kv_draft draft = {
        .type = KV_RECORD_VALUE, .key = bytes_of(&key, sizeof key), .value = bytes_of(value, size)};
    REQUIRE_INT(append(sweep_log, &draft, 1), 0);
    if (sweep_refs[key] != 0) {
        retire(sweep_log, sweep_refs[key]);
    }
    sweep_refs[key] = draft.ref;
    sweep_versions[key] = version;
}

static void sweep_run(uint32_t keys, uint32_t rounds, size_t size_max)
{
    struct kv_log_stats stats;
    uint64_t random = test_seed();
    memset(sweep_refs, 0, sizeof sweep_refs);
    sweep_log = memory_log();
    kv_log_collect_with(sweep_log, sweep_move, NULL);
    for (uint32_t i = 1; i <= rounds; i++) {
        uint64_t any = test_random(&random);
        sweep_put((uint32_t)(any % keys), i, 4 + (size_t)(any >> 32) % size_max);
        kv_log_stats(sweep_log, &stats);
        if (stats.file_size > 2 * stats.live_size + ((uint64_t)16 << 20)) {
            CHECK(false && "the log in memory outgrew its bound");
            break;
        }
    }
    for (uint32_t key = 0; key < keys; key++) {
        if (sweep_refs[key] != 0) {
            const uint8_t *record = kv_space_record(kv_log_space(sweep_log), sweep_refs[key]);
            struct bytes value = kv_record_value(kv_log_space(sweep_log), record);
            if (key_of(sweep_refs[key]) != key || load_u32(value.data) != sweep_versions[key]) {
                CHECK(false && "a value got lost in collection");
                break;
            }
        }
    }
    CHECK(stats.live_size > 0);
    close_checked(sweep_log);
}

TEST(memory_random_overwrites_stay_in_bounds)
{
    sweep_run(SWEEP_KEYS, 600000, 200);
}

TEST(memory_large_overwrites_stay_in_bounds)
{
    sweep_run(100, 20000, 8000);
    sweep_run(10, 2000, 300000);
}

TEST(memory_small_overwrites_move_large_records_on)
{
    struct kv_log_stats stats;
    memset(sweep_refs, 0, sizeof sweep_refs);
    sweep_log = memory_log();
    kv_log_collect_with(sweep_log, sweep_move, NULL);
    for (uint32_t i = 0; i < 600000; i++) {
        uint32_t key = i % 1000 == 0 ? 1 + i / 1000 % 20 : 0;
        sweep_put(key, i, key == 0 ? 100 : 250000);
    }
    kv_log_stats(sweep_log, &stats);
    CHECK(stats.file_size <= 2 * stats.live_size + ((uint64_t)16 << 20));
    close_checked(sweep_log);
}

TEST(memory_cold_keys_do_not_hold_segments)
{
    struct kv_log_stats stats;
    memset(sweep_refs, 0, sizeof sweep_refs);
    sweep_log = memory_log();
    kv_log_collect_with(sweep_log, sweep_move, NULL);
    for (uint32_t i = 0; i < 300000; i++) {
        sweep_put(i % 100 == 0 ? (i / 100) % SWEEP_KEYS : 0, i, 1000);
    }
    kv_log_stats(sweep_log, &stats);
    CHECK(stats.file_size <= 2 * stats.live_size + ((uint64_t)16 << 20));
    close_checked(sweep_log);
}
