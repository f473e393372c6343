/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The life of a publish.
 *
 *   1 without the lock: nothing is subscribed, or surely nothing of this name
 *   quick: no patterns, room in every queue, a block in the pool: no more to do;
 *     otherwise, which is rarer:
 *   2 survey: who receives it, and is there room in every queue; what is
 *     missing (a slot array, a block for the message, room in a queue whose
 *     policy is to block) is fetched without the lock, and the survey starts
 *     again, because anything may have changed
 *   3 deliver: cannot fail; all receivers get it in one step
 *
 * So a message reaches all that were subscribed at one moment, or nobody.
 * The bytes of a small message are copied under the lock into a pooled block;
 * those of a large one before step 2 is repeated.
 */
#include "base/hash.h"
#include "kevy/src/bus/bus_inner.h"
#include "kevy/src/text/glob.h"

struct publish {
    struct kv_hold hold;
    struct kv_port *port;
    struct bytes channel;
    struct bytes payload;
    uint64_t hash;
    size_t weight;
    bool may_wait;
    struct kv_topic *topic; /* the channel's, or NULL */
    uint32_t receivers;
    struct kv_message *message; /* filled; ours, for a queue may drop it while we deliver */
};

enum publish_survey { SURVEY_READY, SURVEY_NO_SLOTS, SURVEY_NO_ROOM };

/* Says whether a queue's bounds admit `count` more messages of this weight. */
static bool sub_fits(const struct kv_sub *sub, uint64_t count, size_t weight)
{
    uint64_t bytes = sub->queue.bytes + count * (uint64_t)weight;
    return kv_queue_count(&sub->queue) + count <= sub->count_max && bytes <= sub->bytes_max;
}

/* Looks at one receiver; `wanted` counts the copies that it gets of this message. An empty queue
 * never blocks: more room than all of it will not come. */
static enum publish_survey survey_sub(struct publish *p, struct kv_sub *sub)
{
    uint64_t serial = p->hold.bus->serial;
    if (sub->mark != serial) {
        sub->mark = serial;
        sub->wanted = 0;
    }
    sub->wanted++;
    p->receivers++;
    uint64_t count = (uint64_t)kv_queue_count(&sub->queue) + sub->wanted;
    if (count > sub->queue.capacity && sub->queue.capacity < sub->count_max) {
        return SURVEY_NO_SLOTS;
    }
    bool blocks = sub->policy == KEVY_SUB_BLOCK && count > sub->wanted &&
                  p->weight <= sub->bytes_max && !sub_fits(sub, sub->wanted, p->weight);
    return blocks ? SURVEY_NO_ROOM : SURVEY_READY;
}

static enum publish_survey survey_topic(struct publish *p, struct kv_topic *topic,
                                        struct kv_sub **sub_out)
{
    enum publish_survey result = SURVEY_READY;
    LIST_EACH(node, &topic->links)
    {
        struct kv_link *link = LIST_OWNER(node, struct kv_link, topic_node);
        result = survey_sub(p, link->sub);
        if (result != SURVEY_READY) {
            *sub_out = link->sub;
            break;
        }
    }
    return result;
}

/* Finds the receivers; *sub_out is one that lacks something. */
static enum publish_survey survey_all(struct publish *p, struct kv_sub **sub_out)
{
    struct kv_bus *bus = p->hold.bus;
    enum publish_survey result = SURVEY_READY;
    bus->serial++;
    p->receivers = 0;
    p->topic = kv_topics_find(bus, p->channel, p->hash, KV_SUB_CHANNEL);
    if (p->topic != NULL) {
        result = survey_topic(p, p->topic, sub_out);
    }
    LIST_EACH(node, &bus->patterns)
    {
        struct kv_topic *pattern = LIST_OWNER(node, struct kv_topic, pattern_node);
        if (result != SURVEY_READY) {
            break;
        }
        if (kv_glob_match(kv_topic_name(pattern), p->channel, false)) {
            pattern->mark = bus->serial;
            result = survey_topic(p, pattern, sub_out);
        }
    }
    return result;
}

