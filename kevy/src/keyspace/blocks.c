/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Blocks of buckets: getting and giving back their memory. See blocks.h.
 *
 * A block is asked for with a cache line to spare, so that it can begin on
 * one; hostile builds begin with a directory of one, so that it grows early.
 */
#include "kevy/src/keyspace/blocks.h"

#include <string.h>

#include "kevy.h"
#include "kevy/src/os/os_posix.h"

#define CACHE_LINE 64u
#define BLOCK_BYTES (KV_BLOCK_BUCKETS * sizeof(struct kv_bucket))
#define BLOCK_MALLOC (BLOCK_BYTES + CACHE_LINE)
#ifdef KEVY_HOSTILE
#define DIRECTORY_FIRST ((size_t)1)
#else
#define DIRECTORY_FIRST ((size_t)8)
#endif

static struct kv_bucket *block_new(struct kv_mem *mem)
{
    uint8_t *raw = kv_mem_new(mem, BLOCK_MALLOC);
    if (raw == NULL) {
        return NULL;
    }
    uint8_t *block = raw + CACHE_LINE - (uintptr_t)raw % CACHE_LINE;
    ASSERT(block - raw >= (ptrdiff_t)sizeof raw);
    memcpy(block - sizeof raw, &raw, sizeof raw);
    return (struct kv_bucket *)(void *)block;
}

static void block_free(struct kv_bucket *block, struct kv_mem *mem)
{
    uint8_t *raw;
    memcpy(&raw, (uint8_t *)block - sizeof raw, sizeof raw);
    kv_mem_free(mem, raw, BLOCK_MALLOC);
}

static unsigned log2_of(size_t power)
{
    return (unsigned)__builtin_ctzll((unsigned long long)power);
}

/* Doubles the directory, or makes the first one. */
static int directory_grow(struct kv_blocks *blocks, struct kv_mem *mem)
{
    struct kv_bucket *_Atomic *old = atomic_load_explicit(&blocks->directory, memory_order_relaxed);
    size_t capacity = blocks->capacity == 0 ? DIRECTORY_FIRST : blocks->capacity * 2;
    struct kv_bucket *_Atomic *fresh = kv_mem_zeroed(mem, capacity * sizeof *fresh);
    if (fresh == NULL) {
        return KEVY_ENOMEM;
    }
    for (size_t i = 0; i < blocks->count; i++) {
        struct kv_bucket *block = atomic_load_explicit(&old[i], memory_order_relaxed);
        atomic_store_explicit(&fresh[i], block, memory_order_relaxed);
    }
    atomic_store_explicit(&blocks->directory, fresh, memory_order_release);
    if (old != NULL) {
        blocks->retired[log2_of(blocks->capacity)] = (void *)(uintptr_t)old;
    }
    blocks->capacity = capacity;
    return 0;
}

/* Enters a block for which the directory has room. */
static void block_enter(struct kv_blocks *blocks, struct kv_bucket *block)
{
    struct kv_bucket *_Atomic *directory =
        atomic_load_explicit(&blocks->directory, memory_order_relaxed);
    atomic_store_explicit(&directory[blocks->count], block, memory_order_release);
    blocks->count++;
}

int kv_blocks_reserve(struct kv_blocks *blocks, struct kv_mem *mem, size_t count)
{
    while (blocks->count * KV_BLOCK_BUCKETS < count) {
        if (blocks->count == blocks->capacity && directory_grow(blocks, mem) < 0) {
            return KEVY_ENOMEM;
        }
        struct kv_bucket *block = block_new(mem);
        if (block == NULL) {
            return KEVY_ENOMEM;
        }
        memset((void *)block, 0, BLOCK_BYTES);
        block_enter(blocks, block);
    }
    return 0;
}

static size_t run_size(const struct kv_blocks *blocks)
{
    return blocks->run_count * BLOCK_BYTES + CACHE_LINE;
}

struct kv_bucket *kv_blocks_make(struct kv_blocks *blocks, struct kv_mem *mem, size_t count)
{
    size_t block_count = (count + KV_BLOCK_BUCKETS - 1) / KV_BLOCK_BUCKETS;
    ASSERT(blocks->count == 0 && count != 0);
    while (blocks->capacity < block_count) {
        if (directory_grow(blocks, mem) < 0) {
            return NULL;
        }
    }
    blocks->run_count = block_count;
    blocks->run = kv_mem_new(mem, run_size(blocks));
    if (blocks->run == NULL) {
        blocks->run_count = 0;
        return NULL;
    }
    kv_memory_is_large(blocks->run, run_size(blocks));
    uint8_t *raw = blocks->run;
    struct kv_bucket *first =
        (struct kv_bucket *)(void *)(raw + CACHE_LINE - (uintptr_t)raw % CACHE_LINE);
    for (size_t i = 0; i < block_count; i++) {
        block_enter(blocks, first + i * KV_BLOCK_BUCKETS);
    }
    size_t all = block_count * KV_BLOCK_BUCKETS;
    memset((void *)(first + count), 0, (all - count) * sizeof *first);
    return first;
}

void kv_blocks_clear(struct kv_blocks *blocks, struct kv_mem *mem)
{
    struct kv_bucket *_Atomic *directory =
        atomic_load_explicit(&blocks->directory, memory_order_relaxed);
    for (size_t i = blocks->run_count; i < blocks->count; i++) {
        block_free(atomic_load_explicit(&directory[i], memory_order_relaxed), mem);
    }
    if (blocks->run != NULL) {
        kv_mem_free(mem, blocks->run, run_size(blocks));
        blocks->run = NULL;
        blocks->run_count = 0;
    }
    for (unsigned i = 0; i < sizeof blocks->retired / sizeof blocks->retired[0]; i++) {
        kv_mem_free(mem, blocks->retired[i], sizeof *directory << i);
        blocks->retired[i] = NULL;
    }
    kv_mem_free(mem, (void *)(uintptr_t)directory, blocks->capacity * sizeof *directory);
    atomic_store_explicit(&blocks->directory, NULL, memory_order_release);
    blocks->capacity = blocks->count = 0;
}

size_t kv_blocks_memory(const struct kv_blocks *blocks)
{
    size_t directories = blocks->capacity == 0 ? 0 : blocks->capacity * 2 - DIRECTORY_FIRST;
    size_t single = blocks->count - blocks->run_count;
    return single * BLOCK_MALLOC + (blocks->run == NULL ? 0 : run_size(blocks)) +
           directories * sizeof(void *);
}
