/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Collection of a file log: the records of a segment that are still needed are
 * appended once more, so that the segment is dead and can be removed
 * (log_remove.c). A few records are moved for each time the lock is taken.
 *
 * What is done with a record of the victim:
 *   value        appended again if it is the newest of its key
 *   extent       its record is appended again, the extent stays where it is
 *   batch extent becomes the victim itself first, if any of it is live
 *   tombstone    appended again, with its first LSN, if its key is not there
 *                and a segment from before that LSN stays; else dropped
 *   map, commit  dropped: the mark that lets the segment go tells the map
 *
 * Moved records are one batch: after a crash all of them count, or none, and
 * then the victim is still there.
 *
 * A run ends, whatever stands: only segments from before it are victims, so
 * nothing is moved twice. A tombstone that is needed only because an older
 * segment is dead but not yet gone would be moved for nothing, again and again:
 * before a victim with tombstones a mark lets the dead ones go.
 *
 * The bound while the store is written to is twice the live bytes and 24
 * segments; as soon as nothing waits to be flushed, twice and a sixteenth of
 * one. Damaged segments go in any case. Where dead bytes are few and tombstones
 * hold the store above its bound, the oldest segment is the victim however full
 * it is.
 *
 * Threads: called without a lock by whoever does what is due (log_thread.c);
 * takes the writer lock.
 */
#include "kevy/src/log/log_inside.h"

/* Records looked at, and moved, while the lock is held once. */
enum { COLLECT_LOOKS = 256, COLLECT_MOVES = 16 };

/* Bytes moved at a time, a single record excepted. */
#define COLLECT_SIZE ((size_t)32 << 10)

/* ---- When, and what ---- */

bool kv_collect_is_due(const struct kv_log *log)
{
    return log->used_size > 2 * log->live_size + KV_COLLECT_SEGMENTS * (uint64_t)log->segment_size;
}

bool kv_collect_is_overdue(const struct kv_log *log)
{
    uint64_t least = KV_WAIT_SEGMENTS * (uint64_t)log->segment_size;
    return log->used_size > least && log->used_size > 8 * log->live_size;
}

/* Bytes of what stays: dead segments only wait for the next mark, and what is
 * stuck cannot be helped. */
static uint64_t standing_size(const struct kv_log *log)
{
    struct kv_segment *segment;
    uint64_t size = 0;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (!segment->is_stuck &&
            (segment == log->active || segment->live != 0 || segment->tombstone_lsn != 0)) {
            size += segment->used;
        }
    }
    return size;
}

/* Bytes that collecting the segment frees for certain. */
static size_t gain_of(const struct kv_segment *segment)
{
    return segment->used - segment->live - segment->tombstone_size;
}

static bool may_be_victim(const struct kv_log *log, const struct kv_segment *segment)
{
    return segment != log->active && segment->is_sealed && !segment->is_stuck &&
           !segment->is_leaving && segment->first_lsn <= log->files->collect.run_lsn &&
           (segment->live != 0 || segment->tombstone_lsn != 0) &&
           (segment->kind == KV_SEGMENT_LOG || segment->named_in != NULL);
}

static struct kv_segment *choose_victim_file(const struct kv_log *log)
{
    struct kv_segment *segment, *best = NULL, *oldest = NULL;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (!may_be_victim(log, segment)) {
            continue;
        }
        if (segment->is_damaged) {
            return segment;
        }
        if (best == NULL || gain_of(segment) > gain_of(best)) {
            best = segment;
        }
        if (oldest == NULL || segment->first_lsn < oldest->first_lsn) {
            oldest = segment;
        }
    }
    return best != NULL && gain_of(best) < log->segment_size / 8 ? oldest : best;
}

/* The lowest first LSN of all segments but this one. */
static uint64_t oldest_other(const struct kv_log *log, const struct kv_segment *than)
{
    struct kv_segment *segment;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment != than && segment->first_lsn < oldest) {
            oldest = segment->first_lsn;
        }
    }
    return oldest;
}

bool kv_collect_is_wanted(const struct kv_log *log)
{
    return log->move != NULL &&
           standing_size(log) > 2 * log->live_size + log->segment_size / KV_EXTENT_SHARE;
}

