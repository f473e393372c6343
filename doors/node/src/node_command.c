/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands as packed arguments.
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
    kn_list args = {0};
    uint8_t *out;
    bool is_read = kn_list_read(door, argv[0], &args);
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
    kn_list_done(&args);
    return result;
}
