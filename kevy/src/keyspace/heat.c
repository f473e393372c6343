/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Counting uses and ageing them; see heat.h. Bytes are read and written one by
 * one and relaxed: what a race loses is one use of a key.
 */
#include "kevy/src/keyspace/heat.h"

#include <string.h>

#include "base/assert.h"

#define BYTES_FIRST UINT64_C(256)
#define TICKS_MAX 128u   /* ages are told apart up to this */
#define AGE_PARTS 64u    /* ticks in which all bytes are aged */
#define COUNT_FIRST 5u   /* of a new key */
#define COUNT_GROWTH 10u /* how much more rarely each step comes */

static size_t heat_size(uint64_t bytes)
{
    return sizeof(struct kv_heat) + (size_t)bytes;
}

struct kv_heat *kv_heat_new(struct kv_mem *mem, const struct kv_heat *old, bool is_frequency,
                            uint64_t key_count)
{
    uint64_t bytes = old == NULL ? BYTES_FIRST : old->mask + 1;
    while (key_count > bytes / 2) {
        bytes *= 2;
    }
    struct kv_heat *heat = kv_mem_zeroed(mem, heat_size(bytes));
    if (heat == NULL) {
        return NULL;
    }
    heat->is_frequency = is_frequency;
    heat->mask = bytes - 1;
    if (old != NULL) {
        atomic_store_explicit(&heat->tick, atomic_load(&old->tick), memory_order_relaxed);
    }
    for (uint64_t i = 0; i < bytes; i++) {
        uint8_t byte = is_frequency ? COUNT_FIRST : 0;
        if (old != NULL) {
            byte = atomic_load_explicit(&old->bytes[i & old->mask], memory_order_relaxed);
        }
        atomic_store_explicit(&heat->bytes[i], byte, memory_order_relaxed);
    }
    return heat;
}

void kv_heat_free(struct kv_mem *mem, struct kv_heat *heat)
{
    if (heat != NULL) {
        kv_mem_free(mem, heat, heat_size(heat->mask + 1));
    }
}

/* One in `n`, by a generator of the thread's own. */
static bool one_in(unsigned n)
{
    static _Thread_local uint32_t heat_chance = UINT32_C(2463534242);
    heat_chance ^= heat_chance << 13;
    heat_chance ^= heat_chance >> 17;
    heat_chance ^= heat_chance << 5;
    return heat_chance % n == 0;
}

void kv_heat_touch(struct kv_heat *heat, uint64_t hash)
{
    _Atomic uint8_t *byte = &heat->bytes[hash & heat->mask];
    uint8_t old = atomic_load_explicit(byte, memory_order_relaxed), now = old;
    if (!heat->is_frequency) {
        now = atomic_load_explicit(&heat->tick, memory_order_relaxed);
    } else if (old < UINT8_MAX) {
        unsigned steps = old <= COUNT_FIRST ? 0 : old - COUNT_FIRST;
        now = (uint8_t)(old + one_in(steps * COUNT_GROWTH + 1));
    }
    if (now != old) {
        atomic_store_explicit(byte, now, memory_order_relaxed);
    }
}

/* Ages a part of the bytes. */
static void heat_age(struct kv_heat *heat, uint8_t tick)
{
    uint64_t count = (heat->mask + 1) / AGE_PARTS;
    for (uint64_t i = 0; i < count; i++) {
        _Atomic uint8_t *byte = &heat->bytes[heat->age_next++ & heat->mask];
        uint8_t old = atomic_load_explicit(byte, memory_order_relaxed);
        if (heat->is_frequency) {
            atomic_store_explicit(byte, (uint8_t)(old - (old != 0)), memory_order_relaxed);
        } else if ((uint8_t)(tick - old) > TICKS_MAX) {
            atomic_store_explicit(byte, (uint8_t)(tick - TICKS_MAX), memory_order_relaxed);
        }
    }
}

bool kv_heat_born(struct kv_heat *heat, uint64_t hash)
{
    uint8_t tick = atomic_load_explicit(&heat->tick, memory_order_relaxed);
    bool has_ticked = ++heat->births > (heat->mask + 1) / (2 * TICKS_MAX);
    if (has_ticked) {
        heat->births = 0;
        tick++;
        atomic_store_explicit(&heat->tick, tick, memory_order_relaxed);
        heat_age(heat, tick);
    }
    atomic_store_explicit(&heat->bytes[hash & heat->mask],
                          heat->is_frequency ? (uint8_t)COUNT_FIRST : tick, memory_order_relaxed);
    return has_ticked;
}

unsigned kv_heat_coldness(const struct kv_heat *heat, uint64_t hash)
{
    uint8_t byte = atomic_load_explicit(&heat->bytes[hash & heat->mask], memory_order_relaxed);
    uint8_t tick = atomic_load_explicit(&heat->tick, memory_order_relaxed);
    return heat->is_frequency ? UINT8_MAX - byte : (uint8_t)(tick - byte);
}
