/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Messages and the pool that small ones come from.
 *
 * A message is its header, the channel and the payload in one block, shared
 * by reference count. A block of up to KV_POOL_BLOCK_MAX bytes is cut from a
 * slab of its size class, so that a publish costs a few loads and no
 * allocator; a larger one is an allocation of its own. A slab that becomes
 * empty is freed when its class has a few others with room.
 *
 *   slab   [ header ][ block ][ block ] ... [ block ]    blocks begin with a cache line
 *   free   one bit for each block; the lowest goes first, so that messages of
 *          a stream follow one another in memory
 *
 * References are counted by atomics, so that a reader gives up those of a whole
 * batch without the lock, and under it only returns bits, slab by slab.
 *
 * Trash: a list of blocks to free once the lock of the bus was left; the
 * links lie in the dead blocks.
 *
 * Everything here is under the lock of the bus, except kv_message_unref, and
 * kv_message_new and kv_slab_new, which allocate and so must be outside of it.
 */
#ifndef KEVY_SRC_BUS_BUS_POOL_H
#define KEVY_SRC_BUS_BUS_POOL_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "kevy/src/mem/mem.h"
#include "kevy/src/os/os_park.h"
#include "kevy/src/store/record.h"

#define KV_POOL_CLASSES 8u
#define KV_POOL_STEP 64u
#define KV_POOL_BLOCK_MAX (KV_POOL_CLASSES * KV_POOL_STEP)

/* A free block is not touched until it is handed out: its cache lines are the reader's, on another
 * core, and take as long to come as several publishes. So they are asked for so many before. */
#define KV_POOL_AHEAD 8u

#define KV_SLAB_WORDS 2u

struct kv_slab {
    struct kv_slab *next; /* in its class's list, exactly while it has a free block */
    struct kv_slab *prev;
    uint8_t *blocks;
    size_t size;
    uint32_t class_index;
    uint32_t block_size;
    uint32_t block_count;
    uint32_t free_count;
    uint64_t free[KV_SLAB_WORDS];
};

struct kv_message {
    struct kv_slab *slab; /* NULL: an allocation of its own */
    _Atomic uint32_t refs;
    uint32_t channel_size;
    uint32_t payload_size;
    uint8_t block;   /* its number in the slab */
    uint8_t bytes[]; /* the channel, then the payload */
};

/* The slabs with a free block, by class, and how many they are. */
struct kv_pool {
    struct kv_slab *with_room[KV_POOL_CLASSES];
    uint32_t room_count[KV_POOL_CLASSES];
};

/* Blocks of one slab that are free again. */
struct kv_returns {
    struct kv_slab *slab;
    uint64_t blocks[KV_SLAB_WORDS];
};

/* A dead block and its size. */
struct kv_trash {
    struct kv_trash *next;
    size_t size;
};

static inline void kv_trash_add(struct kv_trash **trash, void *block, size_t size)
{
    struct kv_trash *dead = (struct kv_trash *)block;
    dead->next = *trash;
    dead->size = size;
    *trash = dead;
}

static inline struct bytes kv_message_channel(const struct kv_message *message)
{
    return bytes_of(message->bytes, message->channel_size);
}

static inline struct bytes kv_message_payload(const struct kv_message *message)
{
    return bytes_of(message->bytes + message->channel_size, message->payload_size);
}

/* Returns what a message weighs against the bytes bound of a queue. */
static inline size_t kv_message_weight(const struct kv_message *message)
{
    return (size_t)message->channel_size + message->payload_size;
}

/* Returns the size of the block of a message of this weight. */
static inline size_t kv_message_size(size_t weight)
{
    return offsetof(struct kv_message, bytes) + weight;
}

/* Says whether a message of this weight comes from the pool. */
static inline bool kv_pool_serves(size_t weight)
{
    return weight <= KV_POOL_BLOCK_MAX && kv_message_size(weight) <= KV_POOL_BLOCK_MAX;
}

