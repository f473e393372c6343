/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The keyspace: sixteen databases of keys, what each holds and until when.
 *
 * What lives here: finding, writing, removing, expiring and walking keys, each
 * write one append to the journal before the table changes. What does not: the
 * lock (engine/ takes it around each call), how values are understood
 * (command/), where records lie (store/, log/).
 *
 * A key past its expiry is a miss everywhere, at once; writing to it starts
 * anew. Functions that write return a kevy_status < 0 with nothing changed
 * when the journal or the memory fails.
 *
 * Threads: the caller holds the store's lock, but for kv_keyspace_peek (peek.h),
 * kv_keyspace_peek_many and kv_keyspace_key. What a reader without the lock may still see is buried
 * (mem/grave.h), not freed.
 */
#ifndef KEVY_SRC_KEYSPACE_KEYSPACE_H
#define KEVY_SRC_KEYSPACE_KEYSPACE_H

#include "kevy/src/keyspace/deadlines.h"
#include "kevy/src/keyspace/heat.h"
#include "kevy/src/keyspace/table.h"
#include "kevy/src/mem/grave.h"
#include "kevy/src/os/os_clock.h"
#include "kevy/src/store/journal.h"
#include "kevy/src/store/namespaces.h"

#define KV_DATABASE_COUNT KV_NAMESPACE_DATABASES

struct kv_database {
    struct kv_table table;
    uint64_t expiring_count; /* keys with an expiry, expired ones included */
    struct kv_deadlines deadlines;

    /* Once no database has its namespace any more: see drop.h. */
    struct kv_database *dropped_next;
    uint32_t dropped_namespace;
    uint64_t drop_cursor;
};

/* Who is told of each change, after the table has changed and under the lock:
 * must not write, wait or fail. The key is borrowed during the call; it is
 * empty for KEVY_CHANGE_CLEAR. `cause` is one of KEVY_CHANGE_…. */
struct kv_watch {
    void *self;
    void (*changed)(void *self, uint32_t db, struct bytes key, int32_t cause);
};

/* Records that replay will apply, with the hashes of their keys: two groups. */
#define KV_KEYS_AHEAD 16u
struct kv_key_ahead {
    size_t count;
    size_t next; /* which one it is at */
    uint32_t refs[2 * KV_KEYS_AHEAD];
    uint64_t hashes[2 * KV_KEYS_AHEAD];
};

struct kv_keyspace {
    struct kv_mem *mem;
    const struct kv_space *space;
    struct kv_journal *journal;
    struct kv_clock *clock;
    uint64_t seed;
    uint32_t namespace_next;      /* the id that the next FLUSH takes */
    uint64_t changes;             /* writes so far (Redis's "dirty") */
    uint64_t expired;             /* keys reclaimed after their expiry had passed */
    uint64_t evicted;             /* keys deleted to make room */
    const struct kv_watch *watch; /* NULL: nobody */
    uint32_t tidy_turn;
    int32_t policy; /* KEVY_EVICT_… */
    uint64_t evict_turn;
    uint64_t drops;               /* databases that were dropped so far */
    struct kv_database *dropped;  /* those with records that are not yet retired */
    struct kv_heat *_Atomic heat; /* NULL: the policy needs none */
    uint32_t namespaces[KV_DATABASE_COUNT];
    struct kv_database *_Atomic databases[KV_DATABASE_COUNT]; /* NULL: empty */
    struct kv_graveyard yard;
    struct kv_key_ahead ahead; /* while the log is replayed */
};

/* Returns a database, or NULL when it is empty; the same, made if need be, or
 * NULL without memory; frees one that nobody sees. */
static inline struct kv_database *kv_database_of(const struct kv_keyspace *ks, uint32_t db)
{
    return atomic_load_explicit(&ks->databases[db], memory_order_acquire);
}
struct kv_database *kv_database_need(struct kv_keyspace *ks, uint32_t db);
void kv_database_free(struct kv_keyspace *ks, struct kv_database *database);

