/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The end of a log that a process or a machine left: cut at every byte,
 * flipped at every bit, filled with zeros, ending inside a batch. Whatever
 * comes: the longest whole prefix, an honest report, and a store that goes on
 * and is opened again.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/store/segment.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

#define FIRST_SEGMENT "00000.seg"

enum { RECORD_SIZE = 16 + 3 + 21 + 8 }; /* what a value of 21 bytes takes: 48 */

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

/* A log of `count` records of RECORD_SIZE bytes, key i version i + 1, left by
 * a process that died. */
static void make_log(uint32_t count)
{
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false); /* so that the file ends where the log does */
    REQUIRE_INT(open_store(), 0);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_INT(model_put(&model, i, i + 1, 21), 0);
    }
    die();
}

/* The store holds exactly the first `count` of those. */
static bool holds_prefix(uint32_t count)
{
    struct model_state state;
    bool is_good = model_read(&model, &state);
    for (uint32_t i = 0; i < MODEL_KEYS; i++) {
        is_good = is_good && state.version[0][i] == (i < count ? i + 1 : 0);
    }
    return is_good;
}

/* Opens, checks the prefix, writes one more, and finds both twice again. */
static bool goes_on_after(uint32_t count)
{
    struct model_state state;
    if (!CHECK_INT(open_store(), 0) || !CHECK(holds_prefix(count))) {
        return false;
    }
    REQUIRE_INT(model_put(&model, MODEL_KEYS - 1, 1000, 30), 0);
    die();
    for (int round = 0; round < 2; round++) {
        REQUIRE_INT(open_store(), 0);
        CHECK_INT(model.report.dropped_bytes, 0);
        REQUIRE(model_read(&model, &state));
        bool is_good = CHECK_INT(state.version[0][MODEL_KEYS - 1], 1000);
        for (uint32_t i = 0; i + 1 < MODEL_KEYS; i++) {
            is_good = is_good && state.version[0][i] == (i < count ? i + 1 : 0);
        }
        model_close(&model);
        if (!CHECK(is_good)) {
            return false;
        }
    }
    return true;
}

TEST(tail_cut_at_every_byte)
{
    size_t size;
    make_log(3);
    (void)crash_os_file(crash, FIRST_SEGMENT, &size);
    REQUIRE_INT(size, KV_SEGMENT_HEADER + 3 * RECORD_SIZE);
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t cut = 0; cut <= size; cut++) {
        crash_os_restore(crash, copy);
        crash_os_truncate(crash, FIRST_SEGMENT, cut);
        size_t body = cut < KV_SEGMENT_HEADER ? 0 : cut - KV_SEGMENT_HEADER;
        if (!goes_on_after((uint32_t)(body / RECORD_SIZE))) {
            printf("cut at %zu\n", cut);
            break;
        }
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}

TEST(tail_reports_what_it_cut)
{
    make_log(3);
    crash_os_truncate(crash, FIRST_SEGMENT, KV_SEGMENT_HEADER + 3 * RECORD_SIZE - 10);
    REQUIRE_INT(open_store(), 0);
    CHECK_INT(model.report.replayed_commands, 2);
    CHECK_INT(model.report.dropped_bytes, RECORD_SIZE - 10);
    CHECK_INT(model.report.corrupt, 0);
    model_close(&model);
    crash_os_free(crash);
}

static void put_bytes(size_t at, const void *bytes, size_t size)
{
    size_t file_size;
    const kevy_os *os = crash_os_table(crash);
    int file = os->file_open(os->self, 0, FIRST_SEGMENT, KEVY_OS_WRITE);
    (void)crash_os_file(crash, FIRST_SEGMENT, &file_size);
    REQUIRE(file >= 0);
    REQUIRE_INT(os->file_write(os->self, file, bytes, size, at == SIZE_MAX ? file_size : at),
                (int64_t)size);
    os->file_close(os->self, file);
}

