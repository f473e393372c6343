/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Finding one key, inlined into whoever asks: the first look (probe.h) and what
 * the record says. All but a few calls end here; the rest go on in keyspace.c.
 *
 * What lives here: kv_keyspace_key, kv_keyspace_peek, kv_keyspace_find_key. What
 * does not: writing, and looking for several keys at once (keyspace.h).
 *
 * Threads: kv_keyspace_peek without the lock and inside an epoch, the others as
 * keyspace.h says.
 */
#ifndef KEVY_SRC_KEYSPACE_PEEK_H
#define KEVY_SRC_KEYSPACE_PEEK_H

#include "base/hash.h"
#include "kevy/src/keyspace/keyspace.h"
#include "kevy/src/keyspace/probe.h"

/* Compilers find these too large, although nearly every call takes the short way through. */
#define KV_PEEK_INLINE __attribute__((always_inline)) static inline

/* The key with its hash, which is the same in every database. Needs no lock. */
static inline struct kv_key kv_keyspace_key(const struct kv_keyspace *ks, struct bytes name)
{
    return (struct kv_key){name, hash_bytes(name.data, name.size, ks->seed)};
}

/* Says whether the record's expiry has passed. Reads the clock only if it has one. */
static inline bool kv_keyspace_has_expired(const struct kv_keyspace *ks, const uint8_t *record)
{
    uint64_t expiry_ms = kv_record_expiry(record);
    return expiry_ms != 0 && expiry_ms <= kv_keyspace_now(ks);
}

/* 1 and what a record holds that has not expired. */
int kv_item_at(const struct kv_keyspace *ks, const uint8_t *record, uint64_t hash,
               struct kv_item *out);

/* The same, or 0 if it has expired. */
int kv_item_of_slow(const struct kv_keyspace *ks, const uint8_t *record, uint64_t hash,
                    struct kv_item *out);
KV_PEEK_INLINE int kv_item_of(const struct kv_keyspace *ks, const uint8_t *record, uint64_t hash,
                              struct kv_item *out)
{
    if (!kv_record_is_bare(record) ||
        atomic_load_explicit(&ks->heat, memory_order_acquire) != NULL) {
        return kv_item_of_slow(ks, record, hash, out);
    }
    const uint8_t *value = record + KV_RECORD_HEADER + kv_record_key_size(record);
    *out = (struct kv_item){bytes_of(value, kv_record_value_size(record)), 0};
    return 1;
}

/* The rest of the two below: looks everywhere. */
int kv_keyspace_peek_slow(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                          struct kv_item *out);
int kv_keyspace_find_slow(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                          struct kv_item *out);

/* The first look. 1, 0 expired, -1 not found by it. */
KV_PEEK_INLINE int kv_keyspace_glance(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                                      struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    if (database == NULL) {
        return 0;
    }
    const uint8_t *record = kv_table_probe(&database->table, key).record;
    return record == NULL ? -1 : kv_item_of(ks, record, key.hash, out);
}

/* Finds a key without the lock, inside an epoch. As kv_keyspace_find, and what
 * it hands out is borrowed until the epoch is left; or -1: the table is being
 * changed too fast to tell, ask again under the lock. */
KV_PEEK_INLINE int kv_keyspace_peek(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                                    struct kv_item *out)
{
    int found = kv_keyspace_glance(ks, db, key, out);
    return found >= 0 ? found : kv_keyspace_peek_slow(ks, db, &key, out);
}

/* As kv_keyspace_find, for a key whose hash is known. */
static inline int kv_keyspace_find_key(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                                       struct kv_item *out)
{
    int found = kv_keyspace_glance(ks, db, key, out);
    return found >= 0 ? found : kv_keyspace_find_slow(ks, db, &key, out);
}

#endif
