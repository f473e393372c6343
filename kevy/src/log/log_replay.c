/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Replay: every kept record, in the order in which the log got them, goes to
 * the apply function of the one who opens.
 *
 * Up to the mark each record is checked here, and anything but an unbroken run
 * from header to seal is damage. Behind the mark log_tail.c has checked.
 *
 * Records of a namespace that no database has are passed over, and so is one
 * whose extent is gone: something newer superseded it, which is in the log.
 * Batches are no matter here: before the mark all are whole, behind it the end
 * was put where none is open.
 */
#include "kevy/src/log/log_inside.h"

/* ---- One record ---- */

/* Counts the record in and hands it on. The log's end is where it lies, so
 * that what it supersedes is known to die there. */
static int apply_one(struct kv_opening *opening, const struct kv_log_record *record)
{
    opening->report->replayed_commands += record->ref != 0;
    return opening->apply(opening->user, record);
}

static int apply_map(struct kv_opening *opening, struct kv_log_record *record)
{
    struct kv_namespaces map;
    if (record->lsn <= opening->map_lsn) {
        return KEVY_OK;
    }
    if (!kv_namespaces_decode(record->value, &map)) {
        return KEVY_ECORRUPT;
    }
    opening->map = map;
    opening->map_lsn = record->lsn;
    return apply_one(opening, record);
}

/* Namespace numbers are never used twice, whatever the map says. */
static void note_namespace(struct kv_opening *opening, uint32_t namespace_id)
{
    if (namespace_id >= opening->map.next && namespace_id != KV_NAMESPACE_LAST) {
        opening->map.next = namespace_id + 1;
    }
}

/* Hands on a record that has a key, or a map. */
static int apply_record(struct kv_opening *opening, struct kv_segment *segment,
                        const uint8_t *bytes, uint32_t ref, uint64_t lsn)
{
    struct kv_log *log = opening->log;
    struct kv_log_record record = {.type = (enum kv_record_type)kv_record_type(bytes),
                                   .namespace_id = kv_record_namespace(bytes),
                                   .expiry_ms = kv_record_expiry(bytes),
                                   .lsn = lsn,
                                   .ref = ref,
                                   .key = kv_record_key(&log->space, bytes),
                                   .value = kv_record_value(&log->space, bytes)};
    log->lsn_end = lsn;
    if (record.type == KV_RECORD_NAMESPACES) {
        return apply_map(opening, &record);
    }
    if (record.type == KV_RECORD_TOMBSTONE) {
        kv_tombstone_note(segment, bytes, lsn);
    }
    note_namespace(opening, record.namespace_id);
    if (!kv_namespaces_has(&opening->map, record.namespace_id)) {
        return KEVY_OK;
    }
    if (record.type != KV_RECORD_TOMBSTONE) {
        kv_revive(log, ref);
    }
    return apply_one(opening, &record);
}

/* Hands on the records of a batch that lies in an extent. */
static int apply_batch(struct kv_opening *opening, struct kv_segment *extent, const uint8_t *entry,
                       uint32_t entry_ref, uint64_t lsn)
{
    uint32_t count = kv_record_lsn_count(entry);
    size_t offset = KV_EXTENT_DATA, end = offset + kv_record_value_size(entry);
    struct kv_cursor cursor = {.base = extent->base};
    int status = KEVY_OK;
    for (uint32_t i = 0; status == KEVY_OK && i < count; i++) {
        const uint8_t *record = cursor.base + offset;
        if (end - offset < KV_RECORD_HEADER || kv_record_size(record) > end - offset ||
            !kv_record_is_plain(record)) {
            return KEVY_ECORRUPT;
        }
        uint32_t slot = extent->slot + (uint32_t)(offset / KV_SLOT_SIZE);
        status =
            apply_record(opening, extent, record, kv_ref_of(slot, offset % KV_SLOT_SIZE), lsn + i);
        offset += kv_record_size(record);
    }
    kv_batch_begin(opening->log, extent, entry_ref);
    return status;
}

static int apply_extent(struct kv_opening *opening, struct kv_segment *segment,
                        const uint8_t *bytes, uint32_t ref, uint64_t lsn)
{
    struct kv_segment *extent = kv_adopt_extent(opening->log, bytes, lsn);
    if (extent == NULL) {
        return KEVY_OK;
    }
    opening->report->replayed_bytes += extent->used;
    if (extent->last_lsn < lsn + kv_record_lsn_count(bytes) - 1) {
        extent->last_lsn = lsn + kv_record_lsn_count(bytes) - 1;
    }
    return kv_record_lsn_count(bytes) > 1 ? apply_batch(opening, extent, bytes, ref, lsn)
                                          : apply_record(opening, segment, bytes, ref, lsn);
}

