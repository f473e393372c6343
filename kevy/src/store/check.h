/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks: how a reader of a file tells a record that was written here from
 * anything else: torn, zeroed, flipped, stale, or from another place.
 *
 * A record's check has two steps, so that the long one needs no lock:
 *
 *   hash   64 bits over the record from its key size on, seeded with the
 *          store's secret; needs no knowledge of where the record will lie
 *   check  one multiply that mixes in the key of the segment (a hash of
 *          incarnation and segment number) and the record's offset, cut to 32
 *
 * Thus a record never passes at another offset, in another segment, in a later
 * life of the same file, or in another store. A pad is checked by its header
 * alone: nobody reads its inside.
 *
 * Any thread.
 */
#ifndef KEVY_SRC_STORE_CHECK_H
#define KEVY_SRC_STORE_CHECK_H

#include "base/hash.h"
#include "kevy/src/store/record.h"

#define KV_SECRET_SIZE 16u

/* The seeds of one store, derived from its secret. */
struct kv_check {
    uint64_t record_seed;
    uint64_t segment_seed;
    uint64_t extent_seed;
    uint64_t key_seed; /* of the key hash, see kv_log_seed */
    bool is_blind;     /* of a salvage without the secret: every check holds */
    uint64_t index_seed;
};

void kv_check_init(struct kv_check *check, const uint8_t secret[KV_SECRET_SIZE]);

/* The key of one segment. */
uint64_t kv_check_segment(const struct kv_check *check, uint64_t incarnation, uint32_t number);

/* The first step, over a whole encoded record. */
static inline uint64_t kv_check_hash(const struct kv_check *check, const uint8_t *record,
                                     size_t size)
{
    return hash_bytes(record + 4, size - 4, check->record_seed);
}

/* The second step. */
static inline uint32_t kv_check_place(uint64_t hash, uint64_t segment_key, size_t offset)
{
    return (uint32_t)hash_fold(hash ^ segment_key, HASH_K3 ^ offset);
}

/* Fills in the check of an encoded record that will lie at `offset`. */
void kv_check_seal(const struct kv_check *check, uint64_t segment_key, size_t offset,
                   uint8_t *record);

/* Says whether the record, whose size was found to lie inside its segment,
 * has the check that belongs to its bytes and place. */
bool kv_check_holds(const struct kv_check *check, uint64_t segment_key, size_t offset,
                    const uint8_t *record);

/* The 64-bit hash of an extent's payload. */
static inline uint64_t kv_check_extent(const struct kv_check *check, const void *data, size_t size)
{
    return hash_bytes(data, size, check->extent_seed);
}

#endif
