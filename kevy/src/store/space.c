/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The slot array's growth; see space.h.
 *
 * An array that was outgrown is kept until the space is done: all of them
 * together are no larger than the current one.
 */
#include "kevy/src/store/space.h"

#include "kevy.h"

typedef const uint8_t *_Atomic space_slot;

static space_slot *space_array(const struct kv_space *space)
{
    return atomic_load_explicit(&space->base, memory_order_relaxed);
}

static space_slot *space_array_new(struct kv_mem *mem, uint32_t capacity)
{
    space_slot *array = (space_slot *)kv_mem_new(mem, capacity * sizeof *array);
    for (uint32_t i = 0; array != NULL && i < capacity; i++) {
        atomic_init(&array[i], NULL);
    }
    return array;
}

int kv_space_init(struct kv_space *space, struct kv_mem *mem)
{
    *space = (struct kv_space){.mem = mem, .capacity = KV_SPACE_FIRST};
    space_slot *array = space_array_new(mem, KV_SPACE_FIRST);
    if (array == NULL) {
        return KEVY_ENOMEM;
    }
    atomic_init(&space->base, array);
    return KEVY_OK;
}

void kv_space_done(struct kv_space *space)
{
    space_slot *array = space_array(space);
    if (array == NULL) {
        return;
    }
    kv_mem_free(space->mem, array, space->capacity * sizeof *array);
    for (uint32_t i = 0; i < sizeof space->retired / sizeof space->retired[0]; i++) {
        kv_mem_free(space->mem, space->retired[i], ((size_t)1 << i) * sizeof *array);
    }
    *space = (struct kv_space){.base = NULL};
}

int kv_space_reserve(struct kv_space *space, uint32_t count)
{
    uint32_t capacity = space->capacity, log2 = 0;
    ASSERT(count <= KV_SLOT_COUNT);
    while (capacity < count) {
        capacity *= 2;
    }
    if (capacity == space->capacity) {
        return KEVY_OK;
    }
    space_slot *old = space_array(space), *array = space_array_new(space->mem, capacity);
    if (array == NULL) {
        return KEVY_ENOMEM;
    }
    for (uint32_t i = 0; i < space->capacity; i++) {
        atomic_init(&array[i], atomic_load_explicit(&old[i], memory_order_relaxed));
    }
    while (((uint32_t)1 << log2) < space->capacity) {
        log2++;
    }
    space->retired[log2] = old;
    space->capacity = capacity;
    atomic_store_explicit(&space->base, array, memory_order_release);
    return KEVY_OK;
}

void kv_space_set(struct kv_space *space, uint32_t slot, const uint8_t *base)
{
    ASSERT(slot < space->capacity);
    atomic_store_explicit(&space_array(space)[slot], base, memory_order_release);
}
