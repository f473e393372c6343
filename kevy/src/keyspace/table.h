/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hash table of one database: from a key to a 32-bit reference to its
 * record. The key is not stored here; a lookup compares it in the record.
 *
 * Buckets are cache lines (bucket.h) in blocks of 256 that never move; a
 * directory of blocks grows by doubling. A bucket that is full continues in an
 * overflow bucket.
 *
 *     directory      block 0              block 1
 *     [ * ][ * ]     [b0][b1]...[b255]    [b256]...        head buckets
 *                      |
 *                      +-> [o7] -> [o9]                    overflow buckets
 *
 * Growth is by linear hashing: an insert past the load limit splits one bucket
 * in two, so that no insert ever pays for a whole rehash. The table shrinks
 * only when it is cleared, which also keeps a scan's cursor simple: an entry
 * only ever moves to a bucket that a scan visits later.
 *
 * Threads: one writer at a time, under the store's lock. A reader without the
 * lock sees valid buckets: a hit is a true hit; a miss is one only if `changes`
 * was even and did not move meanwhile (a split or a removal moves it).
 */
#ifndef KEVY_SRC_KEYSPACE_TABLE_H
#define KEVY_SRC_KEYSPACE_TABLE_H

#include <stdbool.h>

#include "kevy/src/keyspace/bucket.h"
#include "kevy/src/mem/mem.h"
#include "kevy/src/store/space.h"

/* A key with its hash, made once per call by kv_table_key. */
struct kv_key {
    struct bytes name;
    uint64_t hash;
};

/* Buckets in blocks, reached by number. */
struct kv_blocks {
    struct kv_bucket *_Atomic *_Atomic directory;
    size_t capacity;   /* blocks that the directory can hold */
    size_t count;      /* blocks */
    void *retired[40]; /* old directories, which readers may still use; by log2 of their size */
    void *run;         /* memory of the blocks that were made at once, NULL none */
    size_t run_count;  /* they are the first ones */
};

struct kv_table {
    struct kv_mem *mem;
    const struct kv_space *space;
    uint64_t seed;
    struct kv_blocks heads;
    struct kv_blocks more;         /* overflow buckets; number n is index n - 1 */
    uint32_t more_used;            /* numbers handed out so far */
    uint32_t more_free;            /* first of the list of free ones, 0 none */
    uint32_t more_spare;           /* how many are on that list */
    _Atomic uint64_t bucket_count; /* head buckets in use, 0 before the first insert */
    uint64_t count;                /* entries */
    _Atomic uint64_t changes;      /* odd while entries move between buckets */
};

void kv_table_init(struct kv_table *table, struct kv_mem *mem, const struct kv_space *space,
                   uint64_t seed);

/* Gives all memory back. The table is as after init. No reader may be inside. */
void kv_table_clear(struct kv_table *table);

struct kv_key kv_table_key(const struct kv_table *table, struct bytes name);

/* Returns the reference of `key`, or 0. Under the lock. */
uint32_t kv_table_find(const struct kv_table *table, struct kv_key key);

/* The same without the lock, inside an epoch. `*is_sure` tells whether a miss
 * is one: else entries moved while we looked. */
uint32_t kv_table_peek(const struct kv_table *table, struct kv_key key, bool *is_sure);

/* Asks for the cache lines that lookups of these keys will need, all at once
 * instead of one after another. Inside an epoch or under the lock. */
void kv_table_fetch(const struct kv_table *table, const struct kv_key *keys, size_t count);

/* The same in two steps, with other work between them: first the bucket of a key
 * of this hash, then what its entry leads to. Under the lock. */
void kv_table_fetch_bucket(const struct kv_table *table, uint64_t hash);
void kv_table_fetch_record(const struct kv_table *table, uint64_t hash);

/* Gets memory for `count` inserts, so that they cannot fail. 0, KEVY_ENOMEM or
 * KEVY_ELIMIT; the table is unchanged but for its spare memory. */
int kv_table_reserve(struct kv_table *table, size_t count);

/* Makes an empty table so large at once; without the memory it stays as it is. */
void kv_table_expect(struct kv_table *table, uint64_t bucket_count);

/* The head buckets for which there is memory. */
uint64_t kv_table_reserved(const struct kv_table *table);

/* Where an entry is, or with ref 0 that the key has none: what a writer looks
 * up once before it appends and uses after. */
struct kv_table_entry {
    uint32_t ref;
    uint32_t entry;
    struct kv_bucket *bucket;
    const uint8_t *record; /* at `ref` */
};

/* Finds the place of `key`. Good until the table changes. */
struct kv_table_entry kv_table_locate(const struct kv_table *table, struct kv_key key);

/* Points the place at `ref`; for a new key that needs a reserved insert. */
void kv_table_insert(struct kv_table *table, const struct kv_key *key, uint32_t ref);
static inline void kv_table_put_at(struct kv_table *table, const struct kv_table_entry *place,
                                   const struct kv_key *key, uint32_t ref)
{
    if (place->ref != 0) {
        kv_bucket_set_ref(place->bucket, place->entry, ref);
    } else {
        kv_table_insert(table, key, ref);
    }
}

/* Points `key` at `ref`; returns the reference that it had, or 0 for a new
 * key, which needs a reserved insert. */
uint32_t kv_table_put(struct kv_table *table, struct kv_key key, uint32_t ref);

/* Removes `key`; returns the reference that it had, or 0. */
uint32_t kv_table_remove(struct kv_table *table, struct kv_key key);

/* Points the entry that holds `old_ref` at `new_ref` if it is still there:
 * the move of a collector. */
bool kv_table_replace(struct kv_table *table, uint64_t hash, uint32_t old_ref, uint32_t new_ref);

/* Visits the entries of buckets from `cursor` on until `count` of them were
 * seen, 10 * count buckets were empty, or the table ends; returns the next
 * cursor, 0 at the end. An entry that is there during the whole iteration is
 * visited at least once. The visitor must not change the table. */
typedef void kv_table_visit_fn(void *user, uint32_t ref);
uint64_t kv_table_scan(const struct kv_table *table, uint64_t cursor, size_t count,
                       kv_table_visit_fn *visit, void *user);

/* Visits the entries of one head bucket, its overflow buckets included. */
void kv_table_visit(const struct kv_table *table, uint64_t bucket, kv_table_visit_fn *visit,
                    void *user);

/* The head buckets in use, and the one in which keys of this hash are; there
 * is one. */
uint64_t kv_table_buckets(const struct kv_table *table);
uint64_t kv_table_home(const struct kv_table *table, uint64_t hash);

/* The bucket out of which `bucket`, not the first, was split. */
uint64_t kv_table_split_of(uint64_t bucket);

/* Returns the reference of the entry that `random` chooses, 0 if there is none. */
uint32_t kv_table_random(const struct kv_table *table, uint64_t random);

/* Bytes of memory that the table holds. */
size_t kv_table_memory(const struct kv_table *table);

/* Checks every invariant; for tests and hostile builds. */
bool kv_table_verify(const struct kv_table *table);

#endif