/* A key's value, borrowed until the next write to the keyspace. */
struct kv_item {
    struct bytes value;
    uint64_t expiry_ms; /* absolute wall milliseconds, 0 none */
};

/* One key and value to be written by kv_keyspace_put. */
struct kv_pair {
    struct bytes key;
    struct bytes value;
    uint64_t expiry_ms; /* absolute wall milliseconds, 0 none */
};

void kv_keyspace_init(struct kv_keyspace *ks, struct kv_mem *mem, const struct kv_space *space,
                      struct kv_journal *journal, struct kv_clock *clock, uint64_t seed);
void kv_keyspace_done(struct kv_keyspace *ks);

/* Wall milliseconds now, the clock that expiries are compared with. */
uint64_t kv_keyspace_now(const struct kv_keyspace *ks);

/* As kv_keyspace_peek for several keys, whose cache misses overlap: writes 1, 0
 * or -1 to found[i] and the item to out[i]. At most KV_PEEK_MANY keys. */
#define KV_PEEK_MANY 16u
void kv_keyspace_peek_many(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *keys,
                           size_t count, int *found, struct kv_item *out);

/* 1 and *out, or 0. */
int kv_keyspace_find(const struct kv_keyspace *ks, uint32_t db, struct bytes key,
                     struct kv_item *out);

/* Writes `count` pairs, all or none; a later pair of a key wins. 0, or < 0. */
int kv_keyspace_put(struct kv_keyspace *ks, uint32_t db, const struct kv_pair *pairs, size_t count);

/* As kv_keyspace_put for one pair whose key's hash is known. */
int kv_keyspace_put_key(struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                        struct bytes value, uint64_t expiry_ms);

/* A key between looking at it and writing it: it is looked up once. Good until
 * the next write to the keyspace, which may be one of those below. */
struct kv_edit {
    uint32_t db;
    struct kv_key key;
    struct kv_table_entry place; /* ref 0: not there */
    uint64_t now_ms;             /* 0: the clock was not read */
};

/* Begins one: 1 and *out, or 0. The clock is read at most once, and not if
 * `now_ms` is not 0. */
int kv_keyspace_edit(struct kv_keyspace *ks, uint32_t db, struct bytes name, uint64_t now_ms,
                     struct kv_edit *edit, struct kv_item *out);

/* Writes the key. 0, or < 0. */
int kv_keyspace_edit_put(struct kv_keyspace *ks, struct kv_edit *edit, struct bytes value,
                         uint64_t expiry_ms);

/* Gives the key, which holds `item`, another expiry: see kv_keyspace_expire. */
int kv_keyspace_edit_expire(struct kv_keyspace *ks, struct kv_edit *edit,
                            const struct kv_item *item, uint64_t expiry_ms);

/* Removes `count` keys, all or none of them. The number that were there and
 * had not expired, or < 0. */
int64_t kv_keyspace_remove(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                           size_t count);

/* The same, told to watchers for another cause than KEVY_CHANGE_DEL. */
int64_t kv_keyspace_remove_as(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                              size_t count, int32_t cause);

/* No key of the database expires before this time; KV_DEADLINE_NEVER: none does. */
uint64_t kv_keyspace_deadline(const struct kv_keyspace *ks, uint32_t db);

/* Removes a few keys that have expired at `now_ms`, where the deadline is, and
 * moves the deadline on. How many, 0 also while the deadline has not passed;
 * or < 0 with nothing changed. Inside an epoch. */
int64_t kv_keyspace_reclaim(struct kv_keyspace *ks, uint32_t db, uint64_t now_ms);

/* Sets the policy of eviction. 0, or KEVY_ENOMEM with nothing changed. */
int kv_keyspace_set_policy(struct kv_keyspace *ks, int32_t policy);

/* Deletes the key that gives way next, for which there is a policy. 1, 0: there
 * is none, or < 0. Inside an epoch. */
int kv_keyspace_evict(struct kv_keyspace *ks);

