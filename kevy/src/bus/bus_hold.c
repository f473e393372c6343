/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One stay under the lock of the bus, and sleeping without it.
 *
 * A sleeper's word changes under the lock before the lock is left, so a
 * thread that has counted itself `parked` but is not asleep yet finds another
 * value and does not fall asleep. The system call of a wake comes after the
 * lock was left and uses the word's address only.
 */
#include "kevy/src/bus/bus_inner.h"

void kv_hold_settle(struct kv_hold *hold)
{
    for (uint32_t i = 0; i < hold->wake_count; i++) {
        kv_park_wake(hold->wakes[i].word, hold->wakes[i].count);
    }
    hold->wake_count = 0;
    while (hold->trash != NULL) {
        struct kv_trash *dead = hold->trash;
        hold->trash = dead->next;
        kv_mem_free(&hold->bus->mem, dead, dead->size);
    }
}

bool kv_hold_sleep(struct kv_hold *hold, struct kv_sleepers *sleepers, uint64_t deadline_ns)
{
    uint32_t word = atomic_load_explicit(&sleepers->word, memory_order_relaxed);
    sleepers->parked++;
    kv_hold_leave(hold);
    bool is_in_time = kv_park_wait(&sleepers->word, word, deadline_ns);
    kv_hold_again(hold);
    sleepers->parked--;
    /* Whoever runs first uses up a wake, be it meant for another: it looks at the same queue. */
    if (sleepers->waking > 0) {
        sleepers->waking--;
    }
    return is_in_time;
}

void kv_hold_wake(struct kv_hold *hold, struct kv_sleepers *sleepers, uint32_t count)
{
    atomic_fetch_add_explicit(&sleepers->word, 1, memory_order_relaxed);
    hold->bus->wakes++;
    if (hold->wake_count == KV_HOLD_WAKES) {
        /* Many subscribers sleep: better a few calls under the lock than a bound on their count. */
        kv_park_wake(&sleepers->word, count);
        return;
    }
    hold->wakes[hold->wake_count].word = &sleepers->word;
    hold->wakes[hold->wake_count].count = count;
    hold->wake_count++;
}

void kv_sub_enter(struct kv_hold *hold, struct kv_sub *sub)
{
    kv_hold_enter(hold, sub->bus);
    sub->users++;
}

void kv_sub_exit(struct kv_hold *hold, struct kv_sub *sub)
{
    ASSERT(sub->users > 0);
    /* What this thread leaves behind, another one that sleeps may take. */
    if (!kv_queue_is_empty(&sub->queue)) {
        kv_hold_wake_one(hold, &sub->waiters);
    }
    /* Freeing needs the bus, which may go with the last user of its last sub. */
    while (hold->trash != NULL) {
        kv_hold_leave(hold);
        kv_hold_again(hold);
    }
    sub->users--;
    if (sub->users == 0) {
        kv_hold_wake_all(hold, &sub->closer);
    }
    kv_hold_leave(hold);
}
