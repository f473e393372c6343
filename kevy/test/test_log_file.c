/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The log in files, on a real folder: what is written is there after a close,
 * a reopen, and for every size of value and batch.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy/src/os/os_posix.h"
#include "kevy/src/store/segment.h"
#include "kevy/test/log_model.h"
#include "testing/harness.h"

static struct model model;

static void stats_take(struct kv_log_stats *out)
{
    kv_mutex_lock(&model.writer);
    kv_log_stats(model.log, out);
    kv_mutex_unlock(&model.writer);
}

static void reopen(const char *dir)
{
    if (model.log != NULL) {
        model_close(&model);
    }
    REQUIRE_INT(model_open(&model, &kv_os_posix, dir, KEVY_FSYNC_EVERYSEC), 0);
    CHECK_INT(model.report.dropped_bytes, 0);
    CHECK_INT(model.report.corrupt, 0);
}

static void expect(uint32_t key, uint64_t version)
{
    struct model_state state;
    CHECK(model_read(&model, &state));
    CHECK_INT(state.version[0][key], version);
}

TEST(file_values_survive_a_close)
{
    const char *dir = test_path("store");
    reopen(dir);
    REQUIRE_INT(model_put(&model, 1, 100, 20), 0);
    REQUIRE_INT(model_put(&model, 2, 200, 3000), 0);
    reopen(dir);
    expect(1, 100);
    expect(2, 200);
    CHECK_INT(model.report.replayed_commands, 2);
    REQUIRE_INT(model_put(&model, 1, 101, 21), 0);
    reopen(dir);
    expect(1, 101);
    expect(2, 200);
    model_close(&model);
}

TEST(file_every_size_survives)
{
    const char *dir = test_path("store");
    static const size_t sizes[] = {8,    9,    4060, 4061,  4062,  4080,  4096,    4097,
                                   5000, 8191, 8192, 65472, 65536, 65537, 4194304, 9000000};
    reopen(dir);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i + 1, sizes[i]), 0);
        expect((uint32_t)i, i + 1);
    }
    reopen(dir);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        expect((uint32_t)i, i + 1);
    }
    model_close(&model);
}

TEST(file_many_segments_survive)
{
    const char *dir = test_path("store");
    reopen(dir);
    for (uint64_t i = 1; i <= 2000; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)(i % MODEL_KEYS), i, 8 + i % 700), 0);
    }
    for (int round = 0; round < 3; round++) {
        reopen(dir);
        for (uint64_t i = 2000; i > 2000 - MODEL_KEYS; i--) {
            expect((uint32_t)(i % MODEL_KEYS), i);
        }
    }
    struct kv_log_stats stats;
    stats_take(&stats);
    CHECK(stats.segment_count < 10);
    model_close(&model);
}

TEST(file_batches_of_every_size_survive)
{
    const char *dir = test_path("store");
    static const size_t sizes[] = {8, 60, 64, 100, 300, 5000};
    struct model_change changes[MODEL_KEYS];
    bool is_appended;
    reopen(dir);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t key = 0; key < MODEL_KEYS; key++) {
            changes[key] = (struct model_change){0, key, 1 + i * 100 + key, sizes[i]};
        }
        changes[5].version = 0;
        REQUIRE_INT(model_write(&model, changes, MODEL_KEYS, &is_appended), 0);
        reopen(dir);
        for (uint32_t key = 0; key < MODEL_KEYS; key++) {
            expect(key, key == 5 ? 0 : 1 + i * 100 + key);
        }
    }
    model_close(&model);
}

TEST(file_flushed_databases_stay_empty)
{
    const char *dir = test_path("store");
    bool is_appended;
    reopen(dir);
    REQUIRE_INT(model_put(&model, 1, 1, 20), 0);
    REQUIRE_INT(model_flush(&model, 0, &is_appended), 0);
    REQUIRE_INT(model_put(&model, 2, 2, 20), 0);
    REQUIRE_INT(model_swap(&model, &is_appended), 0);
    struct model_state state;
    for (int round = 0; round < 3; round++) {
        reopen(dir);
        CHECK(model_read(&model, &state));
        CHECK_INT(state.version[0][1], 0);
        CHECK_INT(state.version[0][2], 0);
        CHECK_INT(state.version[1][1], 0);
        CHECK_INT(state.version[1][2], 2);
    }
    model_close(&model);
}

