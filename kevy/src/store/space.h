/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The address space: 16,384 slots of 4 MiB in which segments and extents lie.
 * A reference (record.h) is turned into a pointer by one load and one add.
 *
 * What lives here: the slot array and reading through it. What does not: who
 * fills a slot, how long the memory behind it lives, how much of it is live
 * (log/). A slot's base is set before a reference into it is published and
 * cleared after the last one is gone and every reader left.
 *
 * Threads: any thread reads; one writer at a time sets.
 */
#ifndef KEVY_SRC_STORE_SPACE_H
#define KEVY_SRC_STORE_SPACE_H

#include <stdatomic.h>

#include "base/assert.h"
#include "kevy/src/mem/mem.h"
#include "kevy/src/store/record.h"

/* The slot array grows by doubling; an old array is kept until the space is
 * done, so that a reader may still use it. */
struct kv_space {
    const uint8_t *_Atomic *_Atomic base;
    uint32_t capacity; /* slots that the array holds */
    struct kv_mem *mem;
    void *retired[16]; /* old arrays, by log2 of their size */
};

enum { KV_SPACE_FIRST = 64 };

/* Returns 0, or KEVY_ENOMEM. */
int kv_space_init(struct kv_space *space, struct kv_mem *mem);
void kv_space_done(struct kv_space *space);

/* Makes room for slots below `count`. 0, or KEVY_ENOMEM with nothing changed. */
int kv_space_reserve(struct kv_space *space, uint32_t count);

/* Sets the memory behind a reserved slot; NULL empties it. */
void kv_space_set(struct kv_space *space, uint32_t slot, const uint8_t *base);

static inline uint32_t kv_ref_of(uint32_t slot, size_t offset)
{
    ASSERT(offset % KV_GRANULE == 0 && offset < KV_SLOT_SIZE);
    return (slot << KV_SLOT_SHIFT) | (uint32_t)(offset / KV_GRANULE);
}

static inline uint32_t kv_ref_slot(uint32_t ref)
{
    return ref >> KV_SLOT_SHIFT;
}

static inline size_t kv_ref_offset(uint32_t ref)
{
    return (size_t)(ref & ((1u << KV_SLOT_SHIFT) - 1)) * KV_GRANULE;
}

/* Returns the first byte behind a slot. Borrowed until the slot is emptied. */
static inline const uint8_t *kv_space_slot(const struct kv_space *space, uint32_t slot)
{
    const uint8_t *_Atomic *array = atomic_load_explicit(&space->base, memory_order_acquire);
    return atomic_load_explicit(&array[slot], memory_order_acquire);
}

/* Returns the record at `ref`. Borrowed until the record is retired and its
 * segment goes. */
static inline const uint8_t *kv_space_record(const struct kv_space *space, uint32_t ref)
{
    return kv_space_slot(space, kv_ref_slot(ref)) + kv_ref_offset(ref);
}

/* Key and value of a VALUE, TOMBSTONE or EXTENT record. */
static inline const uint8_t *kv_record_data(const struct kv_space *space, const uint8_t *record)
{
    if (kv_record_is_bare(record)) {
        return record + KV_RECORD_HEADER;
    }
    const uint8_t *body = kv_record_body(record);
    return kv_record_type(record) != KV_RECORD_EXTENT
               ? body
               : kv_space_slot(space, load_u32(body)) + KV_EXTENT_DATA;
}

static inline struct bytes kv_record_key(const struct kv_space *space, const uint8_t *record)
{
    return bytes_of(kv_record_data(space, record), kv_record_key_size(record));
}

static inline struct bytes kv_record_value(const struct kv_space *space, const uint8_t *record)
{
    return bytes_of(kv_record_data(space, record) + kv_record_key_size(record),
                    kv_record_value_size(record));
}

#endif
