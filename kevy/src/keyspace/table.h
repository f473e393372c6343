/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hash table of one database: from a key to a 32-bit reference to its
 * record. The key is not stored here; a lookup compares it in the record.
 *
 * A bucket is one cache line of 64 bytes, two words and twelve references:
 *
 *    word 0          tags of entries 0 to 7, a byte each, entry 0 lowest
 *    word 1          tags of entries 8 to 11, then a u32: bits 0-11 the kind of
 *                    each entry (0 string, 1 collection), bit 12 "more follows"
 *    refs[12]        0 = empty entry
 *
 * A tag is 7 bits of the hash with the high bit set; 0 is an empty entry. The
 * entries of a bucket are packed: a removed one is replaced by the last of the
 * chain. A full bucket continues in an overflow bucket, whose number then takes
 * the place of refs[11] (so a full head holds eleven).
 *
 * Growth is by linear hashing: each insert past the load limit splits one
 * bucket in two, so no insert ever pays for a whole rehash. Buckets lie in
 * blocks that never move; a directory of blocks grows by doubling. The table
 * shrinks only when it is cleared.
 *
 * Threads: one writer at a time under the store's lock. Words and references
 * are atomics, written so that a reader without the lock sees a valid bucket:
 * a hit is always a true hit; a miss must be validated with `changes`, which a
 * split or a removal moves.
 */
#ifndef KEVY_SRC_KEYSPACE_TABLE_H
#define KEVY_SRC_KEYSPACE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "kevy/src/mem/mem.h"
#include "kevy/src/store/space.h"

#define KV_BUCKET_ENTRIES 12u

struct kv_bucket {
    _Atomic uint64_t tags[2];
    _Atomic uint32_t refs[KV_BUCKET_ENTRIES];
};

/* A key with its hash, made once per call by kv_table_key. */
struct kv_key {
    struct bytes name;
    uint64_t hash;
};

struct kv_table {
    struct kv_mem *mem;
    const struct kv_space *space;
    uint64_t seed;
    struct kv_bucket **blocks; /* head buckets, in blocks */
    size_t block_capacity;     /* how many blocks the directory can hold */
    size_t block_count;
    struct kv_bucket **more; /* overflow buckets, in blocks */
    size_t more_capacity;
    size_t more_count;      /* blocks */
    uint32_t more_used;     /* overflow buckets handed out so far */
    uint32_t more_free;     /* head of the list of free ones, 0 none; number + 1 */
    size_t more_spare;      /* how many are on that list */
    uint64_t bucket_count;  /* head buckets in use */
    uint64_t level_mask;    /* 2^level - 1: buckets at the start of this round */
    uint64_t count;         /* entries */
    _Atomic uint64_t changes;
};

void kv_table_init(struct kv_table *table, struct kv_mem *mem, const struct kv_space *space,
                   uint64_t seed);
void kv_table_done(struct kv_table *table);

/* Forgets every entry and gives its memory back. */
void kv_table_clear(struct kv_table *table);

struct kv_key kv_table_key(const struct kv_table *table, struct bytes name);

/* Returns the reference of `key`, or 0. */
uint32_t kv_table_find(const struct kv_table *table, struct kv_key key);

/* Gets memory for `count` inserts, so that they cannot fail. 0 or
 * KEVY_ENOMEM with nothing changed. */
int kv_table_reserve(struct kv_table *table, size_t count);

/* Points `key` at `ref`; returns the reference that it had, or 0 for a new
 * key, which needs a reserved insert. */
uint32_t kv_table_put(struct kv_table *table, struct kv_key key, uint32_t ref);

/* Removes `key`; returns the reference that it had, or 0. */
uint32_t kv_table_remove(struct kv_table *table, struct kv_key key);

/* Points the entry that holds `old_ref` at `new_ref` if it is still there:
 * the move of a collector. */
bool kv_table_replace(struct kv_table *table, uint64_t hash, uint32_t old_ref, uint32_t new_ref);

/* Visits the entries of buckets from `cursor` on until `count` of them were
 * seen or the table ends; returns the next cursor, 0 at the end. An entry that
 * is there during the whole iteration is visited at least once. The visitor
 * must not change the table. At most 10 * count empty buckets a call. */
typedef void kv_table_visit_fn(void *user, uint32_t ref);
uint64_t kv_table_scan(const struct kv_table *table, uint64_t cursor, size_t count,
                       kv_table_visit_fn *visit, void *user);

/* Returns a random entry's reference, 0 if there is none. */
uint32_t kv_table_random(const struct kv_table *table, uint64_t random);

/* Bytes of memory that the table holds. */
size_t kv_table_memory(const struct kv_table *table);

/* Checks every invariant; for tests and ASSERT_SLOW. */
bool kv_table_verify(const struct kv_table *table);

#endif