TEST(tail_of_zeros)
{
    static const uint8_t zeros[9000] = {0};
    static const size_t sizes[] = {1, 12, 16, 48, 4096, 9000};
    make_log(3);
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        crash_os_restore(crash, copy);
        put_bytes(SIZE_MAX, zeros, sizes[i]);
        CHECK(goes_on_after(3));
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* Flips every bit of record `index` of three, the mark being before it. */
static void flip_each_bit(uint32_t index)
{
    make_log(3);
    struct crash_copy *copy = crash_os_copy(crash);
    size_t from = KV_SEGMENT_HEADER + index * RECORD_SIZE, size;
    for (size_t bit = 0; bit < (size_t)RECORD_SIZE * 8; bit++) {
        crash_os_restore(crash, copy);
        uint8_t *bytes = crash_os_file(crash, FIRST_SEGMENT, &size);
        bytes[from + bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!CHECK_INT(open_store(), 0)) {
            printf("bit %zu\n", bit);
            break;
        }
        CHECK(holds_prefix(index));
        CHECK(model.report.dropped_bytes > 0);
        model_close(&model);
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}

TEST(tail_with_any_bit_of_the_last_record_flipped)
{
    flip_each_bit(2);
}

TEST(tail_with_any_bit_of_the_second_last_record_flipped)
{
    flip_each_bit(1);
}

TEST(tail_inside_a_batch)
{
    struct model_change changes[3] = {{0, 4, 50, 21}, {0, 5, 51, 21}, {0, 1, 0, 21}};
    bool is_appended;
    size_t size;
    make_log(3);
    REQUIRE_INT(open_store(), 0);
    REQUIRE_INT(model_put(&model, 3, 4, 21), 0);
    REQUIRE_INT(model_write(&model, changes, 3, &is_appended), 0);
    die();
    (void)crash_os_file(crash, "00001.seg", &size);
    CHECK(size > KV_SEGMENT_HEADER + RECORD_SIZE + 3 * 32);
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t cut = KV_SEGMENT_HEADER + RECORD_SIZE; cut < size; cut++) {
        crash_os_restore(crash, copy);
        crash_os_truncate(crash, "00001.seg", cut);
        if (!goes_on_after(4)) {
            printf("cut at %zu of %zu\n", cut, size);
            break;
        }
    }
    crash_os_restore(crash, copy);
    struct model_state state;
    REQUIRE_INT(open_store(), 0);
    REQUIRE(model_read(&model, &state));
    CHECK_INT(state.version[0][4], 50);
    CHECK_INT(state.version[0][1], 0);
    model_close(&model);
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* A record of our own making where the log ends: the right form, but its check
 * belongs to another place. */
TEST(tail_a_record_from_elsewhere_is_no_record)
{
    size_t size;
    make_log(3);
    uint8_t record[RECORD_SIZE];
    memcpy(record, crash_os_file(crash, FIRST_SEGMENT, &size) + KV_SEGMENT_HEADER, sizeof record);
    put_bytes(SIZE_MAX, record, sizeof record);
    CHECK(goes_on_after(3));
    crash_os_free(crash);
}

/* ---- Before the mark ---- */

TEST(damage_that_nothing_can_mend_is_named_and_nothing_is_touched)
{
    size_t size;
    make_log(3);
    REQUIRE_INT(open_store(), 0);
    model_close(&model);
    struct crash_copy *copy = crash_os_copy(crash);
    crash_os_remove(crash, FIRST_SEGMENT);
    CHECK_INT(open_store(), KEVY_ECORRUPT);
    CHECK_STR(model.error.path, "store/" FIRST_SEGMENT);
    crash_os_restore(crash, copy);
    crash_os_remove(crash, "mark");
    CHECK_INT(open_store(), KEVY_ECORRUPT);
    CHECK_STR(model.error.path, "store/mark");
    CHECK(crash_os_file(crash, FIRST_SEGMENT, &size) != NULL);
    CHECK(crash_os_file(crash, "mark", &size) == NULL);
    crash_copy_free(copy);
    crash_os_free(crash);
}

TEST(damage_of_one_copy_of_the_mark_is_healed)
{
    size_t size;
    make_log(3);
    struct crash_copy *copy = crash_os_copy(crash);
    for (size_t at = 0; at < 3 * 4096; at += at % 4096 < 240 ? 3 : 500) {
        crash_os_restore(crash, copy);
        crash_os_file(crash, "mark", &size)[at] ^= 1;
        if (!CHECK_INT(open_store(), 0) || !CHECK(holds_prefix(3))) {
            printf("byte %zu\n", at);
            break;
        }
        model_close(&model);
        /* Everything is whole again: each other copy may go. */
        memset(crash_os_file(crash, "mark", &size) + 4096, 0, 4096);
        REQUIRE_INT(open_store(), 0);
        CHECK(holds_prefix(3));
        model_close(&model);
    }
    crash_os_restore(crash, copy);
    memset(crash_os_file(crash, "mark", &size) + 4096, 0, 8192);
    CHECK_INT(open_store(), KEVY_ECORRUPT);
    crash_os_restore(crash, copy);
    crash_os_truncate(crash, "mark", 0);
    CHECK_INT(open_store(), KEVY_ECORRUPT);
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* Values that look like our own files. */
TEST(data_that_looks_like_metadata)
{
    uint8_t bytes[4096];
    size_t size;
    make_log(3);
    REQUIRE_INT(open_store(), 0);
    model.takes_any_value = true;
    struct kv_journal *journal = kv_log_journal(model.log);
    for (uint32_t i = 0; i < 1024; i++) {
        const char *name = i % 2 == 0 ? "mark" : FIRST_SEGMENT;
        const uint8_t *file = crash_os_file(crash, name, &size);
        size = size < 400 ? size : 400;
        memcpy(bytes, file, size);
        struct kv_draft draft = {
            .type = KV_RECORD_VALUE, .key = BYTES_LITERAL("k05"), .value = bytes_of(bytes, size)};
        REQUIRE_INT(journal->append(journal->self, &draft, 1), 0);
        if (model.refs[0][5] != 0) {
            journal->retire(journal->self, model.refs[0][5]);
        }
        model.refs[0][5] = draft.ref;
    }
    struct kv_draft gone = {.type = KV_RECORD_TOMBSTONE, .key = BYTES_LITERAL("k05")};
    REQUIRE_INT(journal->append(journal->self, &gone, 1), 0);
    journal->retire(journal->self, model.refs[0][5]);
    die();
    CHECK(goes_on_after(3));
    crash_os_free(crash);
}
