/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hot lanes: get and set of single values. As few Node-API calls as do the
 * job; each costs 5 to 40 ns, more than the engine.
 *
 * getInto answers with a number: the size of the value that was copied, -1 for
 * a miss, -2 - size for a value that does not fit. ts/kevy.ts makes of that
 * what its comments promise.
 */
#include "node_door.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARGV(text) ((const uint8_t *)(text))

/* A get failed: throw GET's error reply. Should the command have gone well,
 * what made the get fail has passed, and the caller may try again. */
static void get_fail(kn_store *store, const kn_key *key, int32_t status)
{
    const uint8_t *argv[] = {ARGV("GET"), key->bytes.ptr};
    size_t argv_len[] = {3, key->bytes.len};
    KevyBuf reply;
    if (kn_fail_store(store, status, 2, argv, argv_len, &reply)) {
        kevy_buf_free(reply.ptr, reply.len, reply.cap);
        (void)kn_fail_memory(store->door->env);
    }
}

typedef napi_value value_maker(kn_door *door, const uint8_t *bytes, size_t size);

static napi_value large_get(kn_store *store, const kn_key *key, value_maker *make)
{
    KevyBuf value;
    int32_t status = kevy_get_shared(store->db, key->bytes.ptr, key->bytes.len, &value);
    if (status < 0) {
        get_fail(store, key, status);
        return NULL;
    }
    if (status == 0) {
        return NULL;
    }
    napi_value result = make(store->door, value.ptr, value.len);
    kevy_buf_free_shared(value.ptr, value.len, value.cap);
    return result;
}

/* getData and getString: (id, key) => value or undefined */
static napi_value value_get(napi_env env, napi_callback_info info, value_maker *make)
{
    napi_value argv[2];
    size_t argc = 2;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_key key;
    if (store == NULL || !kn_key_read(door, argv[1], &key)) {
        return NULL;
    }
    size_t size;
    napi_value result = NULL;
    int32_t status = kevy_get_into(store->db, key.bytes.ptr, key.bytes.len, door->scratch,
                                   sizeof door->scratch, &size);
    if (status == 1) {
        result = make(door, door->scratch, size);
    } else if (status == 2) {
        result = large_get(store, &key, make);
    } else if (status < 0) {
        get_fail(store, &key, status);
    }
    kn_key_done(&key);
    return result;
}

napi_value kn_js_getData(napi_env env, napi_callback_info info)
{
    return value_get(env, info, kn_buffer_copy);
}

napi_value kn_js_getString(napi_env env, napi_callback_info info)
{
    return value_get(env, info, kn_string_new);
}

/* Moves the start of the room to the offset, argument 3 when it is there. */
static bool offset_apply(napi_env env, napi_value value, uint8_t **ptr, size_t *len)
{
    double offset;
    if (napi_get_value_double(env, value, &offset) != napi_ok) {
        return kn_fail(env, KN_TYPE_ERROR, "KEVY_EMISUSE", "the offset is not a number");
    }
    if (!(offset >= 0) || offset > (double)*len || offset != floor(offset)) {
        return kn_fail(env, KN_RANGE_ERROR, "KEVY_ERANGE", "the offset does not lie in the buffer");
    }
    *ptr += (size_t)offset;
    *len -= (size_t)offset;
    return true;
}

/* (id, key, buffer, offset?) => number, see above */
napi_value kn_js_getInto(napi_env env, napi_callback_info info)
{
    napi_value argv[4], result = NULL;
    size_t argc = 4, len, size;
    uint8_t *ptr;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    if (store == NULL || !kn_room_read(door, argv[2], &ptr, &len) ||
        (argc > 3 && !offset_apply(env, argv[3], &ptr, &len))) {
        return NULL;
    }
    kn_key key;
    if (!kn_key_read(door, argv[1], &key)) {
        return NULL;
    }
    uint8_t none;
    int32_t status = kevy_get_into(store->db, key.bytes.ptr, key.bytes.len,
                                   ptr != NULL ? ptr : &none, len, &size);
    if (status < 0) {
        get_fail(store, &key, status);
    } else {
        int32_t number = status == 1 ? (int32_t)size : status == 0 ? -1 : -2 - (int32_t)size;
        (void)napi_create_int32(env, number, &result);
    }
    kn_key_done(&key);
    return result;
}