TEST(file_a_small_store_takes_little_disk)
{
    const char *dir = test_path("store");
    reopen(dir);
    for (uint64_t i = 1; i <= 20; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i, 500), 0);
    }
    model_close(&model);
    char command[600];
    (void)snprintf(command, sizeof command, "test $(du -sk '%s' | cut -f1) -le 512", dir);
    CHECK_INT(system(command), 0);
}

TEST(file_errors_name_what_is_wrong)
{
    const char *file = test_path("file");
    FILE *out = fopen(file, "w");
    REQUIRE(out != NULL);
    (void)fclose(out);
    CHECK_INT(model_open(&model, &kv_os_posix, file, 0), KEVY_EPATH);
    CHECK_STR(model.error.path, file);
    CHECK_INT(model_open(&model, &kv_os_posix, "", 0), KEVY_EPATH);
    CHECK_INT(model_open(&model, &kv_os_posix, "/proc/no/such", 0), KEVY_EPATH);
    REQUIRE_INT(model_open(&model, &kv_os_posix, test_path("a/b/c/../d"), 0), 0);
    struct model second;
    CHECK_INT(model_open(&second, &kv_os_posix, test_path("a/b/d"), 0), KEVY_EINUSE);
    CHECK(second.error.sys_errno != 0);
    model_close(&model);
}

/* ---- Collection, with the log's own thread ---- */

/* Overwrites keys of one size again and again. */
static void overwrite(uint64_t count, size_t size)
{
    uint64_t random = test_seed();
    for (uint64_t i = 1; i <= count; i++) {
        uint32_t key = (uint32_t)(test_random(&random) % MODEL_KEYS);
        REQUIRE_INT(model_put(&model, key, i, size), 0);
    }
}

enum { SETTLED_ROOM = (256 << 10) + 65536 };

/* Waits until the files have so many times what lives, and some room, or less;
 * returns what they have. */
static uint64_t settled_size(uint64_t times, uint64_t room, uint64_t *live)
{
    struct kv_log_stats stats;
    for (int wait = 0; wait < 300; wait++) {
        stats_take(&stats);
        *live = stats.live_size;
        if (stats.file_size <= times * stats.live_size + room) {
            break;
        }
        (void)usleep(100000);
    }
    return stats.file_size;
}

TEST(file_overwrites_settle)
{
    uint64_t live, size;
    const char *dir = test_path("store");
    REQUIRE_INT(
        model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_EVERYSEC, KV_SLOT_SIZE, false), 0);
    overwrite(50000, 4096);
    size = settled_size(2, SETTLED_ROOM, &live);
    CHECK(size <= 2 * live + ((uint64_t)16 << 20));
    CHECK_INT(live, MODEL_KEYS * (16 + 4096 + 16));
    struct model_state before, after;
    CHECK(model_read(&model, &before));
    model_close(&model);
    REQUIRE_INT(model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_EVERYSEC, 0, false), 0);
    CHECK(model_read(&model, &after));
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    model_close(&model);
}

/* Tombstones of which each was needed while older segments were dead but not yet
 * gone: collecting them comes to an end. */
TEST(file_deletes_settle)
{
    struct kv_log_stats first, second;
    uint64_t live;
    REQUIRE_INT(model_open_sized(&model, &kv_os_posix, test_path("store"), KEVY_FSYNC_EVERYSEC,
                                 KV_SEGMENT_SIZE_MIN, false),
                0);
    for (uint64_t i = 1; i <= 20000; i++) {
        bool is_appended;
        struct model_change change = {0, (uint32_t)(i / 2 % MODEL_KEYS), i % 2 * i, 100};
        REQUIRE_INT(model_write(&model, &change, 1, &is_appended), 0);
    }
    stats_take(&second);
    for (int wait = 0; wait < 60; wait++) {
        first = second;
        (void)usleep(500000);
        stats_take(&second);
        if (first.lsn_end == second.lsn_end) {
            break;
        }
    }
    CHECK_INT(first.lsn_end, second.lsn_end);
    CHECK(settled_size(0, 4 * KV_SEGMENT_SIZE_MIN, &live) <= 4 * KV_SEGMENT_SIZE_MIN);
    model_close(&model);
}

