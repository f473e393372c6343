/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Starting and stopping the push lane, and its listeners.
 *
 * stop wakes the poller and joins it: it is parked in the engine or on
 * `moved`, and both end at once. After it no callback comes: a hop that is
 * still under way finds an orphan.
 */
#include "node_push.h"

#include <signal.h>
#include <string.h>

/* ---- listeners ---- */

/* Whether another listener has the name of this one. */
static bool has_name(const kn_push *push, const kn_listener *as)
{
    for (const kn_listener *of = push->listeners; of != NULL; of = of->next) {
        if (!of->is_removed && of != as && of->is_pattern == as->is_pattern &&
            of->name_len == as->name_len && memcmp(of->name, as->name, of->name_len) == 0) {
            return true;
        }
    }
    return false;
}

/* Appends a listener; returns it, or NULL with an exception. */
static kn_listener *listener_add(kn_push *push, const kn_bytes *name, bool is_pattern,
                                 napi_value callback)
{
    napi_env env = push->store->door->env;
    kn_listener *one = calloc(1, sizeof *one);
    uint8_t *copy = malloc(name->len + 1);
    if (one == NULL || copy == NULL ||
        napi_create_reference(env, callback, 1, &one->callback) != napi_ok) {
        free(copy);
        free(one);
        (void)kn_fail_memory(env);
        return NULL;
    }
    if (name->len > 0) {
        memcpy(copy, name->ptr, name->len);
    }
    one->name = copy;
    one->name_len = name->len;
    one->is_pattern = is_pattern;
    one->id = ++push->last_id;
    one->since = push->asked + 1;
    kn_listener **end = &push->listeners;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = one;
    return one;
}

static void listener_remove(kn_push *push, kn_listener *one)
{
    one->is_removed = true;
    if (!push->is_delivering) {
        kn_push_sweep(push->store->door->env, push);
    }
}

/* ---- start ---- */

/* The poller must not run the host's signal handlers. */
static int poller_start(kn_push *push)
{
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&push->poller, NULL, kn_push_poll, push);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static kn_push *push_new(kn_store *store)
{
    kn_push *push = calloc(1, sizeof *push);
    if (push == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&push->lock, NULL) != 0) {
        free(push);
        return NULL;
    }
    if (pthread_cond_init(&push->moved, NULL) != 0) {
        pthread_mutex_destroy(&push->lock);
        free(push);
        return NULL;
    }
    push->landing.land = kn_push_land;
    push->store = store;
    return push;
}

static bool push_fail(kn_push *push)
{
    napi_env env = push->store->door->env;
    for (kn_listener *of = push->listeners; of != NULL; of = of->next) {
        of->is_removed = true;
    }
    kn_push_sweep(env, push);
    kevy_sub_close(push->sub);
    kn_push_free(push);
    return kn_fail_memory(env);
}

static bool push_start(kn_store *store, const kn_bytes *name, bool is_pattern, napi_value callback)
{
    if (!kn_hop_make(store->door)) {
        return false;
    }
    kn_push *push = push_new(store);
    if (push == NULL) {
        return kn_fail_memory(store->door->env);
    }
    if (listener_add(push, name, is_pattern, callback) == NULL) {
        return push_fail(push);
    }
    push->sub = (is_pattern ? kevy_psubscribe : kevy_subscribe)(store->db, kn_ptr(name), name->len);
    if (push->sub == NULL) {
        return push_fail(push);
    }
    push->asked = 1;
    kn_store_limit(store, push->sub);
    if (poller_start(push) != 0) {
        return push_fail(push);
    }
    store->push = push;
    kn_hop_hold(store);
    return true;
}

static bool push_extend(kn_push *push, const kn_bytes *name, bool is_pattern, napi_value callback)
{
    kn_listener *one = listener_add(push, name, is_pattern, callback);
    if (one == NULL) {
        return false;
    }
    if (kevy_sub_add(push->sub, kn_ptr(name), name->len, is_pattern) != 0) {
        listener_remove(push, one);
        return kn_fail_memory(push->store->door->env);
    }
    push->asked++;
    return true;
}

