/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a reader waits; see bus_await.h.
 *
 * An empty queue is looked at for a moment, then slept on. One that has some
 * is, for a batch, looked at until no more come; meanwhile their buffer is made.
 */
#include "kevy/src/bus/bus_await.h"

/* Looks at a queue that was found empty before sleeping on it: about as long as a wake costs the
 * publisher. In a stream that is a message or many, when idle it happens once. */
#define AWAIT_LOOKS 50u

#define AWAIT_NS_PER_MS UINT64_C(1000000)

/* Says whether kv_sub_wake ends this wait. */
static bool await_is_woken(struct kv_sub *sub, struct kv_wish *wish)
{
    if (!wish->may_sleep) {
        return false;
    }
    if (!wish->has_begun) {
        wish->has_begun = true;
        wish->wake_epoch = sub->wake_epoch;
    }
    if (sub->wakes_next) {
        sub->wakes_next = false;
        return true;
    }
    return wish->wake_epoch != sub->wake_epoch;
}

/* While messages stream in, a batch that is taken too early is a batch of a few: each then costs
 * both sides the lock and its cache lines, which slows the publisher down, so that the next is not
 * larger. So a batch that found messages without sleeping looks on as long as more come: at such
 * intervals, since each look costs the publisher a cache line, and so often. */
#define AWAIT_GLANCE_NS 500u /* the first: is the publisher running at all, on another core? */
#define AWAIT_GATHER_NS 2000u
#define AWAIT_GATHER_LOOKS 6u

/* Asks for the lines of entries that were written on another core, so that taking them out under
 * the lock does not wait. The array may be gone meanwhile: nothing is read. */
static void fetch_entries(const struct kv_entry *entries, uint32_t capacity, uint32_t first,
                          uint32_t end)
{
    uint32_t count = end - first;
    for (uint32_t i = 0; i < count && i < KV_TAKE_RUN; i += 2) {
        kv_cpu_fetch(entries + ((first + i) & (capacity - 1)));
    }
}

static void pause_ns(uint64_t ns)
{
    for (uint64_t end = kv_mono_ns() + ns; kv_mono_ns() < end;) {
        kv_cpu_relax();
    }
}

/* Allocates a buffer for the messages of a gathered batch, whose sizes are guessed from those that
 * were there first. Whether it came about is seen later. */
static void gather_reserve(struct kv_hold *hold, const struct kv_wish *wish, uint64_t size,
                           uint32_t of_count, uint32_t count)
{
    uint64_t guess = (size + of_count - 1) / of_count * count;
    size_t cap = guess < wish->gathers_max ? (size_t)guess : wish->gathers_max;
    wish->gathers->ptr = (uint8_t *)kv_mem_new(hold->bus->bufs, cap);
    wish->gathers->cap = wish->gathers->ptr == NULL ? 0 : cap;
}

/* Looks until nothing has come for a moment, or a run has; without the lock. */
static void await_gather(struct kv_hold *hold, struct kv_sub *sub, const struct kv_wish *wish)
{
    uint32_t count = kv_queue_count(&sub->queue);
    uint64_t size = sub->queue.bytes + (uint64_t)count * wish->gathers_each;
    const struct kv_entry *entries = sub->queue.entries;
    uint32_t capacity = sub->queue.capacity, first = (uint32_t)sub->queue.head;
    uint32_t seen = (uint32_t)sub->queue.tail, arrivals = seen;
    kv_hold_leave(hold);
    for (uint32_t look = 0; look < AWAIT_GATHER_LOOKS && arrivals - first < KV_TAKE_RUN; look++) {
        pause_ns(look == 0 ? AWAIT_GLANCE_NS : AWAIT_GATHER_NS);
        arrivals = atomic_load_explicit(&sub->arrivals, memory_order_relaxed);
        if (arrivals == seen) {
            break;
        }
        seen = arrivals;
    }
    if (count > 0 && wish->gathers->ptr == NULL) {
        gather_reserve(hold, wish, size, count, arrivals - first);
    }
    fetch_entries(entries, capacity, first, arrivals);
    kv_hold_again(hold);
}

/* Waits a moment for a message, without the lock. */
static void await_look(struct kv_hold *hold, struct kv_sub *sub)
{
    uint32_t arrivals = (uint32_t)sub->queue.tail;
    kv_hold_leave(hold);
    for (uint32_t i = 0; i < AWAIT_LOOKS; i++) {
        if (atomic_load_explicit(&sub->arrivals, memory_order_relaxed) != arrivals) {
            break;
        }
        kv_cpu_relax();
    }
    kv_hold_again(hold);
}

static bool await_sleep(struct kv_hold *hold, struct kv_sub *sub, struct kv_wish *wish)
{
    if (wish->deadline_ns == 0) {
        bool is_endless = wish->timeout_ms == 0 || wish->timeout_ms > KV_FOREVER / AWAIT_NS_PER_MS;
        wish->deadline_ns =
            is_endless ? KV_FOREVER : kv_mono_after(wish->timeout_ms * AWAIT_NS_PER_MS);
    }
    return kv_hold_sleep(hold, &sub->waiters, wish->deadline_ns);
}

bool kv_sub_skip_acks(struct kv_hold *hold, struct kv_sub *sub)
{
    bool has_skipped = false;
    while (kv_queue_front_ack(&sub->queue) != NULL) {
        kv_queue_drop_ack(hold, &sub->queue);
        has_skipped = true;
    }
    return has_skipped;
}

int32_t kv_sub_await(struct kv_hold *hold, struct kv_sub *sub, struct kv_wish *wish)
{
    bool is_in_time = true;
    for (;;) {
        if (sub->is_inert) {
            return KEVY_ECLOSED;
        }
        if (await_is_woken(sub, wish)) {
            return 0;
        }
        bool has_skipped = !wish->wants_acks && kv_sub_skip_acks(hold, sub);
        if (!kv_queue_is_empty(&sub->queue)) {
            if (wish->gathers == NULL || kv_queue_count(&sub->queue) >= KV_TAKE_RUN) {
                return 1;
            }
            await_gather(hold, sub, wish);
            wish->gathers = NULL;
            continue;
        }
        if (!wish->may_sleep || !is_in_time || (has_skipped && wish->ends_with_ack)) {
            return 0;
        }
        if (!wish->has_looked) {
            wish->has_looked = true;
            await_look(hold, sub);
        } else {
            is_in_time = await_sleep(hold, sub, wish);
            wish->gathers = NULL;
        }
    }
}
