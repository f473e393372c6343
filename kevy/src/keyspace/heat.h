/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Heat: how recently, or how often, keys are used, a byte for each. It is there
 * only while an eviction policy needs it, and then the one thing that readers
 * write.
 *
 * A key's byte is found by its hash, so nothing has to follow when entries move;
 * two keys may share one, there are twice as many as keys.
 *
 *   recency     the tick at which the key was used last
 *   frequency   a logarithmic counter, as Redis has: it starts at 5, and grows
 *               the more rarely the larger it is
 *
 * Time is counted in new keys: a tick is 1/128 of what the store holds. With
 * each tick a part of the bytes is aged, all of them in 64 ticks: what is older
 * than 128 ticks stays at that, so that the 8 bits never wrap; counters lose
 * one.
 *
 * Threads: kv_heat_touch any, inside an epoch; races are harmless, a use may go
 * uncounted. All else under the store's lock.
 */
#ifndef KEVY_SRC_KEYSPACE_HEAT_H
#define KEVY_SRC_KEYSPACE_HEAT_H

#include <stdatomic.h>

#include "kevy/src/mem/grave.h"
#include "kevy/src/mem/mem.h"

struct kv_heat {
    struct kv_grave grave;
    bool is_frequency;
    _Atomic uint8_t tick;
    uint64_t births;   /* new keys since the last tick */
    uint64_t age_next; /* where ageing goes on */
    uint64_t mask;     /* bytes - 1 */
    _Atomic uint8_t bytes[];
};

/* Makes one for so many keys; `old`, which may be NULL, is what it replaces. NULL
 * without memory. */
struct kv_heat *kv_heat_new(struct kv_mem *mem, const struct kv_heat *old, bool is_frequency,
                            uint64_t key_count);
void kv_heat_free(struct kv_mem *mem, struct kv_heat *heat);

/* A key of this hash is used. */
void kv_heat_touch(struct kv_heat *heat, uint64_t hash);

/* A key of this hash is new. True: a tick has passed. */
bool kv_heat_born(struct kv_heat *heat, uint64_t hash);

/* Says whether it has become too small for so many keys. */
static inline bool kv_heat_is_small(const struct kv_heat *heat, uint64_t key_count)
{
    return key_count > (heat->mask + 1) / 2;
}

/* How willingly the key goes: the larger, the more. */
unsigned kv_heat_coldness(const struct kv_heat *heat, uint64_t hash);

#endif