/* (id, name, isPattern, callback) => listener's id. The callback gets (packed,
 * count, dropped) and returns true to be waited for until pushDone; for a
 * pattern each message is two parts, channel and payload. */
napi_value kn_js_pushStart(napi_env env, napi_callback_info info)
{
    napi_value argv[4], result = NULL;
    size_t argc = 4;
    bool is_pattern = false;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_key name;
    if (store == NULL || napi_get_value_bool(env, argv[2], &is_pattern) != napi_ok ||
        !kn_key_read(door, argv[1], &name)) {
        return NULL;
    }
    bool started = store->push == NULL ? push_start(store, &name.bytes, is_pattern, argv[3])
                                       : push_extend(store->push, &name.bytes, is_pattern, argv[3]);
    kn_key_done(&name);
    if (started) {
        (void)napi_create_uint32(env, store->push->last_id, &result);
    }
    return result;
}

/* ---- stop ---- */

static void poller_stop(kn_push *push)
{
    pthread_mutex_lock(&push->lock);
    push->is_stopping = true;
    pthread_cond_signal(&push->moved);
    pthread_mutex_unlock(&push->lock);
    (void)kevy_sub_wake(push->sub);
    (void)pthread_join(push->poller, NULL);
    kevy_sub_close(push->sub);
}

void kn_push_stop(kn_store *store)
{
    kn_push *push = store->push;
    if (push == NULL) {
        return;
    }
    poller_stop(push);
    store->push = NULL;
    push->store = NULL;
    kn_hop_hold(store);
    for (kn_listener *of = push->listeners; of != NULL; of = of->next) {
        of->is_removed = true;
    }
    if (push->is_delivering) {
        return;
    }
    kn_push_sweep(store->door->env, push);
    /* Full and nobody at work on it: the hop is under way, and frees it. */
    if (!push->is_full || push->pending > 0) {
        kn_push_free(push);
    }
}

/* (id) */
napi_value kn_js_pushStop(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store != NULL) {
        kn_push_stop(store);
    }
    return NULL;
}

static void listener_end(kn_store *store, kn_listener *one)
{
    kn_push *push = store->push;
    one->is_removed = true;
    if (!has_name(push, one) &&
        kevy_sub_remove(push->sub, one->name, one->name_len, one->is_pattern) == 0) {
        push->asked++;
    }
    bool is_last = true;
    for (const kn_listener *of = push->listeners; of != NULL; of = of->next) {
        is_last = is_last && of->is_removed;
    }
    if (is_last) {
        kn_push_stop(store);
    } else {
        listener_remove(push, one);
    }
}

/* (id, listener's id): idempotent */
napi_value kn_js_pushRemove(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    size_t argc = 2;
    uint32_t id = 0;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store == NULL || store->push == NULL ||
        napi_get_value_uint32(env, argv[1], &id) != napi_ok) {
        return NULL;
    }
    for (kn_listener *of = store->push->listeners; of != NULL; of = of->next) {
        if (of->id == id && !of->is_removed) {
            listener_end(store, of);
            break;
        }
    }
    return NULL;
}

/* (id): a listener that returned true has finished its batch */
napi_value kn_js_pushDone(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    kn_push *push = store != NULL ? store->push : NULL;
    if (push != NULL && push->pending > 0 && --push->pending == 0 && !push->is_delivering) {
        kn_push_batch_done(push);
    }
    return NULL;
}

/* (id, count, bytes, policy): limits of both lanes, now and later */
napi_value kn_js_subLimit(napi_env env, napi_callback_info info)
{
    napi_value argv[4];
    size_t argc = 4;
    double bytes = 0;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store == NULL) {
        return NULL;
    }
    (void)napi_get_value_uint32(env, argv[1], &store->count_max);
    (void)napi_get_value_double(env, argv[2], &bytes);
    (void)napi_get_value_int32(env, argv[3], &store->policy);
    store->bytes_max = (size_t)bytes;
    if (store->sub != NULL) {
        (void)kevy_sub_limit(store->sub, store->count_max, store->bytes_max, store->policy);
    }
    if (store->push != NULL) {
        (void)kevy_sub_limit(store->push->sub, store->count_max, store->bytes_max, store->policy);
    }
    return NULL;
}
