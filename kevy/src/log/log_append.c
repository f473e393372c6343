/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The journal of a file log: one append is one unit of bytes, laid out in
 * memory of our own and given to the kernel as a whole: stored through the
 * segment's window, or by one write (log_window.c).
 *
 *   unit   [stamp] record                           a single record
 *          [stamp] record … [stamp] record commit   a batch
 *
 * A unit lies in one half of one segment. One that does not fit into what is
 * left is preceded by a pad, or by a seal and a fresh segment. Nothing is
 * published before the write of the whole unit succeeded; a unit that failed
 * is overwritten by the next, and what may be left of it is no whole unit.
 *
 * Records over a sixteenth of a segment get an extent each, batches over that
 * one for all of them (log_extent.c).
 *
 * On a full disk what deletes, or moves to make room, goes on with what the
 * reserve held (log_reserve.c).
 *
 * A single small value mostly needs none of this: log_short.c.
 *
 * Threads: under the writer lock. Nothing is allocated here in the long run:
 * scratch memory grows to the largest unit.
 */
#include "kevy/src/log/log_inside.h"

int kv_scratch_reserve(struct kv_log *log, size_t size)
{
    struct kv_files *files = log->files;
    if (size <= files->scratch_size) {
        return KEVY_OK;
    }
    size = size < 4096 ? 4096 : size;
    uint8_t *grown = (uint8_t *)kv_mem_resize(log->mem, files->scratch, files->scratch_size, size);
    if (grown == NULL) {
        return KEVY_ENOMEM;
    }
    files->scratch = grown;
    files->scratch_size = size;
    return KEVY_OK;
}

/* ---- Room ---- */

/* Writes bytes behind the end of the active segment and counts them to it. */
static int active_write(struct kv_log *log, const uint8_t *bytes, size_t size, size_t grow)
{
    struct kv_segment *active = log->active;
    int status = kv_window_write(log, active, bytes, size, active->used);
    if (status == KEVY_OK) {
        kv_segment_grow(log, active, grow);
        kv_file_dirty(log, active);
    }
    return status;
}

/* A write that failed may have left a part behind the end of the active
 * segment, even all of a record but zeros: what comes next would be written
 * over it, but a power cut could bring it back and then give it those zeros.
 * So it is cut off, and that made durable, first. */
static int end_clean(struct kv_log *log)
{
    const kevy_os *os = log->os;
    int result = os->file_resize(os->self, log->active->file, log->active->used);
    if (result < 0) {
        return kv_file_status(result);
    }
    result = os->file_flush(os->self, log->active->file);
    if (result < 0) {
        kv_log_break(log, kv_file_status(result));
        return kv_file_status(result);
    }
    log->files->is_end_dirty = false;
    log->active->backed_size = 0;
    log->active->touched_size = 0;
    return KEVY_OK;
}

static int active_seal(struct kv_log *log)
{
    uint8_t seal[KV_SEAL_SIZE];
    struct kv_place place = kv_file_place(log, log->active);
    (void)kv_seal_encode(&place, log->active->used, log->lsn_end + 1, seal);
    int status = active_write(log, seal, sizeof seal, sizeof seal);
    log->active->is_sealed = status == KEVY_OK;
    return status;
}

int kv_active_renew(struct kv_log *log)
{
    uint8_t header[KV_SEGMENT_HEADER];
    struct kv_segment *fresh = kv_ahead_take(log);
    int status = KEVY_OK;
    if (fresh == NULL) {
        status = kv_file_create(log, KV_SEGMENT_LOG, log->segment_size, &fresh);
    }
    if (status != KEVY_OK) {
        return status;
    }
    kv_file_header(log, fresh, header);
    status = kv_file_write(log, fresh->file, header, sizeof header, 0);
    if (status == KEVY_OK && log->active != NULL) {
        status = active_seal(log);
    }
    if (status != KEVY_OK) {
        kv_extent_forget(log, fresh);
        return status;
    }
    log->active = fresh;
    kv_ahead_note(log);
    log->files->stamp_at = log->segment_size / KV_SEGMENT_STAMPS;
    return KEVY_OK;
}

