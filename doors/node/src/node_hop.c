/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hop: how other threads get a turn in JavaScript. One thread-safe function
 * for the whole environment, made by the first push or change listener; what is
 * sent through it says where it lands.
 *
 * It holds the process alive only while a store wants that (ref) and has
 * something to bring. When the environment goes, the hook here ends every lane;
 * hooks run newest first, and this one is added right after the thread-safe
 * function's own, so no other thread can meet a dead one.
 */
#include "node_door.h"

static void hop_cleanup(void *data)
{
    kn_door *door = data;
    for (uint32_t i = 0; i < door->store_count; i++) {
        if (door->stores[i] != NULL) {
            kn_push_stop(door->stores[i]);
            kn_changes_stop(door->stores[i]);
        }
    }
    door->hop = NULL;
}

/* With env NULL the environment is going. */
static void hop_land(napi_env env, napi_value unused, void *context, void *data)
{
    kn_landing *landing = data;
    (void)unused;
    (void)context;
    landing->land(env, landing);
}

bool kn_hop_make(kn_door *door)
{
    napi_value name;
    napi_env env = door->env;
    if (door->hop != NULL) {
        return true;
    }
    napi_status status = napi_create_string_utf8(env, "kevy", NAPI_AUTO_LENGTH, &name);
    if (status == napi_ok) {
        status = napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, NULL,
                                                 hop_land, &door->hop);
    }
    if (status == napi_ok) {
        status = napi_add_env_cleanup_hook(env, hop_cleanup, door);
    }
    if (status == napi_ok) {
        status = napi_unref_threadsafe_function(env, door->hop);
    }
    return status == napi_ok || kn_fail_napi(env, status, "making the thread-safe function");
}

bool kn_hop_send(napi_threadsafe_function hop, kn_landing *landing)
{
    return napi_call_threadsafe_function(hop, landing, napi_tsfn_nonblocking) == napi_ok;
}

void kn_hop_hold(kn_store *store)
{
    kn_door *door = store->door;
    bool holds = store->is_ref && (store->push != NULL || store->changes != NULL);
    if (holds == store->holds) {
        return;
    }
    store->holds = holds;
    if (holds && door->hop_refs++ == 0) {
        (void)napi_ref_threadsafe_function(door->env, door->hop);
    } else if (!holds && --door->hop_refs == 0) {
        (void)napi_unref_threadsafe_function(door->env, door->hop);
    }
}

void kn_exception_report(napi_env env)
{
    bool pending = false;
    napi_value exception;
    (void)napi_is_exception_pending(env, &pending);
    if (pending && napi_get_and_clear_last_exception(env, &exception) == napi_ok) {
        (void)napi_fatal_exception(env, exception);
    }
}

/* (id, isRef): whether what comes to the store keeps the process alive */
napi_value kn_js_hold(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    size_t argc = 2;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store != NULL && napi_get_value_bool(env, argv[1], &store->is_ref) == napi_ok) {
        kn_hop_hold(store);
    }
    return NULL;
}
