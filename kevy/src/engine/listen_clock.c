/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The clock of the listeners: a thread that reclaims keys at their time, so
 * that their expiry is told then and not when somebody looks. It starts with
 * the first listener of a store and ends with the store. While nobody listens,
 * or nothing will expire, it sleeps without a deadline.
 *
 * Many keys of one moment are reclaimed in steps, the lock given up and what
 * happened told between them.
 *
 * A write that makes a key expire before the moment until which the clock
 * sleeps notes so under the lock, and wakes it after it has left the lock.
 */
#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_epoch.h"

/* Leaves of deadlines that are looked at while the lock is held once. */
#define CLOCK_STEPS 8u

/* When to try again after a reclaim failed (full disk), in milliseconds. */
#define CLOCK_RETRY_MS 1000u

/* Set when the store was closed by a callback of this very thread. */
static _Thread_local bool is_clock_orphan;

/* What one look found. */
struct pass {
    uint64_t now_ms;
    uint64_t next_ms; /* when the next key expires */
    uint64_t lsn;     /* 0: nothing was written */
    bool has_news;    /* something was reclaimed */
    bool has_failed;
};

static void pass_database(struct kv_engine *engine, uint32_t db, struct pass *pass)
{
    struct kv_keyspace *ks = &engine->keyspace;
    for (unsigned i = 0; i < CLOCK_STEPS && !pass->has_failed; i++) {
        if (kv_keyspace_deadline(ks, db) > pass->now_ms) {
            break;
        }
        pass->has_failed = kv_keyspace_reclaim(ks, db, pass->now_ms) < 0;
    }
    uint64_t deadline = kv_keyspace_deadline(ks, db);
    pass->next_ms = deadline < pass->next_ms ? deadline : pass->next_ms;
}

/* Reclaims what has expired, a bounded number of keys. */
static void pass_once(struct kv_engine *engine, struct pass *pass)
{
    struct kv_epoch_slot *slot = kv_epoch_enter();
    *pass = (struct pass){.next_ms = KV_DEADLINE_NEVER, .has_failed = slot == NULL};
    kv_mutex_lock(&engine->writer);
    uint64_t changes = engine->keyspace.changes;
    if (engine->keyspace.watch != NULL) {
        pass->now_ms = kv_keyspace_now(&engine->keyspace);
        for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
            pass_database(engine, db, pass);
        }
    }
    if (pass->has_failed) {
        pass->next_ms = pass->now_ms + CLOCK_RETRY_MS;
    }
    pass->has_news = engine->keyspace.changes != changes;
    if (engine->is_durable && pass->has_news) {
        pass->lsn = kv_log_end(engine->log);
    }
    engine->listeners.sleeps_until_ms = pass->next_ms > pass->now_ms ? pass->next_ms : 0;
    kv_mutex_unlock(&engine->writer);
    if (slot != NULL) {
        kv_epoch_leave(slot);
    }
}

static uint64_t wake_at(const struct pass *pass)
{
    uint64_t wait_ms = pass->next_ms - pass->now_ms;
    return pass->next_ms == KV_DEADLINE_NEVER || wait_ms > UINT64_MAX / 1000000
               ? KV_FOREVER
               : kv_mono_after(wait_ms * 1000000);
}

static void clock_run(void *user)
{
    struct kv_engine *engine = user;
    struct kv_listeners *listeners = &engine->listeners;
    for (;;) {
        struct pass pass;
        /* Read before the flags: whoever sets one changes it afterwards, and it is not slept on. */
        uint32_t word = atomic_load_explicit(&listeners->clock_word, memory_order_acquire);
        if (atomic_load_explicit(&listeners->is_clock_stopping, memory_order_acquire)) {
            return;
        }
        pass_once(engine, &pass);
        if (pass.lsn != 0) {
            (void)kv_log_commit(engine->log, pass.lsn);
        }
        bool is_asked =
            atomic_exchange_explicit(&listeners->is_clock_asked, false, memory_order_acq_rel);
        if (is_asked || pass.has_news) {
            kv_listen_deliver(engine);
            kv_listen_close_put_off();
        }
        if (is_clock_orphan) {
            return;
        }
        if (pass.next_ms > pass.now_ms) {
            (void)kv_park_wait(&listeners->clock_word, word, wake_at(&pass));
        }
    }
}

void kv_listen_clock_wake(struct kv_listeners *listeners)
{
    atomic_fetch_add_explicit(&listeners->clock_word, 1, memory_order_acq_rel);
    kv_park_wake(&listeners->clock_word, KV_PARK_ALL);
}

void kv_listen_clock_ask(struct kv_listeners *listeners)
{
    atomic_store_explicit(&listeners->is_clock_asked, true, memory_order_release);
    kv_listen_clock_wake(listeners);
}

int kv_listen_clock_start(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    if (!listeners->has_clock) {
        listeners->has_clock = kv_thread_start(&listeners->clock, clock_run, engine) == 0;
    }
    return listeners->has_clock ? 0 : KEVY_ENOMEM;
}

void kv_listen_clock_note(struct kv_listeners *listeners, uint64_t deadline_ms)
{
    if (deadline_ms < listeners->sleeps_until_ms) {
        listeners->sleeps_until_ms = deadline_ms;
        atomic_store_explicit(&listeners->is_clock_due, true, memory_order_relaxed);
    }
}

void kv_listen_clock_wake_due(struct kv_listeners *listeners)
{
    if (atomic_load_explicit(&listeners->is_clock_due, memory_order_relaxed) &&
        atomic_exchange_explicit(&listeners->is_clock_due, false, memory_order_acq_rel)) {
        kv_listen_clock_wake(listeners);
    }
}

void kv_listen_clock_stop(struct kv_listeners *listeners)
{
    if (!listeners->has_clock) {
        return;
    }
    if (kv_thread_is_self(&listeners->clock)) {
        is_clock_orphan = true;
        kv_thread_detach(&listeners->clock);
        return;
    }
    atomic_store_explicit(&listeners->is_clock_stopping, true, memory_order_release);
    kv_listen_clock_wake(listeners);
    kv_thread_join(&listeners->clock);
}
