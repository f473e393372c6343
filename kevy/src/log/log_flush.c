/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Flushing: making what was appended durable, one flush in flight, whoever
 * does it. Also what a writer waits for under each policy.
 *
 * A flush takes, under the writer lock, the list of files that have bytes to
 * flush and the point where the log ends; then, holding no lock, it flushes
 * those files and the folder; then everything up to that point is durable.
 * Threads that need more wait for the next one: the first of them leads it.
 * It also ends the windows of segments that were sealed.
 *
 * Skipping. A segment that is dead when the flush begins, with all that
 * superseded its records at or before the point, is not flushed: no reader that
 * begins with a mark at the point looks at it. So the flush then ends with such
 * a mark, without the segment's bit, and only that makes the point durable;
 * then the file is unlinked, and the kernel forgets its pages.
 *   - Power fails before that mark: the mark before it tells the old point and
 *     has no bit of a file that was not flushed to there. The chain behind it
 *     may break in the skipped segment. What lies behind the break was promised
 *     to nobody: a promise waits for the durable point.
 *   - The segment had a bit in the mark before: its bytes up to that mark's
 *     point were flushed then, and it is unlinked only after the new one.
 *   - Namespace maps and commits in it: the mark tells the map, and a batch of
 *     which nothing counts needs none. Segments with tombstones are flushed:
 *     an older segment may need those.
 *   - The point itself never lies in it (kv_remove_is_dead).
 * Where the mark cannot be written, the flush is made again, with every file.
 *
 * A flush that fails may have lost bytes that the kernel no longer calls
 * dirty, so it is never tried again: the error stays until the store is
 * opened anew, and the mark never moves past what was durable before.
 *
 * Not here: when a flush starts by itself (log_thread.c), the mark
 * (log_mark.c), what goes (log_remove.c).
 */
#include "kevy/src/log/log_inside.h"

/* Skipping saves the disk more than the mark costs from so many bytes on. */
#define SKIP_SHARE KV_EXTENT_SHARE

/* What one flush has to cover, and what it leaves out. */
struct flush {
    struct kv_segment *list;
    struct kv_segment *skipped;
    struct kv_point point;
    bool is_dir_dirty;
};

static void list_push(struct kv_segment **list, struct kv_segment *segment)
{
    segment->flush_next = *list;
    *list = segment;
}

/* Enough of it, or all of it goes to the list of what is flushed. */
static void skip_if_worth_it(struct kv_log *log, struct flush *flush)
{
    size_t size = 0;
    for (struct kv_segment *at = flush->skipped; at != NULL; at = at->flush_next) {
        size += at->used;
    }
    while (size < log->segment_size / SKIP_SHARE && flush->skipped != NULL) {
        struct kv_segment *first = flush->skipped;
        flush->skipped = first->flush_next;
        first->is_skipped = false;
        list_push(&flush->list, first);
    }
}

/* Shares out the files that have bytes to flush. Under the writer lock. */
static void flush_share(struct kv_log *log, struct flush *flush)
{
    struct kv_files *files = log->files;
    bool may_skip = !atomic_load_explicit(&files->has_no_skip, memory_order_relaxed);
    while (files->dirty != NULL) {
        struct kv_segment *segment = files->dirty;
        files->dirty = segment->dirty_next;
        segment->is_dirty = false;
        segment->is_in_flush = true;
        segment->is_cut_due = segment->is_sealed;
        segment->is_skipped = may_skip && segment != log->victim && segment->tombstone_lsn == 0 &&
                              kv_remove_is_dead(log, segment, &flush->point);
        list_push(segment->is_skipped ? &flush->skipped : &flush->list, segment);
    }
    skip_if_worth_it(log, flush);
}

