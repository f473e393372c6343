/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners: the queue, telling, and the public functions. See
 * listen.h.
 */
#include "kevy/src/engine/listen.h"

#include "kevy/src/engine/gate.h"

#ifdef KEVY_HOSTILE
#define EVENTS_SIZE_FIRST ((size_t)48)
#else
#define EVENTS_SIZE_FIRST ((size_t)4096)
#endif

/* What is kept of a queue that had to grow. */
#define EVENTS_SIZE_KEPT ((size_t)64 << 10)

/* Times that a thread takes the queue before it leaves what comes in meanwhile
 * to the clock: a writer must not tell for others for ever. */
#define DELIVER_ROUNDS 4u

/* One change in the queue; the key's bytes follow. */
struct event {
    const KevyDb *origin; /* NULL: no handle's doing; only compared */
    uint64_t serial;
    uint32_t key_size;
    uint32_t database;
    int32_t cause;
};

/* A delivery that this thread is in, and the ones around it. */
struct delivery {
    const struct kv_listeners *listeners;
    struct delivery *outer;
};

static _Thread_local struct delivery *delivery_here;
static _Thread_local KevyDb *closes_put_off;

static bool is_delivering_here(const struct kv_listeners *listeners)
{
    const struct delivery *delivery = delivery_here;
    while (delivery != NULL && delivery->listeners != listeners) {
        delivery = delivery->outer;
    }
    return delivery != NULL;
}

/* ---- The queue ---- */

static bool events_reserve(struct kv_mem *mem, struct kv_events *events, size_t size)
{
    size_t need = events->size + size;
    if (size > KV_EVENTS_SIZE_MAX || need > KV_EVENTS_SIZE_MAX) {
        return false;
    }
    size_t capacity = events->capacity == 0 ? EVENTS_SIZE_FIRST : events->capacity;
    while (capacity < need) {
        capacity *= 2;
    }
    if (capacity == events->capacity) {
        return true;
    }
    uint8_t *grown = kv_mem_resize(mem, events->data, events->capacity, capacity);
    if (grown != NULL) {
        events->data = grown;
        events->capacity = capacity;
    }
    return grown != NULL;
}

static void events_free(struct kv_mem *mem, struct kv_events *events)
{
    kv_mem_free(mem, events->data, events->capacity);
    *events = (struct kv_events){NULL, 0, 0};
}

/* Empties a queue that was told. */
static void events_reset(struct kv_mem *mem, struct kv_events *events)
{
    events->size = 0;
    if (events->capacity > EVENTS_SIZE_KEPT) {
        events_free(mem, events);
    }
}

/* What the keyspace calls. Once something is lost, so is what follows until the
 * queue is taken: changes stay in order. */
static void event_add(void *self, uint32_t db, struct bytes key, int32_t cause)
{
    struct kv_engine *engine = self;
    struct kv_listeners *listeners = &engine->listeners;
    bool is_own = cause != KEVY_CHANGE_EXPIRE && cause != KEVY_CHANGE_EVICT;
    struct event event = {.origin = is_own ? engine->writing : NULL,
                          .serial = ++listeners->serial,
                          .key_size = (uint32_t)key.size,
                          .database = db,
                          .cause = cause};
    struct kv_events *events = &listeners->filling;
    if (listeners->lost != 0 || !events_reserve(&engine->mem, events, sizeof event + key.size)) {
        listeners->lost++;
        listeners->lost_all++;
    } else {
        memcpy(events->data + events->size, &event, sizeof event);
        events->size += sizeof event;
        events->size += (size_t)(kv_bytes_put(events->data + events->size, key) -
                                 (events->data + events->size));
        listeners->told++;
    }
    kv_listen_clock_note(listeners, kv_keyspace_deadline(&engine->keyspace, db));
}

/* Nobody is told from now on if nobody listens. Under the writer lock. */
static void watch_update(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    kv_mutex_lock(&listeners->lock);
    engine->keyspace.watch = list_is_empty(&listeners->all) ? NULL : &listeners->watch;
    kv_mutex_unlock(&listeners->lock);
}

