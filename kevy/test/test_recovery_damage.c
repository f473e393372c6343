/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Damage before the durable mark: the range goes beside the log, what lies
 * behind it is kept, the report says so once, and the store is whole again.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/store/segment.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

#define FIRST_SEGMENT "00000.seg"

/* Records of 400 bytes, so that a stamp lies between every two or three. */
enum { VALUE_SIZE = 368, RECORDS = 100 };

static struct crash_os *crash;
static struct model model;

static int open_store(void)
{
    return model_open(&model, crash_os_table(crash), "store", KEVY_FSYNC_NO);
}

/* Version i + 1 of key i modulo MODEL_KEYS, all of it before the mark. */
static void make_store(void)
{
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(open_store(), 0);
    for (uint64_t i = 0; i < RECORDS; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)(i % MODEL_KEYS), i + 1, VALUE_SIZE), 0);
    }
    model_close(&model);
}

/* How many keys hold their newest version, and whether each holds a version
 * that was written for it. */
static uint32_t count_newest(void)
{
    struct model_state state;
    uint32_t count = 0;
    CHECK(model_read(&model, &state));
    for (uint32_t key = 0; key < MODEL_KEYS; key++) {
        uint64_t newest = RECORDS - (RECORDS - 1 - key) % MODEL_KEYS, seen = state.version[0][key];
        CHECK(seen != 0 && (seen - 1) % MODEL_KEYS == key);
        count += seen == newest;
    }
    return count;
}

static size_t bad_size(void)
{
    size_t size, all = 0;
    char name[32];
    for (unsigned at = 0; at < 65536; at++) {
        (void)snprintf(name, sizeof name, "00000-%08x.bad", at);
        if (crash_os_file(crash, name, &size) != NULL) {
            all += size;
        }
    }
    return all;
}

static void one_damage(const struct crash_copy *copy, size_t at, size_t size)
{
    size_t file_size;
    crash_os_restore(crash, copy);
    uint8_t *bytes = crash_os_file(crash, FIRST_SEGMENT, &file_size);
    for (size_t i = at; i < at + size && i < file_size; i++) {
        bytes[i] ^= 0x55;
    }
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK(model.report.quarantine_count >= 1);
    CHECK(model.report.dropped_bytes > 0);
    CHECK(count_newest() >= MODEL_KEYS - 4 - size / 400 - 1);
    CHECK(kv_log_verify(model.log));
    CHECK_INT(bad_size(), model.report.dropped_bytes);
    REQUIRE_INT(model_put(&model, 3, 1000 * MODEL_KEYS + 4, 20), 0);
    model_close(&model);
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 0);
    CHECK_INT(model.report.dropped_bytes, 0);
    CHECK(kv_log_verify(model.log));
    model_close(&model);
}

TEST(damage_of_a_few_bytes_costs_a_few_records)
{
    make_store();
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t at = KV_SEGMENT_HEADER; at < 40000; at += 1237) {
        one_damage(copy, at, 3);
    }
    one_damage(copy, 20000, 4096);
    crash_copy_free(copy);
    crash_os_free(crash);
}

TEST(damage_of_a_header_puts_the_segment_aside)
{
    size_t size;
    make_store();
    crash_os_file(crash, FIRST_SEGMENT, &size)[20] ^= 1;
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK_INT(model.report.quarantine_count, 1);
    CHECK_INT(model.report.dropped_bytes, size);
    CHECK_INT(bad_size(), size);
    REQUIRE_INT(model_put(&model, 3, 77, 20), 0);
    model_close(&model);
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 0);
    CHECK_INT(model.report.replayed_commands, 1);
    model_close(&model);
    crash_os_free(crash);
}

TEST(damage_that_cuts_a_segment_short)
{
    make_store();
    crash_os_truncate(crash, FIRST_SEGMENT, 20000);
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    struct model_state state;
    CHECK(model_read(&model, &state));
    CHECK(state.version[0][0] != 0);
    model_close(&model);
    crash_os_free(crash);
}

