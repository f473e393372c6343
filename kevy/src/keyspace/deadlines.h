/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The deadlines of one database: where the keys are that expire next, without
 * a word for each key.
 *
 * Four neighbouring head buckets of the table are a leaf. A leaf holds a time
 * before which none of its keys expires: a bound, not more, since a key that
 * is deleted or gets another expiry leaves the bound as it is. Whoever finds
 * the bound passed looks at the keys and sets it right. Above the leaves each
 * node is the least of its eight children.
 *
 *     level 2      [        20        ]
 *     level 1      [  20  ][  35  ]
 *     level 0      [50][20][--][35]          leaves
 *     buckets      0-3 4-7 8-11 12-15
 *
 * There is nothing at all before the first key with an expiry.
 *
 * Threads: under the store's lock.
 */
#ifndef KEVY_SRC_KEYSPACE_DEADLINES_H
#define KEVY_SRC_KEYSPACE_DEADLINES_H

#include "kevy/src/mem/mem.h"

#define KV_DEADLINE_NEVER UINT64_MAX
#define KV_DEADLINE_BUCKETS 4u /* of a leaf */
#define KV_DEADLINE_LEVELS 16u

struct kv_deadlines {
    size_t leaf_count; /* 0: none was made */
    size_t level_count;
    uint64_t *levels[KV_DEADLINE_LEVELS]; /* parts of one block, the leaves first */
};

/* Makes leaves for so many head buckets. 0, or KEVY_ENOMEM with nothing changed. */
int kv_deadlines_reserve(struct kv_deadlines *deadlines, struct kv_mem *mem, uint64_t bucket_count);

/* The leaves of so many head buckets. */
static inline uint64_t kv_deadlines_leaves(uint64_t bucket_count)
{
    return (bucket_count + KV_DEADLINE_BUCKETS - 1) / KV_DEADLINE_BUCKETS;
}

/* Sets every node above the leaves, after levels[0] was written to as a whole. */
void kv_deadlines_fill(struct kv_deadlines *deadlines);

void kv_deadlines_free(struct kv_deadlines *deadlines, struct kv_mem *mem);

/* Bytes of memory that they hold. */
size_t kv_deadlines_memory(const struct kv_deadlines *deadlines);

/* A key in this head bucket, which has a leaf, expires at that time. */
void kv_deadlines_lower(struct kv_deadlines *deadlines, uint64_t bucket, uint64_t time_ms);

/* Nothing in the leaf expires before that time. */
void kv_deadlines_set(struct kv_deadlines *deadlines, size_t leaf, uint64_t time_ms);

/* The bound of a bucket's leaf. */
uint64_t kv_deadlines_of(const struct kv_deadlines *deadlines, uint64_t bucket);

/* The least bound of all, and a leaf that has it. */
static inline uint64_t kv_deadlines_first(const struct kv_deadlines *deadlines)
{
    return deadlines->leaf_count == 0 ? KV_DEADLINE_NEVER
                                      : deadlines->levels[deadlines->level_count - 1][0];
}
size_t kv_deadlines_first_leaf(const struct kv_deadlines *deadlines);

/* A leaf with a bound, as the number `random` chooses; there is one. */
size_t kv_deadlines_random_leaf(const struct kv_deadlines *deadlines, uint64_t random);

bool kv_deadlines_verify(const struct kv_deadlines *deadlines);

#endif