/* ---- Telling ---- */

/* Makes one call, with the list's lock given up meanwhile; the listener stays
 * until it has returned. Returns the link to go on from. */
static struct list *tell_one(struct kv_engine *engine, struct kv_listener *listener,
                             const KevyChange *change)
{
    struct kv_listeners *listeners = &engine->listeners;
    listeners->running = listener;
    kv_mutex_unlock(&listeners->lock);
    listener->callback(listener->user, change);
    kv_mutex_lock(&listeners->lock);
    listeners->running = NULL;
    struct list *next = listener->node.next;
    if (listener->is_ended) {
        list_remove(&listener->node);
        listeners->count--;
        kv_mem_free(&engine->mem, listener, sizeof *listener);
    }
    kv_cond_broadcast(&listeners->returned);
    return next;
}

static bool wants(const struct kv_listener *listener, uint64_t serial)
{
    return listener->since < serial && !listener->is_ended &&
           atomic_load_explicit(&listener->db->is_closed, memory_order_relaxed) == 0;
}

static void tell_all(struct kv_engine *engine, const KevyDb *origin, uint64_t serial,
                     KevyChange *change)
{
    struct kv_listeners *listeners = &engine->listeners;
    kv_mutex_lock(&listeners->lock);
    for (struct list *link = listeners->all.next; link != &listeners->all;) {
        struct kv_listener *listener = LIST_OWNER(link, struct kv_listener, node);
        change->is_other = origin != listener->db;
        link = wants(listener, serial) ? tell_one(engine, listener, change) : link->next;
    }
    kv_mutex_unlock(&listeners->lock);
}

static void tell_events(struct kv_engine *engine, const struct kv_events *events)
{
    for (size_t at = 0; at < events->size;) {
        struct event event;
        memcpy(&event, events->data + at, sizeof event);
        at += sizeof event;
        bool has_key = event.cause != KEVY_CHANGE_CLEAR;
        KevyChange change = {.cause = event.cause,
                             .database = event.database,
                             .key = has_key ? events->data + at : NULL,
                             .key_len = event.key_size};
        tell_all(engine, event.origin, event.serial, &change);
        at += event.key_size;
    }
}

/* Tells what was queued so far. Enters and leaves with the writer lock. */
static void deliver_queue(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    struct kv_events events = listeners->filling;
    uint64_t lost = listeners->lost, serial = listeners->serial;
    listeners->filling = listeners->draining;
    listeners->draining = events;
    listeners->lost = 0;
    kv_mutex_unlock(&engine->writer);
    tell_events(engine, &events);
    if (lost != 0) {
        KevyChange change = {.cause = KEVY_CHANGE_LOST, .lost = lost};
        tell_all(engine, NULL, serial, &change);
    }
    kv_mutex_lock(&engine->writer);
    events_reset(&engine->mem, &listeners->draining);
}

void kv_listen_deliver(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    struct delivery here = {listeners, delivery_here};
    kv_listen_clock_wake_due(listeners);
    kv_mutex_lock(&engine->writer);
    bool is_ours = !listeners->is_delivering && kv_listen_has_news(listeners);
    if (is_ours) {
        listeners->is_delivering = true;
        delivery_here = &here;
        for (unsigned i = 0; i < DELIVER_ROUNDS && kv_listen_has_news(listeners); i++) {
            deliver_queue(engine);
        }
        delivery_here = here.outer;
        listeners->is_delivering = false;
        watch_update(engine);
    }
    bool is_left = is_ours && kv_listen_has_news(listeners);
    kv_mutex_unlock(&engine->writer);
    if (is_left) {
        kv_listen_clock_ask(listeners);
    }
}

/* ---- Closing from inside ---- */

bool kv_listen_puts_off(KevyDb *db)
{
    if (delivery_here == NULL) {
        return false;
    }
    db->close_next = closes_put_off;
    closes_put_off = db;
    return true;
}

void kv_listen_close_put_off(void)
{
    while (delivery_here == NULL && closes_put_off != NULL) {
        KevyDb *db = closes_put_off;
        closes_put_off = db->close_next;
        kv_handle_end(db);
    }
}

