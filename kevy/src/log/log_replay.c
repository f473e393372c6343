/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Replay: every kept record, in the order in which the log got them, goes to
 * the apply function of the one who opens.
 *
 * Up to the mark each record is checked here, and anything but an unbroken run
 * from header to seal is damage: the range up to the next stamp is put aside
 * (log_damage.c), and a batch that lies in it by any part is dropped whole.
 * Behind the mark log_tail.c has checked.
 *
 * Records of a namespace that no database has are passed over, and so is one
 * whose extent is gone: something newer superseded it, which is in the log. An
 * extent that is there but cut short is damage.
 */
#include "kevy/src/log/log_opening.h"

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
    int status = KEVY_OK;
    for (uint32_t i = 0; status == KEVY_OK && i < count; i++) {
        uint32_t slot = extent->slot + (uint32_t)(offset / KV_SLOT_SIZE);
        uint32_t ref = kv_ref_of(slot, offset % KV_SLOT_SIZE);
        const uint8_t *record = kv_batch_next(extent->base, &offset, end);
        if (record == NULL) {
            return KEVY_ECORRUPT;
        }
        status = apply_record(opening, extent, record, ref, lsn + i);
    }
    kv_batch_begin(opening->log, extent, entry_ref);
    return status;
}

/* Returns the extent that the record names, if it is there but ends too early. */
static struct kv_segment *extent_cut_short(const struct kv_log *log, const uint8_t *record,
                                           uint64_t lsn)
{
    struct kv_extent_ref place = kv_record_extent(record);
    struct kv_segment *extent =
        place.slot < log->segment_capacity ? log->segments[place.slot] : NULL;
    size_t payload = (size_t)kv_record_key_size(record) + kv_record_value_size(record);
    return extent != NULL && extent->kind == KV_SEGMENT_EXTENT && extent->slot == place.slot &&
                   extent->slot_count == place.slot_count && extent->first_lsn <= lsn &&
                   payload > extent->used - KV_EXTENT_DATA
               ? extent
               : NULL;
}

/* The extent of a record is not there. Told once, if it should be: else something
 * newer superseded it, and is in the log. */
static int note_cut_short(struct kv_opening *opening, const uint8_t *record, uint64_t lsn)
{
    struct kv_segment *extent = extent_cut_short(opening->log, record, lsn);
    if (extent == NULL || extent->is_damaged) {
        return KEVY_OK;
    }
    extent->is_damaged = true;
    return kv_damage_note(opening, extent->slot, extent->used, extent->used);
}