/* Makes sure that `size` bytes fit behind the active segment's end. */
static int unit_room(struct kv_log *log, size_t size)
{
    size_t half = log->segment_size / KV_SEGMENT_HALVES;
    ASSERT(size + KV_SEGMENT_HEADER + KV_SEAL_SIZE <= half);
    if (log->active == NULL) {
        return kv_active_renew(log);
    }
    size_t at = log->active->used;
    size_t end = at < half ? half : log->segment_size - KV_SEAL_SIZE;
    if (at + size <= end) {
        return KEVY_OK;
    }
    if (at < half) {
        uint8_t pad[KV_RECORD_HEADER];
        struct kv_place place = kv_file_place(log, log->active);
        (void)kv_pad_encode(&place, at, half - at, pad);
        return active_write(log, pad, sizeof pad, half - at);
    }
    return kv_active_renew(log);
}

/* ---- A unit ---- */

struct unit {
    struct kv_log *log;
    struct kv_place place;
    uint8_t *bytes; /* the scratch memory */
    size_t start;   /* offset of its first byte in the active segment */
    size_t size;
    size_t stamp_at;
    uint64_t lsn; /* of the next record */
    uint32_t batch_id;
};

static size_t unit_at(const struct unit *unit)
{
    return unit->start + unit->size;
}

/* What the stamps of a unit can take at most; they push each other along. */
static size_t stamps_size_max(const struct kv_log *log, size_t size)
{
    return KV_STAMP_SIZE * (3 + size / (log->segment_size / KV_SEGMENT_STAMPS - KV_STAMP_SIZE));
}

static int unit_begin(struct kv_log *log, size_t size, uint32_t batch_id, struct unit *out)
{
    size_t size_max = size + stamps_size_max(log, size);
    int status = kv_scratch_reserve(log, size_max);
    if (status == KEVY_OK) {
        status = unit_room(log, size_max);
    }
    if (status != KEVY_OK) {
        return status;
    }
    *out = (struct unit){.log = log,
                         .place = kv_file_place(log, log->active),
                         .bytes = log->files->scratch,
                         .start = log->active->used,
                         .stamp_at = log->files->stamp_at,
                         .lsn = log->lsn_end + 1,
                         .batch_id = batch_id};
    return KEVY_OK;
}

/* Puts a stamp where one is due, and returns where the next record goes. */
static uint8_t *unit_next(struct unit *unit)
{
    size_t every = unit->log->segment_size / KV_SEGMENT_STAMPS, at = unit_at(unit);
    if (at >= unit->stamp_at) {
        unit->size += kv_stamp_encode(&unit->place, at, unit->lsn, unit->bytes + unit->size);
        unit->stamp_at = (at / every + 1) * every;
    }
    return unit->bytes + unit->size;
}

/* Takes in the record that was encoded at unit_next; returns its reference. */
static uint32_t unit_take(struct unit *unit, size_t size, uint32_t lsn_count)
{
    size_t at = unit_at(unit);
    kv_check_seal(unit->place.check, unit->place.segment_key, at, unit->bytes + unit->size);
    unit->size += size;
    unit->lsn += lsn_count;
    ASSERT(unit->size <= unit->log->files->scratch_size);
    return kv_ref_of(unit->log->active->slot, at);
}

static uint32_t unit_draft(struct unit *unit, const struct kv_draft *draft)
{
    kv_draft_encode(draft, unit->batch_id, unit_next(unit));
    return unit_take(unit, kv_draft_size(draft, unit->batch_id), 1);
}

static uint32_t unit_extent(struct unit *unit, const struct kv_draft *draft,
                            const struct kv_extent_ref *place)
{
    kv_extent_record_encode(draft, place, unit->batch_id, unit_next(unit));
    return unit_take(unit, kv_extent_record_size(draft, unit->batch_id), place->lsn_count);
}

static void unit_commit(struct unit *unit, size_t count)
{
    uint8_t *out = unit_next(unit);
    size_t size =
        kv_commit_encode(&unit->place, unit_at(unit), unit->batch_id, (uint32_t)count, out);
    unit->size += size;
    unit->lsn++;
}

/* Gives the unit to the kernel; if that succeeds it is part of the log. */
static int unit_write(struct unit *unit)
{
    struct kv_log *log = unit->log;
    int status = active_write(log, unit->bytes, unit->size, unit->size);
    if (status != KEVY_OK) {
        return status;
    }
    log->lsn_end = unit->lsn - 1;
    log->active->last_lsn = log->lsn_end;
    log->files->stamp_at = unit->stamp_at;
    log->files->end_slot = log->active->slot;
    log->files->end_offset = log->active->used;
    kv_pending_note(log, unit->size);
    return KEVY_OK;
}

