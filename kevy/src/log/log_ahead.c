/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The segment that is made ahead: while a store is written to fast, a thread
 * makes the next segment's file, its room on the disk and its pages before it is
 * needed, so that no writer waits for the kernel at a segment's border, nor for
 * a page at a time behind it (log_window.c).
 *
 * Fast means: the active segment is half full, or full, less than a second after
 * it was begun. A store that is written to now and then never has a spare, and
 * a small one has none once it has settled, on the disk or in memory. Under the
 * policy `always` there is none: the next flush would have to write all of it.
 *
 * Until it is taken a spare is a file of zeros in a slot that is held for it: it
 * has no header, no number and no LSN, and nothing of the log knows of it. A
 * folder in which one was left is opened as if it were not there. Where the disk
 * is full it is the first thing that goes.
 *
 * Threads: what takes and asks, under the writer lock; making one needs the lock
 * only to hold a slot and to hand the spare over. Its own thread starts with the
 * first spare and sleeps without a deadline; a log without threads makes the
 * spare in kv_log_commit. Where no thread can be had there is none.
 */
#include "kevy/src/log/log_inside.h"

/* A segment filled in less than this is a burst. */
#define AHEAD_BURST_NS UINT64_C(1000000000)

/* A store that has settled keeps its spare from so many segments of live bytes on. */
#define AHEAD_KEEP 2u

/* ---- Asking and taking ---- */

void kv_ahead_want(struct kv_log *log)
{
    struct kv_ahead *ahead = &log->files->ahead;
    if (!ahead->has_slot && log->os->boot_ns(log->os->self) - ahead->begun_ns < AHEAD_BURST_NS) {
        atomic_store_explicit(&ahead->is_wanted, true, memory_order_relaxed);
        atomic_store_explicit(&log->files->is_wake_due, true, memory_order_release);
    }
}

void kv_ahead_note(struct kv_log *log)
{
    uint8_t policy = atomic_load_explicit(&log->files->policy, memory_order_relaxed);
    if (log->active->window != NULL && policy != KEVY_FSYNC_ALWAYS) {
        kv_ahead_want(log);
    }
    log->files->ahead.begun_ns = log->os->boot_ns(log->os->self);
}

/* Takes the spare out; NULL: there is none. */
static struct kv_segment *spare_out(struct kv_ahead *ahead)
{
    struct kv_segment *spare = ahead->spare;
    ahead->spare = NULL;
    ahead->has_slot = ahead->has_slot && spare == NULL;
    return spare;
}

struct kv_segment *kv_ahead_take(struct kv_log *log)
{
    struct kv_segment *spare = spare_out(&log->files->ahead);
    if (spare != NULL) {
        kv_file_begin(log, spare);
    }
    return spare;
}

/* ---- Giving back ---- */

static void spare_free(struct kv_log *log, struct kv_segment *spare)
{
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(spare->slot, name);
    (void)log->os->file_remove(log->os->self, log->files->dir, name);
    kv_file_free(log, spare);
}

bool kv_ahead_drop(struct kv_log *log)
{
    struct kv_segment *spare = spare_out(&log->files->ahead);
    if (spare != NULL) {
        spare_free(log, spare);
    }
    return spare != NULL;
}

void kv_ahead_settle(struct kv_log *log)
{
    kv_mutex_lock(log->writer);
    bool is_small = log->live_size < AHEAD_KEEP * (uint64_t)log->segment_size;
    if (is_small) {
        (void)kv_ahead_drop(log);
    }
    kv_mutex_unlock(log->writer);
}

/* ---- Making ---- */

/* Holds a slot for the spare; false: there is one, or it is being made. */
static bool slot_hold(struct kv_log *log, uint32_t *slot)
{
    struct kv_ahead *ahead = &log->files->ahead;
    kv_mutex_lock(log->writer);
    bool is_held = !ahead->has_slot && kv_segment_slots(log, 1, slot) == KEVY_OK;
    if (is_held) {
        ahead->slot = *slot;
        ahead->has_slot = true;
    }
    kv_mutex_unlock(log->writer);
    return is_held;
}

static void ahead_make(struct kv_log *log)
{
    struct kv_ahead *ahead = &log->files->ahead;
    struct kv_segment *spare = NULL;
    uint32_t slot = 0;
    if (!slot_hold(log, &slot)) {
        return;
    }
    int status = kv_file_blank(log, KV_SEGMENT_LOG, slot, log->segment_size, &spare);
    if (status == KEVY_OK) {
        status = kv_window_make(log, spare);
    }
    if (status != KEVY_OK && spare != NULL) {
        spare_free(log, spare);
        spare = NULL;
    }
    kv_mutex_lock(log->writer);
    if (status == KV_NAME_TAKEN) {
        kv_slot_take(log, slot);
    }
    ahead->spare = spare;
    ahead->has_slot = spare != NULL;
    kv_mutex_unlock(log->writer);
}

static void ahead_run(void *user)
{
    struct kv_log *log = (struct kv_log *)user;
    struct kv_ahead *ahead = &log->files->ahead;
    kv_mutex_lock(&ahead->lock);
    while (!ahead->is_stopping) {
        if (!ahead->is_woken) {
            (void)kv_cond_wait(&ahead->wake, &ahead->lock, KV_FOREVER);
            continue;
        }
        ahead->is_woken = false;
        kv_mutex_unlock(&ahead->lock);
        ahead_make(log);
        kv_mutex_lock(&ahead->lock);
    }
    kv_mutex_unlock(&ahead->lock);
}

void kv_ahead_wake(struct kv_log *log)
{
    struct kv_ahead *ahead = &log->files->ahead;
    if (!atomic_exchange_explicit(&ahead->is_wanted, false, memory_order_relaxed)) {
        return;
    }
    if (log->files->is_threadless) {
        ahead_make(log);
        return;
    }
    kv_mutex_lock(&ahead->lock);
    if (!ahead->has_thread && !ahead->is_stopping) {
        ahead->has_thread = kv_thread_start(&ahead->thread, ahead_run, log) == 0;
    }
    ahead->is_woken = true;
    kv_cond_signal(&ahead->wake);
    kv_mutex_unlock(&ahead->lock);
}

void kv_ahead_stop(struct kv_log *log)
{
    struct kv_ahead *ahead = &log->files->ahead;
    kv_mutex_lock(&ahead->lock);
    bool has_thread = ahead->has_thread;
    ahead->is_stopping = true;
    kv_cond_signal(&ahead->wake);
    kv_mutex_unlock(&ahead->lock);
    if (has_thread) {
        kv_thread_join(&ahead->thread);
        ahead->has_thread = false;
    }
    kv_mutex_lock(log->writer);
    (void)kv_ahead_drop(log);
    kv_mutex_unlock(log->writer);
}
