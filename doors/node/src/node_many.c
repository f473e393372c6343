/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Many values at once, in one crossing of the border and one call of the
 * engine: setMany, all or none, and getMany; and arrays of keys and values.
 */
#include "node_door.h"

#include <string.h>

void kn_list_done(kn_list *of)
{
    for (size_t i = 0; i < of->count; i++) {
        kn_bytes_done(&of->items[i]);
    }
    free(of->items);
    free(of->ptrs);
    free(of->lens);
}

static bool list_item_read(kn_door *door, napi_value array, uint32_t index, kn_bytes *out)
{
    napi_value value;
    napi_status status = napi_get_element(door->env, array, index, &value);
    if (status != napi_ok) {
        return kn_fail_napi(door->env, status, "reading an array");
    }
    if (!kn_item_read(door, value, out)) {
        return false;
    }
    if (out->ptr == NULL) {
        out->ptr = (const uint8_t *)"";
    }
    return true;
}

bool kn_list_read(kn_door *door, napi_value array, kn_list *of)
{
    uint32_t count;
    if (napi_get_array_length(door->env, array, &count) != napi_ok) {
        return kn_fail(door->env, KN_TYPE_ERROR, "KEVY_EMISUSE", "expected an array");
    }
    size_t room = count > 0 ? count : 1;
    of->items = malloc(room * sizeof *of->items);
    of->ptrs = malloc(room * sizeof *of->ptrs);
    of->lens = malloc(room * sizeof *of->lens);
    if (of->items == NULL || of->ptrs == NULL || of->lens == NULL) {
        return kn_fail_memory(door->env);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!list_item_read(door, array, i, &of->items[i])) {
            return false;
        }
        of->count = i + 1;
        of->ptrs[i] = of->items[i].ptr;
        of->lens[i] = of->items[i].len;
    }
    return true;
}

/* Throws what MSET, which is all or nothing too, says about the same pairs. */
static void many_fail(kn_store *store, int32_t status, const kn_list *keys, const kn_list *values)
{
    size_t argc = 1 + 2 * keys->count;
    const uint8_t **argv = malloc(argc * sizeof *argv);
    size_t *argv_len = malloc(argc * sizeof *argv_len);
    KevyBuf reply;
    if (argv == NULL || argv_len == NULL) {
        (void)kn_fail_memory(store->door->env);
    } else {
        argv[0] = (const uint8_t *)"MSET";
        argv_len[0] = 4;
        for (size_t i = 0; i < keys->count; i++) {
            argv[1 + 2 * i] = keys->ptrs[i];
            argv_len[1 + 2 * i] = keys->lens[i];
            argv[2 + 2 * i] = values->ptrs[i];
            argv_len[2 + 2 * i] = values->lens[i];
        }
        if (kn_fail_store(store, status, argc, argv, argv_len, &reply)) {
            kevy_buf_free(reply.ptr, reply.len, reply.cap);
        }
    }
    free(argv);
    free(argv_len);
}

static void many_set(kn_store *store, const kn_list *keys, const kn_list *values)
{
    int32_t status =
        kevy_set_many(store->db, keys->count, keys->ptrs, keys->lens, values->ptrs, values->lens);
    if (status != 0) {
        many_fail(store, status, keys, values);
    }
}

/* (id, keys, values) */
napi_value kn_js_setMany(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    size_t argc = 3;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_list keys = {0}, values = {0};
    if (store != NULL && kn_list_read(door, argv[1], &keys) &&
        kn_list_read(door, argv[2], &values) && keys.count == values.count && keys.count > 0) {
        many_set(store, &keys, &values);
    }
    kn_list_done(&keys);
    kn_list_done(&values);
    return NULL;
}

/* The parts of the engine's answer as elements: an ArrayBuffer, or undefined. */
static bool values_fill(kn_door *door, napi_value array, size_t count, const uint8_t *at)
{
    napi_env env = door->env;
    for (uint32_t i = 0; i < count; i++) {
        napi_handle_scope scope;
        napi_value value;
        size_t size =
            (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
        bool is_there = size != KEVY_MISSING;
        napi_status status = napi_open_handle_scope(env, &scope);
        if (status != napi_ok) {
            return kn_fail_napi(env, status, "making an array");
        }
        at += 4;
        if (is_there) {
            value = kn_buffer_copy(door, at, size);
            at += size;
        } else if (napi_get_undefined(env, &value) != napi_ok) {
            value = NULL;
        }
        bool is_set = value != NULL && napi_set_element(env, array, i, value) == napi_ok;
        (void)napi_close_handle_scope(env, scope);
        if (!is_set) {
            return kn_fail_memory(env);
        }
    }
    return true;
}

static napi_value many_get(kn_store *store, const kn_list *keys)
{
    kn_door *door = store->door;
    KevyBuf buf = {NULL, 0, 0};
    napi_value array = NULL;
    int64_t hits = kevy_get_many(store->db, keys->count, keys->ptrs, keys->lens, &buf);
    if (hits < 0) {
        (void)(hits == KEVY_EMISUSE
                   ? kn_fail(door->env, KN_ERROR, "KEVY_ECLOSED", "the store was closed")
                   : kn_fail_memory(door->env));
        return NULL;
    }
    napi_status status = napi_create_array_with_length(door->env, keys->count, &array);
    if (status != napi_ok) {
        (void)kn_fail_napi(door->env, status, "making an array");
    }
    bool is_done = status == napi_ok && values_fill(door, array, keys->count, buf.ptr);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return is_done ? array : NULL;
}

/* (id, keys) => the values in the order of the keys */
napi_value kn_js_getMany(napi_env env, napi_callback_info info)
{
    napi_value argv[2], result = NULL;
    size_t argc = 2;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_list keys = {0};
    if (store != NULL && kn_list_read(door, argv[1], &keys)) {
        result = many_get(store, &keys);
    }
    kn_list_done(&keys);
    return result;
}
