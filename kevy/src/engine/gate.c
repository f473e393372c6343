/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The slow side of the gate: pins, and closing a handle. See gate.h.
 *
 * The count of pins carries a mark of the closer, who parks on it: so the last
 * pin of a closed handle learns from its own decrement that it must wake, and
 * every other unpin makes no system call. The wake may come after the closer
 * saw the count and freed the handle: it touches only the address.
 */
#include "kevy/src/engine/gate.h"

/* The closer waits for the pins to go. */
#define GATE_CLOSING (UINT32_C(1) << 31)

void kv_gate_pin(KevyDb *db)
{
    atomic_fetch_add_explicit(&db->pins, 1, memory_order_acq_rel);
}

void kv_gate_unpin(KevyDb *db)
{
    _Atomic uint32_t *pins = &db->pins;
    if (atomic_fetch_sub_explicit(pins, 1, memory_order_acq_rel) == (GATE_CLOSING | 1)) {
        kv_park_wake(pins, KV_PARK_ALL);
    }
}

bool kv_gate_close(KevyDb *db)
{
    if (atomic_exchange_explicit(&db->is_closed, 1, memory_order_acq_rel) != 0) {
        return false;
    }
    kv_port_close(&db->port);
    return true;
}

void kv_gate_drain(KevyDb *db)
{
    kv_epoch_wait();
    uint32_t pins = atomic_fetch_or_explicit(&db->pins, GATE_CLOSING, memory_order_acq_rel);
    for (pins |= GATE_CLOSING; pins != GATE_CLOSING;) {
        (void)kv_park_wait(&db->pins, pins, KV_FOREVER);
        pins = atomic_load_explicit(&db->pins, memory_order_acquire);
    }
}
