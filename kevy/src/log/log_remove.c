/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The removal of segments that are dead.
 *
 * A segment goes in this order, which no crash can turn:
 *   1. what superseded each of its records is durable, and so is what it
 *      holds, unless no mark ever needs that (log_flush.c, Skipping)
 *   2. a mark that tells this, and no longer has its bit, is flushed
 *   3. its file is unlinked, the folder is flushed
 *   4. its slot is free
 *
 * Where a file cannot be unlinked, whoever needs a new one finds its name taken
 * and passes the slot over; each removal tries again to unlink it, and the next
 * open does.
 *
 * A tombstone in it must first have become useless: every segment that was
 * there before the tombstone is gone, from memory and from the flushed mark;
 * else the value that it deleted could come back from there.
 *
 * Unlinking a file and giving its pages back takes the kernel long, so both are
 * done without the writer lock: a segment that is leaving keeps its slot until
 * it is unlinked, and is nobody's once it has left.
 *
 * Threads: what is chosen, under the writer lock; kv_remove_run without it. All
 * of it under mark_lock.
 */
#include <errno.h>

#include "kevy/src/log/log_inside.h"
#include "kevy/src/os/os_epoch.h"

/* Segments dealt with for each time the lock is taken. */
enum { REMOVE_STEP = 64 };

/* ---- What may go ---- */

/* The next segment, counted, for each is looked at a few times for a mark. */
static struct kv_segment *remove_next(struct kv_log *log, uint32_t *slot)
{
    log->files->remove_looks++;
    return kv_segment_after(log, slot);
}

bool kv_remove_is_dead(const struct kv_log *log, const struct kv_segment *segment,
                       const struct kv_point *point)
{
    return segment->live == 0 && segment->is_sealed && segment != log->active &&
           segment->slot != point->slot && segment->last_lsn <= point->lsn &&
           segment->death_lsn <= point->lsn;
}

/* Says whether nothing in the segment is needed, as far as `point` reaches, and
 * nobody is about to flush it. */
static bool is_spent(const struct kv_log *log, const struct kv_segment *segment,
                     const struct kv_point *point)
{
    return !segment->is_dirty && !segment->is_in_flush && kv_remove_is_dead(log, segment, point);
}

/* An extent with tombstones goes together with the segment that names it: after
 * that one, nobody would find it; before, it may still be needed. */
static bool has_company(const struct kv_segment *extent)
{
    return extent->named_in != NULL && extent->tombstone_lsn != 0;
}

/* Finds the oldest segment, and which segments stay for the sake of their company. */
static struct kv_segment *look_around(struct kv_log *log, const struct kv_point *point)
{
    struct kv_segment *segment, *oldest = NULL;
    for (uint32_t slot = 0; (segment = remove_next(log, &slot)) != NULL;) {
        segment->is_held = false;
        if (oldest == NULL || segment->first_lsn < oldest->first_lsn) {
            oldest = segment;
        }
    }
    for (uint32_t slot = 0; (segment = remove_next(log, &slot)) != NULL;) {
        if (has_company(segment) && !is_spent(log, segment, point)) {
            segment->named_in->is_held = true;
        }
    }
    return oldest;
}

static bool goes_with(const struct kv_segment *extent, const struct kv_segment *segment)
{
    return has_company(extent) && extent->named_in == segment;
}

/* Says whether a segment from before `lsn` stays when this one goes. The oldest
 * segment of all tells it, but for the one with which that goes. */
static bool has_older(struct kv_log *log, const struct kv_segment *oldest,
                      const struct kv_segment *than, uint64_t lsn)
{
    struct kv_segment *segment;
    if (oldest != than && !goes_with(oldest, than)) {
        return oldest->first_lsn < lsn;
    }
    for (uint32_t slot = 0; (segment = remove_next(log, &slot)) != NULL;) {
        if (segment != than && segment->first_lsn < lsn && !goes_with(segment, than)) {
            return true;
        }
    }
    return false;
}

static bool may_leave(struct kv_log *log, const struct kv_segment *oldest,
                      const struct kv_segment *segment, const struct kv_point *point)
{
    if (!is_spent(log, segment, point) || segment->is_leaving) {
        return false;
    }
    if (segment->tombstone_lsn == 0) {
        return true;
    }
    return segment->named_in == NULL && !segment->is_held &&
           !has_older(log, oldest, segment, segment->tombstone_lsn);
}

