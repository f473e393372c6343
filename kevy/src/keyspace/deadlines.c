/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The tree of deadlines; see deadlines.h. All levels lie in one block, which
 * is made anew, twice as large, when the table has outgrown it. A level is
 * filled up with nodes without a bound, so that each node has eight children.
 */
#include "kevy/src/keyspace/deadlines.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "kevy.h"

#define FANOUT ((size_t)8)

/* Nodes of the level above one of `count` nodes, which is a multiple of 8. */
static size_t nodes_above(size_t count)
{
    size_t above = count / FANOUT;
    return above == 1 ? 1 : (above + FANOUT - 1) / FANOUT * FANOUT;
}

/* Nodes of all levels over so many leaves. */
static size_t nodes_of(size_t leaf_count)
{
    size_t sum = leaf_count;
    for (size_t count = leaf_count; count > 1;) {
        count = nodes_above(count);
        sum += count;
    }
    return sum;
}

static void levels_place(struct kv_deadlines *deadlines, uint64_t *block, size_t leaf_count)
{
    size_t count = leaf_count, level = 0;
    for (;; level++) {
        ASSERT(level < KV_DEADLINE_LEVELS);
        deadlines->levels[level] = block;
        block += count;
        if (count == 1) {
            break;
        }
        count = nodes_above(count);
    }
    deadlines->leaf_count = leaf_count;
    deadlines->level_count = level + 1;
}

/* The least of the children of a node. */
static uint64_t least_below(const struct kv_deadlines *deadlines, size_t level, size_t index)
{
    const uint64_t *children = deadlines->levels[level - 1] + index * FANOUT;
    uint64_t least = KV_DEADLINE_NEVER;
    for (size_t i = 0; i < FANOUT; i++) {
        least = children[i] < least ? children[i] : least;
    }
    return least;
}

void kv_deadlines_fill(struct kv_deadlines *deadlines)
{
    size_t count = deadlines->leaf_count;
    for (size_t level = 1; level < deadlines->level_count; level++) {
        for (size_t i = 0; i < count / FANOUT; i++) {
            deadlines->levels[level][i] = least_below(deadlines, level, i);
        }
        count = nodes_above(count);
    }
}

int kv_deadlines_reserve(struct kv_deadlines *deadlines, struct kv_mem *mem, uint64_t bucket_count)
{
    uint64_t leaves = kv_deadlines_leaves(bucket_count);
    size_t old_count = deadlines->leaf_count;
    if (leaves <= old_count) {
        return 0;
    }
    size_t leaf_count = old_count == 0 ? FANOUT : old_count;
    while (leaf_count < leaves) {
        leaf_count *= 2;
    }
    size_t size = nodes_of(leaf_count) * sizeof(uint64_t);
    uint64_t *block = kv_mem_new(mem, size);
    if (block == NULL) {
        return KEVY_ENOMEM;
    }
    memset(block, 0xff, size);
    if (old_count != 0) {
        memcpy(block, deadlines->levels[0], old_count * sizeof *block);
    }
    kv_deadlines_free(deadlines, mem);
    levels_place(deadlines, block, leaf_count);
    kv_deadlines_fill(deadlines);
    return 0;
}

void kv_deadlines_free(struct kv_deadlines *deadlines, struct kv_mem *mem)
{
    kv_mem_free(mem, deadlines->levels[0], kv_deadlines_memory(deadlines));
    *deadlines = (struct kv_deadlines){0};
}

size_t kv_deadlines_memory(const struct kv_deadlines *deadlines)
{
    return nodes_of(deadlines->leaf_count) * sizeof(uint64_t);
}

void kv_deadlines_lower(struct kv_deadlines *deadlines, uint64_t bucket, uint64_t time_ms)
{
    size_t index = (size_t)(bucket / KV_DEADLINE_BUCKETS);
    ASSERT(index < deadlines->leaf_count);
    for (size_t level = 0; level < deadlines->level_count; level++) {
        uint64_t *node = &deadlines->levels[level][index];
        if (*node <= time_ms) {
            return;
        }
        *node = time_ms;
        index /= FANOUT;
    }
}

void kv_deadlines_set(struct kv_deadlines *deadlines, size_t leaf, uint64_t time_ms)
{
    size_t index = leaf;
    ASSERT(leaf < deadlines->leaf_count);
    deadlines->levels[0][leaf] = time_ms;
    for (size_t level = 1; level < deadlines->level_count; level++) {
        index /= FANOUT;
        uint64_t least = least_below(deadlines, level, index);
        if (deadlines->levels[level][index] == least) {
            return;
        }
        deadlines->levels[level][index] = least;
    }
}

uint64_t kv_deadlines_of(const struct kv_deadlines *deadlines, uint64_t bucket)
{
    return deadlines->levels[0][bucket / KV_DEADLINE_BUCKETS];
}

/* Descends from the top to a leaf with a bound not above `most`, at each level
 * to the first such child behind a random one. */
static size_t descend(const struct kv_deadlines *deadlines, uint64_t most, uint64_t random)
{
    size_t index = 0;
    for (size_t level = deadlines->level_count - 1; level > 0; level--) {
        const uint64_t *below = deadlines->levels[level - 1];
        size_t first = index * FANOUT, start = (size_t)(random % FANOUT);
        for (size_t i = 0; i < FANOUT; i++) {
            index = first + (start + i) % FANOUT;
            if (below[index] <= most) {
                break;
            }
        }
        random = hash_fold(random ^ HASH_K1, HASH_K2);
    }
    return index;
}

size_t kv_deadlines_first_leaf(const struct kv_deadlines *deadlines)
{
    return descend(deadlines, kv_deadlines_first(deadlines), 0);
}

size_t kv_deadlines_random_leaf(const struct kv_deadlines *deadlines, uint64_t random)
{
    ASSERT(kv_deadlines_first(deadlines) != KV_DEADLINE_NEVER);
    return descend(deadlines, KV_DEADLINE_NEVER - 1, random);
}

bool kv_deadlines_verify(const struct kv_deadlines *deadlines)
{
    size_t count = deadlines->leaf_count;
    for (size_t level = 1; level < deadlines->level_count; level++) {
        for (size_t i = 0; i < count / FANOUT; i++) {
            if (deadlines->levels[level][i] != least_below(deadlines, level, i)) {
                return false;
            }
        }
        count = nodes_above(count);
    }
    return true;
}
