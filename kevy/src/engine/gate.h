/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The gate: how every public call enters a handle and leaves it, so that
 * kevy_close can wait for calls in flight without any call paying for a shared
 * counter.
 *
 * A call enters the process's epoch (its own cache line) and then looks whether
 * the handle is open; close marks it closed and then waits until everyone who
 * was inside has left. A call that will wait (for a flush, for room in a queue)
 * pins the handle, leaves the epoch, and unpins when it is done.
 *
 * Threads: any. Cost: a store, two loads and a store.
 */
#ifndef KEVY_SRC_ENGINE_GATE_H
#define KEVY_SRC_ENGINE_GATE_H

#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_epoch.h"
#include "kevy/src/os/os_posix.h"

/* Enters a call. 0; or KEVY_EMISUSE (no handle, closed, another process's),
 * KEVY_ENOMEM: then there is nothing to leave. */
static inline int kv_gate_enter(KevyDb *db, struct kv_epoch_slot **slot_out)
{
    if (db == NULL) {
        return KEVY_EMISUSE;
    }
    struct kv_epoch_slot *slot = kv_epoch_enter();
    if (slot == NULL) {
        return KEVY_ENOMEM;
    }
    if (atomic_load_explicit(&db->is_closed, memory_order_acquire) != 0 ||
        db->fork_count != kv_fork_count()) {
        kv_epoch_leave(slot);
        return KEVY_EMISUSE;
    }
    *slot_out = slot;
    return 0;
}

static inline void kv_gate_leave(struct kv_epoch_slot *slot)
{
    kv_epoch_leave(slot);
}

/* Keeps the handle without the epoch: call between enter and leave. */
void kv_gate_pin(KevyDb *db);
void kv_gate_unpin(KevyDb *db);

/* Marks the handle closed: no call enters any more, and waiters are woken.
 * False when it was closed already. */
bool kv_gate_close(KevyDb *db);

/* Waits for every call that is inside a closed handle. */
void kv_gate_drain(KevyDb *db);

/* Whether writes through this handle are refused: after kevy_shutdown. */
static inline bool kv_gate_is_shut(KevyDb *db)
{
    return atomic_load_explicit(&db->is_shut, memory_order_acquire) != 0;
}

#endif
