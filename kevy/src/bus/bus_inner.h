/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of the bus share: the structures and their small operations.
 * Only files of this room include it.
 *
 *   bus --> buckets --> topic (channel) --+-- link --+-- sub --> queue --> entry --> message
 *    +----> patterns -> topic (pattern) --+-- link --+                       +-----> topic
 *
 * A topic is a channel or a pattern that has subscribers; a link is one
 * subscription of one sub to one topic and lies in the lists of both. A topic
 * dies with its last link, the struct of a pattern with the last queued entry
 * that names it.
 *
 * Everything but the atomics of kv_bus is under its mutex, and the mutex is
 * held through a kv_hold, which collects what may only happen after it was
 * left: freeing and waking.
 */
#ifndef KEVY_SRC_BUS_BUS_INNER_H
#define KEVY_SRC_BUS_BUS_INNER_H

#include "base/assert.h"
#include "kevy/src/bus/bus.h"
#include "kevy/src/bus/bus_pool.h"
#include "kevy/src/bus/bus_queue.h"
#include "kevy/src/os/os_thread.h"

/* Slots of the filter that answers "surely nobody" without the lock. */
#define KV_BUS_FILTER 256u

/* Buckets of a young bus, inside it. */
#define KV_BUS_BUCKETS 16u

/* Threads that sleep on one thing. `waking` of the `parked` ones have been woken and have not run
 * yet: they need no second wake. */
struct kv_sleepers {
    _Atomic uint32_t word;
    uint32_t parked;
    uint32_t waking;
};

struct kv_topic {
    struct kv_topic *next;    /* in its bucket, for channels */
    struct list pattern_node; /* in kv_bus.patterns, for patterns */
    struct list links;        /* kv_link.topic_node */
    uint64_t hash;
    uint64_t mark; /* the serial of the last publish that a pattern matched */
    uint32_t link_count;
    uint32_t refs; /* one while it has links, one for each queued entry */
    uint32_t name_size;
    bool is_pattern;
    uint8_t name[];
};

struct kv_link {
    struct list topic_node;
    struct list sub_node;
    struct kv_topic *topic;
    struct kv_sub *sub;
};

struct kv_sub {
    struct kv_bus *bus;
    unsigned fork_count; /* of the process that opened it */
    /* What a publish touches lies together. */
    uint32_t count_max;
    size_t bytes_max;
    _Atomic uint32_t arrivals; /* changes with every message; read without the lock */
    struct kv_sleepers waiters;
    struct kv_queue queue;
    int32_t policy;
    uint32_t wanted;
    uint64_t mark;  /* the serial of the publish that counts `wanted` */
    uint32_t users; /* threads inside a call that needs this struct to stay */
    uint32_t link_count;
    struct list links; /* kv_link.sub_node */
    struct list port_node;
    struct kv_sleepers closer;
    uint32_t wake_epoch; /* grows when kv_sub_wake wakes the waiters of now */
    bool wakes_next;     /* kv_sub_wake found none: the next wait returns at once */
    bool is_inert;       /* its port or itself is closed */
};

#define KV_BUS_LINE 64u

/* What publishers only read is apart from what changes with every message, and that from the lock,
 * which a reader on another core takes too. */
struct kv_bus {
    uint64_t seed;
    _Atomic uint32_t link_count;
    _Atomic uint32_t pattern_count;
    _Atomic uint32_t filter[KV_BUS_FILTER]; /* channels whose hash falls there */
    struct kv_topic **buckets;
    uint32_t bucket_count;
    uint32_t channel_count;
    struct kv_topic *first_buckets[KV_BUS_BUCKETS];
    struct list patterns; /* kv_topic.pattern_node */
    uint8_t line_of_lock[KV_BUS_LINE];
    struct kv_mutex mutex;
    struct kv_pool pool;
    uint8_t line_of_counts[KV_BUS_LINE];
    uint64_t serial; /* of the publish under way */
    uint64_t wakes;
    uint64_t deliveries;     /* messages that came into a queue */
    uint64_t dropped;        /* and those that were dropped there or refused */
    uint32_t refs;           /* the store and each sub */
    struct kv_sleepers room; /* publishers that wait for a full queue */
    struct kv_mem *bufs;
    struct kv_mem mem;
};

