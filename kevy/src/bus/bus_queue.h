/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The queue of one subscription: a ring of references to messages, and beside
 * it a list of acknowledgements that know before which message they stand.
 *
 *   messages   head ... tail     numbered without end; slot = number mod capacity
 *   ack        position          comes out when head has reached it
 *
 * So acknowledgements keep their place in the order, take no room that a
 * bound gives to messages, and are never dropped.
 *
 * Gaps: `dropped` of an entry counts the messages that are missing right
 * before it; kv_queue.gap counts those missing behind the newest entry.
 *
 * Nothing here allocates; under the lock of the bus. Bounds and policies are
 * decided by the callers (bus_publish.c).
 */
#ifndef KEVY_SRC_BUS_BUS_QUEUE_H
#define KEVY_SRC_BUS_BUS_QUEUE_H

#include <stdbool.h>

#include "base/assert.h"
#include "kevy/src/bus/bus_pool.h"
#include "kevy/src/os/os_park.h"

struct kv_hold;
struct kv_topic;

/* How many acknowledgements may wait unread. */
#define KV_QUEUE_ACKS_MAX 65536u

/* How many entries ahead of the newest a line is asked for: a reader on another core had it. */
#define KV_QUEUE_AHEAD 8u

/* Sizes are kept here too, so that counting a queue under the lock does not touch messages, whose
 * cache lines another core has just written. */
struct kv_entry {
    struct kv_message *message;
    struct kv_topic *pattern; /* that matched, or NULL: subscribed by the channel's name */
    uint32_t channel_size;
    uint32_t payload_size;
    uint64_t dropped;
};

static inline size_t kv_entry_weight(const struct kv_entry *entry)
{
    return (size_t)entry->channel_size + entry->payload_size;
}

enum kv_ack_kind { KV_ACK_SUBSCRIBE, KV_ACK_UNSUBSCRIBE, KV_ACK_PSUBSCRIBE, KV_ACK_PUNSUBSCRIBE };

struct kv_ack {
    struct kv_ack *next;
    uint64_t position;
    enum kv_ack_kind kind;
    uint32_t remaining; /* names that the sub is subscribed to after it */
    uint32_t name_size;
    uint8_t name[];
};

struct kv_queue {
    struct kv_entry *entries;
    uint64_t head;
    uint64_t tail;
    size_t bytes;
    uint64_t gap;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t ack_count;
    uint64_t dropped; /* in all */
    struct kv_ack *first_ack;
    struct kv_ack *last_ack;
};

static inline uint32_t kv_queue_count(const struct kv_queue *queue)
{
    return (uint32_t)(queue->tail - queue->head);
}

static inline struct kv_entry *kv_queue_slot(struct kv_queue *queue, uint64_t number)
{
    return &queue->entries[number & (queue->capacity - 1)];
}

/* Returns the acknowledgement that comes out next, or NULL. */
static inline struct kv_ack *kv_queue_front_ack(const struct kv_queue *queue)
{
    struct kv_ack *ack = queue->first_ack;
    return ack != NULL && ack->position <= queue->head ? ack : NULL;
}

static inline bool kv_queue_is_empty(const struct kv_queue *queue)
{
    return queue->tail == queue->head && queue->first_ack == NULL;
}

/* Returns how many slots a queue of `capacity` grows to, to hold `count`. */
uint32_t kv_queue_capacity_for(uint32_t capacity, uint32_t count);

/* Moves the entries to a larger array; the old one is trash. */
void kv_queue_move(struct kv_hold *hold, struct kv_queue *queue, struct kv_entry *entries,
                   uint32_t capacity);

/* Adds a message; there is a slot. The references to it and the pattern are the caller's to add. */
static inline void kv_queue_push(struct kv_queue *queue, struct kv_message *message,
                                 struct kv_topic *pattern)
{
    ASSERT(kv_queue_count(queue) < queue->capacity);
    struct kv_entry *entry = kv_queue_slot(queue, queue->tail);
    kv_cpu_fetch(kv_queue_slot(queue, queue->tail + KV_QUEUE_AHEAD));
    entry->message = message;
    entry->pattern = pattern;
    entry->channel_size = message->channel_size;
    entry->payload_size = message->payload_size;
    entry->dropped = queue->gap;
    queue->tail++;
    queue->gap = 0;
    queue->bytes += kv_message_weight(message);
}

/* Counts a message that does not come in. */
void kv_queue_refuse(struct kv_queue *queue);

/* Drops the oldest message and counts it; there is one. */
void kv_queue_drop_oldest(struct kv_hold *hold, struct kv_queue *queue);

/* Takes out the oldest `count` messages, which weigh so much; the caller has copied them, and with
 * them the references: drop them with kv_entry_drop. */
void kv_queue_advance(struct kv_hold *hold, struct kv_queue *queue, uint32_t count, size_t weight);
void kv_entry_drop(struct kv_hold *hold, struct kv_entry *entry);

/* Makes an acknowledgement, without the lock; NULL without memory. */
struct kv_ack *kv_ack_new(struct kv_mem *mem, struct bytes name);
size_t kv_ack_size(const struct kv_ack *ack);

/* Queues an acknowledgement behind the newest message; drops the one that comes out next. */
void kv_queue_add_ack(struct kv_queue *queue, struct kv_ack *ack);
void kv_queue_drop_ack(struct kv_hold *hold, struct kv_queue *queue);

/* Drops everything. */
void kv_queue_clear(struct kv_hold *hold, struct kv_queue *queue);

#endif