/* ---- Listeners ---- */

void kv_listen_init(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    listeners->watch = (struct kv_watch){engine, event_add};
    list_init(&listeners->all);
    kv_mutex_init(&listeners->lock);
    kv_cond_init(&listeners->returned);
}

void kv_listen_done(struct kv_engine *engine)
{
    struct kv_listeners *listeners = &engine->listeners;
    kv_listen_clock_stop(listeners);
    ASSERT(list_is_empty(&listeners->all) && !listeners->is_delivering);
    events_free(&engine->mem, &listeners->filling);
    events_free(&engine->mem, &listeners->draining);
}

static struct kv_listener *listener_find(struct kv_listeners *listeners, const KevyDb *db,
                                         int64_t id)
{
    LIST_EACH(link, &listeners->all)
    {
        struct kv_listener *listener = LIST_OWNER(link, struct kv_listener, node);
        if (listener->db == db && (id == 0 || listener->id == id)) {
            return listener;
        }
    }
    return NULL;
}

/* Ends the handle's listener of that id, or all if it is 0. */
static void listeners_end(struct kv_engine *engine, const KevyDb *db, int64_t id)
{
    struct kv_listeners *listeners = &engine->listeners;
    struct kv_listener *listener;
    bool is_inside = is_delivering_here(listeners);
    kv_mutex_lock(&listeners->lock);
    while ((listener = listener_find(listeners, db, id)) != NULL) {
        if (listener != listeners->running) {
            list_remove(&listener->node);
            listeners->count--;
            kv_mem_free(&engine->mem, listener, sizeof *listener);
            continue;
        }
        listener->is_ended = true;
        if (is_inside) {
            break;
        }
        (void)kv_cond_wait(&listeners->returned, &listeners->lock, KV_FOREVER);
    }
    kv_mutex_unlock(&listeners->lock);
    kv_mutex_lock(&engine->writer);
    watch_update(engine);
    kv_mutex_unlock(&engine->writer);
}

void kv_listen_leave(KevyDb *db)
{
    listeners_end(db->engine, db, 0);
}

static int listener_add(KevyDb *db, kevy_listen_fn *callback, void *user, int64_t *id_out)
{
    struct kv_engine *engine = db->engine;
    struct kv_listeners *listeners = &engine->listeners;
    struct kv_listener *listener = kv_mem_zeroed(&engine->mem, sizeof *listener);
    if (listener == NULL) {
        return KEVY_ENOMEM;
    }
    *listener = (struct kv_listener){.db = db, .callback = callback, .user = user};
    kv_mutex_lock(&listeners->lock);
    int status = kv_listen_clock_start(engine);
    kv_mutex_unlock(&listeners->lock);
    if (status < 0) {
        kv_mem_free(&engine->mem, listener, sizeof *listener);
        return status;
    }
    kv_mutex_lock(&engine->writer);
    kv_mutex_lock(&listeners->lock);
    listener->since = listeners->serial;
    *id_out = listener->id = ++listeners->last_id;
    list_add(&listeners->all, &listener->node);
    listeners->count++;
    kv_mutex_unlock(&listeners->lock);
    watch_update(engine);
    listeners->sleeps_until_ms = 0;
    kv_mutex_unlock(&engine->writer);
    kv_listen_clock_wake(listeners);
    return 0;
}

int64_t kevy_listen(KevyDb *db, kevy_listen_fn *callback, void *user)
{
    struct kv_epoch_slot *slot;
    int64_t id = 0;
    if (callback == NULL) {
        return -1;
    }
    int status = kv_gate_enter(db, &slot);
    if (status == 0) {
        status = listener_add(db, callback, user, &id);
        kv_gate_leave(slot);
    }
    return status < 0 ? kv_result(status) : id;
}

int32_t kevy_unlisten(KevyDb *db, int64_t listener)
{
    struct kv_epoch_slot *slot;
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    kv_gate_pin(db);
    kv_gate_leave(slot);
    if (listener > 0) {
        listeners_end(db->engine, db, listener);
    }
    kv_gate_unpin(db);
    return 0;
}
