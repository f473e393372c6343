/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The thread of a file log: starts the flushes and writes the marks that are
 * due, and sleeps without a deadline while none is. It starts with the first
 * append, or at the open of a log that was closed with too much dead in it; a
 * log that is only read has none.
 *
 *   everysec  flush when the oldest byte is half a second old, or 16 MiB wait
 *   always    the writers flush; only their marks are left to it
 *   no        flush when 16 MiB wait; on a full disk as everysec, for what makes room
 *             does so only once it is durable
 *   any       mark one second after the first flush that no mark tells
 *
 * Where no thread can be had, the writer that finds something due does it.
 */
#include "kevy/src/log/log_inside.h"

/* When the next flush is due on the boot clock; 0: now, KV_FOREVER: never. */
static uint64_t flush_due(const struct kv_files *files)
{
    uint64_t since = atomic_load_explicit(&files->pending_since_ns, memory_order_relaxed);
    uint64_t size = atomic_load_explicit(&files->pending_size, memory_order_relaxed);
    if (since == 0 || atomic_load_explicit(&files->error, memory_order_relaxed) != KEVY_OK) {
        return KV_FOREVER;
    }
    if (size >= KV_PENDING_MAX) {
        return 0;
    }
    return atomic_load_explicit(&files->policy, memory_order_relaxed) == KEVY_FSYNC_NO &&
                   !atomic_load_explicit(&files->is_reserve_lent, memory_order_relaxed)
               ? KV_FOREVER
               : since + KV_FLUSH_AFTER_NS;
}

/* Under flush_lock. */
static uint64_t mark_due(const struct kv_files *files)
{
    return files->unmarked_since_ns == 0 ||
                   atomic_load_explicit(&files->error, memory_order_relaxed) != KEVY_OK
               ? KV_FOREVER
               : files->unmarked_since_ns + KV_WAIT_AFTER_NS;
}

static uint64_t end_of(struct kv_log *log)
{
    kv_mutex_lock(log->writer);
    uint64_t end = log->lsn_end;
    kv_mutex_unlock(log->writer);
    return end;
}

/* Collects if the store is over the bound that holds now, and makes durable
 * what that moved. True: there is something for the mark to let go. */
static bool collect_what_is_due(struct kv_log *log)
{
    struct kv_files *files = log->files;
    bool is_settled = atomic_load_explicit(&files->pending_since_ns, memory_order_relaxed) == 0;
    kv_mutex_lock(log->writer);
    uint64_t before = log->lsn_end;
    const struct kv_segment *active = log->active;
    bool is_lent = kv_reserve_is_lent(log);
    bool is_due = is_settled || is_lent || kv_collect_is_due(log);
    atomic_store_explicit(&files->is_crowded, false, memory_order_relaxed);
    kv_reserve_make(log);
    kv_mutex_unlock(log->writer);
    if (!is_due || atomic_load_explicit(&files->error, memory_order_relaxed) != KEVY_OK) {
        return false;
    }
    if (is_settled) {
        kv_ahead_settle(log);
    }
    (void)kv_collect_run(log, is_settled || is_lent);
    kv_mutex_lock(log->writer);
    if (log->lsn_end == before && log->active != active) {
        kv_reserve_step_on(log);
    }
    uint64_t end = log->lsn_end;
    kv_mutex_unlock(log->writer);
    return end != before && kv_flush_until(log, end) == KEVY_OK;
}

/* Does what is due; returns when the next thing is. */
static uint64_t do_what_is_due(struct kv_log *log)
{
    struct kv_files *files = log->files;
    kv_index_drop(log);
    uint64_t now = log->os->boot_ns(log->os->self);
    bool is_flush_due = flush_due(files) <= now;
    if (is_flush_due) {
        (void)kv_flush_until(log, end_of(log));
    }
    bool is_collected = collect_what_is_due(log);
    kv_mutex_lock(&files->flush_lock);
    bool is_mark_due = is_flush_due || mark_due(files) <= now;
    kv_mutex_unlock(&files->flush_lock);
    if (is_mark_due || is_collected) {
        (void)kv_mark_write(log);
    }
    kv_mutex_lock(&files->flush_lock);
    uint64_t flush_at = flush_due(files), mark_at = mark_due(files);
    kv_mutex_unlock(&files->flush_lock);
    return flush_at < mark_at ? flush_at : mark_at;
}

/* Sleeps until something is due, wakes early when told to. */
static void thread_sleep(struct kv_log *log, uint64_t due)
{
    struct kv_files *files = log->files;
    uint64_t now = log->os->boot_ns(log->os->self);
    if (due <= now) {
        return;
    }
    uint64_t deadline = due == KV_FOREVER ? KV_FOREVER : kv_mono_after(due - now);
    kv_mutex_lock(&files->thread_lock);
    if (!files->is_stopping && !files->is_woken) {
        (void)kv_cond_wait(&files->thread_wake, &files->thread_lock, deadline);
    }
    files->is_woken = false;
    kv_mutex_unlock(&files->thread_lock);
}

static bool is_stopping(struct kv_files *files)
{
    kv_mutex_lock(&files->thread_lock);
    bool answer = files->is_stopping;
    kv_mutex_unlock(&files->thread_lock);
    return answer;
}

static void thread_run(void *user)
{
    struct kv_log *log = (struct kv_log *)user;
    while (!is_stopping(log->files)) {
        uint64_t due = do_what_is_due(log);
        kv_mutex_lock(&log->files->thread_lock);
        log->files->pass_count++;
        kv_cond_broadcast(&log->files->pass_end);
        kv_mutex_unlock(&log->files->thread_lock);
        thread_sleep(log, due);
    }
}

void kv_thread_wait(struct kv_log *log)
{
    struct kv_files *files = log->files;
    kv_thread_wake(log);
    kv_mutex_lock(&files->thread_lock);
    /* The look under way may have begun before the last append. */
    uint64_t wanted = files->pass_count + 2;
    while (files->has_thread && !files->is_stopping && files->pass_count < wanted) {
        files->is_woken = true;
        kv_cond_signal(&files->thread_wake);
        (void)kv_cond_wait(&files->pass_end, &files->thread_lock, KV_FOREVER);
    }
    kv_mutex_unlock(&files->thread_lock);
}

void kv_thread_wake(struct kv_log *log)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->thread_lock);
    if (!files->has_thread && !files->is_stopping && !files->is_threadless) {
        files->has_thread = kv_thread_start(&files->thread, thread_run, log) == 0;
    }
    bool has_thread = files->has_thread;
    files->is_woken = true;
    kv_cond_signal(&files->thread_wake);
    kv_mutex_unlock(&files->thread_lock);
    if (!has_thread) {
        (void)do_what_is_due(log);
        atomic_store_explicit(&files->is_wake_due, true, memory_order_relaxed);
    }
}

void kv_thread_stop(struct kv_log *log)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->thread_lock);
    bool has_thread = files->has_thread;
    files->is_stopping = true;
    kv_cond_signal(&files->thread_wake);
    kv_cond_broadcast(&files->pass_end);
    kv_mutex_unlock(&files->thread_lock);
    if (has_thread) {
        kv_thread_join(&files->thread);
        files->has_thread = false;
    }
    kv_ahead_stop(log);
}
