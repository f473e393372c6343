/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Finding out what the damaged header of a log segment said.
 *
 * Its records' checks mix in a key that comes from an incarnation and a number.
 * An incarnation is told by each stamp in the segment, by the mark and by the
 * other segments; numbers count up from 0. So they are tried until the stamp's
 * 64-bit check, or that of the first record and then of the second, holds. The
 * LSN is told by a stamp or the seal, less the records before it.
 */
#include "kevy/src/log/log_salvage.h"

/* Segments that one life of a store makes, as far as is tried. */
enum { MEND_NUMBERS = 1 << 16 };

/* A segment of which the key is sought. */
struct mend {
    struct kv_salvage *salvage;
    struct kv_segment *segment; /* mapped, with a key that is not its own */
    struct kv_cursor cursor;    /* on a stamp, or on the first record */
    bool has_stamp;
};

static bool key_fits(struct mend *mend, uint64_t incarnation, uint32_t number)
{
    struct kv_cursor *cursor = &mend->cursor;
    const uint8_t *record = cursor->base + cursor->offset;
    const struct kv_check *check = cursor->place.check;
    cursor->place.incarnation = incarnation;
    cursor->place.segment_key = kv_check_segment(check, incarnation, number);
    if (mend->has_stamp) {
        return kv_cursor_has_stamp(cursor);
    }
    size_t next = cursor->offset + kv_record_size(record);
    return kv_check_holds(check, cursor->place.segment_key, cursor->offset, record) &&
           kv_record_form(&cursor->place, cursor->base, cursor->limit, next) != 0 &&
           kv_check_holds(check, cursor->place.segment_key, next, cursor->base + next);
}

static bool try_incarnation(struct mend *mend, uint64_t incarnation, struct kv_segment_header *out)
{
    for (uint32_t number = 0; number < MEND_NUMBERS; number++) {
        if (key_fits(mend, incarnation, number)) {
            out->incarnation = incarnation;
            out->number = number;
            return true;
        }
    }
    return false;
}

/* Moves the cursor to the next place that has the form of a stamp. */
static bool stamp_form_next(struct kv_cursor *cursor, size_t offset)
{
    for (; offset < cursor->limit; offset += KV_GRANULE) {
        if (kv_record_form(&cursor->place, cursor->base, cursor->limit, offset) == KV_STAMP_SIZE &&
            kv_record_type(cursor->base + offset) == KV_RECORD_STAMP) {
            cursor->offset = offset;
            return true;
        }
    }
    return false;
}

/* What is left of the header may be right; else each incarnation that is known
 * may be. */
static bool key_find(struct mend *mend, struct kv_segment_header *out)
{
    const struct kv_salvage *salvage = mend->salvage;
    const uint8_t *head = mend->segment->base;
    if (key_fits(mend, load_u64(head + 40), load_u32(head + 36))) {
        out->incarnation = load_u64(head + 40);
        out->number = load_u32(head + 36);
        return true;
    }
    if (mend->has_stamp) {
        return try_incarnation(
            mend, load_u64(mend->cursor.base + mend->cursor.offset + KV_RECORD_HEADER + 8), out);
    }
    if (salvage->has_mark && try_incarnation(mend, salvage->mark.incarnation, out)) {
        return true;
    }
    uint64_t last = salvage->mark.incarnation;
    for (size_t i = 0; i < salvage->relics.count; i++) {
        const struct kv_relic *relic = &salvage->relics.at[i];
        if (relic->is_good && relic->header.incarnation != last) {
            last = relic->header.incarnation;
            if (try_incarnation(mend, last, out)) {
                return true;
            }
        }
    }
    return false;
}

static struct kv_cursor cursor_at(const struct mend *mend, size_t offset)
{
    return (struct kv_cursor){.place = kv_file_place(mend->salvage->opening->log, mend->segment),
                              .base = mend->segment->base,
                              .limit = mend->segment->used,
                              .offset = offset,
                              .lsn = 1,
                              .is_checked = true};
}

/* Looks for a stamp that tells the key, then tries by the first records. */
static bool key_of_any(struct mend *mend, struct kv_segment_header *out)
{
    mend->has_stamp = true;
    mend->cursor = cursor_at(mend, KV_SEGMENT_HEADER);
    for (size_t from = KV_SEGMENT_HEADER, tries = 0;
         tries < 8 && stamp_form_next(&mend->cursor, from);
         from = mend->cursor.offset + KV_GRANULE, tries++) {
        if (key_find(mend, out)) {
            return true;
        }
    }
    mend->has_stamp = false;
    mend->cursor = cursor_at(mend, KV_SEGMENT_HEADER);
    return kv_record_form(&mend->cursor.place, mend->cursor.base, mend->cursor.limit,
                          KV_SEGMENT_HEADER) != 0 &&
           key_find(mend, out);
}

/* Says whether a stamp or a seal lies under the cursor. */
static bool tells_lsn(const struct kv_cursor *cursor)
{
    const uint8_t *record = cursor->base + cursor->offset;
    const struct kv_place *place = &cursor->place;
    return kv_record_form(place, cursor->base, cursor->limit, cursor->offset) != 0 &&
           kv_check_holds(place->check, place->segment_key, cursor->offset, record) &&
           (kv_record_type(record) == KV_RECORD_STAMP || kv_record_type(record) == KV_RECORD_SEAL);
}

uint64_t kv_relic_number(struct kv_cursor cursor, uint64_t otherwise)
{
    const uint8_t *record;
    uint64_t told = otherwise;
    cursor.lsn = 0;
    while (kv_cursor_next(&cursor, &record) == KV_STEP_RECORD) {
    }
    if (tells_lsn(&cursor)) {
        told = load_u64(cursor.base + cursor.offset + KV_RECORD_HEADER);
    }
    return told > cursor.lsn ? told - cursor.lsn : 1;
}

/* The key is known. A segment that nothing numbers is read as the oldest. */
static uint64_t first_lsn_of(const struct mend *mend)
{
    struct kv_cursor cursor = cursor_at(mend, KV_SEGMENT_HEADER), next;
    cursor.place = mend->cursor.place;
    next = cursor;
    bool has_stamp = kv_cursor_resume(&next, KV_SEGMENT_HEADER);
    return kv_relic_number(cursor, has_stamp ? next.lsn : 1);
}

int kv_relic_mend(struct kv_salvage *salvage, const struct kv_relic *relic,
                  struct kv_segment_header *out)
{
    struct mend mend = {.salvage = salvage};
    struct kv_segment_header header = {
        .kind = KV_SEGMENT_LOG, .slot = relic->slot, .slot_count = 1, .first_lsn = 1};
    if (relic->size <= KV_SEGMENT_HEADER || salvage->opening->log->files->check.is_blind) {
        return 0;
    }
    int status = kv_relic_map(salvage, relic, &header, &mend.segment);
    if (status != KEVY_OK) {
        return status;
    }
    bool is_found = key_of_any(&mend, &header);
    if (is_found) {
        header.first_lsn = first_lsn_of(&mend);
        *out = header;
    }
    kv_file_free(salvage->opening->log, mend.segment);
    return is_found;
}
