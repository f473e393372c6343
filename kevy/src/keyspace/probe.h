/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The probe: the first look for a key in the hash table, inlined into whoever
 * looks. All but a few keys are in their head bucket, as the only one there
 * with their tag; the probe finds those and leaves the rest to table.c.
 *
 * Threads: under the lock, or inside an epoch. What it finds is there.
 */
#ifndef KEVY_SRC_KEYSPACE_PROBE_H
#define KEVY_SRC_KEYSPACE_PROBE_H

#include "kevy/src/keyspace/blocks.h"
#include "kevy/src/keyspace/table.h"

/* Linear hashing: buckets below 2^level - split are addressed with one bit
 * less. `count` is at least 1. */
static inline uint64_t kv_probe_home(uint64_t hash, uint64_t count)
{
    uint64_t mask = UINT64_MAX >> __builtin_clzll(count);
    uint64_t index = hash & mask;
    return index < count ? index : index & (mask >> 1);
}

static inline uint64_t kv_probe_buckets(const struct kv_table *table)
{
    return atomic_load_explicit(&table->bucket_count, memory_order_acquire);
}

/* Keys are mostly short: two overlapping words compare up to 16 bytes. */
static inline bool kv_probe_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    if (size > 16) {
        return memcmp(a, b, size) == 0;
    }
    if (size >= 8) {
        return ((load_u64(a) ^ load_u64(b)) | (load_u64(a + size - 8) ^ load_u64(b + size - 8))) ==
               0;
    }
    if (size >= 4) {
        return ((load_u32(a) ^ load_u32(b)) | (load_u32(a + size - 4) ^ load_u32(b + size - 4))) ==
               0;
    }
    return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

static inline bool kv_probe_holds(const struct kv_table *table, const uint8_t *record,
                                  struct bytes name)
{
    return kv_record_key_size(record) == name.size &&
           kv_probe_same(kv_record_data(table->space, record), name.data, name.size);
}

/* The entry of `key`; with ref 0 the probe cannot tell whether it is there. */
__attribute__((always_inline)) static inline struct kv_table_entry
kv_table_probe(const struct kv_table *table, struct kv_key key)
{
    uint64_t count = kv_probe_buckets(table);
    if (count != 0) {
        struct kv_bucket *bucket = kv_blocks_at(&table->heads, kv_probe_home(key.hash, count));
        unsigned match = kv_tags_match(kv_bucket_tags(bucket), kv_tag_of(key.hash));
        unsigned entry = match == 0 ? 0 : (unsigned)__builtin_ctz(match);
        uint32_t ref = match == 0 ? 0 : kv_bucket_ref(bucket, entry);
        const uint8_t *record = ref == 0 ? NULL : kv_space_record(table->space, ref);
        if (record != NULL && kv_probe_holds(table, record, key.name)) {
            return (struct kv_table_entry){ref, entry, bucket, record};
        }
    }
    return (struct kv_table_entry){0, 0, NULL, NULL};
}

#endif