/* Under the writer lock. */
static void flush_take(struct kv_log *log, struct flush *out)
{
    struct kv_files *files = log->files;
    *out = (struct flush){.is_dir_dirty = files->is_dir_dirty};
    out->point = (struct kv_point){.lsn = log->lsn_end,
                                   .slot = files->end_slot,
                                   .offset = files->end_offset,
                                   .map_lsn = files->map_lsn,
                                   .map = files->map};
    flush_share(log, out);
    files->is_dir_dirty = false;
    atomic_store_explicit(&files->pending_size, 0, memory_order_relaxed);
    atomic_store_explicit(&files->pending_since_ns, 0, memory_order_relaxed);
}

/* Holding no lock. Flushing files whose folder was removed makes nothing durable. */
static int flush_run(struct kv_log *log, const struct flush *flush)
{
    const kevy_os *os = log->os;
    uint64_t identity[2];
    int folder = os->dir_identity(os->self, log->files->dir, identity);
    if (folder < 0) {
        return kv_file_status(folder);
    }
    for (struct kv_segment *at = flush->list; at != NULL; at = at->flush_next) {
        if (at->is_cut_due) {
            (void)kv_window_end(log, at);
        }
        int result = os->file_flush(os->self, at->file);
        if (result < 0) {
            return kv_file_status(result);
        }
    }
    int result = flush->is_dir_dirty ? os->dir_flush(os->self, log->files->dir) : 0;
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

/* Under the writer lock. A sealed file that is wholly durable needs no number. */
static void flush_end(struct kv_log *log, const struct flush *flush, int status)
{
    for (struct kv_segment *at = flush->list; at != NULL; at = at->flush_next) {
        at->is_in_flush = false;
        at->is_flushed = at->is_flushed || status == KEVY_OK;
        if (status == KEVY_OK && at->is_sealed && !at->is_dirty) {
            log->os->file_close(log->os->self, at->file);
            at->file = -1;
        }
    }
    for (struct kv_segment *at = flush->skipped; at != NULL; at = at->flush_next) {
        at->is_in_flush = false;
    }
}

/* The mark that makes the flush whole could not be written: what was left out
 * is to be flushed like the rest. */
static void skip_no_more(struct kv_log *log)
{
    struct kv_segment *segment;
    kv_mutex_lock(log->writer);
    atomic_store_explicit(&log->files->has_no_skip, true, memory_order_relaxed);
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->is_skipped) {
            segment->is_skipped = false;
            kv_file_dirty(log, segment);
        }
    }
    kv_mutex_unlock(log->writer);
}

void kv_flush_reach(struct kv_log *log, const struct kv_point *point)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->flush_lock);
    files->durable = *point;
    atomic_store_explicit(&files->durable_lsn, point->lsn, memory_order_release);
    if (point->lsn == files->marked_lsn) {
        files->unmarked_since_ns = 0;
    } else if (files->unmarked_since_ns == 0) {
        files->unmarked_since_ns = log->os->boot_ns(log->os->self) | 1;
        atomic_store_explicit(&files->is_wake_due, true, memory_order_release);
    }
    kv_mutex_unlock(&files->flush_lock);
}

static void flush_once(struct kv_log *log)
{
    struct kv_files *files = log->files;
    struct flush flush;
    kv_mutex_lock(log->writer);
    flush_take(log, &flush);
    kv_mutex_unlock(log->writer);
    int status = flush_run(log, &flush);
    kv_mutex_lock(log->writer);
    flush_end(log, &flush, status);
    kv_mutex_unlock(log->writer);
    /* Counted before it is seen that more is durable. */
    kv_mutex_lock(&files->flush_lock);
    files->flush_count++;
    kv_mutex_unlock(&files->flush_lock);
    if (status != KEVY_OK) {
        kv_log_break(log, status);
    } else if (flush.skipped == NULL) {
        kv_flush_reach(log, &flush.point);
    } else {
        status = kv_mark_write_at(log, &flush.point);
        if (status == KEVY_ENOSPC || status == KEVY_ENOMEM) {
            skip_no_more(log);
        }
    }
}

void kv_log_break(struct kv_log *log, int status)
{
    int none = KEVY_OK;
    (void)atomic_compare_exchange_strong(&log->files->error, &none, status);
}