/* ---- Appending ---- */

/* Says whether the draft needs an extent of its own. */
static bool draft_is_large(const struct kv_log *log, const struct kv_draft *draft, uint32_t batch)
{
    return draft->type == KV_RECORD_VALUE && draft->same_as == 0 &&
           kv_draft_size(draft, batch) > log->segment_size / KV_EXTENT_SHARE;
}

/* The unit is in the log: its records count. */
static void draft_publish(struct kv_log *log, const struct kv_draft *draft, uint64_t lsn)
{
    struct kv_segment *segment = kv_segment_of(log, draft->ref);
    if (draft->type == KV_RECORD_VALUE) {
        kv_revive(log, draft->ref);
    } else if (draft->type == KV_RECORD_TOMBSTONE) {
        kv_tombstone_note(segment, kv_space_record(&log->space, draft->ref), lsn);
    } else if (draft->type == KV_RECORD_NAMESPACES) {
        (void)kv_namespaces_decode(draft->value, &log->files->map);
        log->files->map_lsn = lsn;
    }
}

/* Encodes one draft; a large one goes to an extent first, whose slot is kept
 * in its ref until the unit is written. */
static int append_draft(struct unit *unit, struct kv_draft *draft)
{
    struct kv_extent_ref place;
    struct kv_segment *extent;
    if (draft->same_as != 0) {
        place = kv_record_extent(kv_space_record(&unit->log->space, draft->same_as));
        draft->ref = unit_extent(unit, draft, &place);
        return KEVY_OK;
    }
    if (!draft_is_large(unit->log, draft, unit->batch_id)) {
        draft->ref = unit_draft(unit, draft);
        return KEVY_OK;
    }
    int status = kv_extent_write(unit->log, draft, unit->lsn, &extent, &place);
    if (status == KEVY_OK) {
        draft->ref = unit_extent(unit, draft, &place);
        kv_pending_note(unit->log, extent->used);
    }
    return status;
}

/* Gives up the extents of the first `count` drafts of a unit that failed. */
static void append_undo(struct unit *unit, struct kv_draft *drafts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (draft_is_large(unit->log, &drafts[i], unit->batch_id)) {
            size_t at = kv_ref_offset(drafts[i].ref) - unit->start;
            struct kv_extent_ref place = kv_record_extent(unit->bytes + at);
            kv_extent_forget(unit->log, unit->log->segments[place.slot]);
        }
    }
}

static int append_unit(struct kv_log *log, struct kv_draft *drafts, size_t count, size_t size,
                       uint32_t batch_id)
{
    struct unit unit;
    size_t done = 0;
    int status = unit_begin(log, size, batch_id, &unit);
    if (status != KEVY_OK) {
        return status;
    }
    uint64_t lsn = unit.lsn;
    while (status == KEVY_OK && done < count) {
        status = append_draft(&unit, &drafts[done]);
        done += status == KEVY_OK;
    }
    if (status == KEVY_OK && batch_id != 0) {
        unit_commit(&unit, count);
    }
    if (status == KEVY_OK) {
        status = unit_write(&unit);
    }
    if (status != KEVY_OK) {
        append_undo(&unit, drafts, done);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        draft_publish(log, &drafts[i], lsn + i);
    }
    return KEVY_OK;
}

/* A batch too large for a segment. */
static int append_batch_extent(struct kv_log *log, struct kv_draft *drafts, size_t count)
{
    struct kv_draft entry = {.type = KV_RECORD_VALUE};
    struct kv_extent_ref place;
    struct kv_segment *extent;
    struct unit unit;
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += kv_draft_size(&drafts[i], 0);
    }
    if (size > KV_BATCH_SIZE_MAX) {
        return KEVY_ELIMIT;
    }
    entry.value.size = size;
    uint64_t lsn = log->lsn_end + 1;
    int status = kv_extent_write_batch(log, drafts, count, size, lsn, &extent, &place);
    if (status != KEVY_OK) {
        return status;
    }
    uint32_t entry_ref = 0;
    status = unit_begin(log, kv_extent_record_size(&entry, 0), 0, &unit);
    if (status == KEVY_OK) {
        entry_ref = unit_extent(&unit, &entry, &place);
        status = unit_write(&unit);
    }
    if (status != KEVY_OK) {
        kv_extent_forget(log, extent);
        return status;
    }
    kv_pending_note(log, extent->used);
    for (size_t i = 0; i < count; i++) {
        draft_publish(log, &drafts[i], lsn + i);
    }
    kv_batch_begin(log, extent, entry_ref);
    return KEVY_OK;
}

