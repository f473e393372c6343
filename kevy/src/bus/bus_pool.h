/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Messages and the pool that small ones come from.
 *
 * A message is its header, the channel and the payload in one block, shared
 * by reference count. A block of up to KV_POOL_BLOCK_MAX bytes is cut from a
 * slab of its size class, so that a publish costs a few loads and no
 * allocator; a larger one is an allocation of its own. A slab that becomes
 * empty is freed unless it is the last of its class with room.
 *
 * Trash: a list of blocks to free once the lock of the bus was left; the
 * links lie in the dead blocks.
 *
 * Everything here is under the lock of the bus, except kv_message_new and
 * kv_slab_new, which allocate and therefore must be outside of it.
 */
#ifndef KEVY_SRC_BUS_BUS_POOL_H
#define KEVY_SRC_BUS_BUS_POOL_H

#include "base/bytes.h"
#include "kevy/src/mem/mem.h"

#define KV_POOL_CLASSES 8u
#define KV_POOL_STEP 64u
#define KV_POOL_BLOCK_MAX (KV_POOL_CLASSES * KV_POOL_STEP)

struct kv_slab;

struct kv_message {
    struct kv_slab *slab; /* NULL: an allocation of its own */
    uint32_t refs;
    uint32_t channel_size;
    uint32_t payload_size;
    uint8_t bytes[]; /* the channel, then the payload */
};

/* The slabs with a free block, by class. */
struct kv_pool {
    struct kv_slab *with_room[KV_POOL_CLASSES];
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

/* Takes a block for a message of this weight; NULL when the pool has none: give it a slab. */
struct kv_message *kv_pool_take(struct kv_pool *pool, size_t weight);

/* Makes a slab for messages of this weight, or a message outside the pool. NULL without memory. */
struct kv_slab *kv_slab_new(struct kv_mem *mem, size_t weight);
struct kv_message *kv_message_new(struct kv_mem *mem, size_t weight);

/* Adds a slab to the pool. */
void kv_pool_give(struct kv_pool *pool, struct kv_slab *slab);

/* Frees the empty slabs. */
void kv_pool_trim(struct kv_pool *pool, struct kv_trash **trash);

/* Copies channel and payload into a new message; its one reference is the caller's. */
static inline void kv_message_fill(struct kv_message *message, struct bytes channel,
                                   struct bytes payload)
{
    message->refs = 1;
    message->channel_size = (uint32_t)channel.size;
    message->payload_size = (uint32_t)payload.size;
    if (channel.size > 0) {
        memcpy(message->bytes, channel.data, channel.size);
    }
    if (payload.size > 0) {
        memcpy(message->bytes + channel.size, payload.data, payload.size);
    }
}

/* Frees a message that has no reference. */
void kv_message_free(struct kv_pool *pool, struct kv_message *message, struct kv_trash **trash);

/* Gives up one reference. */
static inline void kv_message_drop(struct kv_pool *pool, struct kv_message *message,
                                   struct kv_trash **trash)
{
    if (--message->refs == 0) {
        kv_message_free(pool, message, trash);
    }
}

#endif
