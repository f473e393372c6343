/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Blocks: numbered buckets that never move, 256 to a block, with a directory
 * that grows by doubling. An old directory stays until the table is cleared,
 * so that a reader may go on using it.
 *
 * A block begins on a cache line; what malloc returned is kept in the word
 * before it. New buckets are empty. Blocks that are made at once lie one behind
 * the other in one piece of memory, in large pages where the system has them.
 */
#ifndef KEVY_SRC_KEYSPACE_BLOCKS_H
#define KEVY_SRC_KEYSPACE_BLOCKS_H

#include "kevy/src/keyspace/table.h"

#define KV_BLOCK_SHIFT 8u
#define KV_BLOCK_BUCKETS ((size_t)1 << KV_BLOCK_SHIFT)

/* Makes sure that buckets below `count` are there. 0 or KEVY_ENOMEM. */
int kv_blocks_reserve(struct kv_blocks *blocks, struct kv_mem *mem, size_t count);

/* Makes the memory for buckets below `count` at once, where there is none yet.
 * The first of them, all in one run and to be filled before anybody looks at
 * them, or NULL without memory. */
struct kv_bucket *kv_blocks_make(struct kv_blocks *blocks, struct kv_mem *mem, size_t count);

void kv_blocks_clear(struct kv_blocks *blocks, struct kv_mem *mem);

/* Bytes of memory that the blocks hold. */
size_t kv_blocks_memory(const struct kv_blocks *blocks);

static inline struct kv_bucket *kv_blocks_at(const struct kv_blocks *blocks, uint64_t index)
{
    struct kv_bucket *_Atomic *directory =
        atomic_load_explicit(&blocks->directory, memory_order_acquire);
    return atomic_load_explicit(&directory[index >> KV_BLOCK_SHIFT], memory_order_acquire) +
           (index & (KV_BLOCK_BUCKETS - 1));
}

#endif