static int apply_extent(struct kv_opening *opening, struct kv_segment *segment,
                        const uint8_t *bytes, uint32_t ref, uint64_t lsn)
{
    struct kv_segment *extent = kv_adopt_extent(opening->log, bytes, lsn);
    if (extent == NULL) {
        return note_cut_short(opening, bytes, lsn);
    }
    if (opening->look != NULL && !opening->look->takes_extent(opening, extent, bytes)) {
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

/* Records that are read and told ahead together, two such groups before the
 * first of them is applied, so that what they touch can be fetched meanwhile. */
enum { RUN_AHEAD = 16, RUN_WAITING = 2 * RUN_AHEAD };

/* Entries of a table, about, for which there is a head bucket. */
enum { ENTRIES_A_BUCKET = 6 };

/* A run through one segment. */
struct run {
    struct kv_opening *opening;
    struct kv_segment *segment;
    struct kv_cursor cursor;
    enum kv_step end;  /* how the reading ended */
    uint32_t batch_id; /* of a batch that was found to be whole */
    int status;        /* of noting damage while looking at one */
    size_t count;      /* records that were read and wait to be applied */
    const uint8_t *records[RUN_WAITING];
    uint64_t lsns[RUN_WAITING];
};

/* Says whether the record, which has been read by the cursor, names an extent
 * that should be there and is damaged: its slot is in use, and not by something
 * that came later. */
static bool names_lost(struct run *run, const struct kv_cursor *cursor, const uint8_t *record)
{
    struct kv_opening *opening = run->opening;
    struct kv_log *log = opening->log;
    if (kv_record_type(record) != KV_RECORD_EXTENT) {
        return false;
    }
    uint64_t lsn = cursor->lsn - kv_record_lsn_count(record);
    uint32_t slot = kv_record_extent(record).slot;
    const struct kv_segment *extent = kv_adopt_extent(log, record, lsn);
    if (extent == NULL) {
        const struct kv_segment *there = slot < log->segment_capacity ? log->segments[slot] : NULL;
        run->status = run->status == KEVY_OK ? note_cut_short(opening, record, lsn) : run->status;
        return kv_mark_bit(&opening->mark, slot) && (there == NULL || there->first_lsn <= lsn);
    }
    return opening->look != NULL && !opening->look->takes_extent(opening, extent, record);
}

/* A batch begins with the record `first`. Returns 1 when all of it is there, 0
 * when a part is missing (*after stands behind it), -1 when its end is. */
static int batch_look(struct run *run, const uint8_t *first, struct kv_cursor *after)
{
    const uint8_t *record;
    uint32_t count = 1;
    *after = run->cursor;
    bool is_whole = !names_lost(run, after, first);
    while (kv_cursor_next(after, &record) == KV_STEP_RECORD &&
           kv_record_batch(record) == kv_record_batch(first)) {
        if (kv_record_type(record) == KV_RECORD_COMMIT) {
            return is_whole && load_u32(kv_record_body(record)) == count;
        }
        is_whole = is_whole && !names_lost(run, after, record);
        count++;
    }
    return -1;
}

/* Says what is to be done with a record of a batch: 1 apply, 0 pass over, -1
 * the run ends before it. Only damage makes it anything but 1: then the cursor
 * is set anew. */
static int run_batch(struct run *run, const uint8_t *record)
{
    uint32_t batch_id = kv_record_batch(record);
    struct kv_cursor after;
    if (batch_id == 0 || batch_id == run->batch_id || (batch_id & KV_BATCH_MOVED) != 0 ||
        !run->cursor.is_checked || kv_record_type(record) == KV_RECORD_COMMIT) {
        return 1;
    }
    int answer = batch_look(run, record, &after);
    if (answer == 1) {
        run->batch_id = batch_id;
    } else if (answer == 0) {
        run->opening->report->dropped_bytes += after.offset - (size_t)(record - run->segment->base);
        run->cursor = after;
    } else {
        run->cursor.offset = (size_t)(record - run->segment->base);
        run->cursor.lsn -= kv_record_lsn_count(record);
    }
    return answer;
}

static uint32_t run_ref(const struct run *run, const uint8_t *record)
{
    return kv_ref_of(run->segment->slot, (size_t)(record - run->segment->base));
}

static int run_record(struct run *run, const uint8_t *record, uint64_t lsn)
{
    uint8_t type = kv_record_type(record);
    uint32_t ref = run_ref(run, record);
    run->opening->report->replayed_bytes += kv_record_size(record);
    if (type == KV_RECORD_EXTENT) {
        return apply_extent(run->opening, run->segment, record, ref, lsn);
    }
    return type == KV_RECORD_COMMIT ? KEVY_OK
                                    : apply_record(run->opening, run->segment, record, ref, lsn);
}

/* Tells the newest `count` of the records that wait. */
static void run_tell(struct run *run, size_t count)
{
    uint32_t refs[RUN_AHEAD];
    size_t told = 0;
    for (size_t i = run->count - count; i < run->count; i++) {
        if (kv_record_type(run->records[i]) <= KV_RECORD_TOMBSTONE) {
            refs[told++] = run_ref(run, run->records[i]);
        }
    }
    if (run->opening->ahead != NULL) {
        run->opening->ahead(run->opening->user, refs, told);
    }
}

/* Applies the first `count` of the records that wait. */
static int run_apply(struct run *run, size_t count)
{
    int status = KEVY_OK;
    for (size_t i = 0; status == KEVY_OK && i < count; i++) {
        status = run_record(run, run->records[i], run->lsns[i]);
    }
    run->count -= count;
    memmove(run->records, run->records + count, run->count * sizeof *run->records);
    memmove(run->lsns, run->lsns + count, run->count * sizeof *run->lsns);
    return status;
}

static int run_take(struct run *run, const uint8_t *record)
{
    run->records[run->count] = record;
    run->lsns[run->count++] = run->cursor.lsn - kv_record_lsn_count(record);
    if (run->count % RUN_AHEAD == 0) {
        run_tell(run, RUN_AHEAD);
    }
    return run->count < RUN_WAITING ? KEVY_OK : run_apply(run, RUN_AHEAD);
}

/* Replays from the cursor on as far as the records are good. */
static int replay_run(struct run *run)
{
    const uint8_t *record;
    int status = KEVY_OK;
    while (status == KEVY_OK &&
           (run->end = kv_cursor_next(&run->cursor, &record)) == KV_STEP_RECORD) {
        int answer = run_batch(run, record);
        if (run->status != KEVY_OK) {
            return run->status;
        }
        if (answer < 0) {
            run->end = KV_STEP_END;
            break;
        }
        status = answer == 1 ? run_take(run, record) : KEVY_OK;
    }
    status = status == KEVY_OK ? run_apply(run, run->count) : status;
    if (status != KEVY_OK) {
        return kv_fail_slot(run->opening, status, 0, run->segment->slot, run->cursor.offset,
                            "a record could not be applied");
    }
    return KEVY_OK;
}

static struct run run_of(struct kv_opening *opening, struct kv_segment *segment, size_t offset,
                         size_t limit, uint64_t lsn)
{
    return (struct run){.opening = opening,
                        .segment = segment,
                        .cursor = {.place = kv_file_place(opening->log, segment),
                                   .base = segment->base,
                                   .limit = limit,
                                   .offset = offset,
                                   .lsn = lsn}};
}

/* The run ended at damage: puts the range aside up to the next stamp, or up to
 * the limit. *goes_on: there is something behind it. */
static int skip_damage(struct run *run, bool *goes_on)
{
    size_t from = run->cursor.offset, to;
    *goes_on = run->opening->look != NULL ? run->opening->look->resume(run->segment, &run->cursor)
                                          : kv_damage_resume(run->segment, &run->cursor);
    to = *goes_on ? run->cursor.offset : run->cursor.limit;
    run->segment->is_damaged = true;
    return from < to ? kv_damage_note(run->opening, run->segment->slot, from, to)
                     : kv_damage_note(run->opening, run->segment->slot, to, to);
}

/* A segment that lies before the mark, from header to seal; or the marked one
 * up to the marked place. */
static int replay_before(struct kv_opening *opening, struct kv_segment *segment, bool is_marked)
{
    size_t place = opening->mark.durable_offset;
    size_t limit = is_marked && place < segment->used ? place : segment->used;
    struct run run = run_of(opening, segment, KV_SEGMENT_HEADER, limit, segment->first_lsn);
    bool goes_on = true;
    run.cursor.is_checked = true;
    while (goes_on) {
        int status = replay_run(&run);
        if (status != KEVY_OK) {
            return status;
        }
        if (is_marked
                ? run.cursor.offset == place && run.cursor.lsn == opening->mark.durable_lsn + 1
                : run.end == KV_STEP_SEAL) {
            break;
        }
        status = skip_damage(&run, &goes_on);
        if (status != KEVY_OK) {
            return status;
        }
    }
    segment->last_lsn = segment->is_damaged ? opening->mark.durable_lsn : run.cursor.lsn - 1;
    if (segment->is_damaged && is_marked) {
        segment->resume_offset = place;
        segment->resume_lsn = opening->mark.durable_lsn + 1;
    }
    if (!is_marked && !segment->is_damaged) {
        kv_segment_shrink(opening->log, segment, segment->used - run.cursor.offset - KV_SEAL_SIZE);
    }
    return KEVY_OK;
}

static int replay_behind(struct kv_opening *opening, struct kv_segment *segment, size_t offset,
                         uint64_t lsn)
{
    struct run run = run_of(opening, segment, offset, segment->used, lsn);
    return replay_run(&run);
}

int kv_replay_begin(struct kv_opening *opening)
{
    uint8_t encoded[KV_NAMESPACES_SIZE];
    opening->map = opening->mark.map;
    opening->map_lsn = opening->mark.map_lsn;
    kv_namespaces_encode(&opening->map, encoded);
    struct kv_log_record first = {.type = KV_RECORD_NAMESPACES,
                                  .lsn = opening->map_lsn,
                                  .value = bytes_of(encoded, sizeof encoded)};
    return apply_one(opening, &first);
}

/* Tells how large the tables will be, as far as the log can fill them. */
static void sizes_tell(const struct kv_opening *opening)
{
    const struct kv_log_image *image = opening->image;
    uint64_t most = opening->log->used_size / KV_RECORD_HEADER / ENTRIES_A_BUCKET;
    uint32_t sizes[KV_NAMESPACE_DATABASES];
    if (image == NULL || image->expect == NULL || (opening->mark.compatible & KV_MARK_SIZES) == 0) {
        return;
    }
    for (size_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        uint32_t size = opening->mark.sizes[i];
        sizes[i] = size < most ? size : (uint32_t)most;
        most -= sizes[i];
    }
    image->expect(opening->image_user, sizes);
}

int kv_replay(struct kv_opening *opening)
{
    uint64_t lsn = opening->mark.durable_lsn + 1;
    int status = kv_replay_begin(opening);
    if (status == KEVY_OK) {
        sizes_tell(opening);
    }
    for (size_t i = 0; status == KEVY_OK && i < opening->order.count; i++) {
        struct kv_segment *segment = opening->order.at[i];
        bool is_marked = segment->slot == opening->mark.durable_slot;
        size_t offset = is_marked ? opening->tail_offset : KV_SEGMENT_HEADER;
        uint64_t last_lsn = segment->last_lsn;
        if (i < opening->tail_first || is_marked) {
            status = replay_before(opening, segment, is_marked);
        }
        if (status == KEVY_OK && i >= opening->tail_first) {
            segment->last_lsn = last_lsn;
            status = replay_behind(opening, segment, offset, lsn);
            lsn = segment->last_lsn + 1;
        }
    }
    opening->log->lsn_end = opening->lsn;
    return status;
}
