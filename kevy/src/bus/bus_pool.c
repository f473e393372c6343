/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Slabs: see bus_pool.h.
 *
 *   slab   [ header 64 ][ block ][ block ] ... [ block ]
 *   free   header.free -> block -> block -> NULL, linked through the blocks;
 *          blocks from header.fresh on were never handed out
 *
 * A slab is in its class's list exactly while it has a free block. All blocks
 * of a slab have one size, so a freed block finds its place by message.slab.
 */
#include "kevy/src/bus/bus_pool.h"

#include <stdbool.h>

#include "base/assert.h"

#define SLAB_HEADER 64u

/* Hostile builds put every message into a slab of its own, so that ASan sees a late access. */
#ifdef KEVY_HOSTILE
#define SLAB_SIZE 0u
#else
#define SLAB_SIZE 8192u
#endif

struct kv_slab {
    struct kv_slab *next;
    struct kv_slab *prev;
    void *free;
    uint32_t class_index;
    uint32_t block_count;
    uint32_t fresh; /* index of the first block that was never used */
    uint32_t live;  /* blocks that are messages now */
};

STATIC_ASSERT(sizeof(struct kv_slab) <= SLAB_HEADER, "the header fits before the blocks");

static uint32_t slab_class(size_t weight)
{
    return (uint32_t)((kv_message_size(weight) + KV_POOL_STEP - 1) / KV_POOL_STEP - 1);
}

static size_t slab_block_size(uint32_t class_index)
{
    return ((size_t)class_index + 1) * KV_POOL_STEP;
}

static size_t slab_size(const struct kv_slab *slab)
{
    return SLAB_HEADER + slab->block_count * slab_block_size(slab->class_index);
}

static bool slab_has_room(const struct kv_slab *slab)
{
    return slab->live < slab->block_count;
}

struct kv_slab *kv_slab_new(struct kv_mem *mem, size_t weight)
{
    ASSERT(kv_pool_serves(weight));
    uint32_t class_index = slab_class(weight);
    size_t block_size = slab_block_size(class_index);
    size_t count =
        SLAB_SIZE < SLAB_HEADER + block_size ? 1 : (SLAB_SIZE - SLAB_HEADER) / block_size;
    struct kv_slab *slab = (struct kv_slab *)kv_mem_new(mem, SLAB_HEADER + count * block_size);
    if (slab != NULL) {
        *slab = (struct kv_slab){.class_index = class_index, .block_count = (uint32_t)count};
    }
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
}

static void pool_unlink(struct kv_pool *pool, struct kv_slab *slab)
{
    if (slab->prev != NULL) {
        slab->prev->next = slab->next;
    } else {
        pool->with_room[slab->class_index] = slab->next;
    }
    if (slab->next != NULL) {
        slab->next->prev = slab->prev;
    }
}

struct kv_message *kv_pool_take(struct kv_pool *pool, size_t weight)
{
    struct kv_slab *slab = pool->with_room[slab_class(weight)];
    if (slab == NULL) {
        return NULL;
    }
    void *block = slab->free;
    if (block != NULL) {
        memcpy(&slab->free, block, sizeof slab->free);
    } else {
        ASSERT(slab->fresh < slab->block_count);
        block = (uint8_t *)slab + SLAB_HEADER + slab->fresh * slab_block_size(slab->class_index);
        slab->fresh++;
    }
    slab->live++;
    if (!slab_has_room(slab)) {
        pool_unlink(pool, slab);
    }
    struct kv_message *message = (struct kv_message *)block;
    message->slab = slab;
    return message;
}

void kv_pool_trim(struct kv_pool *pool, struct kv_trash **trash)
{
    for (uint32_t i = 0; i < KV_POOL_CLASSES; i++) {
        struct kv_slab *slab = pool->with_room[i];
        while (slab != NULL) {
            struct kv_slab *next = slab->next;
            if (slab->live == 0) {
                pool_unlink(pool, slab);
                kv_trash_add(trash, slab, slab_size(slab));
            }
            slab = next;
        }
    }
}

void kv_message_free(struct kv_pool *pool, struct kv_message *message, struct kv_trash **trash)
{
    struct kv_slab *slab = message->slab;
    ASSERT(message->refs == 0);
    if (slab == NULL) {
        kv_trash_add(trash, message, kv_message_size(kv_message_weight(message)));
        return;
    }
    if (!slab_has_room(slab)) {
        kv_pool_give(pool, slab);
    }
    memcpy(message, &slab->free, sizeof slab->free);
    slab->free = message;
    slab->live--;
    bool is_last_of_class = slab->next == NULL && slab->prev == NULL;
    if (slab->live == 0 && !is_last_of_class) {
        pool_unlink(pool, slab);
        size_t size = slab_size(slab);
        kv_trash_add(trash, slab, size);
    }
}
