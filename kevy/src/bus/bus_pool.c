/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Slabs and the blocks in them; see bus_pool.h.
 *
 * What is done for each message is inline there; here is what is done for each
 * slab, and giving back.
 */
#include "kevy/src/bus/bus_pool.h"

/* Hostile builds put every message into a slab of its own, so that ASan sees a late access. */
#ifdef KEVY_HOSTILE
#define SLAB_SIZE 0u
#define SLAB_KEPT 0u
#else
#define SLAB_SIZE 8192u
#define SLAB_KEPT 16u
#endif

/* The header, and what its end may miss to the next cache line. */
#define SLAB_HEADER (sizeof(struct kv_slab) + KV_POOL_STEP - 1)

#define SLAB_BLOCKS_MAX (64u * KV_SLAB_WORDS)

STATIC_ASSERT(SLAB_SIZE <= SLAB_BLOCKS_MAX * KV_POOL_STEP, "a slab has a bit for each block");

/* A word whose lowest `count` bits are set, as far as it has them. */
static uint64_t low_bits(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

struct kv_slab *kv_slab_new(struct kv_mem *mem, size_t weight)
{
    ASSERT(kv_pool_serves(weight));
    size_t class_index = (kv_message_size(weight) - 1) / KV_POOL_STEP;
    size_t block_size = (class_index + 1) * KV_POOL_STEP;
    size_t count =
        SLAB_SIZE < SLAB_HEADER + block_size ? 1 : (SLAB_SIZE - SLAB_HEADER) / block_size;
    size_t size = SLAB_HEADER + count * block_size;
    struct kv_slab *slab = (struct kv_slab *)kv_mem_new(mem, size);
    if (slab == NULL) {
        return NULL;
    }
    uintptr_t end = (uintptr_t)(slab + 1), line = KV_POOL_STEP;
    *slab = (struct kv_slab){.blocks = (uint8_t *)(slab + 1) + (line - end % line) % line,
                             .size = size,
                             .class_index = (uint32_t)class_index,
                             .block_size = (uint32_t)block_size,
                             .block_count = (uint32_t)count,
                             .free_count = (uint32_t)count};
    slab->free[0] = low_bits(count);
    slab->free[1] = count > 64 ? low_bits(count - 64) : 0;
    return slab;
}

struct kv_message *kv_message_new(struct kv_mem *mem, size_t weight)
{
    struct kv_message *message = (struct kv_message *)kv_mem_new(mem, kv_message_size(weight));
    if (message != NULL) {
        message->slab = NULL;
    }
    return message;
}

void kv_pool_give(struct kv_pool *pool, struct kv_slab *slab)
{
    struct kv_slab **first = &pool->with_room[slab->class_index];
    slab->prev = NULL;
    slab->next = *first;
    if (*first != NULL) {
        (*first)->prev = slab;
    }
    *first = slab;
    pool->room_count[slab->class_index]++;
}

void kv_pool_unlink(struct kv_pool *pool, struct kv_slab *slab)
{
    if (slab->prev != NULL) {
        slab->prev->next = slab->next;
    } else {
        pool->with_room[slab->class_index] = slab->next;
    }
    if (slab->next != NULL) {
        slab->next->prev = slab->prev;
    }
    pool->room_count[slab->class_index]--;
}

static void slab_free(struct kv_pool *pool, struct kv_slab *slab, struct kv_trash **trash)
{
    size_t size = slab->size;
    kv_pool_unlink(pool, slab);
    kv_trash_add(trash, slab, size);
}

void kv_pool_trim(struct kv_pool *pool, struct kv_trash **trash)
{
    for (uint32_t i = 0; i < KV_POOL_CLASSES; i++) {
        struct kv_slab *slab = pool->with_room[i];
        while (slab != NULL) {
            struct kv_slab *next = slab->next;
            if (slab->free_count == slab->block_count) {
                slab_free(pool, slab, trash);
            }
            slab = next;
        }
    }
}

void kv_pool_return(struct kv_pool *pool, const struct kv_returns *returns, struct kv_trash **trash)
{
    struct kv_slab *slab = returns->slab;
    uint32_t count = 0;
    for (uint32_t i = 0; i < KV_SLAB_WORDS; i++) {
        ASSERT((slab->free[i] & returns->blocks[i]) == 0);
        slab->free[i] |= returns->blocks[i];
        count += (uint32_t)__builtin_popcountll(returns->blocks[i]);
    }
    if (slab->free_count == 0) {
        kv_pool_give(pool, slab);
    }
    slab->free_count += count;
    if (slab->free_count == slab->block_count && pool->room_count[slab->class_index] > SLAB_KEPT) {
        slab_free(pool, slab, trash);
    }
}

void kv_message_free(struct kv_pool *pool, struct kv_message *message, struct kv_trash **trash)
{
    struct kv_returns returns = {.slab = message->slab};
    if (message->slab == NULL) {
        kv_trash_add(trash, message, kv_message_size(kv_message_weight(message)));
        return;
    }
    returns.blocks[message->block / 64] = UINT64_C(1) << message->block % 64;
    kv_pool_return(pool, &returns, trash);
}
