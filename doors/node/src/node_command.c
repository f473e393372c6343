/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands as packed arguments, and many values at once.
 *
 * A pack is, for each argument, its length (u32, little-endian) and its bytes.
 * The engine checks a pack whole before anything of it runs.
 */
#include "node_door.h"

#include <string.h>

/* (id, packed) => reply */
napi_value kn_js_cmd(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    size_t argc = 2;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_bytes packed;
    if (store == NULL || !kn_bytes_read(door, argv[1], &packed)) {
        return NULL;
    }
    KevyBuf reply = {NULL, 0, 0};
    const uint8_t *bytes = packed.len > 0 ? packed.ptr : (const uint8_t *)"";
    int32_t status = kevy_cmd_packed(store->db, bytes, packed.len, &reply);
    kn_bytes_done(&packed);
    if (status == KEVY_EMISUSE) {
        (void)kn_fail(env, KN_TYPE_ERROR, "KEVY_EMISUSE", "malformed packed arguments");
        return NULL;
    }
    if (status < 0) {
        (void)kn_fail_memory(env);
        return NULL;
    }
    napi_value result = kn_buffer_copy(door, reply.ptr, reply.len);
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return result;
}

/* Several keys or values of one JavaScript array. */
typedef struct list {
    size_t count;
    kn_bytes *items;
    const uint8_t **ptrs;
    size_t *lens;
} list;

static void list_done(list *of)
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

/* `of` is zeroed; list_done frees it also after a failure. The array is one
 * that ts/ made: reading it runs no foreign code, so that the memory of the
 * buffers read first is still theirs when the last is read. */
static bool list_read(kn_door *door, napi_value array, list *of)
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
static void many_fail(kn_store *store, int32_t status, const list *keys, const list *values)
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

static void many_set(kn_store *store, const list *keys, const list *values)
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
    list keys = {0}, values = {0};
    if (store != NULL && list_read(door, argv[1], &keys) && list_read(door, argv[2], &values) &&
        keys.count == values.count && keys.count > 0) {
        many_set(store, &keys, &values);
    }
    list_done(&keys);
    list_done(&values);
    return NULL;
}

static void length_write(uint8_t *out, size_t size)
{
    for (unsigned k = 0; k < 4; k++) {
        out[k] = (uint8_t)(size >> 8 * k);
    }
}

/* (arguments) => pack */
napi_value kn_js_packArgv(napi_env env, napi_callback_info info)
{
    napi_value argv[1], result = NULL;
    size_t argc = 1, size = 0;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    list args = {0};
    uint8_t *out;
    bool is_read = list_read(door, argv[0], &args);
    for (size_t i = 0; i < args.count; i++) {
        size += 4 + args.lens[i];
    }
    if (is_read && size <= UINT32_MAX) {
        result = kn_buffer_new(door, size, &out);
    } else if (is_read) {
        (void)kn_fail(env, KN_RANGE_ERROR, "KEVY_ELIMIT", "the arguments are over 4 GiB");
    }
    for (size_t i = 0; result != NULL && i < args.count; i++) {
        length_write(out, args.lens[i]);
        memcpy(out + 4, args.ptrs[i], args.lens[i]);
        out += 4 + args.lens[i];
    }
    list_done(&args);
    return result;
}