static void victim_set(struct kv_log *log, struct kv_segment *victim)
{
    struct kv_collect *collect = &log->files->collect;
    log->victim = victim;
    log->victim_offset = KV_SEGMENT_HEADER;
    if (victim != NULL) {
        collect->lsn = victim->first_lsn;
        collect->oldest_other = oldest_other(log, victim);
    }
}

/* The first LSN of a segment that is dead, is older than a tombstone of the
 * victim, and goes with the next mark; 0: there is none. */
static uint64_t dead_before(const struct kv_log *log, const struct kv_segment *victim)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment != log->active && segment->is_sealed && segment->live == 0 &&
            segment->tombstone_lsn == 0 && segment->first_lsn < victim->tombstone_lsn) {
            return segment->first_lsn;
        }
    }
    return 0;
}

/* Says whether the active segment is what holds the store above its bound. */
static bool active_is_dead_weight(const struct kv_log *log, uint64_t slack)
{
    const struct kv_segment *active = log->active;
    return active != NULL && active->used > KV_SEGMENT_HEADER && active->used > slack / 4 &&
           gain_of(active) > active->used / 2 && active->first_lsn <= log->files->collect.run_lsn &&
           !log->files->is_end_dirty;
}

/* Finds a victim if the store is over its bound. Where the active segment is
 * what is dead, it is closed, so that it can be one. */
static bool has_victim_file(struct kv_log *log, uint64_t slack)
{
    log->files->collect.awaited_lsn = 0;
    if (log->victim != NULL) {
        return true;
    }
    struct kv_segment *victim = choose_victim_file(log), *active = log->active;
    if (victim != NULL && victim->is_damaged) {
        victim_set(log, victim);
        return true;
    }
    if (standing_size(log) <= 2 * log->live_size + slack) {
        return false;
    }
    if (active_is_dead_weight(log, slack) &&
        (victim == NULL || gain_of(active) > gain_of(victim)) && kv_active_renew(log) == KEVY_OK) {
        victim = active->live != 0 || active->tombstone_lsn != 0 ? active : NULL;
    }
    log->files->collect.awaited_lsn = victim == NULL ? 0 : dead_before(log, victim);
    victim_set(log, log->files->collect.awaited_lsn == 0 ? victim : NULL);
    return log->victim != NULL;
}

/* ---- Walking the victim ---- */

/* What one hold of the lock moves. */
struct moves {
    struct kv_draft drafts[COLLECT_MOVES];
    uint32_t old_refs[COLLECT_MOVES];
    size_t count;
    size_t size;
    size_t size_max;
};

/* Reads the next record of the victim without going on. NULL: the end, or a
 * record that is damaged; the place is where that lies. */
static const uint8_t *victim_record(struct kv_log *log, size_t *offset_next, uint64_t *lsn_next)
{
    struct kv_segment *victim = log->victim;
    const uint8_t *record;
    struct kv_cursor cursor = {.place = kv_file_place(log, victim),
                               .base = victim->base,
                               .limit = victim->used,
                               .offset = log->victim_offset,
                               .lsn = log->files->collect.lsn,
                               .is_checked = true};
    if (victim->kind == KV_SEGMENT_LOG) {
        enum kv_step step = kv_cursor_next(&cursor, &record);
        while (step == KV_STEP_END && victim->is_damaged && kv_damage_resume(victim, &cursor)) {
            step = kv_cursor_next(&cursor, &record);
        }
        log->victim_offset = cursor.offset;
        log->files->collect.lsn = cursor.lsn;
        if (step != KV_STEP_RECORD) {
            return NULL;
        }
        log->victim_offset -= kv_record_size(record);
        log->files->collect.lsn -= kv_record_lsn_count(record);
    } else {
        record = kv_batch_next(victim->base, &cursor.offset, victim->used);
        if (record == NULL) {
            return NULL;
        }
        cursor.lsn++;
    }
    *offset_next = cursor.offset;
    *lsn_next = cursor.lsn;
    return record;
}

static uint32_t victim_ref(const struct kv_log *log, const uint8_t *record)
{
    size_t offset = (size_t)(record - log->victim->base);
    return kv_ref_of(log->victim->slot + (uint32_t)(offset / KV_SLOT_SIZE), offset % KV_SLOT_SIZE);
}

