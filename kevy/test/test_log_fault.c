/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A log whose disk says no: full, failing, or taking only a part. What fails
 * leaves no trace, what was acknowledged stays, and a disk that has room again
 * is written to again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/store/segment.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

static struct crash_os *crash;
static struct model model;

/* What a first segment holds after the same changes, written by calls or stored
 * through a window. Yours; free with free. */
static uint8_t *segment_of_changes(bool has_windows, size_t *size)
{
    struct kv_log_stats stats;
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    crash_os_windows(crash, has_windows);
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    for (uint64_t i = 1; i <= 500; i++) {
        bool is_appended;
        struct model_change change = {(uint32_t)(i % 2), (uint32_t)(i % 7), i % 11 == 0 ? 0 : i,
                                      8 + i * i % 90};
        REQUIRE_INT(model_write(&model, &change, 1, &is_appended), 0);
    }
    kv_log_stats(model.log, &stats);
    REQUIRE_INT(stats.segment_count, 1);
    *size = (size_t)(stats.live_size + stats.dead_size);
    uint8_t *bytes = (uint8_t *)malloc(*size);
    size_t there = 0;
    const uint8_t *file = crash_os_file(crash, "00000.seg", &there);
    REQUIRE(bytes != NULL && file != NULL && there >= *size);
    memcpy(bytes, file, *size);
    model_close(&model);
    crash_os_free(crash);
    return bytes;
}

/* The short way of an append leaves what the long one does: stamps, borders, checks. */
TEST(fault_none_the_short_way_leaves_the_same_bytes)
{
    size_t size, short_size;
    uint8_t *bytes = segment_of_changes(false, &size);
    uint8_t *short_bytes = segment_of_changes(true, &short_size);
    CHECK(size > KV_SEGMENT_SIZE_MIN / 2);
    CHECK_BYTES(short_bytes, short_size, bytes, size);
    free(bytes);
    free(short_bytes);
}

TEST(fault_short_writes_are_finished)
{
    crash = model_start(&model, KEVY_FSYNC_NO);
    for (uint64_t i = 1; i <= 200; i++) {
        crash_os_fault(crash, CRASH_SHORT, 0, 3);
        /* A write of which not one byte was taken may count as a full disk. */
        int status = model_put(&model, (uint32_t)(i % MODEL_KEYS), i, 8 + i * 41 % 6000);
        crash_os_fault(crash, CRASH_NONE, 0, 0);
        if (status != 0) {
            CHECK_INT(status, KEVY_ENOSPC);
            REQUIRE_INT(model_put(&model, (uint32_t)(i % MODEL_KEYS), i, 8 + i * 41 % 6000), 0);
        }
    }
    model_reopen(&model, crash, KEVY_FSYNC_NO);
    for (uint64_t i = 200; i > 200 - MODEL_KEYS; i--) {
        CHECK_INT(model_version(&model, (uint32_t)(i % MODEL_KEYS)), i);
    }
    model_close(&model);
    crash_os_free(crash);
}

TEST(fault_a_write_that_broke_off_leaves_nothing)
{
    crash = model_start(&model, KEVY_FSYNC_NO);
    REQUIRE_INT(model_put(&model, 1, 1, 100), 0);
    for (uint64_t i = 2; i < 40; i++) {
        crash_os_fault(crash, CRASH_EIO, 0, 1);
        CHECK_INT(model_put(&model, 1, 1000 + i, 100), KEVY_EIO);
        CHECK_INT(model_version(&model, 1), i - 1);
        REQUIRE_INT(model_put(&model, 1, i, 100), 0);
    }
    model_reopen(&model, crash, KEVY_FSYNC_NO);
    CHECK_INT(model.report.dropped_bytes, 0);
    CHECK_INT(model_version(&model, 1), 39);
    model_close(&model);
    crash_os_free(crash);
}

/* Makes the next flush of the log fail. */
static int flush_failing(void)
{
    crash_os_fault(crash, CRASH_EIO, 0, 1);
    return kv_log_sync(model.log);
}

