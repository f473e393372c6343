/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Property: whatever bytes a segment holds, reading it stays inside them, ends,
 * and gives the same records each time; each record lies behind the one
 * before, with sizes that fit; looking for a stamp ends too. The same for a
 * mark: what is read is consistent, or refused.
 *
 * The first byte of the input chooses: bit 0, checks are filled in first, so
 * that what lies behind them is reached; bit 1, the input is a mark.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/store/mark.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kv_check checks = {
    .record_seed = 1, .segment_seed = 2, .extent_seed = 3, .key_seed = 4};

static struct kv_cursor cursor_over(const uint8_t *bytes, size_t size)
{
    return (struct kv_cursor){.place = {.check = &checks,
                                        .segment_key = 99,
                                        .incarnation = 7,
                                        .segment_size = KV_SEGMENT_SIZE_MIN},
                              .base = bytes,
                              .limit = size < KV_SEGMENT_SIZE_MIN ? size : KV_SEGMENT_SIZE_MIN,
                              .lsn = 1,
                              .is_checked = true};
}

static void require(int holds)
{
    if (!holds) {
        abort();
    }
}

/* Gives everything that has the form of a record the check that it needs. */
static void fill_in_checks(uint8_t *bytes, size_t size)
{
    struct kv_cursor cursor = cursor_over(bytes, size);
    size_t record_size;
    while ((record_size = kv_record_form(&cursor.place, bytes, cursor.limit, cursor.offset)) != 0) {
        if (record_size <= cursor.limit - cursor.offset) {
            kv_check_seal(&checks, cursor.place.segment_key, cursor.offset, bytes + cursor.offset);
        }
        cursor.offset += record_size;
    }
}

/* Reads to the end and on behind each stamp; returns how many records. */
static uint64_t walk(const uint8_t *bytes, size_t size)
{
    struct kv_cursor cursor = cursor_over(bytes, size);
    const uint8_t *record = NULL, *before = NULL;
    uint64_t count = 0;
    do {
        while (kv_cursor_next(&cursor, &record) == KV_STEP_RECORD) {
            size_t record_size = kv_record_size(record);
            require(record >= bytes && (size_t)(record - bytes) + record_size <= cursor.limit);
            require(before == NULL || record > before);
            require(kv_record_lsn_count(record) >= 1);
            before = record;
            count++;
        }
        before = NULL;
    } while (kv_cursor_resume(&cursor, cursor.offset + KV_GRANULE));
    return count;
}

static void read_mark(const uint8_t *bytes, size_t size)
{
    static struct kv_mark mark;
    struct kv_identity identity;
    bool is_whole = false;
    if (kv_mark_decode(bytes, size, &identity, &mark, &is_whole) == KV_MARK_OK) {
        uint8_t block[KV_MARK_BLOCK];
        kv_mark_slot_encode(&identity, &mark, block);
        require(mark.log_end <= mark.durable_lsn && mark.map_lsn <= mark.durable_lsn);
        require(memcmp(block, bytes + kv_mark_offset(mark.sequence), 64) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    uint8_t choice = data[0];
    uint8_t *bytes = malloc(size == 1 ? 1 : size - 1);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data + 1, size - 1);
    size--;
    if ((choice & 2) != 0) {
        read_mark(bytes, size);
    } else {
        if ((choice & 1) != 0) {
            fill_in_checks(bytes, size);
        }
        require(walk(bytes, size) == walk(bytes, size));
    }
    free(bytes);
    return 0;
}