/* How often a key is used, by Redis's counter; -1: the policy counts no uses. */
int kv_keyspace_frequency(const struct kv_keyspace *ks, struct bytes key);

/* Gives a key that is there another expiry, 0 for none. An expiry that has
 * passed removes the key. 1 done, 0 no such key, < 0. */
int kv_keyspace_expire(struct kv_keyspace *ks, uint32_t db, struct bytes key, uint64_t expiry_ms);

/* Renames a key with value and expiry, over whatever `to` holds, in one step,
 * also into another database. 1, 0 no such key, < 0. */
int kv_keyspace_rename(struct kv_keyspace *ks, uint32_t db, struct bytes from, uint32_t to_db,
                       struct bytes to);

/* Empties one database, or all; swaps two. 0 or < 0. O(1) in the log. */
int kv_keyspace_flush(struct kv_keyspace *ks, uint32_t db);
int kv_keyspace_flush_all(struct kv_keyspace *ks);
int kv_keyspace_swap(struct kv_keyspace *ks, uint32_t db, uint32_t other);

/* Keys of a database, those included that expired and were not yet collected. */
uint64_t kv_keyspace_count(const struct kv_keyspace *ks, uint32_t db);
uint64_t kv_keyspace_expiring(const struct kv_keyspace *ks, uint32_t db);

/* Bytes of the record of a key, its extent included; 0 for no such key. */
size_t kv_keyspace_record_size(const struct kv_keyspace *ks, uint32_t db, struct bytes key);

/* Bytes of the tables of all databases. */
size_t kv_keyspace_memory(const struct kv_keyspace *ks);

/* Visits live keys from `cursor` on, about `count` of them; returns the next
 * cursor, 0 at the end. Redis's SCAN guarantee. The visitor must not write. */
typedef void kv_key_visit_fn(void *user, struct bytes key, const struct kv_item *item);
uint64_t kv_keyspace_scan(const struct kv_keyspace *ks, uint32_t db, uint64_t cursor, size_t count,
                          kv_key_visit_fn *visit, void *user);

/* Returns 1 and the live key that the number `random` chooses (borrowed until
 * the next write), or 0. */
int kv_keyspace_random(const struct kv_keyspace *ks, uint32_t db, uint64_t random,
                       struct bytes *out);

/* ---- Replay ---- */

/* Applies one record of the log, in log order: called by engine/ for replay.
 * Records that it supersedes, and itself if no database has its namespace, are
 * retired. 0, or KEVY_ENOMEM. */
int kv_keyspace_apply(struct kv_keyspace *ks, uint32_t ref);

/* Fetches into the cache what applying these values and tombstones will touch:
 * at most KV_KEYS_AHEAD, which come behind the group that was told before and is
 * not yet applied. */
void kv_keyspace_fetch(struct kv_keyspace *ks, const uint32_t *refs, size_t count);

/* How large the tables are, and, in a keyspace without keys, how large they had
 * better be from the start: a guess, which costs memory and time if it is wrong
 * and nothing else. Under the lock. */
void kv_keyspace_bucket_counts(const struct kv_keyspace *ks, uint32_t out[KV_DATABASE_COUNT]);
void kv_keyspace_expect(struct kv_keyspace *ks, const uint32_t bucket_counts[KV_DATABASE_COUNT]);

/* Sets the map: a database that takes another's namespace takes its keys, one
 * whose namespace is new is empty, keys of a namespace that is no longer named
 * are gone. */
void kv_keyspace_map(struct kv_keyspace *ks, const struct kv_namespaces *map);
struct kv_namespaces kv_keyspace_namespaces(const struct kv_keyspace *ks);

/* The collector's move: 1 when `old_ref` was still the newest of its key and
 * now is `new_ref`, else 0. Of a tombstone: 1 when its key is not there. */
int kv_keyspace_move(struct kv_keyspace *ks, uint32_t old_ref, uint32_t new_ref);

bool kv_keyspace_verify(const struct kv_keyspace *ks);

#endif
