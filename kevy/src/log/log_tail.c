/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How far the log goes on behind the mark: from the marked place through the
 * records of that segment, then through segments of the mark's incarnation,
 * each of which begins with the next LSN, up to the first gap.
 *
 * A gap is a record that is not valid, an extent that is missing or whose
 * bytes are not those that its record tells, or a batch without its commit
 * record: then the end lies before the batch. Where a segment has no seal,
 * but another begins with the next LSN, there is none: the seal was lost, no
 * record was.
 *
 * Every segment that holds kept records gets `used` and `last_lsn` set to its
 * end without the seal; extents that the kept records name are entered.
 */
#include "kevy/src/log/log_opening.h"

/* A walk through one segment, and the last place where the log may end. */
struct walk {
    struct kv_opening *opening;
    struct kv_segment *segment;
    struct kv_cursor cursor;
    size_t kept_offset;
    uint64_t kept_lsn;
    uint32_t batch_id; /* of the batch that the cursor is in, 0 none */
    uint32_t batch_count;
};

/* Takes a segment out of those that were found. */
static void found_remove(struct kv_segments *list, size_t index)
{
    list->at[index] = list->at[--list->count];
}

/* Says whether the slots of a segment are free, and makes room for them. */
static bool slots_are_free(struct kv_log *log, const struct kv_segment *segment)
{
    if (kv_segment_reserve(log, segment->slot + segment->slot_count) != KEVY_OK) {
        return false;
    }
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        if (log->segments[segment->slot + i] != NULL) {
            return false;
        }
    }
    return true;
}

/* Enters the extent that a record behind the mark names, if it was found. */
static struct kv_segment *extent_enter(struct kv_opening *opening, const uint8_t *record,
                                       uint64_t lsn)
{
    struct kv_log *log = opening->log;
    uint32_t slot = kv_record_extent(record).slot;
    struct kv_segment *extent = kv_adopt_extent(log, record, lsn);
    for (size_t i = 0; extent == NULL && i < opening->found.count; i++) {
        struct kv_segment *found = opening->found.at[i];
        if (found->slot != slot || found->kind != KV_SEGMENT_EXTENT ||
            !slots_are_free(log, found) || kv_segments_add(log, &opening->tail, found) != KEVY_OK) {
            continue;
        }
        found_remove(&opening->found, i);
        kv_segment_enter(log, found);
        extent = kv_adopt_extent(log, record, lsn);
    }
    return extent;
}

static bool extent_holds(struct walk *walk, const uint8_t *record)
{
    const struct kv_log *log = walk->opening->log;
    uint64_t lsn = walk->cursor.lsn - kv_record_lsn_count(record);
    struct kv_segment *extent = extent_enter(walk->opening, record, lsn);
    if (extent == NULL) {
        return false;
    }
    if (extent->is_flushed) {
        return true;
    }
    size_t payload = (size_t)kv_record_key_size(record) + kv_record_value_size(record);
    if (kv_record_extent(record).check !=
        kv_check_extent(&log->files->check, extent->base + KV_EXTENT_DATA, payload)) {
        return false;
    }
    kv_segment_shrink(walk->opening->log, extent, extent->used - KV_EXTENT_DATA - payload);
    extent->last_lsn = walk->cursor.lsn - 1;
    return true;
}

/* Takes a record in; false: the log ends before it. */
static bool walk_record(struct walk *walk, const uint8_t *record)
{
    uint32_t batch_id = kv_record_batch(record);
    bool is_commit = kv_record_type(record) == KV_RECORD_COMMIT;
    if (kv_record_type(record) == KV_RECORD_EXTENT && !extent_holds(walk, record)) {
        return false;
    }
    if (walk->batch_id == 0 && !is_commit) {
        walk->batch_id = batch_id;
        walk->batch_count = 1;
    } else if (walk->batch_id != batch_id || batch_id == 0) {
        return false;
    } else if (is_commit) {
        const uint8_t *body = kv_record_body(record);
        walk->batch_id = 0;
        if (load_u32(body) != walk->batch_count) {
            return false;
        }
    } else {
        walk->batch_count++;
    }
    if (walk->batch_id == 0) {
        walk->kept_offset = walk->cursor.offset;
        walk->kept_lsn = walk->cursor.lsn - 1;
    }
    return true;
}

/* Walks one segment from `offset`; true: the log may go on in another one. */
static bool walk_segment(struct walk *walk, struct kv_segment *segment, size_t offset)
{
    const uint8_t *record;
    enum kv_step step;
    walk->segment = segment;
    walk->cursor = (struct kv_cursor){.place = kv_file_place(walk->opening->log, segment),
                                      .base = segment->base,
                                      .limit = segment->used,
                                      .offset = offset,
                                      .lsn = walk->kept_lsn + 1,
                                      .is_checked = true};
    walk->kept_offset = offset;
    walk->batch_id = 0;
    while ((step = kv_cursor_next(&walk->cursor, &record)) == KV_STEP_RECORD) {
        if (!walk_record(walk, record)) {
            return false;
        }
    }
    return walk->batch_id == 0;
}

