/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of keyspace/ share: the steps of a write that do not fail,
 * and the bookkeeping of expiries. Under the store's lock.
 */
#ifndef KEVY_SRC_KEYSPACE_KEYSPACE_INSIDE_H
#define KEVY_SRC_KEYSPACE_KEYSPACE_INSIDE_H

#include "kevy.h"
#include "kevy/src/keyspace/peek.h"

/* Tells whoever watches; nothing, not even a call, if nobody does. */
static inline void kv_keyspace_tell(const struct kv_keyspace *ks, uint32_t db, struct bytes key,
                                    int32_t cause)
{
    if (ks->watch != NULL) {
        ks->watch->changed(ks->watch->self, db, key, cause);
    }
}

/* Which database has this namespace, or KV_DATABASE_COUNT. */
static inline uint32_t kv_namespace_index(const uint32_t *namespaces, uint32_t namespace_id)
{
    uint32_t i = 0;
    while (i < KV_DATABASE_COUNT && namespaces[i] != namespace_id) {
        i++;
    }
    return i;
}

/* Appends drafts as one unit. 0, or a status < 0. */
int kv_keyspace_append(struct kv_keyspace *ks, struct kv_draft *drafts, size_t count);

/* The tombstone of a key. */
struct kv_draft kv_keyspace_tombstone(const struct kv_keyspace *ks, uint32_t db, struct bytes key);

/* Takes a key whose tombstone is appended out of the table, and tells it: as
 * KEVY_CHANGE_EXPIRE if it had expired, else as `cause`. False: it was not
 * there, or had expired. */
bool kv_keyspace_leave(struct kv_keyspace *ks, uint32_t db, struct bytes key, int32_t cause);

/* Gets the memory for `count` inserts, of which some may have an expiry. */
int kv_keyspace_reserve(struct kv_keyspace *ks, struct kv_database *database, size_t count,
                        bool has_expiry);

/* After entries were put in, when the table had `before` buckets: gives the new
 * buckets' leaves their bounds, and notes the expiry (0 none) of a key. */
void kv_keyspace_note_expiry(struct kv_database *database, uint64_t before, uint64_t hash,
                             uint64_t expiry_ms);

/* Visits the entries of a leaf of the deadlines. */
void kv_keyspace_visit_leaf(const struct kv_database *database, size_t leaf,
                            kv_table_visit_fn *visit, void *user);

/* A key is written: notes it in the heat, which grows with the keys. */
void kv_keyspace_warm(struct kv_keyspace *ks, struct kv_heat *heat, uint64_t hash, bool is_new);

/* Reclaims a few keys that expired a while ago, if there are any. To be called
 * at the start of a write; `has_expiry` says of what kind. */
void kv_keyspace_tidy(struct kv_keyspace *ks, uint32_t db, bool has_expiry);

#endif
