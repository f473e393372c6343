/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Crash sequences that chance rarely finds, each of which an earlier idea of
 * recovery did not survive.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/log/log_inside.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

static struct crash_os *crash;
static struct model model;

static int open_store(void)
{
    return model_open(&model, crash_os_table(crash), "store", KEVY_FSYNC_NO);
}

/* The process ends without a word. */
static void die(void)
{
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    model_close(&model);
    crash_os_kill(crash);
}

static void put_many(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)(i % MODEL_KEYS), i, 2000), 0);
    }
}

/* Every key holds the newest version up to `last`. */
static bool holds_up_to(uint64_t last)
{
    struct model_state state;
    bool is_good = model_read(&model, &state);
    for (uint64_t i = last; i > last - MODEL_KEYS; i--) {
        is_good = is_good && state.version[0][i % MODEL_KEYS] == i;
    }
    return is_good;
}

/* The flush of a mark fails, the process dies, the next open dies at some
 * call, the power goes: the mark that was only in the kernel's memory must not
 * have been relied on. Segments were removed by the mark before it. */
static bool mark_lost(uint64_t seed, uint64_t mark_call, uint64_t open_call)
{
    crash = crash_os_new(seed);
    REQUIRE_INT(open_store(), 0);
    put_many(1, 200);
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
    put_many(201, 100);
    crash_os_fault(crash, CRASH_EIO, mark_call, 1);
    int status = kv_log_shutdown(model.log);
    bool is_durable = kv_log_sync(model.log) == 0 || status == 0;
    die();
    crash_os_fault(crash, CRASH_DEAD, open_call, 1);
    bool is_open = open_store() == 0;
    if (is_open) {
        is_durable = true;
        crash_os_fault(crash, CRASH_DEAD, 0, 1);
        model_close(&model);
    }
    crash_os_power_cut(crash);
    bool is_good = true;
    for (int round = 0; is_good && round < 2; round++) {
        is_good = CHECK_INT(open_store(), 0) && CHECK(!is_durable || holds_up_to(300));
        if (model.log != NULL) {
            model_close(&model);
        }
    }
    crash_os_free(crash);
    return is_good;
}

TEST_LIMIT(steps_a_mark_whose_flush_failed_is_flushed_before_use, 120)
{
    for (uint64_t seed = 1; seed <= test_scale(4); seed++) {
        for (uint64_t mark_call = 0; mark_call < 12; mark_call++) {
            for (uint64_t open_call = 0; open_call < 60; open_call++) {
                if (!mark_lost(seed, mark_call, open_call)) {
                    printf("seed %llu, mark call %llu, open call %llu\n", (unsigned long long)seed,
                           (unsigned long long)mark_call, (unsigned long long)open_call);
                    return;
                }
            }
        }
    }
}

/* What recovery cut off is gone from the file: no later damage of the seal that
 * stands there leads to it. */
TEST(steps_what_was_cut_off_is_no_more_to_be_found)
{
    enum { COUNT = 20, KEPT = 3 };
    struct model_state state;
    size_t size;
    crash = crash_os_new(test_seed());
    REQUIRE_INT(open_store(), 0);
    size_t start[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        start[i] = model.log->active == NULL ? KV_SEGMENT_HEADER : model.log->active->used;
        REQUIRE_INT(model_put(&model, i, i + 1, 2000), 0);
    }
    die();
    uint8_t *file = crash_os_file(crash, "00000.seg", &size);
    REQUIRE(file != NULL && size > start[COUNT - 1]);
    file[start[KEPT] + 500] ^= 1;
    REQUIRE_INT(open_store(), 0);
    size_t end = model.log->segments[0]->used;
    REQUIRE_INT(model_put(&model, COUNT, 99, 30), 0);
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
    die();
    file = crash_os_file(crash, "00000.seg", &size);
    REQUIRE(file != NULL && end <= size);
    file[end - KV_SEAL_SIZE + 4] ^= 1;
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK(model_read(&model, &state));
    CHECK_INT(state.version[0][COUNT], 99);
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_INT(state.version[0][i], i < KEPT ? i + 1 : 0);
    }
    model_close(&model);
    crash_os_free(crash);
}

/* A segment of another life that begins with just the next LSN is none of
 * ours. */
TEST(steps_a_segment_of_another_life_is_no_continuation)
{
    uint8_t stray[4096];
    size_t size;
    struct model_state state;
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(open_store(), 0);
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_INT(model_put(&model, i, i + 1, 30), 0);
    }
    model_close(&model);
    crash_os_kill(crash);
    struct crash_copy *copy = crash_os_copy(crash);
    REQUIRE_INT(open_store(), 0);
    REQUIRE_INT(model_put(&model, 5, 77, 30), 0);
    die();
    const uint8_t *file = crash_os_file(crash, "00001.seg", &size);
    REQUIRE(file != NULL && size <= sizeof stray);
    memcpy(stray, file, size);
    crash_os_restore(crash, copy);
    /* Another open, another incarnation; it writes nothing. */
    REQUIRE_INT(open_store(), 0);
    die();
    const kevy_os *os = crash_os_table(crash);
    int number = os->file_open(os->self, 0, "00001.seg", KEVY_OS_WRITE | KEVY_OS_CREATE);
    REQUIRE_INT(os->file_write(os->self, number, stray, size, 0), (int64_t)size);
    os->file_close(os->self, number);
    REQUIRE_INT(open_store(), 0);
    REQUIRE(model_read(&model, &state));
    CHECK_INT(state.version[0][5], 0);
    CHECK_INT(state.version[0][2], 3);
    CHECK(crash_os_file(crash, "00001.seg", &size) == NULL);
    model_close(&model);
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* A write breaks off, a later one goes over it, the power goes: whatever the
 * disk had of either, the one that failed is not there. */
TEST_LIMIT(steps_a_write_that_failed_never_comes_back, 120)
{
    for (uint64_t seed = 1; seed <= 1200; seed++) {
        struct model_state state;
        crash = crash_os_new(seed);
        crash_os_windows(crash, false);
        REQUIRE_INT(open_store(), 0);
        REQUIRE_INT(model_put(&model, 1, 1, 30), 0);
        REQUIRE_INT(kv_log_sync(model.log), 0);
        crash_os_fault(crash, CRASH_EIO, 0, 1);
        REQUIRE_INT(model_put(&model, 2, 2, 9), KEVY_EIO);
        for (uint32_t i = 0; i < 12; i++) {
            REQUIRE_INT(model_put(&model, 3, 3 + i, 700), 0);
        }
        crash_os_fault(crash, CRASH_DEAD, 0, 1);
        model_close(&model);
        crash_os_power_cut(crash);
        REQUIRE_INT(open_store(), 0);
        REQUIRE(model_read(&model, &state));
        bool is_good = CHECK_INT(state.version[0][2], 0) && CHECK_INT(state.version[0][1], 1);
        model_close(&model);
        crash_os_free(crash);
        if (!is_good) {
            printf("seed %llu\n", (unsigned long long)seed);
            break;
        }
    }
}