/* Gives a sub a larger slot array, without the lock while allocating. */
static int32_t publish_grow(struct publish *p, struct kv_sub *sub)
{
    struct kv_bus *bus = p->hold.bus;
    uint32_t count = kv_queue_count(&sub->queue) + sub->wanted;
    uint32_t capacity = kv_queue_capacity_for(sub->queue.capacity, count);
    size_t size = capacity * sizeof(struct kv_entry);
    sub->users++;
    kv_hold_leave(&p->hold);
    struct kv_entry *entries = (struct kv_entry *)kv_mem_new(&bus->mem, size);
    kv_hold_again(&p->hold);
    if (entries != NULL && !sub->is_inert && sub->queue.capacity < capacity) {
        kv_queue_move(&p->hold, &sub->queue, entries, capacity);
    } else if (entries != NULL) {
        kv_trash_add(&p->hold.trash, entries, size);
    }
    kv_sub_exit(&p->hold, sub);
    kv_hold_again(&p->hold);
    return entries == NULL ? KEVY_ENOMEM : KEVY_OK;
}

/* Fills a message, or gets what it needs without the lock: then p->message is NULL or the survey
 * is old, and must be repeated. */
static int32_t publish_prepare(struct publish *p, bool *is_old_out)
{
    struct kv_bus *bus = p->hold.bus;
    struct kv_slab *slab = NULL;
    bool is_pooled = kv_pool_serves(p->weight);
    *is_old_out = false;
    p->message = is_pooled ? kv_pool_take(&bus->pool, p->weight) : NULL;
    if (p->message != NULL) {
        kv_message_fill(p->message, 1, p->channel, p->payload);
        return KEVY_OK;
    }
    *is_old_out = true;
    kv_hold_leave(&p->hold);
    if (is_pooled) {
        slab = kv_slab_new(&bus->mem, p->weight);
    } else if ((p->message = kv_message_new(&bus->mem, p->weight)) != NULL) {
        kv_message_fill(p->message, 1, p->channel, p->payload);
    }
    kv_hold_again(&p->hold);
    if (slab != NULL) {
        kv_pool_give(&bus->pool, slab);
    }
    return slab == NULL && p->message == NULL ? KEVY_ENOMEM : KEVY_OK;
}

/* Puts the message into a queue that has a slot, and says so. */
static inline void deliver(struct kv_hold *hold, struct kv_sub *sub, struct kv_message *message,
                           struct kv_topic *pattern)
{
    kv_queue_push(&sub->queue, message, pattern);
    atomic_store_explicit(&sub->arrivals, (uint32_t)sub->queue.tail, memory_order_relaxed);
    kv_hold_wake_one(hold, &sub->waiters);
}

/* Queues the message as the sub's policy says; 1 if it came in. */
static int64_t deliver_sub(struct publish *p, struct kv_sub *sub, struct kv_topic *pattern)
{
    struct kv_queue *queue = &sub->queue;
    if (!sub_fits(sub, 1, p->weight)) {
        if (sub->policy != KEVY_SUB_DROP_OLDEST || p->weight > sub->bytes_max) {
            kv_queue_refuse(queue);
            p->hold.bus->dropped++;
            return 0;
        }
        do {
            kv_queue_drop_oldest(&p->hold, queue);
        } while (!sub_fits(sub, 1, p->weight));
    }
    kv_message_ref(p->message);
    if (pattern != NULL) {
        pattern->refs++;
    }
    deliver(&p->hold, sub, p->message, pattern);
    return 1;
}

static int64_t deliver_topic(struct publish *p, struct kv_topic *topic, struct kv_topic *pattern)
{
    int64_t deliveries = 0;
    LIST_EACH(node, &topic->links)
    {
        struct kv_link *link = LIST_OWNER(node, struct kv_link, topic_node);
        deliveries += deliver_sub(p, link->sub, pattern);
    }
    return deliveries;
}

static int64_t deliver_all(struct publish *p)
{
    struct kv_bus *bus = p->hold.bus;
    int64_t deliveries = p->topic == NULL ? 0 : deliver_topic(p, p->topic, NULL);
    LIST_EACH(node, &bus->patterns)
    {
        struct kv_topic *pattern = LIST_OWNER(node, struct kv_topic, pattern_node);
        if (pattern->mark == bus->serial) {
            deliveries += deliver_topic(p, pattern, pattern);
        }
    }
    return deliveries;
}

