/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks of records; see check.h. Filling one in and testing one are the same
 * computation, so that they cannot disagree.
 */
#include "kevy/src/store/check.h"

void kv_check_init(struct kv_check *check, const uint8_t secret[KV_SECRET_SIZE])
{
    check->record_seed = hash_bytes(secret, KV_SECRET_SIZE, 1);
    check->segment_seed = hash_bytes(secret, KV_SECRET_SIZE, 2);
    check->extent_seed = hash_bytes(secret, KV_SECRET_SIZE, 3);
    check->key_seed = hash_bytes(secret, KV_SECRET_SIZE, 4);
    check->is_blind = false;
    check->index_seed = hash_bytes(secret, KV_SECRET_SIZE, 5);
}

uint64_t kv_check_segment(const struct kv_check *check, uint64_t incarnation, uint32_t number)
{
    uint8_t name[12];
    store_u64(name, incarnation);
    store_u32(name + 8, number);
    return hash_bytes(name, sizeof name, check->segment_seed);
}

/* Bytes of the record that its check covers. */
static size_t checked_size(const uint8_t *record)
{
    return kv_record_type(record) == KV_RECORD_PAD ? KV_RECORD_HEADER : kv_record_size(record);
}

static uint32_t check_of(const struct kv_check *check, uint64_t segment_key, size_t offset,
                         const uint8_t *record)
{
    uint64_t hash = kv_check_hash(check, record, checked_size(record));
    return kv_check_place(hash, segment_key, offset);
}

void kv_check_seal(const struct kv_check *check, uint64_t segment_key, size_t offset,
                   uint8_t *record)
{
    store_u32(record, check_of(check, segment_key, offset, record));
}

bool kv_check_holds(const struct kv_check *check, uint64_t segment_key, size_t offset,
                    const uint8_t *record)
{
    return load_u32(record) == check_of(check, segment_key, offset, record) || check->is_blind;
}
