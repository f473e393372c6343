/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners of a store: who wants to hear of changes, the changes that
 * wait to be told, and who tells them.
 *
 *   write, under the writer lock:   changed -> `filling`
 *   the same thread, afterwards:    kv_listen_deliver: `filling` <-> `draining`,
 *                                   then one call for each change and listener
 *
 * One thread at a time delivers, so the order of the changes is the order of
 * the calls; a thread that comes while another is at it leaves its changes to
 * that one. Calls are made without lock and outside epochs.
 *
 * A callback may do anything. Writes from inside only queue. A close from
 * inside is put off until the thread is in no callback any more
 * (kv_listen_puts_off, kv_listen_close_put_off).
 *
 * The queue is a run of bytes of at most KV_EVENTS_SIZE_MAX; what does not fit
 * is counted and told as lost.
 *
 * What does not live here: the thread that reclaims keys as they expire
 * (listen_clock.c), what is told (keyspace/).
 */
#ifndef KEVY_SRC_ENGINE_LISTEN_H
#define KEVY_SRC_ENGINE_LISTEN_H

#include "base/list.h"
#include "kevy.h"
#include "kevy/src/keyspace/keyspace.h"
#include "kevy/src/os/os_thread.h"

#define KV_EVENTS_SIZE_MAX ((size_t)16 << 20)

struct kv_engine;

/* Changes, one behind the other: struct kv_event and the bytes of its key. */
struct kv_events {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct kv_listener {
    struct list node;
    int64_t id;
    KevyDb *db;
    kevy_listen_fn *callback;
    void *user;
    uint64_t since; /* the serial of the last change that it does not want */
    bool is_ended;  /* by its own callback; goes when that has returned */
};

struct kv_listeners {
    struct kv_watch watch;

    /* Under the writer lock. */
    struct kv_events filling;
    uint64_t serial; /* of the newest change */
    uint64_t lost;   /* changes that found no room behind those in `filling` */
    uint64_t told;   /* changes queued, for statistics */
    uint64_t lost_all;
    bool is_delivering;
    uint64_t sleeps_until_ms; /* the clock's deadline; 0: it is awake */

    /* Of the thread that delivers. */
    struct kv_events draining;

    /* Under `lock`, which may be taken under the writer lock. */
    struct kv_mutex lock;
    struct kv_cond returned; /* a callback has */
    struct list all;
    const struct kv_listener *running;
    int64_t last_id;
    uint64_t count;

    /* The clock thread. */
    bool has_clock; /* under `lock` */
    struct kv_thread clock;
    _Atomic uint32_t clock_word; /* changes when the clock must look */
    _Atomic bool is_clock_due;
    _Atomic bool is_clock_asked; /* to tell what waits */
    _Atomic bool is_clock_stopping;
};

void kv_listen_init(struct kv_engine *engine);

/* Ends the clock thread and frees; no handle is left. */
void kv_listen_done(struct kv_engine *engine);

/* Says whether there is something to tell. Under the writer lock. */
static inline bool kv_listen_has_news(const struct kv_listeners *listeners)
{
    return listeners->filling.size != 0 || listeners->lost != 0;
}

/* Tells what waits, unless another thread is at it. Without lock and epoch;
 * something keeps the store there. */
void kv_listen_deliver(struct kv_engine *engine);

/* Ends all listeners of a closed handle, waiting for their callbacks. */
void kv_listen_leave(KevyDb *db);

/* Says that the calling thread is inside a callback; then the handle, which is
 * marked closed, will be ended by kv_listen_close_put_off. */
bool kv_listen_puts_off(KevyDb *db);

/* Ends the handles that were put off, if this thread is in no callback. They
 * and their stores may be gone when this returns. */
void kv_listen_close_put_off(void);

/* ---- The clock (listen_clock.c) ---- */

/* Starts it if it is not there. Under `lock`. 0 or KEVY_ENOMEM. */
int kv_listen_clock_start(struct kv_engine *engine);

/* Notes, under the writer lock, that a key expires at that time. */
void kv_listen_clock_note(struct kv_listeners *listeners, uint64_t deadline_ms);

/* Makes it look at the deadlines. */
void kv_listen_clock_wake(struct kv_listeners *listeners);

/* Makes it tell what waits. Otherwise it only tells of what it did itself, so
 * that a writer mostly tells of its own. */
void kv_listen_clock_ask(struct kv_listeners *listeners);

/* Wakes it if it was noted that it sleeps too long. */
void kv_listen_clock_wake_due(struct kv_listeners *listeners);

/* Ends it, also from inside one of its own callbacks. */
void kv_listen_clock_stop(struct kv_listeners *listeners);

#endif