/* A batch that is damaged in any part is dropped whole. */
TEST(damage_drops_whole_batches)
{
    struct model_change changes[12];
    bool is_appended;
    size_t size;
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(open_store(), 0);
    REQUIRE_INT(model_put(&model, 20, 1, 20), 0);
    size_t from = 0, to = 0;
    for (uint32_t i = 0; i < 12; i++) {
        changes[i] = (struct model_change){0, i, 100 + i, 250};
    }
    REQUIRE_INT(kv_log_sync(model.log), 0);
    (void)crash_os_file(crash, FIRST_SEGMENT, &from);
    REQUIRE_INT(model_write(&model, changes, 12, &is_appended), 0);
    (void)crash_os_file(crash, FIRST_SEGMENT, &to);
    for (uint64_t i = 0; i < 8; i++) {
        REQUIRE_INT(model_put(&model, 21, 500 + i, 400), 0);
    }
    model_close(&model);
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t at = from + 5; at < to; at += 97) {
        struct model_state state;
        crash_os_restore(crash, copy);
        crash_os_file(crash, FIRST_SEGMENT, &size)[at] ^= 2;
        REQUIRE_INT(open_store(), 0);
        CHECK_INT(model.report.corrupt, 1);
        CHECK(model_read(&model, &state));
        for (uint32_t i = 0; i < 12; i++) {
            CHECK_INT(state.version[0][i], 0);
        }
        CHECK_INT(state.version[0][20], 1);
        CHECK_INT(state.version[0][21], 507);
        model_close(&model);
        REQUIRE_INT(open_store(), 0);
        CHECK_INT(model.report.corrupt, 0);
        CHECK(model_read(&model, &state));
        CHECK_INT(state.version[0][0], 0);
        CHECK_INT(state.version[0][21], 507);
        model_close(&model);
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* ---- Large values ---- */

/* The name of the only extent's file. */
static const char *extent_name(void)
{
    static char name[32];
    struct kv_segment_header header;
    size_t size;
    for (unsigned slot = 0; slot < 64; slot++) {
        (void)snprintf(name, sizeof name, "%05x.seg", slot);
        const uint8_t *bytes = crash_os_file(crash, name, &size);
        if (bytes != NULL && size > KV_SEGMENT_HEADER && kv_segment_header_decode(bytes, &header) &&
            header.kind == KV_SEGMENT_EXTENT) {
            return name;
        }
    }
    REQUIRE(false && "there is an extent");
    return NULL;
}

/* Keys 0 to 2 in one write, of which key 1 has a file of its own; then key 5. All
 * of it before the mark. */
static void make_batch_with_extent(void)
{
    struct model_change changes[3] = {{0, 0, 100, 20}, {0, 1, 101, 5000}, {0, 2, 102, 20}};
    bool is_appended;
    crash = crash_os_new(test_seed());
    REQUIRE_INT(open_store(), 0);
    REQUIRE_INT(model_put(&model, 1, 25, 20), 0);
    REQUIRE_INT(model_write(&model, changes, 3, &is_appended), 0);
    REQUIRE_INT(model_put(&model, 5, 29, 20), 0);
    model_close(&model);
    crash_os_remove(crash, "index");
}

/* A batch is left out whole, whatever part of a value's file is gone; and that
 * is said. */
static void expect_batch_gone(void)
{
    struct model_state state;
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK(model_read(&model, &state));
    CHECK_INT(state.version[0][0], 0);
    CHECK_INT(state.version[0][1], 25);
    CHECK_INT(state.version[0][2], 0);
    CHECK_INT(state.version[0][5], 29);
    model_close(&model);
    crash_os_remove(crash, "index");
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 0);
    model_close(&model);
    crash_os_free(crash);
}

TEST(damage_of_a_large_values_header_takes_its_batch)
{
    size_t size;
    make_batch_with_extent();
    crash_os_file(crash, extent_name(), &size)[30] ^= 1;
    expect_batch_gone();
}

TEST(damage_that_cuts_a_large_value_short)
{
    make_batch_with_extent();
    crash_os_truncate(crash, extent_name(), 3000);
    expect_batch_gone();
}

TEST(damage_that_cuts_a_lone_large_value_short)
{
    struct model_state state;
    crash = crash_os_new(test_seed());
    REQUIRE_INT(open_store(), 0);
    REQUIRE_INT(model_put(&model, 1, 2, 5000), 0);
    model_close(&model);
    crash_os_remove(crash, "index");
    crash_os_truncate(crash, extent_name(), 3000);
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK_INT(model.report.quarantine_count, 1);
    CHECK(model_read(&model, &state));
    CHECK_INT(state.version[0][1], 0);
    model_close(&model);
    crash_os_free(crash);
}

/* ---- Damage in the segment that the mark lies in ---- */

/* What lies between the mark and the next stamp is kept, and moves on: an open
 * ends, and the next one finds a whole store. */
TEST(damage_before_the_mark_with_records_behind_it)
{
    struct model_state state;
    size_t size, before;
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(open_store(), 0);
    for (uint64_t i = 0; i < 20; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i + 1, 60), 0);
    }
    (void)crash_os_file(crash, FIRST_SEGMENT, &before);
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
    for (uint64_t i = 20; i < 24; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i + 1, 60), 0);
    }
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    model_close(&model);
    crash_os_kill(crash);
    crash_os_remove(crash, "index");
    crash_os_file(crash, FIRST_SEGMENT, &size)[before - 300] ^= 1;
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 1);
    CHECK(model_read(&model, &state));
    for (uint32_t key = 20; key < 24; key++) {
        CHECK_INT(state.version[0][key], key + 1);
    }
    CHECK(kv_log_verify(model.log));
    model_close(&model);
    crash_os_remove(crash, "index");
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.corrupt, 0);
    CHECK(model_read(&model, &state));
    CHECK_INT(state.version[0][23], 24);
    model_close(&model);
    crash_os_free(crash);
}