/* Describes a record that is to be appended again. */
static struct kv_draft draft_again(const struct kv_log *log, const uint8_t *record, uint32_t ref,
                                   uint64_t lsn)
{
    uint8_t type = kv_record_type(record);
    uint64_t first_lsn = kv_record_first_lsn(record);
    struct kv_draft draft = {.type = KV_RECORD_VALUE,
                             .namespace_id = kv_record_namespace(record),
                             .expiry_ms = kv_record_expiry(record),
                             .key = kv_record_key(&log->space, record),
                             .value = kv_record_value(&log->space, record)};
    if (type == KV_RECORD_TOMBSTONE) {
        draft.type = KV_RECORD_TOMBSTONE;
        draft.first_lsn = first_lsn != 0 ? first_lsn : lsn;
    } else if (type == KV_RECORD_EXTENT) {
        draft.same_as = ref;
    }
    return draft;
}

/* Says whether the record is needed and has to be moved. */
static bool is_needed(const struct kv_log *log, const uint8_t *record, uint32_t ref, uint64_t lsn)
{
    uint64_t first_lsn = kv_record_first_lsn(record);
    switch ((enum kv_record_type)kv_record_type(record)) {
    case KV_RECORD_TOMBSTONE:
        return log->files->collect.oldest_other < (first_lsn != 0 ? first_lsn : lsn) &&
               log->move(log->move_user, ref, ref) == 1;
    case KV_RECORD_EXTENT:
        return kv_record_extent(record).lsn_count == 1 &&
               kv_adopt_extent(log, record, lsn) != NULL &&
               log->move(log->move_user, ref, ref) == 1;
    case KV_RECORD_VALUE:
        return log->move(log->move_user, ref, ref) == 1;
    case KV_RECORD_NAMESPACES:
    case KV_RECORD_COMMIT:
    case KV_RECORD_SEAL:
    case KV_RECORD_STAMP:
    case KV_RECORD_PAD:
        return false;
    }
    return false;
}

/* The extent of a batch that this record names and that is still needed. */
static struct kv_segment *batch_of(const struct kv_log *log, const uint8_t *record, uint64_t lsn)
{
    if (kv_record_type(record) != KV_RECORD_EXTENT || kv_record_lsn_count(record) == 1) {
        return NULL;
    }
    struct kv_segment *extent = kv_adopt_extent(log, record, lsn);
    return extent != NULL && may_be_victim(log, extent) ? extent : NULL;
}

/* Gathers what comes next; false: the victim ends here, or gives way to
 * another one that was set. */
static bool gather_moves(struct kv_log *log, struct moves *moves)
{
    struct kv_collect *collect = &log->files->collect;
    for (int looks = 0; looks < COLLECT_LOOKS && moves->count < COLLECT_MOVES; looks++) {
        size_t offset_next;
        uint64_t lsn_next;
        const uint8_t *record = victim_record(log, &offset_next, &lsn_next);
        if (record == NULL) {
            return false;
        }
        uint32_t ref = victim_ref(log, record);
        struct kv_segment *batch = batch_of(log, record, collect->lsn);
        if (batch != NULL) {
            if (moves->count == 0) {
                victim_set(log, batch);
            }
            return true;
        }
        if (is_needed(log, record, ref, collect->lsn)) {
            size_t size = kv_record_size(record) + KV_COMMIT_SIZE;
            if (moves->count > 0 && moves->size + size > moves->size_max) {
                return true;
            }
            moves->size += size;
            moves->old_refs[moves->count] = ref;
            moves->drafts[moves->count++] = draft_again(log, record, ref, collect->lsn);
        }
        log->victim_offset = offset_next;
        collect->lsn = lsn_next;
    }
    return true;
}

