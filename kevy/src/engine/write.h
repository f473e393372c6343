/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A public write, from entering the handle to the promise of its flush policy:
 *
 *   enter   the gate; what can be prepared without the lock follows
 *   lock    the writer lock; refused on a handle that was shut down
 *   unlock  notes how far the log now reaches, and whether somebody listens
 *   leave   the gate; retires what a flush dropped, step by step; in file stores
 *           waits until the log has kept its promise for that far; then tells
 *           the listeners, with the handle pinned and nothing held
 *
 * Threads: one owner for each kv_write.
 */
#ifndef KEVY_SRC_ENGINE_WRITE_H
#define KEVY_SRC_ENGINE_WRITE_H

#include "kevy/src/engine/gate.h"

struct kv_write {
    KevyDb *db;
    struct kv_epoch_slot *slot;
    uint64_t lsn; /* 0: nothing was written */
    bool has_news;
    bool has_dropped; /* a database: set by who runs the command */
};

/* 0; or a status < 0, and there is nothing to leave. */
static inline int kv_write_enter(KevyDb *db, struct kv_write *write)
{
    write->db = db;
    write->lsn = 0;
    write->has_news = write->has_dropped = false;
    return kv_gate_enter(db, &write->slot);
}

/* 0 with the lock held, or KEVY_ECLOSED without it. */
static inline int kv_write_lock(struct kv_write *write)
{
    struct kv_engine *engine = write->db->engine;
    kv_mutex_lock(&engine->writer);
    if (kv_gate_is_shut(write->db)) {
        kv_mutex_unlock(&engine->writer);
        return KEVY_ECLOSED;
    }
    engine->writing = write->db;
    return 0;
}

static inline void kv_write_unlock(struct kv_write *write)
{
    struct kv_engine *engine = write->db->engine;
    write->lsn = engine->is_durable ? kv_log_end(engine->log) : 0;
    write->has_news = engine->keyspace.watch != NULL && kv_listen_has_news(&engine->listeners);
    kv_mutex_unlock(&engine->writer);
}

/* Leaves. Returns `status`, or < 0 when it was >= 0 and the log failed. A
 * listener may have closed the handle: it is not to be touched any more. */
int kv_write_leave_slow(struct kv_write *write, int status);
static inline int kv_write_leave(struct kv_write *write, int status)
{
    if (write->has_news || write->has_dropped ||
        (write->lsn != 0 && kv_log_owes(write->db->engine->log))) {
        return kv_write_leave_slow(write, status);
    }
    kv_gate_leave(write->slot);
    return status;
}

#endif