/* Bytes from `offset` on up to the last one that is not zero: room that was
 * given to the file ahead of its time holds nothing. */
static size_t bytes_held(const struct kv_segment *segment, size_t offset)
{
    size_t end = segment->used;
    while (end > offset && segment->base[end - 1] == 0) {
        end--;
    }
    return end - offset;
}

/* The walk through a segment is over: what lies behind its end is dropped. */
static void segment_cut(struct walk *walk, bool is_last)
{
    struct kv_segment *segment = walk->segment;
    size_t behind = segment->used - walk->kept_offset;
    size_t held = bytes_held(segment, walk->kept_offset);
    bool is_seal = walk->cursor.offset == walk->kept_offset && behind >= KV_SEAL_SIZE &&
                   held <= KV_SEAL_SIZE &&
                   kv_record_type(segment->base + walk->kept_offset) == KV_RECORD_SEAL;
    if (is_last && !is_seal) {
        walk->opening->report->dropped_bytes += held;
    }
    kv_segment_shrink(walk->opening->log, segment, behind);
    segment->last_lsn = walk->kept_lsn;
}

/* Takes the log segment that begins with `lsn` out of those found, or NULL.
 * Of two, the one that was made later: the other was given up unused. */
static struct kv_segment *segment_next(struct kv_opening *opening, uint64_t lsn)
{
    struct kv_segments *found = &opening->found;
    size_t best = found->count;
    for (size_t i = 0; i < found->count; i++) {
        const struct kv_segment *segment = found->at[i];
        if (segment->kind == KV_SEGMENT_LOG && segment->first_lsn == lsn &&
            (best == found->count || segment->number > found->at[best]->number)) {
            best = i;
        }
    }
    if (best == found->count || !slots_are_free(opening->log, found->at[best])) {
        return NULL;
    }
    struct kv_segment *segment = found->at[best];
    found_remove(found, best);
    return segment;
}

/* Bytes of the segments that the log does not lead to. */
static void count_dropped(struct kv_opening *opening)
{
    for (size_t i = 0; i < opening->found.count; i++) {
        const struct kv_segment *segment = opening->found.at[i];
        if (segment->kind == KV_SEGMENT_LOG) {
            opening->report->dropped_bytes += bytes_held(segment, KV_SEGMENT_HEADER);
        }
    }
}

/* The segment in which the mark lies; NULL when there is none, or when it is
 * damaged such that it ends before the marked place. */
static struct kv_segment *marked_segment(const struct kv_opening *opening)
{
    const struct kv_segments *order = &opening->order;
    struct kv_segment *last = order->count == 0 ? NULL : order->at[order->count - 1];
    return last != NULL && last->slot == opening->mark.durable_slot &&
                   last->used >= opening->mark.durable_offset
               ? last
               : NULL;
}

int kv_tail_measure(struct kv_opening *opening)
{
    struct kv_segments *order = &opening->order;
    struct walk walk = {.opening = opening, .kept_lsn = opening->mark.durable_lsn};
    bool goes_on = true;
    struct kv_segment *marked = marked_segment(opening);
    opening->tail_first = order->count;
    opening->tail_offset = opening->mark.durable_offset;
    if (marked != NULL) {
        opening->tail_first = order->count - 1;
        goes_on = walk_segment(&walk, marked, opening->tail_offset);
    }
    while (goes_on) {
        struct kv_segment *next = segment_next(opening, walk.kept_lsn + 1);
        if (next == NULL) {
            break;
        }
        struct walk before = walk;
        kv_segment_enter(opening->log, next);
        goes_on = walk_segment(&walk, next, KV_SEGMENT_HEADER);
        if (walk.kept_lsn < next->first_lsn) {
            /* Not one record: as if it had not been there. */
            kv_segment_leave(opening->log, next);
            if (kv_segments_add(opening->log, &opening->found, next) != KEVY_OK) {
                kv_file_free(opening->log, next);
            }
            walk = before;
            break;
        }
        if (before.segment != NULL) {
            segment_cut(&before, false);
        }
        if (kv_segments_add(opening->log, order, next) != KEVY_OK) {
            return kv_fail(opening, KEVY_ENOMEM, 0, "", 0, "no memory to open the store");
        }
    }
    if (walk.segment != NULL) {
        segment_cut(&walk, true);
    }
    count_dropped(opening);
    opening->lsn = walk.kept_lsn;
    return KEVY_OK;
}
