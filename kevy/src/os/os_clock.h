/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store's clock: wall time, for expiries, which are absolute.
 *
 * Between two looks at the wall clock it is the last look plus a clock that
 * counts sleep and never steps, so it cannot run backwards or jump by itself.
 * When somebody set the wall clock, by KV_CLOCK_STEP_MS or more, this clock
 * follows at the first reading that is KV_CLOCK_LOOK_NS after the last look,
 * forwards and backwards: what was agreed upon in wall time, before a restart
 * or by EXPIREAT, is kept in wall time. Lesser differences are left: both clocks
 * are slewed alike.
 *
 * Only keys with a time to live read it. Any thread.
 */
#ifndef KEVY_SRC_OS_OS_CLOCK_H
#define KEVY_SRC_OS_OS_CLOCK_H

#include <stdatomic.h>

#include "kevy/os.h"

/* What counts as a step of the wall clock, and how often one is looked for. */
#define KV_CLOCK_STEP_MS 1000
#define KV_CLOCK_LOOK_NS UINT64_C(100000000)

struct kv_clock {
    const kevy_os *os;
    uint64_t opened_ms;          /* the wall clock when it was made */
    _Atomic uint64_t wall_ms;    /* what the wall clock said when the other one was 0 */
    _Atomic uint64_t look_at_ns; /* when the wall clock is looked at again */
};

/* Anchors the clock at the wall clock of now. */
void kv_clock_init(struct kv_clock *clock, const kevy_os *os);

/* Returns the absolute wall milliseconds, or microseconds, of now, never 0. */
uint64_t kv_clock_now_ms(struct kv_clock *clock);
uint64_t kv_clock_now_us(struct kv_clock *clock);

#endif