TEST(fault_a_failed_flush_stays_failed)
{
    struct kv_log_stats stats;
    crash = model_start(&model, KEVY_FSYNC_EVERYSEC);
    REQUIRE_INT(model_put(&model, 1, 1, 100), 0);
    REQUIRE_INT(kv_log_sync(model.log), 0);
    REQUIRE_INT(model_put(&model, 1, 2, 100), 0);
    CHECK_INT(flush_failing(), KEVY_EIO);
    CHECK_INT(kv_log_sync(model.log), KEVY_EIO);
    CHECK_INT(model_put(&model, 1, 3, 100), KEVY_EIO);
    CHECK_INT(kv_log_shutdown(model.log), KEVY_EIO);
    CHECK_INT(model_version(&model, 1), 2);
    kv_log_stats(model.log, &stats);
    CHECK_INT(stats.error, KEVY_EIO);
    CHECK_INT(stats.lsn_durable, 1);
    /* Opened anew, what the kernel still has is made durable after all. */
    model_reopen(&model, crash, KEVY_FSYNC_EVERYSEC);
    CHECK_INT(model_version(&model, 1), 2);
    CHECK_INT(model_put(&model, 1, 3, 100), 0);
    model_close(&model);
    crash_os_power_cut(crash);
    REQUIRE_INT(model_open(&model, crash_os_table(crash), "store", 0), 0);
    CHECK_INT(model_version(&model, 1), 3);
    model_close(&model);
    crash_os_free(crash);
}

/* Windows that are open. */
static int window_count;

static int counted_window_open(void *self, int file, size_t size, void **out)
{
    int result = crash_os_table(crash)->window_open(self, file, size, out);
    window_count += result == 0;
    return result;
}

static void counted_window_close(void *self, void *window, size_t size)
{
    window_count--;
    crash_os_table(crash)->window_close(self, window, size);
}

TEST(fault_a_failed_flush_leaves_no_window)
{
    crash = crash_os_new(test_seed());
    kevy_os os = *crash_os_table(crash);
    os.window_open = counted_window_open;
    os.window_close = counted_window_close;
    window_count = 0;
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
    /* The active segment has one, the one made ahead, and one that was sealed. */
    for (uint64_t version = 1; window_count < 3; version++) {
        REQUIRE(version < 1000);
        REQUIRE_INT(model_put(&model, 1, version, 1000), 0);
    }
    CHECK_INT(flush_failing(), KEVY_EIO);
    model_close(&model);
    CHECK_INT(window_count, 0);
    crash_os_free(crash);
}

TEST(fault_always_says_when_it_does_not_know)
{
    crash = model_start(&model, KEVY_FSYNC_ALWAYS);
    REQUIRE_INT(model_put(&model, 1, 1, 100), 0);
    /* Call 0 is the write, call 1 the flush. */
    crash_os_fault(crash, CRASH_EIO, 1, 1);
    CHECK_INT(model_put(&model, 1, 2, 100), KEVY_EIO);
    CHECK_INT(model_put(&model, 1, 3, 100), KEVY_EIO);
    model_close(&model);
    crash_os_power_cut(crash);
    REQUIRE_INT(model_open(&model, crash_os_table(crash), "store", 0), 0);
    uint64_t version = model_version(&model, 1);
    CHECK(version == 1 || version == 2);
    model_close(&model);
    crash_os_free(crash);
}

/* ---- Every call fails once ---- */

enum { SCRIPT_WRITES = 60 };

/* A fixed life with rotation, extents, batches and collection. Returns how
 * many of its writes were acknowledged; a state for each of them. */
static size_t script(struct model_state *states)
{
    size_t count = 0;
    memset(&states[0], 0, sizeof states[0]);
    for (uint64_t i = 1; i <= SCRIPT_WRITES; i++) {
        struct model_change changes[3] = {{0, (uint32_t)(i % 7), i * 10, 3500},
                                          {1, (uint32_t)(i % 5), i * 10 + 1, 30},
                                          {0, (uint32_t)(i % 3), 0, 0}};
        bool is_appended = false;
        size_t change_count = i % 4 == 0 ? 3 : 1;
        changes[0].size = i % 9 == 0 ? 20000 : i % 4 == 0 ? 60 : 3500;
        states[count + 1] = states[count];
        (void)model_write(&model, changes, change_count, &is_appended);
        for (size_t at = 0; is_appended && at < change_count; at++) {
            states[count + 1].version[changes[at].db][changes[at].key] = changes[at].version;
        }
        count += is_appended;
        crash_os_pass(crash, 100);
    }
    return count;
}

static bool script_with_fault(enum crash_fault fault, uint64_t call, uint64_t times, bool is_cut)
{
    static struct model_state states[SCRIPT_WRITES + 1];
    struct model_state seen;
    crash = crash_os_new(call * 2 + is_cut);
    crash_os_windows(crash, call % 3 == 0);
    bool is_good = CHECK_INT(model_open(&model, crash_os_table(crash), "store", 0), 0);
    crash_os_fault(crash, fault, call, times);
    size_t count = script(states);
    crash_os_fault(crash, CRASH_NONE, 0, 0);
    bool is_durable = kv_log_sync(model.log) == 0;
    is_good = is_good && CHECK(model_read(&model, &seen)) &&
              CHECK(memcmp(&seen, &states[count], sizeof seen) == 0) &&
              CHECK(kv_log_verify(model.log));
    model_close(&model);
    if (is_cut && is_durable) {
        crash_os_power_cut(crash);
    } else {
        crash_os_kill(crash);
    }
    is_good = is_good && CHECK_INT(model_open(&model, crash_os_table(crash), "store", 0), 0);
    if (is_good) {
        is_good = CHECK(model_read(&model, &seen)) && CHECK(kv_log_verify(model.log)) &&
                  CHECK(memcmp(&seen, &states[count], sizeof seen) == 0);
        model_close(&model);
    }
    crash_os_free(crash);
    return is_good;
}

