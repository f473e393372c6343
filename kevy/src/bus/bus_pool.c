/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Slabs: see bus_pool.h.
 *
 *   slab   [ header 192 ][ block ][ block ] ... [ block ]
 *   free   header.free[0 .. free_count - 1], numbers of blocks; the last goes first
 *
 * A free block is not touched until it is handed out: its cache lines are the
 * reader's, on another core, and take as long to come as several publishes. So
 * they are asked for POOL_AHEAD messages before.
 *
 * A slab is in its class's list exactly while it has a free block. All blocks
 * of a slab have one size, so a freed block finds its place by message.slab.
 */
#include "kevy/src/bus/bus_pool.h"

#include <stdbool.h>

#include "base/assert.h"
#include "kevy/src/os/os_park.h"

#define SLAB_HEADER 192u
#define POOL_AHEAD 8u
#define POOL_LINE 64u

/* Hostile builds put every message into a slab of its own, so that ASan sees a late access. */
#ifdef KEVY_HOSTILE
#define SLAB_SIZE 0u
#else
#define SLAB_SIZE 8192u
#endif

#define SLAB_BLOCKS_MAX 128u

struct kv_slab {
    struct kv_slab *next;
    struct kv_slab *prev;
    uint32_t class_index;
    uint32_t block_count;
    uint32_t free_count;
    uint8_t free[SLAB_BLOCKS_MAX];
};

STATIC_ASSERT(sizeof(struct kv_slab) <= SLAB_HEADER, "the header fits before the blocks");
STATIC_ASSERT(SLAB_SIZE <= SLAB_BLOCKS_MAX * KV_POOL_STEP, "a slab has a number for each block");

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

static bool slab_is_empty(const struct kv_slab *slab)
{
    return slab->free_count == slab->block_count;
}

static void *slab_block(struct kv_slab *slab, uint32_t index)
{
    return (uint8_t *)slab + SLAB_HEADER + index * slab_block_size(slab->class_index);
}

/* Asks for the lines of the block that is handed out POOL_AHEAD messages from now. */
static void slab_fetch_ahead(struct kv_slab *slab)
{
    size_t size = slab_block_size(slab->class_index);
    uint32_t left = slab->free_count, ahead = POOL_AHEAD;
    if (left < ahead && slab->next != NULL) {
        ahead -= left;
        slab = slab->next;
        left = slab->free_count;
    }
    if (left >= ahead) {
        const uint8_t *block = (const uint8_t *)slab_block(slab, slab->free[left - ahead]);
        for (size_t at = 0; at < size; at += POOL_LINE) {
            kv_cpu_fetch(block + at);
        }
    }
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
        *slab = (struct kv_slab){.class_index = class_index,
                                 .block_count = (uint32_t)count,
                                 .free_count = (uint32_t)count};
        for (size_t i = 0; i < count; i++) {
            slab->free[i] = (uint8_t)(count - 1 - i);
        }
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
    ASSERT(slab->free_count > 0);
    slab_fetch_ahead(slab);
    slab->free_count--;
    struct kv_message *message =
        (struct kv_message *)slab_block(slab, slab->free[slab->free_count]);
    if (slab->free_count == 0) {
        pool_unlink(pool, slab);
    }
    message->slab = slab;
    return message;
}

void kv_pool_trim(struct kv_pool *pool, struct kv_trash **trash)
{
    for (uint32_t i = 0; i < KV_POOL_CLASSES; i++) {
        struct kv_slab *slab = pool->with_room[i];
        while (slab != NULL) {
            struct kv_slab *next = slab->next;
            if (slab_is_empty(slab)) {
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
    if (slab->free_count == 0) {
        kv_pool_give(pool, slab);
    }
    uint32_t offset = (uint32_t)((uint8_t *)message - (uint8_t *)slab) - SLAB_HEADER;
    slab->free[slab->free_count] = (uint8_t)(offset / KV_POOL_STEP / (slab->class_index + 1));
    slab->free_count++;
    bool is_last_of_class = slab->next == NULL && slab->prev == NULL;
    if (slab_is_empty(slab) && !is_last_of_class) {
        pool_unlink(pool, slab);
        size_t size = slab_size(slab);
        kv_trash_add(trash, slab, size);
    }
}
