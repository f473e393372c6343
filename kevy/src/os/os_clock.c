/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store's clock; see os_clock.h. Reading it is one clock read, two once in
 * a while, and no lock. The anchor may have wrapped below 0: a wall clock that
 * is behind the other one is a clock too.
 */
#include "kevy/src/os/os_clock.h"

static uint64_t boot_ms(uint64_t boot_ns)
{
    return boot_ns / 1000000u;
}

static uint64_t wall_of(const kevy_os *os)
{
    uint64_t wall_ms = os->wall_ms(os->self);
    return wall_ms == 0 ? 1 : wall_ms;
}

void kv_clock_init(struct kv_clock *clock, const kevy_os *os)
{
    uint64_t boot_ns = os->boot_ns(os->self);
    clock->os = os;
    clock->opened_ms = wall_of(os);
    atomic_init(&clock->wall_ms, clock->opened_ms - boot_ms(boot_ns));
    atomic_init(&clock->look_at_ns, boot_ns + KV_CLOCK_LOOK_NS);
}

/* Looks whether the wall clock was set. Of threads that see the same step each
 * sets the same anchor, or one that is younger by what has passed. */
static void look(struct kv_clock *clock, uint64_t boot_ns)
{
    atomic_store_explicit(&clock->look_at_ns, boot_ns + KV_CLOCK_LOOK_NS, memory_order_relaxed);
    uint64_t anchor = wall_of(clock->os) - boot_ms(boot_ns);
    uint64_t ahead = anchor - atomic_load_explicit(&clock->wall_ms, memory_order_relaxed);
    if (ahead + KV_CLOCK_STEP_MS - 1 > 2 * (KV_CLOCK_STEP_MS - 1)) {
        atomic_store_explicit(&clock->wall_ms, anchor, memory_order_relaxed);
    }
}

/* Nanoseconds of the clock that never steps; the anchor fits them. */
static uint64_t read_boot(struct kv_clock *clock)
{
    uint64_t boot_ns = clock->os->boot_ns(clock->os->self);
    if (boot_ns >= atomic_load_explicit(&clock->look_at_ns, memory_order_relaxed)) {
        look(clock, boot_ns);
    }
    return boot_ns;
}

uint64_t kv_clock_now_ms(struct kv_clock *clock)
{
    uint64_t boot_ns = read_boot(clock);
    return atomic_load_explicit(&clock->wall_ms, memory_order_relaxed) + boot_ms(boot_ns);
}

uint64_t kv_clock_now_us(struct kv_clock *clock)
{
    uint64_t boot_ns = read_boot(clock);
    uint64_t wall_ms = atomic_load_explicit(&clock->wall_ms, memory_order_relaxed);
    return (wall_ms + boot_ms(boot_ns)) * 1000u + boot_ns / 1000u % 1000u;
}
