/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Subscriptions: opening, closing, names, limits. What is read from them is
 * in bus_take.c, what comes in is in bus_publish.c.
 *
 * Adding or removing a name allocates everything it could need before the
 * lock, so that under it nothing can fail; what was not needed is freed after.
 */
#include "base/hash.h"
#include "kevy/src/bus/bus_inner.h"
#include "kevy/src/os/os_posix.h"

#define SUB_COUNT_MAX 65536u
#define SUB_BYTES_MAX ((size_t)64 << 20)

/* What a change of names may need. */
struct sub_change {
    struct kv_topic *topic;
    struct kv_link *link;
    struct kv_ack *ack;
};

int32_t kv_sub_open(struct kv_port *port, struct kv_sub **out)
{
    struct kv_hold hold;
    struct kv_bus *bus = port->bus;
    struct kv_sub *sub = (struct kv_sub *)kv_mem_zeroed(&bus->mem, sizeof *sub);
    *out = NULL;
    if (sub == NULL) {
        return KEVY_ENOMEM;
    }
    sub->bus = bus;
    sub->fork_count = kv_fork_count();
    sub->count_max = SUB_COUNT_MAX;
    sub->bytes_max = SUB_BYTES_MAX;
    sub->policy = KEVY_SUB_DROP_OLDEST;
    list_init(&sub->port_node);
    list_init(&sub->links);
    kv_hold_enter(&hold, bus);
    bool is_closed = port->is_closed;
    if (is_closed) {
        kv_trash_add(&hold.trash, sub, sizeof *sub);
    } else {
        list_add(&port->subs, &sub->port_node);
        bus->refs++;
    }
    kv_hold_leave(&hold);
    *out = is_closed ? NULL : sub;
    return is_closed ? KEVY_ECLOSED : KEVY_OK;
}

bool kv_sub_is_inherited(const struct kv_sub *sub)
{
    return sub->fork_count != kv_fork_count();
}

/* Ends one subscription of a sub to a name, and the name if it was the last. */
static void sub_unlink(struct kv_hold *hold, struct kv_link *link)
{
    struct kv_topic *topic = link->topic;
    list_remove(&link->topic_node);
    list_remove(&link->sub_node);
    topic->link_count--;
    link->sub->link_count--;
    atomic_fetch_sub_explicit(&hold->bus->link_count, 1, memory_order_relaxed);
    kv_trash_add(&hold->trash, link, sizeof *link);
    if (topic->link_count == 0) {
        kv_topics_remove(hold, topic);
    }
}

void kv_sub_retire(struct kv_hold *hold, struct kv_sub *sub)
{
    struct kv_bus *bus = hold->bus;
    sub->is_inert = true;
    list_remove(&sub->port_node);
    while (!list_is_empty(&sub->links)) {
        sub_unlink(hold, LIST_OWNER(sub->links.next, struct kv_link, sub_node));
    }
    kv_queue_clear(hold, &sub->queue);
    kv_hold_wake_all(hold, &sub->waiters);
    kv_hold_wake_all(hold, &bus->room);
    if (atomic_load_explicit(&bus->link_count, memory_order_relaxed) == 0) {
        kv_pool_trim(&bus->pool, &hold->trash);
    }
}

void kv_sub_close(struct kv_sub *sub)
{
    if (sub == NULL) {
        return;
    }
    struct kv_hold hold;
    struct kv_bus *bus = sub->bus;
    kv_hold_enter(&hold, bus);
    kv_sub_retire(&hold, sub);
    while (sub->users > 0) {
        (void)kv_hold_sleep(&hold, &sub->closer, KV_FOREVER);
    }
    kv_hold_leave(&hold);
    kv_mem_free(&bus->mem, sub, sizeof *sub);
    kv_bus_drop(bus);
}

/* Finds the subscription of a sub to a topic by walking the shorter of their two lists. */
static struct kv_link *sub_find_link(struct kv_sub *sub, struct kv_topic *topic)
{
    struct list *of_sub = sub->links.next;
    struct list *of_topic = topic->links.next;
    while (of_sub != &sub->links && of_topic != &topic->links) {
        struct kv_link *a = LIST_OWNER(of_sub, struct kv_link, sub_node);
        struct kv_link *b = LIST_OWNER(of_topic, struct kv_link, topic_node);
        if (a->topic == topic) {
            return a;
        }
        if (b->sub == sub) {
            return b;
        }
        of_sub = of_sub->next;
        of_topic = of_topic->next;
    }
    return NULL;
}

/* Puts off freeing what a change did not use. */
static void sub_change_trash(struct kv_hold *hold, struct sub_change *change)
{
    if (change->topic != NULL) {
        kv_topic_drop(hold, change->topic);
    }
    if (change->link != NULL) {
        kv_trash_add(&hold->trash, change->link, sizeof *change->link);
    }
    if (change->ack != NULL) {
        kv_trash_add(&hold->trash, change->ack, kv_ack_size(change->ack));
    }
}

/* Links a sub to a name, unless it is already. Parts of the change that were used become NULL. */
static void sub_link(struct kv_sub *sub, struct sub_change *change)
{
    struct kv_bus *bus = sub->bus;
    bool is_pattern = change->topic->is_pattern;
    struct kv_topic *topic =
        kv_topics_find(bus, kv_topic_name(change->topic), change->topic->hash, is_pattern);
    if (topic == NULL) {
        topic = change->topic;
        change->topic = NULL;
        kv_topics_add(bus, topic);
    } else if (sub_find_link(sub, topic) != NULL) {
        return;
    }
    struct kv_link *link = change->link;
    change->link = NULL;
    link->topic = topic;
    link->sub = sub;
    list_add(&topic->links, &link->topic_node);
    list_add(&sub->links, &link->sub_node);
    topic->link_count++;
    sub->link_count++;
    atomic_fetch_add_explicit(&bus->link_count, 1, memory_order_relaxed);
}