static int flush_error(const struct kv_log *log)
{
    return atomic_load_explicit(&log->files->error, memory_order_acquire);
}

int kv_flush_until(struct kv_log *log, uint64_t lsn)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->flush_lock);
    while (files->durable.lsn < lsn && flush_error(log) == KEVY_OK) {
        if (files->is_flushing) {
            (void)kv_cond_wait(&files->flush_moved, &files->flush_lock, KV_FOREVER);
            continue;
        }
        files->is_flushing = true;
        kv_mutex_unlock(&files->flush_lock);
        flush_once(log);
        kv_mutex_lock(&files->flush_lock);
        files->is_flushing = false;
        kv_cond_broadcast(&files->flush_moved);
    }
    int status = files->durable.lsn >= lsn ? KEVY_OK : flush_error(log);
    kv_mutex_unlock(&files->flush_lock);
    return status;
}

/* ---- What writers wait for ---- */

/* Says whether a writer must wait for the flush in flight: records that it
 * does not cover are too old. */
static bool is_overdue(const struct kv_log *log)
{
    uint64_t since = atomic_load_explicit(&log->files->pending_since_ns, memory_order_relaxed);
    return since != 0 && log->os->boot_ns(log->os->self) - since > KV_WAIT_AFTER_NS;
}

/* Waits while a flush is in flight and what comes behind it is overdue. */
static void wait_in_turn(struct kv_log *log)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->flush_lock);
    while (files->is_flushing && flush_error(log) == KEVY_OK && is_overdue(log)) {
        (void)kv_cond_wait(&files->flush_moved, &files->flush_lock, KV_FOREVER);
    }
    kv_mutex_unlock(&files->flush_lock);
}

bool kv_log_owes(const struct kv_log *log)
{
    const struct kv_files *files = log->files;
    return files != NULL &&
           (atomic_load_explicit(&files->policy, memory_order_relaxed) == KEVY_FSYNC_ALWAYS ||
            atomic_load_explicit(&files->is_wake_due, memory_order_relaxed) ||
            atomic_load_explicit(&files->is_crowded, memory_order_relaxed) ||
            (atomic_load_explicit(&files->is_flushing, memory_order_relaxed) && is_overdue(log)));
}

int kv_log_commit(struct kv_log *log, uint64_t lsn)
{
    struct kv_files *files = log->files;
    if (files == NULL) {
        return KEVY_OK;
    }
    uint8_t policy = atomic_load_explicit(&files->policy, memory_order_relaxed);
    int status = policy == KEVY_FSYNC_ALWAYS ? kv_flush_until(log, lsn) : KEVY_OK;
    if (atomic_load_explicit(&files->is_wake_due, memory_order_relaxed) &&
        atomic_exchange_explicit(&files->is_wake_due, false, memory_order_acquire)) {
        kv_ahead_wake(log);
        kv_thread_wake(log);
    }
    if (atomic_load_explicit(&files->is_crowded, memory_order_relaxed)) {
        kv_thread_wait(log);
    }
    if (policy == KEVY_FSYNC_EVERYSEC && files->is_flushing && is_overdue(log)) {
        wait_in_turn(log);
    }
    return status;
}

/* The LSN of the newest append; takes the writer lock. */
static uint64_t end_now(struct kv_log *log)
{
    kv_mutex_lock(log->writer);
    uint64_t end = log->lsn_end;
    kv_mutex_unlock(log->writer);
    return end;
}

int kv_log_sync(struct kv_log *log)
{
    return log->files == NULL ? KEVY_OK : kv_flush_until(log, end_now(log));
}

int kv_log_shutdown(struct kv_log *log)
{
    int status = kv_log_sync(log);
    return log->files == NULL || status != KEVY_OK ? status : kv_mark_write(log);
}

void kv_log_set_policy(struct kv_log *log, uint8_t fsync)
{
    if (log->files != NULL) {
        atomic_store_explicit(&log->files->policy, fsync, memory_order_relaxed);
        kv_thread_wake(log);
    }
}
