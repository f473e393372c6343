/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store's clock; see os_clock.h. Reading it is one clock read and no lock:
 * the anchors never change.
 */
#include "kevy/src/os/os_clock.h"

void kv_clock_init(struct kv_clock *clock, const kevy_os *os)
{
    clock->os = os;
    clock->boot_anchor_ns = os->boot_ns(os->self);
    clock->wall_anchor_ms = os->wall_ms(os->self);
    if (clock->wall_anchor_ms == 0) {
        clock->wall_anchor_ms = 1;
    }
}

uint64_t kv_clock_now_ms(const struct kv_clock *clock)
{
    uint64_t passed_ns = clock->os->boot_ns(clock->os->self) - clock->boot_anchor_ns;
    return clock->wall_anchor_ms + passed_ns / 1000000u;
}
