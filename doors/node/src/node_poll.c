/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The poll lane: one subscription an object, made by its first subscribe, with
 * any number of channels and patterns; and publish. Frames wait in the
 * engine's bounded queue until subNext takes them.
 */
#include "node_door.h"

static bool flag_read(napi_env env, napi_value value)
{
    bool flag = false;
    (void)napi_get_value_bool(env, value, &flag);
    return flag;
}

static void first_subscribe(kn_store *store, const kn_key *name, bool is_pattern)
{
    store->sub = (is_pattern ? kevy_psubscribe : kevy_subscribe)(store->db, name->bytes.ptr,
                                                                 name->bytes.len);
    if (store->sub == NULL) {
        (void)kn_fail(store->door->env, KN_ERROR, "KEVY_ENOMEM", "the subscription failed");
        return;
    }
    kn_store_limit(store, store->sub);
}

/* subscribe and unsubscribe: (id, name, isPattern) */
static void channels_change(napi_env env, napi_callback_info info, bool is_removal)
{
    napi_value argv[3];
    size_t argc = 3;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_key name;
    if (store == NULL || !kn_key_read(door, argv[1], &name)) {
        return;
    }
    int32_t is_pattern = flag_read(env, argv[2]);
    int32_t status = 0;
    if (store->sub != NULL) {
        status = (is_removal ? kevy_sub_remove : kevy_sub_add)(store->sub, name.bytes.ptr,
                                                               name.bytes.len, is_pattern);
    } else if (!is_removal) {
        first_subscribe(store, &name, is_pattern != 0);
    }
    if (status < 0) {
        (void)kn_fail(env, KN_ERROR, status == KEVY_EMISUSE ? "KEVY_EMISUSE" : "KEVY_ENOMEM",
                      "the subscription could not be changed");
    }
    kn_key_done(&name);
}

napi_value kn_js_subscribe(napi_env env, napi_callback_info info)
{
    channels_change(env, info, false);
    return NULL;
}

napi_value kn_js_unsubscribe(napi_env env, napi_callback_info info)
{
    channels_change(env, info, true);
    return NULL;
}

/* (id) => the next frame or undefined */
napi_value kn_js_subNext(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    KevyBuf frame;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    if (store == NULL || store->sub == NULL) {
        return NULL;
    }
    int32_t status = kevy_sub_next(store->sub, &frame);
    if (status < 0) {
        (void)kn_fail(env, KN_ERROR, "KEVY_ECLOSED", "the subscription is closed");
        return NULL;
    }
    if (status == 0) {
        return NULL;
    }
    napi_value result = kn_buffer_copy(door, frame.ptr, frame.len);
    kevy_buf_free(frame.ptr, frame.len, frame.cap);
    return result;
}

/* (id) => messages that the poll lane's queue has dropped */
napi_value kn_js_subDropped(napi_env env, napi_callback_info info)
{
    napi_value argv[1], result = NULL;
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store != NULL) {
        uint64_t dropped = store->sub != NULL ? kevy_sub_dropped(store->sub) : 0;
        (void)napi_create_double(env, (double)dropped, &result);
    }
    return result;
}

/* (id, channel, payload) => deliveries */
napi_value kn_js_publish(napi_env env, napi_callback_info info)
{
    napi_value argv[3], result = NULL;
    size_t argc = 3;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_key channel, payload;
    if (store == NULL || !kn_key_read(door, argv[1], &channel)) {
        return NULL;
    }
    if (kn_key_read(door, argv[2], &payload)) {
        size_t size = payload.bytes.len;
        const uint8_t *bytes = size > 0 ? payload.bytes.ptr : (const uint8_t *)"";
        int64_t count = kevy_publish(store->db, channel.bytes.ptr, channel.bytes.len, bytes, size);
        kn_key_done(&payload);
        if (count >= 0) {
            (void)napi_create_int64(env, count, &result);
        } else {
            (void)kn_fail(env, KN_ERROR, count == KEVY_EMISUSE ? "KEVY_EMISUSE" : "KEVY_ENOMEM",
                          "the message could not be published");
        }
    }
    kn_key_done(&channel);
    return result;
}