/* Takes the slab out of its list. */
void kv_pool_unlink(struct kv_pool *pool, struct kv_slab *slab);

/* Asks for the lines of the block that is handed out KV_POOL_AHEAD messages from now, as far as
 * that can be foretold. */
static inline void kv_slab_fetch_ahead(const struct kv_slab *slab, uint32_t block)
{
    block += KV_POOL_AHEAD;
    if (block >= slab->block_count && slab->next != NULL) {
        block -= slab->block_count;
        slab = slab->next;
    }
    if (block < slab->block_count) {
        const uint8_t *at = slab->blocks + (size_t)block * slab->block_size;
        for (const uint8_t *end = at + slab->block_size; at < end; at += KV_POOL_STEP) {
            kv_cpu_fetch(at);
        }
    }
}

/* Takes a block for a message of this weight; NULL when the pool has none: give it a slab. */
static inline struct kv_message *kv_pool_take(struct kv_pool *pool, size_t weight)
{
    struct kv_slab *slab = pool->with_room[(kv_message_size(weight) - 1) / KV_POOL_STEP];
    if (slab == NULL) {
        return NULL;
    }
    ASSERT(slab->free_count > 0);
    uint32_t word = slab->free[0] == 0;
    uint32_t block = word * 64 + (uint32_t)__builtin_ctzll(slab->free[word]);
    slab->free[word] &= slab->free[word] - 1;
    slab->free_count--;
    kv_slab_fetch_ahead(slab, block);
    struct kv_message *message =
        (struct kv_message *)(void *)(slab->blocks + (size_t)block * slab->block_size);
    message->slab = slab;
    message->block = (uint8_t)block;
    if (slab->free_count == 0) {
        kv_pool_unlink(pool, slab);
    }
    return message;
}

/* Makes a slab for messages of this weight, or a message outside the pool. NULL without memory. */
struct kv_slab *kv_slab_new(struct kv_mem *mem, size_t weight);
struct kv_message *kv_message_new(struct kv_mem *mem, size_t weight);

/* Adds a slab to the pool. */
void kv_pool_give(struct kv_pool *pool, struct kv_slab *slab);

/* Frees the empty slabs. */
void kv_pool_trim(struct kv_pool *pool, struct kv_trash **trash);

/* Copies channel and payload into a new message that has so many references. */
static inline void kv_message_fill(struct kv_message *message, uint32_t refs, struct bytes channel,
                                   struct bytes payload)
{
    atomic_store_explicit(&message->refs, refs, memory_order_relaxed);
    message->channel_size = (uint32_t)channel.size;
    message->payload_size = (uint32_t)payload.size;
    (void)kv_bytes_put(message->bytes, channel);
    if (payload.size > 0) {
        memcpy(message->bytes + channel.size, payload.data, payload.size);
    }
}

/* Frees a message that has no reference. */
void kv_message_free(struct kv_pool *pool, struct kv_message *message, struct kv_trash **trash);

/* Makes blocks free again. */
void kv_pool_return(struct kv_pool *pool, const struct kv_returns *returns,
                    struct kv_trash **trash);

/* Adds a reference, of whoever has one. */
static inline void kv_message_ref(struct kv_message *message)
{
    atomic_fetch_add_explicit(&message->refs, 1, memory_order_relaxed);
}

/* Gives up one reference; true if it was the last. Needs no lock: who sees that its reference is
 * the only one is alone. */
static inline bool kv_message_unref(struct kv_message *message)
{
    return atomic_load_explicit(&message->refs, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(&message->refs, 1, memory_order_acq_rel) == 1;
}

/* Gives up one reference. */
static inline void kv_message_drop(struct kv_pool *pool, struct kv_message *message,
                                   struct kv_trash **trash)
{
    if (kv_message_unref(message)) {
        kv_message_free(pool, message, trash);
    }
}

#endif
