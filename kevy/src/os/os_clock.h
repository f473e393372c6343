/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store's clock: wall milliseconds that never go back while a store is
 * open. It is the wall clock at open plus a clock that counts sleep, so a
 * wall clock that is set forth or back moves no expiry of an open store.
 *
 * Only keys with a time to live read it. Any thread.
 */
#ifndef KEVY_SRC_OS_OS_CLOCK_H
#define KEVY_SRC_OS_OS_CLOCK_H

#include "kevy/os.h"

struct kv_clock {
    const kevy_os *os;
    uint64_t wall_anchor_ms;
    uint64_t boot_anchor_ns;
};

/* Anchors the clock at the wall clock of now. */
void kv_clock_init(struct kv_clock *clock, const kevy_os *os);

/* Returns the absolute wall milliseconds of now, never 0. */
uint64_t kv_clock_now_ms(const struct kv_clock *clock);

#endif
