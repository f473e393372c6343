/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Compacting when asked, instead of when a bound is passed: what collection
 * does anyway (log_sweep.c in memory, log_collect.c in files), to its end. In
 * files then a mark is written, so that the segments that are dead go.
 *
 * Threads: any, without the writer lock.
 */
#include "kevy/src/log/log_inside.h"
#include "kevy/src/os/os_epoch.h"

/* A first round makes room for a second: tombstones may go when the segments
 * that were there before them are gone. */
#define COMPACT_ROUNDS 2

static int compact_memory(struct kv_log *log, struct kv_mutex *writer)
{
    int goes_on = 1;
    while (goes_on > 0) {
        struct kv_epoch_slot *slot = kv_epoch_enter();
        if (slot == NULL) {
            return KEVY_ENOMEM;
        }
        kv_mutex_lock(writer);
        goes_on = kv_memory_compact(log);
        kv_mutex_give(writer);
        kv_epoch_leave(slot);
    }
    kv_mutex_lock(writer);
    kv_graveyard_reap(&log->yard);
    kv_mutex_unlock(writer);
    return goes_on;
}

static int compact_files(struct kv_log *log)
{
    int status = atomic_load_explicit(&log->files->error, memory_order_acquire);
    for (int i = 0; i < COMPACT_ROUNDS && status == KEVY_OK; i++) {
        status = kv_collect_run(log, true);
        kv_mutex_lock(log->writer);
        uint64_t end = log->lsn_end;
        kv_mutex_unlock(log->writer);
        if (status == KEVY_OK) {
            status = kv_flush_until(log, end);
        }
        if (status == KEVY_OK) {
            status = kv_mark_write(log);
        }
    }
    return status;
}

int kv_log_compact(struct kv_log *log, struct kv_mutex *writer)
{
    return log->files == NULL ? compact_memory(log, writer) : compact_files(log);
}