static int append_once(struct kv_log *log, struct kv_draft *drafts, size_t count, uint32_t id_bits)
{
    struct kv_files *files = log->files;
    int error = atomic_load_explicit(&files->error, memory_order_relaxed);
    size_t size = 0;
    if (error == KEVY_OK && files->is_end_dirty) {
        error = end_clean(log);
    }
    if (error != KEVY_OK) {
        return error;
    }
    uint32_t batch_id = 0;
    if (count > 1) {
        files->batch_id = files->batch_id + 1 == KV_BATCH_MOVED ? 1 : files->batch_id + 1;
        batch_id = files->batch_id | id_bits;
        size = KV_COMMIT_SIZE;
    }
    for (size_t i = 0; i < count; i++) {
        if (drafts[i].key.size > KEVY_SIZE_MAX || drafts[i].value.size > KEVY_SIZE_MAX) {
            return KEVY_ELIMIT;
        }
        size += drafts[i].same_as != 0 || draft_is_large(log, &drafts[i], batch_id)
                    ? kv_extent_record_size(&drafts[i], batch_id)
                    : kv_draft_size(&drafts[i], batch_id);
    }
    if (count > 1 && size > log->segment_size / KV_EXTENT_SHARE) {
        return append_batch_extent(log, drafts, count);
    }
    return append_unit(log, drafts, count, size, batch_id);
}

/* Says whether what is appended makes room in the end, and may have the reserve. */
static bool makes_room(const struct kv_log *log, const struct kv_draft *drafts, size_t count,
                       uint32_t id_bits)
{
    bool answer = true;
    if (id_bits == KV_BATCH_MOVED) {
        return log->victim != NULL && log->victim->live <= log->files->reserve_size / 2;
    }
    for (size_t i = 0; i < count; i++) {
        answer = answer && drafts[i].type != KV_RECORD_VALUE;
    }
    return answer;
}

static bool is_map(const struct kv_draft *drafts, size_t count)
{
    return count == 1 && drafts[0].type == KV_RECORD_NAMESPACES;
}

/* Says whether an append has to wait until the reserve is whole again. */
static bool must_leave_room(struct kv_log *log, const struct kv_draft *drafts, size_t count,
                            uint32_t id_bits)
{
    if (id_bits == KV_BATCH_MOVED || makes_room(log, drafts, count, id_bits)) {
        return false;
    }
    kv_reserve_make(log);
    return kv_reserve_is_lent(log);
}

static int append_any(struct kv_log *log, struct kv_draft *drafts, size_t count, uint32_t id_bits)
{
    if (kv_reserve_is_lent(log) && must_leave_room(log, drafts, count, id_bits)) {
        return KEVY_ENOSPC;
    }
    int status = append_once(log, drafts, count, id_bits);
    if (status == KEVY_ENOSPC && kv_ahead_drop(log)) {
        status = append_once(log, drafts, count, id_bits);
    }
    if (status == KEVY_ENOSPC && makes_room(log, drafts, count, id_bits) &&
        kv_reserve_use(log, false)) {
        status = append_once(log, drafts, count, id_bits);
    }
    if (status == KEVY_ENOSPC && is_map(drafts, count) && kv_reserve_use(log, true)) {
        status = append_once(log, drafts, count, id_bits);
    }
    return status;
}

int kv_append(void *self, struct kv_draft *drafts, size_t count)
{
    struct kv_log *log = (struct kv_log *)self;
    int status = count == 1 ? kv_append_short(log, drafts) : KV_APPEND_NOT_SHORT;
    return status == KV_APPEND_NOT_SHORT ? append_any(log, drafts, count, 0) : status;
}

int kv_append_moved(struct kv_log *log, struct kv_draft *drafts, size_t count)
{
    return append_any(log, drafts, count, KV_BATCH_MOVED);
}