size_t kv_remove_choose(struct kv_log *log, const struct kv_point *point)
{
    size_t count = 0;
    struct kv_segment *segment, *oldest = look_around(log, point);
    for (uint32_t slot = 0; (segment = remove_next(log, &slot)) != NULL;) {
        if (may_leave(log, oldest, segment, point)) {
            segment->is_leaving = true;
            count++;
        }
    }
    for (uint32_t slot = 0; count != 0 && (segment = remove_next(log, &slot)) != NULL;) {
        if (has_company(segment) && segment->named_in->is_leaving) {
            segment->is_leaving = true;
        }
    }
    return count;
}

void kv_remove_give_up(struct kv_log *log)
{
    struct kv_segment *segment;
    kv_mutex_lock(log->writer);
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        segment->is_leaving = false;
    }
    kv_mutex_unlock(log->writer);
}

/* ---- Removal ---- */

/* Gathers the next few that are leaving, from *slot on. */
static size_t leaving_next(struct kv_log *log, uint32_t *slot,
                           struct kv_segment *out[static REMOVE_STEP])
{
    size_t count = 0;
    struct kv_segment *segment;
    while (count < REMOVE_STEP && (segment = kv_segment_after(log, slot)) != NULL) {
        if (segment->is_leaving) {
            out[count++] = segment;
        }
    }
    return count;
}

/* Unlinks what could not be unlinked before. */
static void unlink_taken(struct kv_log *log, uint8_t *gone)
{
    const kevy_os *os = log->os;
    char name[KV_FILE_NAME_SIZE];
    for (uint32_t slot = 0; slot < KV_SLOT_COUNT; slot++) {
        if ((gone[slot / 8] >> (slot % 8) & 1) != 0) {
            kv_file_name(slot, name);
            int result = os->file_remove(os->self, log->files->dir, name);
            if (result < 0 && result != -ENOENT) {
                gone[slot / 8] = (uint8_t)(gone[slot / 8] & ~(1u << (slot % 8)));
            }
        }
    }
}

/* Tries it, and flushes the folder: then the slots are free. */
static int taken_retry(struct kv_log *log)
{
    struct kv_files *files = log->files;
    uint8_t gone[sizeof files->taken];
    kv_mutex_lock(log->writer);
    bool is_any = files->taken_count != 0;
    memcpy(gone, files->taken, sizeof gone);
    kv_mutex_unlock(log->writer);
    if (is_any) {
        unlink_taken(log, gone);
    }
    int result = log->os->dir_flush(log->os->self, files->dir);
    if (result < 0 || !is_any) {
        return result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    kv_mutex_lock(log->writer);
    for (uint32_t i = 0; i < sizeof gone; i++) {
        for (unsigned bits = files->taken[i] & gone[i]; bits != 0; bits &= bits - 1) {
            files->taken_count--;
        }
        files->taken[i] = (uint8_t)(files->taken[i] & ~gone[i]);
    }
    log->slot_hint = 0;
    kv_mutex_unlock(log->writer);
    return KEVY_OK;
}

static int unlink_leaving(struct kv_log *log)
{
    const kevy_os *os = log->os;
    char name[KV_FILE_NAME_SIZE];
    struct kv_segment *leaving[REMOVE_STEP];
    size_t count = REMOVE_STEP;
    for (uint32_t slot = 0; count == REMOVE_STEP;) {
        kv_mutex_lock(log->writer);
        count = leaving_next(log, &slot, leaving);
        kv_mutex_unlock(log->writer);
        for (size_t i = 0; i < count; i++) {
            kv_file_name(leaving[i]->slot, name);
            (void)os->file_remove(os->self, log->files->dir, name);
        }
    }
    return taken_retry(log);
}

/* Whoever it was that named them: that is no segment any more. */
static void names_forget(struct kv_log *log)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->named_in != NULL && segment->named_in->is_leaving) {
            segment->named_in = NULL;
        }
    }
}

/* No entry of the table points at them, but a reader without the lock that
 * followed one may still be looking. */
static void free_leaving(struct kv_log *log)
{
    struct kv_segment *leaving[REMOVE_STEP];
    size_t count = REMOVE_STEP;
    kv_epoch_wait();
    for (uint32_t slot = 0; count == REMOVE_STEP;) {
        kv_mutex_lock(log->writer);
        if (slot == 0) {
            names_forget(log);
        }
        count = leaving_next(log, &slot, leaving);
        for (size_t i = 0; i < count; i++) {
            kv_segment_leave(log, leaving[i]);
        }
        kv_mutex_unlock(log->writer);
        for (size_t i = 0; i < count; i++) {
            kv_file_free(log, leaving[i]);
        }
    }
}

int kv_remove_run(struct kv_log *log)
{
    int status = unlink_leaving(log);
    if (status == KEVY_OK) {
        free_leaving(log);
    }
    return status;
}