/* Argument 3, milliseconds: any number from 0 that is finite; fractions are
 * rounded up, so that a short time is not none. */
static bool ttl_read(napi_env env, napi_value value, uint64_t *out)
{
    double ms;
    if (napi_get_value_double(env, value, &ms) != napi_ok) {
        return kn_fail(env, KN_TYPE_ERROR, "KEVY_EMISUSE", "ttlMs is not a number");
    }
    if (!(ms >= 0) || ms > 9007199254740991.0) {
        return kn_fail(env, KN_RANGE_ERROR, "KEVY_ERANGE",
                       "ttlMs is not between 0 and 2^53 - 1 milliseconds");
    }
    *out = (uint64_t)ceil(ms);
    return true;
}

static void value_set(kn_store *store, const kn_key *key, const kn_bytes *value, uint64_t ttl_ms)
{
    int32_t status =
        kevy_set(store->db, key->bytes.ptr, key->bytes.len, value->ptr, value->len, ttl_ms);
    if (status == 0) {
        return;
    }
    char ttl[24];
    int ttl_len = snprintf(ttl, sizeof ttl, "%llu", (unsigned long long)ttl_ms);
    const uint8_t *argv[] = {ARGV("SET"), key->bytes.ptr, value->len > 0 ? value->ptr : ARGV(""),
                             ARGV("PX"), ARGV(ttl)};
    size_t argv_len[] = {3, key->bytes.len, value->len, 2, (size_t)ttl_len};
    KevyBuf reply;
    if (kn_fail_store(store, status, ttl_ms > 0 ? 5 : 3, argv, argv_len, &reply)) {
        kevy_buf_free(reply.ptr, reply.len, reply.cap);
    }
}

/* setData and setString: (id, key, value, ttlMs?). Text has its own room. */
static void value_put(napi_env env, napi_callback_info info, bool is_text)
{
    napi_value argv[4];
    size_t argc = 4;
    uint64_t ttl_ms = 0;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_store *store = kn_store_of(door, argv[0]);
    kn_key key;
    if (store == NULL || (argc > 3 && !ttl_read(env, argv[3], &ttl_ms)) ||
        !kn_key_read(door, argv[1], &key)) {
        return;
    }
    if (is_text) {
        kn_key text;
        if (kn_text_read(door, argv[2], &text)) {
            value_set(store, &key, &text.bytes, ttl_ms);
            kn_key_done(&text);
        }
    } else {
        kn_bytes value;
        if (kn_bytes_read(door, argv[2], &value)) {
            value_set(store, &key, &value, ttl_ms);
            kn_bytes_done(&value);
        }
    }
    kn_key_done(&key);
}

/* (key or payload) => an ArrayBuffer with its bytes */
napi_value kn_js_copyOf(napi_env env, napi_callback_info info)
{
    napi_value argv[1], result = NULL;
    size_t argc = 1;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_key bytes;
    if (kn_key_read(door, argv[0], &bytes)) {
        result = kn_buffer_copy(door, bytes.bytes.ptr, bytes.bytes.len);
        kn_key_done(&bytes);
    }
    return result;
}

/* (bytes) => the string of which they are the WTF-8 */
napi_value kn_js_textOf(napi_env env, napi_callback_info info)
{
    napi_value argv[1], result = NULL;
    size_t argc = 1;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    kn_bytes bytes;
    if (kn_bytes_read(door, argv[0], &bytes)) {
        result = kn_string_new(door, kn_ptr(&bytes), bytes.len);
        kn_bytes_done(&bytes);
    }
    return result;
}

napi_value kn_js_setData(napi_env env, napi_callback_info info)
{
    value_put(env, info, false);
    return NULL;
}

napi_value kn_js_setString(napi_env env, napi_callback_info info)
{
    value_put(env, info, true);
    return NULL;
}
