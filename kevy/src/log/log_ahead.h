/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The segment that is made ahead of its time, as the rest of the log sees it:
 * see log_ahead.c.
 *
 * Threads: under the writer lock, but where it is said.
 */
#ifndef KEVY_SRC_LOG_LOG_AHEAD_H
#define KEVY_SRC_LOG_LOG_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kevy/src/os/os_thread.h"

struct kv_log;
struct kv_segment;

struct kv_ahead {
    struct kv_segment *spare; /* ready to be taken, not entered; NULL: none */
    bool has_slot;            /* a spare, or one that is being made, has this slot */
    uint32_t slot;
    uint64_t begun_ns;      /* when the active segment became that */
    _Atomic bool is_wanted; /* the thread is to be told to make one */

    /* Its thread, under `lock`. */
    struct kv_mutex lock;
    struct kv_cond wake;
    bool is_woken;
    bool is_stopping;
    bool has_thread;
    struct kv_thread thread;
};

/* Says whether a slot is held for it. */
static inline bool kv_ahead_holds(const struct kv_ahead *ahead, uint32_t slot)
{
    return ahead->has_slot && ahead->slot == slot;
}

/* Asks for one if the store is being written to fast: the next commit sees to
 * it. */
void kv_ahead_want(struct kv_log *log);

/* The active segment is new: notes when, and asks for the next one. */
void kv_ahead_note(struct kv_log *log);

/* Takes the one that is ready, begun and entered, or NULL. */
struct kv_segment *kv_ahead_take(struct kv_log *log);

/* Gives its room back to the disk; true: there was one. */
bool kv_ahead_drop(struct kv_log *log);

/* Has one made if it was asked for. Not under the writer lock. */
void kv_ahead_wake(struct kv_log *log);

/* Nothing waits to be flushed: a small store keeps none. Not under the writer
 * lock. */
void kv_ahead_settle(struct kv_log *log);

/* Ends the thread, and gives back what it made. Nobody else uses the log. */
void kv_ahead_stop(struct kv_log *log);

#endif
