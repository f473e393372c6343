/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks of the whole bus, for tests and hostile builds: every count is
 * counted again, every list is walked both ways, every queue is weighed.
 */
#include "kevy/src/bus/bus_inner.h"

/* What the walk has seen. */
struct verify_sum {
    uint32_t channels;
    uint32_t patterns;
    uint32_t links;
};

static bool verify_queue(struct kv_queue *queue)
{
    size_t bytes = 0;
    uint64_t missing = queue->gap;
    uint32_t acks = 0;
    bool is_sound = kv_queue_count(queue) <= queue->capacity && queue->head <= queue->tail;
    for (uint64_t i = queue->head; is_sound && i != queue->tail; i++) {
        struct kv_entry *entry = kv_queue_slot(queue, i);
        bytes += kv_entry_weight(entry);
        missing += entry->dropped;
        is_sound = atomic_load_explicit(&entry->message->refs, memory_order_relaxed) > 0 &&
                   kv_entry_weight(entry) == kv_message_weight(entry->message) &&
                   (entry->pattern == NULL || entry->pattern->refs > 0);
    }
    for (struct kv_ack *ack = queue->first_ack; ack != NULL; ack = ack->next) {
        acks++;
        is_sound = is_sound && ack->position <= queue->tail &&
                   (ack->next == NULL || ack->position <= ack->next->position);
    }
    return is_sound && bytes == queue->bytes && acks == queue->ack_count &&
           missing <= queue->dropped;
}

static bool verify_sub(struct kv_sub *sub)
{
    uint32_t links = 0;
    LIST_EACH(node, &sub->links)
    {
        links += LIST_OWNER(node, struct kv_link, sub_node)->sub == sub && node->next->prev == node;
    }
    return !sub->is_inert && links == sub->link_count && verify_queue(&sub->queue) &&
           sub->waiters.waking <= sub->waiters.parked;
}

static bool verify_topic(struct kv_topic *topic, struct verify_sum *sum)
{
    uint32_t links = 0;
    bool is_sound = topic->refs > 0;
    LIST_EACH(node, &topic->links)
    {
        struct kv_link *link = LIST_OWNER(node, struct kv_link, topic_node);
        links++;
        is_sound =
            is_sound && link->topic == topic && node->next->prev == node && verify_sub(link->sub);
    }
    sum->links += links;
    return is_sound && links > 0 && links == topic->link_count;
}

static bool verify_filter(struct kv_bus *bus, const struct verify_sum *sum)
{
    uint32_t channels = 0;
    for (uint32_t i = 0; i < KV_BUS_FILTER; i++) {
        channels += atomic_load_explicit(&bus->filter[i], memory_order_relaxed);
    }
    return channels == sum->channels && channels == bus->channel_count &&
           sum->patterns == atomic_load_explicit(&bus->pattern_count, memory_order_relaxed) &&
           sum->links == atomic_load_explicit(&bus->link_count, memory_order_relaxed);
}

bool kv_bus_verify(struct kv_bus *bus)
{
    struct kv_hold hold;
    struct verify_sum sum = {0, 0, 0};
    bool is_sound = true;
    kv_hold_enter(&hold, bus);
    for (uint32_t i = 0; i < bus->bucket_count; i++) {
        for (struct kv_topic *topic = bus->buckets[i]; topic != NULL; topic = topic->next) {
            sum.channels++;
            is_sound = is_sound && !topic->is_pattern && verify_topic(topic, &sum) &&
                       kv_topics_find(bus, kv_topic_name(topic), topic->hash, false) == topic;
        }
    }
    LIST_EACH(node, &bus->patterns)
    {
        struct kv_topic *topic = LIST_OWNER(node, struct kv_topic, pattern_node);
        sum.patterns++;
        is_sound = is_sound && topic->is_pattern && verify_topic(topic, &sum);
    }
    is_sound = is_sound && verify_filter(bus, &sum);
    kv_hold_leave(&hold);
    return is_sound;
}