/* Queues the acknowledgement of a change just made. */
static void sub_acknowledge(struct kv_hold *hold, struct kv_sub *sub, struct sub_change *change,
                            enum kv_ack_kind kind)
{
    struct kv_ack *ack = change->ack;
    change->ack = NULL;
    ack->kind = kind;
    ack->remaining = sub->link_count;
    kv_queue_add_ack(&sub->queue, ack);
    kv_hold_wake_one(hold, &sub->waiters);
}

static int32_t sub_may_change(const struct kv_sub *sub)
{
    if (sub->is_inert) {
        return KEVY_ECLOSED;
    }
    return sub->queue.ack_count >= KV_QUEUE_ACKS_MAX ? KEVY_ELIMIT : KEVY_OK;
}

int32_t kv_sub_add(struct kv_sub *sub, struct bytes name, bool is_pattern)
{
    struct kv_bus *bus = sub->bus;
    struct kv_hold hold;
    if (name.size > KEVY_SIZE_MAX) {
        return KEVY_ELIMIT;
    }
    struct sub_change change = {
        .topic = kv_topic_new(bus, name, is_pattern),
        .link = (struct kv_link *)kv_mem_new(&bus->mem, sizeof(struct kv_link)),
        .ack = kv_ack_new(&bus->mem, name),
    };
    bool is_complete = change.topic != NULL && change.link != NULL && change.ack != NULL;
    kv_sub_enter(&hold, sub);
    int32_t result = is_complete ? sub_may_change(sub) : KEVY_ENOMEM;
    if (result == KEVY_OK) {
        sub_link(sub, &change);
        sub_acknowledge(&hold, sub, &change, is_pattern ? KV_ACK_PSUBSCRIBE : KV_ACK_SUBSCRIBE);
        kv_topics_grow(&hold);
    }
    sub_change_trash(&hold, &change);
    kv_sub_exit(&hold, sub);
    return result;
}

int32_t kv_sub_remove(struct kv_sub *sub, struct bytes name, bool is_pattern)
{
    struct kv_bus *bus = sub->bus;
    struct kv_hold hold;
    if (name.size > KEVY_SIZE_MAX) {
        return KEVY_ELIMIT;
    }
    struct sub_change change = {.ack = kv_ack_new(&bus->mem, name)};
    if (change.ack == NULL) {
        return KEVY_ENOMEM;
    }
    uint64_t hash = hash_bytes(name.data, name.size, bus->seed);
    kv_sub_enter(&hold, sub);
    int32_t result = sub_may_change(sub);
    if (result == KEVY_OK) {
        struct kv_topic *topic = kv_topics_find(bus, name, hash, is_pattern);
        struct kv_link *link = topic == NULL ? NULL : sub_find_link(sub, topic);
        if (link != NULL) {
            sub_unlink(&hold, link);
            kv_hold_wake_all(&hold, &bus->room);
        }
        sub_acknowledge(&hold, sub, &change, is_pattern ? KV_ACK_PUNSUBSCRIBE : KV_ACK_UNSUBSCRIBE);
    }
    sub_change_trash(&hold, &change);
    kv_sub_exit(&hold, sub);
    return result;
}

int32_t kv_sub_limit(struct kv_sub *sub, uint32_t count_max, size_t bytes_max, int32_t policy)
{
    struct kv_hold hold;
    struct kv_queue *queue = &sub->queue;
    if (policy < KEVY_SUB_DROP_OLDEST || policy > KEVY_SUB_FAIL) {
        return KEVY_EMISUSE;
    }
    kv_sub_enter(&hold, sub);
    int32_t result = sub->is_inert ? KEVY_ECLOSED : KEVY_OK;
    if (result == KEVY_OK) {
        sub->count_max = count_max == 0 ? sub->count_max : count_max;
        sub->bytes_max = bytes_max == 0 ? sub->bytes_max : bytes_max;
        sub->policy = policy;
        while (policy == KEVY_SUB_DROP_OLDEST &&
               (kv_queue_count(queue) > sub->count_max || queue->bytes > sub->bytes_max)) {
            kv_queue_drop_oldest(&hold, queue);
        }
        kv_hold_wake_all(&hold, &sub->bus->room);
    }
    kv_sub_exit(&hold, sub);
    return result;
}

uint64_t kv_sub_dropped(struct kv_sub *sub)
{
    struct kv_hold hold;
    kv_sub_enter(&hold, sub);
    uint64_t dropped = sub->queue.dropped;
    kv_sub_exit(&hold, sub);
    return dropped;
}

int32_t kv_sub_wake(struct kv_sub *sub)
{
    struct kv_hold hold;
    kv_sub_enter(&hold, sub);
    int32_t result = sub->is_inert ? KEVY_ECLOSED : KEVY_OK;
    if (sub->waiters.parked > 0) {
        sub->wake_epoch++;
        kv_hold_wake_all(&hold, &sub->waiters);
    } else {
        sub->wakes_next = true;
    }
    kv_sub_exit(&hold, sub);
    return result;
}
