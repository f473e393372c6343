/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The queue of one subscription; see bus_queue.h.
 *
 * An emptied queue gives back a large array, so that a burst that has been
 * read costs nothing afterwards, and keeps a small one, so that a steady
 * trickle allocates nothing.
 */
#include "kevy/src/bus/bus_queue.h"

#include "base/assert.h"
#include "kevy/src/bus/bus_inner.h"

#ifdef KEVY_HOSTILE
#define QUEUE_FIRST_SLOTS 1u
#define QUEUE_KEPT_SLOTS 4u
#else
#define QUEUE_FIRST_SLOTS 16u
#define QUEUE_KEPT_SLOTS 1024u
#endif

uint32_t kv_queue_capacity_for(uint32_t capacity, uint32_t count)
{
    uint32_t wanted = capacity == 0 ? QUEUE_FIRST_SLOTS : capacity;
    while (wanted < count && wanted < UINT32_C(1) << 31) {
        wanted *= 2;
    }
    return wanted;
}

static void queue_free_entries(struct kv_hold *hold, struct kv_queue *queue)
{
    if (queue->entries != NULL) {
        kv_trash_add(&hold->trash, queue->entries, queue->capacity * sizeof queue->entries[0]);
        queue->entries = NULL;
        queue->capacity = 0;
    }
}

void kv_queue_move(struct kv_hold *hold, struct kv_queue *queue, struct kv_entry *entries,
                   uint32_t capacity)
{
    ASSERT(capacity >= kv_queue_count(queue));
    for (uint64_t i = queue->head; i != queue->tail; i++) {
        entries[i & (capacity - 1)] = *kv_queue_slot(queue, i);
    }
    queue_free_entries(hold, queue);
    queue->entries = entries;
    queue->capacity = capacity;
}

void kv_queue_refuse(struct kv_queue *queue)
{
    queue->gap++;
    queue->dropped++;
}

/* Takes the oldest entry out of the ring. */
static struct kv_entry queue_shift(struct kv_queue *queue)
{
    ASSERT(kv_queue_count(queue) > 0);
    struct kv_entry entry = *kv_queue_slot(queue, queue->head);
    queue->head++;
    queue->bytes -= kv_entry_weight(&entry);
    return entry;
}

void kv_queue_drop_oldest(struct kv_hold *hold, struct kv_queue *queue)
{
    struct kv_entry entry = queue_shift(queue);
    uint64_t missing = entry.dropped + 1;
    if (kv_queue_count(queue) > 0) {
        kv_queue_slot(queue, queue->head)->dropped += missing;
    } else {
        queue->gap += missing;
    }
    queue->dropped++;
    hold->bus->dropped++;
    kv_entry_drop(hold, &entry);
}

void kv_queue_advance(struct kv_hold *hold, struct kv_queue *queue, uint32_t count, size_t weight)
{
    ASSERT(kv_queue_count(queue) >= count && queue->bytes >= weight);
    queue->head += count;
    queue->bytes -= weight;
    if (queue->capacity > QUEUE_KEPT_SLOTS && kv_queue_count(queue) == 0) {
        queue_free_entries(hold, queue);
    }
}

void kv_entry_drop(struct kv_hold *hold, struct kv_entry *entry)
{
    kv_message_drop(&hold->bus->pool, entry->message, &hold->trash);
    if (entry->pattern != NULL) {
        kv_topic_drop(hold, entry->pattern);
    }
}

struct kv_ack *kv_ack_new(struct kv_mem *mem, struct bytes name)
{
    struct kv_ack *ack = (struct kv_ack *)kv_mem_new(mem, sizeof *ack + name.size);
    if (ack == NULL) {
        return NULL;
    }
    *ack = (struct kv_ack){.name_size = (uint32_t)name.size};
    if (name.size > 0) {
        memcpy(ack->name, name.data, name.size);
    }
    return ack;
}

size_t kv_ack_size(const struct kv_ack *ack)
{
    return sizeof *ack + ack->name_size;
}

void kv_queue_add_ack(struct kv_queue *queue, struct kv_ack *ack)
{
    ack->position = queue->tail;
    ack->next = NULL;
    if (queue->first_ack == NULL) {
        queue->first_ack = ack;
    } else {
        queue->last_ack->next = ack;
    }
    queue->last_ack = ack;
    queue->ack_count++;
}

void kv_queue_drop_ack(struct kv_hold *hold, struct kv_queue *queue)
{
    struct kv_ack *ack = queue->first_ack;
    ASSERT(ack != NULL);
    queue->first_ack = ack->next;
    queue->ack_count--;
    kv_trash_add(&hold->trash, ack, kv_ack_size(ack));
}

void kv_queue_clear(struct kv_hold *hold, struct kv_queue *queue)
{
    while (queue->first_ack != NULL) {
        kv_queue_drop_ack(hold, queue);
    }
    while (kv_queue_count(queue) > 0) {
        struct kv_entry entry = queue_shift(queue);
        kv_entry_drop(hold, &entry);
    }
    queue_free_entries(hold, queue);
}
