/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How rooms count: one relaxed atomic addition on a counter of kol__counters. Reading them all is
 * counters.c. Gauges (what there is now) are counted up and down by the room that owns the thing.
 */
#ifndef KOLIBRI_SRC_COUNTERS_H
#define KOLIBRI_SRC_COUNTERS_H

#include <kolibri/stats.h>

extern KOL__HIDDEN struct kol_stats kol__counters;

#define KOL__TALLY(counter, by)                                                                    \
    (void)__atomic_fetch_add(&kol__counters.counter, by, __ATOMIC_RELAXED)
#define KOL__TALLY_UP(counter) KOL__TALLY(counter, 1)
#define KOL__TALLY_DOWN(counter)                                                                   \
    (void)__atomic_fetch_sub(&kol__counters.counter, 1, __ATOMIC_RELAXED)

#endif
