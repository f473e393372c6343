/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading a segment record by record; see segment.h.
 *
 * Every byte may be anything: first the form of a record is judged from its
 * header, then its check, then what its type demands. Nothing at or behind
 * the limit is touched.
 */
#include "base/assert.h"
#include "kevy/src/store/namespaces.h"
#include "kevy/src/store/segment.h"

/* Key and value of a record together stay far below 2^32. */
#define READ_PART_MAX ((uint32_t)1 << 30)

/* What a type demands of sizes and flags. */
static bool form_fits_type(const uint8_t *record)
{
    uint32_t key_size = kv_record_key_size(record), value_size = kv_record_value_size(record);
    uint8_t flags = kv_record_flags(record);
    switch ((enum kv_record_type)kv_record_type(record)) {
    case KV_RECORD_VALUE:
        return key_size <= READ_PART_MAX && value_size <= READ_PART_MAX;
    case KV_RECORD_TOMBSTONE:
        return key_size <= READ_PART_MAX && value_size == 0 && (flags & KV_HAS_EXPIRY) == 0;
    case KV_RECORD_NAMESPACES:
        return key_size == 0 && value_size == KV_NAMESPACES_SIZE;
    case KV_RECORD_COMMIT:
        return key_size == 0 && value_size == 4 && flags == KV_HAS_BATCH;
    case KV_RECORD_EXTENT:
        return key_size <= READ_PART_MAX && value_size <= READ_PART_MAX;
    case KV_RECORD_SEAL:
        return key_size == 0 && value_size == 8 && flags == 0;
    case KV_RECORD_STAMP:
        return key_size == 0 && value_size == 24 && flags == 0;
    case KV_RECORD_PAD:
        return key_size == 0 && value_size <= KV_SLOT_SIZE && flags == 0;
    }
    return false;
}

static bool head_is_valid(const uint8_t *record)
{
    return (kv_record_flags(record) & ~KV_RECORD_FLAGS) == 0 && load_u16(record + 14) == 0 &&
           form_fits_type(record);
}

const uint8_t *kv_batch_next(const uint8_t *base, size_t *offset, size_t end)
{
    const uint8_t *record = base + *offset;
    size_t left = end - *offset;
    if (left < KV_RECORD_HEADER || !head_is_valid(record) ||
        kv_record_type(record) > KV_RECORD_NAMESPACES || kv_record_size(record) > left) {
        return NULL;
    }
    *offset += kv_record_size(record);
    return record;
}

size_t kv_record_form(const struct kv_place *place, const uint8_t *base, size_t limit,
                      size_t offset)
{
    const uint8_t *record = base + offset;
    if (offset >= limit || limit - offset < KV_RECORD_HEADER || offset % KV_GRANULE != 0) {
        return 0;
    }
    if (!head_is_valid(record)) {
        return 0;
    }
    size_t size = kv_record_size(record), half = place->segment_size / KV_SEGMENT_HALVES;
    size_t half_end = (offset / half + 1) * half;
    bool is_pad = kv_record_type(record) == KV_RECORD_PAD;
    if (size > half_end - offset || (is_pad && size != half_end - offset)) {
        return 0;
    }
    return !is_pad && size > limit - offset ? 0 : size;
}

bool kv_cursor_has_stamp(const struct kv_cursor *cursor)
{
    const uint8_t *body = cursor->base + cursor->offset + KV_RECORD_HEADER;
    uint64_t seed = cursor->place.segment_key ^ cursor->offset;
    return load_u64(body + 8) == cursor->place.incarnation &&
           (load_u64(body + 16) == hash_bytes(body, 16, seed) || cursor->place.check->is_blind);
}

static bool extent_ref_is_valid(const uint8_t *record)
{
    struct kv_extent_ref place = kv_record_extent(record);
    return place.slot < KV_SLOT_COUNT && place.slot_count >= 1 &&
           place.slot_count <= KV_SLOT_COUNT - place.slot && place.lsn_count >= 1;
}

/* Judges what lies under the cursor and returns its size, 0: nothing valid. */
static size_t cursor_record(const struct kv_cursor *cursor)
{
    const uint8_t *record = cursor->base + cursor->offset;
    size_t size = kv_record_form(&cursor->place, cursor->base, cursor->limit, cursor->offset);
    if (size == 0 ||
        (cursor->is_checked &&
         !kv_check_holds(cursor->place.check, cursor->place.segment_key, cursor->offset, record))) {
        return 0;
    }
    return size;
}

enum kv_step kv_cursor_next(struct kv_cursor *cursor, const uint8_t **out)
{
    size_t size;
    while ((size = cursor_record(cursor)) != 0) {
        const uint8_t *record = cursor->base + cursor->offset;
        uint8_t type = kv_record_type(record);
        if (type == KV_RECORD_SEAL) {
            return load_u64(record + KV_RECORD_HEADER) == cursor->lsn ? KV_STEP_SEAL : KV_STEP_END;
        }
        if (type == KV_RECORD_STAMP) {
            if (!kv_cursor_has_stamp(cursor) ||
                load_u64(record + KV_RECORD_HEADER) != cursor->lsn) {
                return KV_STEP_END;
            }
        } else if (type != KV_RECORD_PAD) {
            if (type == KV_RECORD_EXTENT && !extent_ref_is_valid(record)) {
                return KV_STEP_END;
            }
            cursor->offset += size;
            cursor->lsn += kv_record_lsn_count(record);
            *out = record;
            return KV_STEP_RECORD;
        }
        cursor->offset += size;
    }
    return KV_STEP_END;
}

bool kv_cursor_resume(struct kv_cursor *cursor, size_t offset)
{
    size_t from = cursor->offset;
    for (offset = kv_granules_round(offset); offset < cursor->limit; offset += KV_GRANULE) {
        cursor->offset = offset;
        const uint8_t *record = cursor->base + offset;
        if (cursor->limit - offset >= KV_STAMP_SIZE && kv_record_type(record) == KV_RECORD_STAMP &&
            cursor_record(cursor) != 0 && kv_cursor_has_stamp(cursor)) {
            cursor->lsn = load_u64(record + KV_RECORD_HEADER);
            return true;
        }
    }
    cursor->offset = from;
    return false;
}
