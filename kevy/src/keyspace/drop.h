/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Databases that were dropped: their namespace is gone, so no reader and no
 * replay finds their keys any more, but their records are not yet retired. A
 * flush of a million keys is one record in the log and a change of pointers;
 * what is left is done here in steps, between which others have the lock.
 *
 *   map record -> dropped -> drop_step, drop_step … -> taken out -> freed
 *
 * Whoever dropped a database (kv_keyspace.drops went up) calls for the steps
 * until nothing is left. Meanwhile its records still count as live, and the
 * collector may move them.
 *
 * Threads: under the store's lock.
 */
#ifndef KEVY_SRC_KEYSPACE_DROP_H
#define KEVY_SRC_KEYSPACE_DROP_H

#include "kevy/src/keyspace/keyspace.h"

/* Takes a database over that no index leads to any more. */
void kv_keyspace_drop(struct kv_keyspace *ks, struct kv_database *database, uint32_t namespace_id);

/* Retires a bounded number of records. False: nothing was left to do. *empty_out
 * is NULL or a database without records, now the caller's: to be freed by
 * kv_database_free, without the lock, when every reader of now has left. Inside
 * an epoch. */
bool kv_keyspace_drop_step(struct kv_keyspace *ks, struct kv_database **empty_out);

/* All steps at once, where there are no readers. */
void kv_keyspace_drop_all(struct kv_keyspace *ks);

/* The dropped database that had this namespace, or NULL, also when a key of this
 * hash was retired already. */
struct kv_database *kv_keyspace_dropped_of(const struct kv_keyspace *ks, uint32_t namespace_id,
                                           uint64_t hash);

/* Bytes of the tables of dropped databases. */
size_t kv_keyspace_dropped_memory(const struct kv_keyspace *ks);

#endif
