/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing the mark, and with it the removal of segments that are dead.
 *
 * A segment goes in this order, which no crash can turn:
 *   1. what it holds, and what superseded each of its records, is durable;
 *   2. a mark that tells this, and no longer has its bit, is flushed;
 *   3. its file is unlinked, the folder is flushed;
 *   4. its slot is free.
 *
 * A tombstone in it must first have become useless: every segment that was
 * there before the tombstone is gone, from memory and from the flushed mark;
 * else the value that it deleted could come back from there.
 *
 * Threads: any, not under the writer lock; one mark at a time (mark_lock).
 */
#include "kevy/src/log/log_inside.h"
#include "kevy/src/os/os_epoch.h"

/* ---- What may go ---- */

/* An extent with tombstones goes together with the segment that names it: after
 * that one, nobody would find it; before, it may still be needed. */
static bool goes_with(const struct kv_segment *extent, const struct kv_segment *segment)
{
    return extent->named_in == segment && extent->tombstone_lsn != 0;
}

/* Says whether a segment from before `lsn` stays when this one goes. */
static bool has_older(const struct kv_log *log, const struct kv_segment *than, uint64_t lsn)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment != than && segment->first_lsn < lsn && !goes_with(segment, than)) {
            return true;
        }
    }
    return false;
}

/* Says whether nothing in the segment is needed, as far as `point` reaches. */
static bool is_spent(const struct kv_log *log, const struct kv_segment *segment,
                     const struct kv_point *point)
{
    return segment->live == 0 && segment->is_sealed && segment != log->active &&
           !segment->is_dirty && !segment->is_in_flush && segment->slot != point->slot &&
           segment->last_lsn <= point->lsn && segment->death_lsn <= point->lsn;
}

/* The same for those that go with it. */
static bool company_is_spent(const struct kv_log *log, const struct kv_segment *of,
                             const struct kv_point *point)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (goes_with(segment, of) && !is_spent(log, segment, point)) {
            return false;
        }
    }
    return true;
}

static bool may_leave(const struct kv_log *log, const struct kv_segment *segment,
                      const struct kv_point *point)
{
    if (!is_spent(log, segment, point) || segment->is_leaving) {
        return false;
    }
    if (segment->tombstone_lsn == 0) {
        return true;
    }
    return segment->named_in == NULL && company_is_spent(log, segment, point) &&
           !has_older(log, segment, segment->tombstone_lsn);
}

static void company_leaves(struct kv_log *log, const struct kv_segment *of)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        segment->is_leaving = segment->is_leaving || goes_with(segment, of);
    }
}

static size_t choose_leaving(struct kv_log *log, const struct kv_point *point)
{
    size_t count = 0;
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (may_leave(log, segment, point)) {
            segment->is_leaving = true;
            company_leaves(log, segment);
            count++;
        }
    }
    return count;
}

/* ---- The mark ---- */

void kv_mark_fill(const struct kv_log *log, const struct kv_point *point, struct kv_mark *out)
{
    const struct kv_files *files = log->files;
    struct kv_segment *segment;
    memset(out, 0, sizeof *out);
    out->sequence = files->mark_sequence + 1;
    out->incarnation = files->incarnation;
    out->incarnation_lsn = files->incarnation_lsn;
    out->durable_lsn = point->lsn;
    out->durable_slot = point->slot;
    out->durable_offset = point->slot == KV_MARK_NO_SLOT ? 0 : (uint32_t)point->offset;
    out->log_end = files->log_end;
    out->map_lsn = point->map_lsn;
    out->map = point->map;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        bool is_set =
            segment->is_flushed && !segment->is_leaving && segment->first_lsn <= point->lsn;
        for (uint32_t i = 0; is_set && i < segment->slot_count; i++) {
            kv_mark_bit_set(out, segment->slot + i);
        }
    }
}

int kv_mark_put(const struct kv_log *log, const struct kv_mark *mark)
{
    uint8_t block[KV_MARK_BLOCK];
    kv_mark_slot_encode(&log->files->identity, mark, block);
    int status = kv_file_write(log, log->files->mark_file, block, sizeof block,
                               kv_mark_offset(mark->sequence));
    if (status == KEVY_OK) {
        int result = log->os->file_flush(log->os->self, log->files->mark_file);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    return status;
}

/* ---- Removal ---- */

static int unlink_leaving(struct kv_log *log)
{
    const kevy_os *os = log->os;
    char name[KV_FILE_NAME_SIZE];
    struct kv_segment *segment;
    kv_mutex_lock(log->writer);
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->is_leaving) {
            kv_file_name(segment->slot, name);
            (void)os->file_remove(os->self, log->files->dir, name);
        }
    }
    kv_mutex_unlock(log->writer);
    int result = os->dir_flush(os->self, log->files->dir);
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

/* No entry of the table points at them, but a reader without the lock that
 * followed one may still be looking. */
static void free_leaving(struct kv_log *log)
{
    struct kv_segment *segment;
    kv_epoch_wait();
    kv_mutex_lock(log->writer);
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->is_leaving) {
            kv_segment_leave(log, segment);
            kv_file_free(log, segment);
        }
    }
    kv_mutex_unlock(log->writer);
}

/* The disk is full, the old mark still holds: tries again in a while. */
static void mark_later(struct kv_log *log)
{
    struct kv_segment *segment;
    kv_mutex_lock(log->writer);
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        segment->is_leaving = false;
    }
    kv_mutex_unlock(log->writer);
    kv_mutex_lock(&log->files->flush_lock);
    log->files->unmarked_since_ns = log->os->boot_ns(log->os->self) | 1;
    kv_mutex_unlock(&log->files->flush_lock);
}

/* Under mark_lock: one mark, and what it lets go. *count: how many went. */
static int mark_once(struct kv_log *log, size_t *count)
{
    struct kv_files *files = log->files;
    struct kv_mark mark;
    kv_mutex_lock(&files->flush_lock);
    struct kv_point point = files->durable;
    files->unmarked_since_ns = 0;
    kv_mutex_unlock(&files->flush_lock);
    kv_mutex_lock(log->writer);
    *count = choose_leaving(log, &point);
    kv_mark_fill(log, &point, &mark);
    kv_mutex_unlock(log->writer);
    if (*count == 0 && point.lsn == files->marked_lsn) {
        return KEVY_OK;
    }
    int status = kv_mark_put(log, &mark);
    if (status == KEVY_OK) {
        files->mark_sequence = mark.sequence;
        files->marked_lsn = point.lsn;
        status = *count == 0 ? KEVY_OK : unlink_leaving(log);
    }
    if (status == KEVY_OK) {
        free_leaving(log);
    } else if (status == KEVY_ENOSPC) {
        mark_later(log);
    } else {
        kv_log_break(log, status);
    }
    return status;
}

int kv_mark_write(struct kv_log *log)
{
    struct kv_files *files = log->files;
    size_t count = 1;
    kv_mutex_lock(&files->mark_lock);
    int status = atomic_load_explicit(&files->error, memory_order_acquire);
    while (status == KEVY_OK && count != 0) {
        status = mark_once(log, &count);
    }
    kv_mutex_unlock(&files->mark_lock);
    return status;
}