/* Steps 2 and 3; the lock is held before and after. */
static int64_t publish_locked(struct publish *p)
{
    for (;;) {
        struct kv_sub *sub = NULL;
        bool is_old = false;
        int32_t status = KEVY_OK;
        if (p->port->is_closed) {
            return KEVY_ECLOSED;
        }
        switch (survey_all(p, &sub)) {
        case SURVEY_NO_SLOTS:
            status = publish_grow(p, sub);
            is_old = true;
            break;
        case SURVEY_NO_ROOM:
            if (!p->may_wait) {
                return KV_BUS_WOULD_WAIT;
            }
            (void)kv_hold_sleep(&p->hold, &p->hold.bus->room, KV_FOREVER);
            is_old = true;
            break;
        case SURVEY_READY:
            if (p->receivers == 0) {
                return 0;
            }
            if (p->message == NULL) {
                status = publish_prepare(p, &is_old);
            }
            break;
        }
        if (status != KEVY_OK) {
            return status;
        }
        if (!is_old) {
            int64_t deliveries = deliver_all(p);
            p->hold.bus->deliveries += (uint64_t)deliveries;
            return deliveries;
        }
    }
}

#define PUBLISH_NOT_QUICK INT64_MAX

/* Delivers to the subscribers of the channel's name if nothing is in the way. */
static int64_t publish_quick(struct publish *p)
{
    struct kv_bus *bus = p->hold.bus;
    if (p->port->is_closed || !list_is_empty(&bus->patterns) || !kv_pool_serves(p->weight)) {
        return PUBLISH_NOT_QUICK;
    }
    struct kv_topic *topic = kv_topics_find(bus, p->channel, p->hash, KV_SUB_CHANNEL);
    if (topic == NULL) {
        return 0;
    }
    LIST_EACH(node, &topic->links)
    {
        const struct kv_sub *sub = LIST_OWNER(node, struct kv_link, topic_node)->sub;
        if (kv_queue_count(&sub->queue) == sub->queue.capacity || !sub_fits(sub, 1, p->weight)) {
            return PUBLISH_NOT_QUICK;
        }
    }
    struct kv_message *message = kv_pool_take(&bus->pool, p->weight);
    if (message == NULL) {
        return PUBLISH_NOT_QUICK;
    }
    kv_message_fill(message, topic->link_count, p->channel, p->payload);
    LIST_EACH(node, &topic->links)
    {
        deliver(&p->hold, LIST_OWNER(node, struct kv_link, topic_node)->sub, message, NULL);
    }
    bus->deliveries += topic->link_count;
    return topic->link_count;
}

static int64_t publish_start(struct kv_port *port, struct bytes channel, struct bytes payload,
                             bool may_wait)
{
    struct kv_bus *bus = port->bus;
    if (channel.size > KEVY_SIZE_MAX || payload.size > KEVY_SIZE_MAX) {
        return KEVY_ELIMIT;
    }
    if (atomic_load_explicit(&bus->link_count, memory_order_relaxed) == 0) {
        return 0;
    }
    uint64_t hash = hash_bytes(channel.data, channel.size, bus->seed);
    if (!kv_topics_may_have(bus, hash)) {
        return 0;
    }
    struct publish p;
    p.port = port;
    p.channel = channel;
    p.payload = payload;
    p.hash = hash;
    p.weight = channel.size + payload.size;
    p.may_wait = may_wait;
    p.message = NULL;
    kv_hold_enter(&p.hold, bus);
    int64_t result = publish_quick(&p);
    if (result == PUBLISH_NOT_QUICK) {
        result = publish_locked(&p);
    }
    if (p.message != NULL) {
        kv_message_drop(&bus->pool, p.message, &p.hold.trash);
    }
    kv_hold_leave(&p.hold);
    return result;
}

int64_t kv_bus_publish(struct kv_port *port, struct bytes channel, struct bytes payload)
{
    return publish_start(port, channel, payload, true);
}

int64_t kv_bus_publish_now(struct kv_port *port, struct bytes channel, struct bytes payload)
{
    return publish_start(port, channel, payload, false);
}