/* ---- The lock (bus_hold.c) ---- */

#define KV_HOLD_WAKES 16u

/* One stay under the lock. */
struct kv_hold {
    struct kv_bus *bus;
    struct kv_trash *trash;
    uint32_t wake_count;
    struct kv_hold_wake {
        _Atomic uint32_t *word;
        uint32_t count;
    } wakes[KV_HOLD_WAKES];
};

/* Does what was put off; the lock is not held. */
void kv_hold_settle(struct kv_hold *hold);

static inline void kv_hold_enter(struct kv_hold *hold, struct kv_bus *bus)
{
    hold->bus = bus;
    hold->trash = NULL;
    hold->wake_count = 0;
    kv_mutex_lock(&bus->mutex);
}

/* Leaves the lock and settles. Words that are woken may be freed memory by then; the bus must
 * still be there if there is trash. */
static inline void kv_hold_leave(struct kv_hold *hold)
{
    kv_mutex_unlock(&hold->bus->mutex);
    if (hold->trash != NULL || hold->wake_count != 0) {
        kv_hold_settle(hold);
    }
}

static inline void kv_hold_again(struct kv_hold *hold)
{
    kv_mutex_lock(&hold->bus->mutex);
}

/* Sleeps without the lock until woken or the deadline has passed; false only then. */
bool kv_hold_sleep(struct kv_hold *hold, struct kv_sleepers *sleepers, uint64_t deadline_ns);

/* Wakes so many sleepers after the lock was left. */
void kv_hold_wake(struct kv_hold *hold, struct kv_sleepers *sleepers, uint32_t count);

/* Wakes one sleeper, or all; those who are being woken already count. */
static inline void kv_hold_wake_one(struct kv_hold *hold, struct kv_sleepers *sleepers)
{
    if (sleepers->parked > sleepers->waking) {
        sleepers->waking++;
        kv_hold_wake(hold, sleepers, 1);
    }
}

static inline void kv_hold_wake_all(struct kv_hold *hold, struct kv_sleepers *sleepers)
{
    if (sleepers->parked > sleepers->waking) {
        sleepers->waking = sleepers->parked;
        kv_hold_wake(hold, sleepers, KV_PARK_ALL);
    }
}

/* Counts a thread into a sub, so that kv_sub_close waits for it, and out again. kv_sub_exit leaves
 * the lock; afterwards the sub may be gone. */
void kv_sub_enter(struct kv_hold *hold, struct kv_sub *sub);
void kv_sub_exit(struct kv_hold *hold, struct kv_sub *sub);

/* ---- Names (bus_topic.c) ---- */

/* False says that surely nobody listens to a channel of this hash. Needs no lock. */
static inline bool kv_topics_may_have(struct kv_bus *bus, uint64_t hash)
{
    return atomic_load_explicit(&bus->filter[hash % KV_BUS_FILTER], memory_order_relaxed) != 0 ||
           atomic_load_explicit(&bus->pattern_count, memory_order_relaxed) != 0;
}

static inline struct bytes kv_topic_name(const struct kv_topic *topic)
{
    return bytes_of(topic->name, topic->name_size);
}

/* Makes a topic in no table, without the lock; NULL without memory. */
struct kv_topic *kv_topic_new(struct kv_bus *bus, struct bytes name, bool is_pattern);

/* Returns the topic of this name, or NULL. `hash` is not looked at for patterns. */
struct kv_topic *kv_topics_find(struct kv_bus *bus, struct bytes name, uint64_t hash,
                                bool is_pattern);
void kv_topics_add(struct kv_bus *bus, struct kv_topic *topic);

/* Takes out a topic that has lost its last link, and gives up the table's reference. */
void kv_topics_remove(struct kv_hold *hold, struct kv_topic *topic);

/* Gives up one reference. */
void kv_topic_drop(struct kv_hold *hold, struct kv_topic *topic);

/* Doubles the buckets if there are more channels than that. Leaves the lock and takes it again; a
 * bus without memory for it is slower, not wrong. */
void kv_topics_grow(struct kv_hold *hold);

/* ---- Subscriptions (bus_sub.c) ---- */

/* Takes a sub out of everything and drops its queue; its waiters are woken. */
void kv_sub_retire(struct kv_hold *hold, struct kv_sub *sub);

#endif
