/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Names that somebody listens to: channels in a hash table of chains, patterns
 * in a list, and the filter beside the table.
 *
 * The filter counts channels by the low bits of their hash. A subscribe raises
 * it before it returns, so a publish that comes after sees it: relaxed atomics
 * suffice, whatever made the one come after the other ordered them.
 */
#include "base/hash.h"
#include "kevy/src/bus/bus_inner.h"

static size_t topic_size(const struct kv_topic *topic)
{
    return sizeof *topic + topic->name_size;
}

struct kv_topic *kv_topic_new(struct kv_bus *bus, struct bytes name, bool is_pattern)
{
    struct kv_topic *topic = (struct kv_topic *)kv_mem_new(&bus->mem, sizeof *topic + name.size);
    if (topic == NULL) {
        return NULL;
    }
    *topic =
        (struct kv_topic){.name_size = (uint32_t)name.size, .is_pattern = is_pattern, .refs = 1};
    topic->hash = hash_bytes(name.data, name.size, bus->seed);
    list_init(&topic->pattern_node);
    list_init(&topic->links);
    if (name.size > 0) {
        memcpy(topic->name, name.data, name.size);
    }
    return topic;
}

/* The high bits choose the bucket, the low ones the slot of the filter. */
static struct kv_topic **topics_bucket(struct kv_bus *bus, uint64_t hash)
{
    return &bus->buckets[(hash >> 32) & (bus->bucket_count - 1)];
}

/* As bytes_equal; short names, by the words that are hashed of them, without a call. */
static bool names_equal(struct bytes a, struct bytes b)
{
    uint64_t a0, a1, b0, b1;
    if (a.size != b.size || a.size > 16) {
        return bytes_equal(a, b);
    }
    hash_tail(a.data, a.size, &a0, &a1);
    hash_tail(b.data, b.size, &b0, &b1);
    return a0 == b0 && a1 == b1;
}

static struct kv_topic *topics_find_pattern(struct kv_bus *bus, struct bytes name)
{
    LIST_EACH(node, &bus->patterns)
    {
        struct kv_topic *topic = LIST_OWNER(node, struct kv_topic, pattern_node);
        if (bytes_equal(kv_topic_name(topic), name)) {
            return topic;
        }
    }
    return NULL;
}

struct kv_topic *kv_topics_find(struct kv_bus *bus, struct bytes name, uint64_t hash,
                                bool is_pattern)
{
    if (is_pattern) {
        return topics_find_pattern(bus, name);
    }
    struct kv_topic *topic = *topics_bucket(bus, hash);
    while (topic != NULL && (topic->hash != hash || !names_equal(kv_topic_name(topic), name))) {
        topic = topic->next;
    }
    return topic;
}

void kv_topics_add(struct kv_bus *bus, struct kv_topic *topic)
{
    if (topic->is_pattern) {
        list_add(&bus->patterns, &topic->pattern_node);
        atomic_fetch_add_explicit(&bus->pattern_count, 1, memory_order_relaxed);
        return;
    }
    struct kv_topic **bucket = topics_bucket(bus, topic->hash);
    topic->next = *bucket;
    *bucket = topic;
    bus->channel_count++;
    atomic_fetch_add_explicit(&bus->filter[topic->hash % KV_BUS_FILTER], 1, memory_order_relaxed);
}

void kv_topics_remove(struct kv_hold *hold, struct kv_topic *topic)
{
    struct kv_bus *bus = hold->bus;
    ASSERT(topic->link_count == 0 && list_is_empty(&topic->links));
    if (topic->is_pattern) {
        list_remove(&topic->pattern_node);
        atomic_fetch_sub_explicit(&bus->pattern_count, 1, memory_order_relaxed);
    } else {
        struct kv_topic **place = topics_bucket(bus, topic->hash);
        while (*place != topic) {
            place = &(*place)->next;
        }
        *place = topic->next;
        bus->channel_count--;
        atomic_fetch_sub_explicit(&bus->filter[topic->hash % KV_BUS_FILTER], 1,
                                  memory_order_relaxed);
    }
    kv_topic_drop(hold, topic);
}

void kv_topic_drop(struct kv_hold *hold, struct kv_topic *topic)
{
    ASSERT(topic->refs > 0);
    topic->refs--;
    if (topic->refs == 0) {
        size_t size = topic_size(topic);
        kv_trash_add(&hold->trash, topic, size);
    }
}

static void topics_move(struct kv_bus *bus, struct kv_topic **buckets, uint32_t count)
{
    struct kv_topic **old_buckets = bus->buckets;
    uint32_t old_count = bus->bucket_count;
    bus->buckets = buckets;
    bus->bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        struct kv_topic *topic = old_buckets[i];
        while (topic != NULL) {
            struct kv_topic *next = topic->next;
            struct kv_topic **bucket = topics_bucket(bus, topic->hash);
            topic->next = *bucket;
            *bucket = topic;
            topic = next;
        }
    }
}

void kv_topics_grow(struct kv_hold *hold)
{
    struct kv_bus *bus = hold->bus;
    uint32_t old_count = bus->bucket_count;
    if (bus->channel_count <= old_count || old_count >= UINT32_C(1) << 28) {
        return;
    }
    size_t old_size = old_count * sizeof bus->buckets[0];
    kv_hold_leave(hold);
    struct kv_topic **buckets = (struct kv_topic **)kv_mem_zeroed(&bus->mem, old_size * 2);
    kv_hold_again(hold);
    if (buckets == NULL) {
        return;
    }
    if (bus->bucket_count != old_count) {
        kv_trash_add(&hold->trash, buckets, old_size * 2); /* another thread was faster */
        return;
    }
    struct kv_topic **old_buckets = bus->buckets;
    topics_move(bus, buckets, old_count * 2);
    if (old_buckets != bus->first_buckets) {
        kv_trash_add(&hold->trash, old_buckets, old_size);
    }
}