/* Files of segments in the folder. */
static uint64_t file_count(const char *dir)
{
    char command[600];
    (void)snprintf(command, sizeof command, "exit $(ls '%s' | grep -c seg)", dir);
    return (uint64_t)WEXITSTATUS(system(command));
}

/* The segment that was made ahead in a burst goes once the store has settled. */
TEST(file_a_small_store_keeps_no_spare)
{
    struct kv_log_stats stats = {0};
    uint64_t live, files = 1;
    const char *dir = test_path("store");
    REQUIRE_INT(model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_EVERYSEC,
                                 KV_SEGMENT_SIZE_MIN, false),
                0);
    overwrite(2000, 1000);
    (void)settled_size(2, SETTLED_ROOM, &live);
    for (int wait = 0; wait < 300 && files != stats.segment_count; wait++) {
        (void)usleep(100000);
        files = file_count(dir);
        stats_take(&stats);
    }
    CHECK_INT(files, stats.segment_count);
    model_close(&model);
}

TEST(file_what_was_closed_early_settles_when_open)
{
    uint64_t live;
    const char *dir = test_path("store");
    REQUIRE_INT(
        model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_NO, KV_SEGMENT_SIZE_MIN, true), 0);
    overwrite(400, 2000);
    model_close(&model);
    REQUIRE_INT(
        model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_NO, KV_SEGMENT_SIZE_MIN, false), 0);
    uint64_t size = settled_size(2, SETTLED_ROOM, &live);
    CHECK(size <= 2 * live + SETTLED_ROOM);
    kv_mutex_lock(&model.writer);
    CHECK(kv_log_verify(model.log));
    kv_mutex_unlock(&model.writer);
    model_close(&model);
}

TEST(file_an_idle_log_does_nothing)
{
    struct kv_log_stats first, second;
    REQUIRE_INT(
        model_open_sized(&model, &kv_os_posix, test_path("store"), KEVY_FSYNC_EVERYSEC, 0, false),
        0);
    REQUIRE_INT(model_put(&model, 1, 1, 100), 0);
    stats_take(&first);
    for (int wait = 0; wait < 300 && first.lsn_durable != first.lsn_end; wait++) {
        (void)usleep(100000);
        stats_take(&first);
    }
    CHECK_INT(first.lsn_durable, first.lsn_end);
    /* Longer than a mark takes to follow the flush. */
    (void)usleep(1500000);
    stats_take(&second);
    CHECK_INT(first.flush_count, second.flush_count);
    model_close(&model);
}

/* ---- Several writers ---- */

enum { WRITERS = 4, WRITES_EACH = 40 };

static void write_own_key(void *user)
{
    uint32_t key = *(const uint32_t *)user;
    for (uint64_t i = 1; i <= WRITES_EACH; i++) {
        CHECK_INT(model_put(&model, key, i, 100), 0);
    }
}

TEST(file_writers_share_their_flushes)
{
    struct kv_thread threads[WRITERS];
    uint32_t keys[WRITERS];
    struct kv_log_stats stats;
    const char *dir = test_path("store");
    REQUIRE_INT(model_open_sized(&model, &kv_os_posix, dir, KEVY_FSYNC_ALWAYS, 0, false), 0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        keys[i] = i;
        REQUIRE_INT(kv_thread_start(&threads[i], write_own_key, &keys[i]), 0);
    }
    for (uint32_t i = 0; i < WRITERS; i++) {
        kv_thread_join(&threads[i]);
    }
    kv_mutex_lock(&model.writer);
    kv_log_stats(model.log, &stats);
    CHECK(kv_log_verify(model.log));
    kv_mutex_unlock(&model.writer);
    CHECK_INT(stats.lsn_end, WRITERS * WRITES_EACH);
    CHECK_INT(stats.lsn_durable, stats.lsn_end);
    CHECK(stats.flush_count <= stats.lsn_end);
    model_close(&model);
    reopen(dir);
    for (uint32_t i = 0; i < WRITERS; i++) {
        expect(i, WRITES_EACH);
    }
    model_close(&model);
}