static void every_call_fails(enum crash_fault fault, uint64_t times)
{
    for (uint64_t call = 0; call < 240; call += 1 + call / 100) {
        if (!script_with_fault(fault, call, times, call % 2 == 0)) {
            printf("call %llu\n", (unsigned long long)call);
            return;
        }
    }
}

TEST_LIMIT(fault_every_call_finds_the_disk_full_once, 120)
{
    every_call_fails(CRASH_NOSPC, 1);
}

TEST_LIMIT(fault_every_call_finds_the_disk_full_for_a_while, 120)
{
    every_call_fails(CRASH_NOSPC, 7);
}

TEST_LIMIT(fault_every_call_fails_once, 120)
{
    every_call_fails(CRASH_EIO, 1);
}

/* Each call of an open fails: the open says so and leaves the store as good as
 * it was. */
TEST(fault_every_call_of_an_open_fails_once)
{
    crash = model_start(&model, KEVY_FSYNC_NO);
    for (uint64_t i = 1; i <= 40; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)(i % 3), i, i % 8 == 0 ? 9000 : 1500), 0);
    }
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    model_close(&model);
    crash_os_kill(crash);
    struct crash_copy *copy = crash_os_copy(crash);
    bool has_failed = true;
    for (uint64_t call = 0; has_failed && call < 500; call++) {
        crash_os_restore(crash, copy);
        crash_os_fault(crash, CRASH_EIO, call, 1);
        int status = model_open(&model, crash_os_table(crash), "store", 0);
        has_failed = status != 0;
        if (status == 0) {
            model_close(&model);
        } else {
            CHECK(model.error.text[0] != '\0');
        }
        crash_os_kill(crash);
        REQUIRE_INT(model_open(&model, crash_os_table(crash), "store", 0), 0);
        CHECK_INT(model_version(&model, 40 % 3), 40);
        CHECK_INT(model_version(&model, 39 % 3), 39);
        CHECK_INT(model_version(&model, 38 % 3), 38);
        model_close(&model);
        /* Calls whose failure an open can bear come between those it cannot. */
        has_failed = has_failed || call < 60;
    }
    CHECK(!has_failed);
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* ---- Every allocation fails once ---- */

struct scarce {
    uint64_t left;
};

static void *scarce_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct scarce *scarce = (struct scarce *)self;
    if (new_size != 0 && new_size > old_size && scarce->left-- == 0) {
        return NULL;
    }
    return kv_mem_libc.resize(kv_mem_libc.self, ptr, old_size, new_size);
}

static int refuse(void *user, const struct kv_log_record *record)
{
    (void)user;
    (void)record;
    return 0;
}

TEST(fault_every_allocation_of_an_open_fails_once)
{
    struct scarce scarce;
    struct kv_mem mem;
    struct kv_mutex writer = {0};
    struct kv_log *log;
    KevyOpenReport report;
    KevyError error;
    kevy_mem table = {&scarce, scarce_resize};
    int status = KEVY_ENOMEM;
    crash = model_start(&model, KEVY_FSYNC_NO);
    for (uint64_t i = 1; i <= 30; i++) {
        REQUIRE_INT(model_put(&model, 1, i, i % 8 == 0 ? 9000 : 1500), 0);
    }
    model_close(&model);
    for (uint64_t count = 0; status == KEVY_ENOMEM && count < 200; count++) {
        scarce.left = count;
        kv_mem_init(&mem, &table);
        struct kv_log_options options = {.mem = &mem,
                                         .os = crash_os_table(crash),
                                         .writer = &writer,
                                         .dir = BYTES_LITERAL("store"),
                                         .is_threadless = true};
        status = kv_log_open(&log, &options, refuse, NULL, &report, &error);
        CHECK(status == 0 || status == KEVY_ENOMEM);
        if (status == 0) {
            kv_log_close(log);
        }
        CHECK_INT(mem.used, 0);
    }
    CHECK_INT(status, 0);
    crash_os_free(crash);
}
