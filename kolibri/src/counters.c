/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The counters of this copy of the library. Rooms count by counters.h, with one relaxed addition;
 * this room only reads, each counter by itself. They are never reset: a test compares two readings.
 */
#include "kolibri/src/counters.h"

struct kol_stats kol__counters;

static uint64_t read_counter(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void kol_stats_read(struct kol_stats *out)
{
    out->tables_loaded = read_counter(&kol__counters.tables_loaded);
    out->natives_registered = read_counter(&kol__counters.natives_registered);
    out->threads_attached = read_counter(&kol__counters.threads_attached);
    out->attaches = read_counter(&kol__counters.attaches);
    out->exceptions_thrown = read_counter(&kol__counters.exceptions_thrown);
    out->misuses = read_counter(&kol__counters.misuses);
    out->scopes_open = read_counter(&kol__counters.scopes_open);
    out->natives_checked = read_counter(&kol__counters.natives_checked);
    out->one_offs = read_counter(&kol__counters.one_offs);
}
