/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The slow side of the gate: pins, and closing a handle. See gate.h.
 *
 * The last pin of a closed handle wakes the closer, who parks on the count.
 * It may do so after the closer saw 0 and freed the handle: a wake touches
 * only the address.
 */
#include "kevy/src/engine/gate.h"

void kv_gate_pin(KevyDb *db)
{
    atomic_fetch_add_explicit(&db->pins, 1, memory_order_acq_rel);
}

void kv_gate_unpin(KevyDb *db)
{
    _Atomic uint32_t *pins = &db->pins;
    if (atomic_fetch_sub_explicit(pins, 1, memory_order_acq_rel) == 1) {
        kv_park_wake(pins, KV_PARK_ALL);
    }
}

bool kv_gate_close(KevyDb *db)
{
    if (atomic_exchange_explicit(&db->is_closed, 1, memory_order_acq_rel) != 0) {
        return false;
    }
    kv_port_close(&db->port);
    kv_epoch_wait();
    for (uint32_t pins; (pins = atomic_load_explicit(&db->pins, memory_order_acquire)) != 0;) {
        (void)kv_park_wait(&db->pins, pins, KV_FOREVER);
    }
    return true;
}