/* ---- Segments ---- */

/* Replays a segment up to cursor->limit; *end is how the reading ended. */
static int replay_run(struct kv_opening *opening, struct kv_segment *segment,
                      struct kv_cursor *cursor, enum kv_step *end)
{
    const uint8_t *record;
    int status = KEVY_OK;
    while (status == KEVY_OK && (*end = kv_cursor_next(cursor, &record)) == KV_STEP_RECORD) {
        uint8_t type = kv_record_type(record);
        uint64_t lsn = cursor->lsn - kv_record_lsn_count(record);
        uint32_t ref = kv_ref_of(segment->slot, (size_t)(record - segment->base));
        opening->report->replayed_bytes += kv_record_size(record);
        if (type == KV_RECORD_EXTENT) {
            status = apply_extent(opening, segment, record, ref, lsn);
        } else if (type != KV_RECORD_COMMIT) {
            status = apply_record(opening, segment, record, ref, lsn);
        }
    }
    if (status != KEVY_OK) {
        return kv_fail_slot(opening, status, 0, segment->slot, cursor->offset,
                            "a record could not be applied");
    }
    return KEVY_OK;
}

static struct kv_cursor cursor_of(struct kv_opening *opening, const struct kv_segment *segment,
                                  size_t offset, size_t limit, uint64_t lsn)
{
    return (struct kv_cursor){.place = kv_file_place(opening->log, segment),
                              .base = segment->base,
                              .limit = limit,
                              .offset = offset,
                              .lsn = lsn};
}

/* A segment that lies before the mark, from header to seal; or the marked one
 * up to the marked place. */
static int replay_before(struct kv_opening *opening, struct kv_segment *segment, bool is_marked)
{
    size_t limit = is_marked ? opening->mark.durable_offset : segment->used;
    enum kv_step end = KV_STEP_END;
    struct kv_cursor cursor =
        cursor_of(opening, segment, KV_SEGMENT_HEADER, limit, segment->first_lsn);
    cursor.is_checked = true;
    int status = replay_run(opening, segment, &cursor, &end);
    if (status != KEVY_OK) {
        return status;
    }
    bool is_whole = is_marked
                        ? cursor.offset == limit && cursor.lsn == opening->mark.durable_lsn + 1
                        : end == KV_STEP_SEAL;
    if (!is_whole) {
        return kv_fail_slot(opening, KEVY_ECORRUPT, 0, segment->slot, cursor.offset,
                            "a record before the durable mark is damaged");
    }
    if (!is_marked) {
        segment->last_lsn = cursor.lsn - 1;
        kv_segment_shrink(opening->log, segment, segment->used - cursor.offset - KV_SEAL_SIZE);
    }
    return KEVY_OK;
}

static int replay_behind(struct kv_opening *opening, struct kv_segment *segment, size_t offset,
                         uint64_t lsn)
{
    enum kv_step end = KV_STEP_END;
    struct kv_cursor cursor = cursor_of(opening, segment, offset, segment->used, lsn);
    return replay_run(opening, segment, &cursor, &end);
}

int kv_replay(struct kv_opening *opening)
{
    uint8_t encoded[KV_NAMESPACES_SIZE];
    uint64_t lsn = opening->mark.durable_lsn + 1;
    opening->map = opening->mark.map;
    opening->map_lsn = opening->mark.map_lsn;
    kv_namespaces_encode(&opening->map, encoded);
    struct kv_log_record first = {.type = KV_RECORD_NAMESPACES,
                                  .lsn = opening->map_lsn,
                                  .value = bytes_of(encoded, sizeof encoded)};
    int status = apply_one(opening, &first);
    for (size_t i = 0; status == KEVY_OK && i < opening->order.count; i++) {
        struct kv_segment *segment = opening->order.at[i];
        bool is_marked = segment->slot == opening->mark.durable_slot;
        size_t offset = is_marked ? opening->tail_offset : KV_SEGMENT_HEADER;
        if (i < opening->tail_first || is_marked) {
            status = replay_before(opening, segment, is_marked);
        }
        if (status == KEVY_OK && i >= opening->tail_first) {
            status = replay_behind(opening, segment, offset, lsn);
            lsn = segment->last_lsn + 1;
        }
    }
    opening->log->lsn_end = opening->lsn;
    return status;
}