/* Appends what was gathered, and lets it take the place of the old records. */
static int moves_do(struct kv_log *log, struct moves *moves)
{
    int status = moves->count == 0 ? KEVY_OK : kv_append_moved(log, moves->drafts, moves->count);
    for (size_t i = 0; status == KEVY_OK && i < moves->count; i++) {
        if (moves->drafts[i].type == KV_RECORD_VALUE) {
            int is_moved = log->move(log->move_user, moves->old_refs[i], moves->drafts[i].ref);
            ASSERT(is_moved == 1);
            kv_retire(log, is_moved == 1 ? moves->old_refs[i] : moves->drafts[i].ref);
        }
    }
    return status;
}

/* Says whether the walk ended where the victim does, not at damage. */
static bool is_victim_done(const struct kv_log *log)
{
    const struct kv_segment *victim = log->victim;
    return victim->kind == KV_SEGMENT_EXTENT || victim->is_damaged
               ? victim->is_damaged || log->victim_offset >= victim->used
               : log->victim_offset < victim->used &&
                     kv_record_type(victim->base + log->victim_offset) == KV_RECORD_SEAL;
}

/* Nothing in the victim is needed any more; unless there is damage, then it
 * stays as it is. */
static void victim_end(struct kv_log *log)
{
    struct kv_segment *victim = log->victim;
    if (is_victim_done(log) && victim->live == 0) {
        victim->tombstone_lsn = 0;
        victim->tombstone_size = 0;
        victim->death_lsn = log->lsn_end;
    } else {
        victim->is_stuck = true;
    }
    log->victim = NULL;
}

/* One hold of the lock. *goes_on: there is more to do. */
static int collect_step(struct kv_log *log, uint64_t slack, bool *goes_on)
{
    struct moves moves = {.count = 0};
    *goes_on = has_victim_file(log, slack);
    if (!*goes_on) {
        return KEVY_OK;
    }
    size_t offset = log->victim_offset;
    uint64_t lsn = log->files->collect.lsn;
    struct kv_segment *victim = log->victim;
    size_t unit_max = log->segment_size / KV_EXTENT_SHARE - KV_COMMIT_SIZE - 64;
    moves.size_max = unit_max < COLLECT_SIZE ? unit_max : COLLECT_SIZE;
    bool is_at_end = !gather_moves(log, &moves);
    int status = moves_do(log, &moves);
    if (status != KEVY_OK && log->victim == victim) {
        /* Nothing was moved: these records come up again. */
        log->victim_offset = offset;
        log->files->collect.lsn = lsn;
    } else if (is_at_end) {
        victim_end(log);
    }
    return status;
}

/* Moves records until there is no victim, or until one has to wait. */
static int collect_steps(struct kv_log *log, uint64_t slack)
{
    int status = KEVY_OK;
    bool goes_on = log->move != NULL;
    while (goes_on && status == KEVY_OK) {
        kv_mutex_lock(log->writer);
        status = collect_step(log, slack, &goes_on);
        kv_mutex_give(log->writer);
    }
    return status;
}

/* Lets dead segments go that a victim waits for; *goes_on: what was awaited is
 * not what was awaited before. */
static int collect_mark(struct kv_log *log, uint64_t *awaited_lsn, bool *goes_on)
{
    kv_mutex_lock(log->writer);
    uint64_t end = log->lsn_end, awaited = log->files->collect.awaited_lsn;
    kv_mutex_unlock(log->writer);
    *goes_on = awaited != 0 && awaited != *awaited_lsn;
    *awaited_lsn = awaited;
    int status = *goes_on ? kv_flush_until(log, end) : KEVY_OK;
    return *goes_on && status == KEVY_OK ? kv_mark_write(log) : status;
}

int kv_collect_run(struct kv_log *log, bool is_settled)
{
    uint64_t slack = is_settled ? log->segment_size / KV_EXTENT_SHARE
                                : KV_COLLECT_SEGMENTS * (uint64_t)log->segment_size;
    uint64_t awaited_lsn = 0;
    int status = KEVY_OK;
    bool goes_on = true;
    kv_mutex_lock(log->writer);
    log->files->collect.run_lsn = log->lsn_end;
    log->files->collect.awaited_lsn = 0;
    kv_mutex_unlock(log->writer);
    while (goes_on && status == KEVY_OK) {
        status = collect_steps(log, slack);
        if (status == KEVY_OK) {
            status = collect_mark(log, &awaited_lsn, &goes_on);
        }
    }
    return status;
}
