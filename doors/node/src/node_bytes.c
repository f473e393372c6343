/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings and buffers in, buffers and strings out.
 *
 * In: the engine reads a buffer within the call, on this thread, so nothing
 * can change it meanwhile, except shared memory: that is copied first, and the
 * copy is what is stored. Lengths are read after all JavaScript of the call
 * has run. A buffer of length 0 may be a detached one; only then JavaScript is
 * asked (check_usable), since Node-API cannot tell on every version.
 *
 * Out: always a copy that JavaScript owns. Large ArrayBuffers are made by
 * JavaScript's own constructor, which throws a RangeError where Node-API would
 * end the process.
 */
#include "node_door.h"

#include <string.h>

/* From here on a failing allocation is likely enough to be asked for nicely. */
#define LARGE_SIZE ((size_t)1 << 20)

/* V8's longest string; longer ones could not be made in any way. */
#define STRING_UNITS_MAX ((size_t)536870888)

static bool kind_fail(napi_env env)
{
    return kn_fail(env, KN_TYPE_ERROR, "KEVY_EMISUSE",
                   "expected an ArrayBuffer, a typed array, a DataView or a Buffer");
}

static bool usable_check(kn_door *door, napi_value value)
{
    napi_value check, undefined, ignored;
    napi_env env = door->env;
    napi_status status = napi_get_reference_value(env, door->check_usable, &check);
    if (status == napi_ok) {
        status = napi_get_undefined(env, &undefined);
    }
    if (status == napi_ok) {
        status = napi_call_function(env, undefined, check, 1, &value, &ignored);
    }
    return status == napi_ok || kn_fail_napi(env, status, "checking a buffer");
}

/* Types that are not here have one byte; newer Node may know more types. */
static size_t element_size(napi_typedarray_type type)
{
    static const uint8_t sizes[] = {
        [napi_int16_array] = 2,    [napi_uint16_array] = 2,    [napi_int32_array] = 4,
        [napi_uint32_array] = 4,   [napi_float32_array] = 4,   [napi_float64_array] = 8,
        [napi_bigint64_array] = 8, [napi_biguint64_array] = 8, [napi_float16_array] = 2,
    };
    size_t index = (size_t)type;
    size_t size = index < sizeof sizes ? sizes[index] : 0;
    return size > 0 ? size : 1;
}

/* The memory of a view and the buffer it is a view of. */
static bool view_read(napi_env env, napi_value value, void **data, size_t *size, napi_value *buffer)
{
    napi_typedarray_type type;
    size_t count;
    if (napi_get_typedarray_info(env, value, &type, &count, data, buffer, NULL) == napi_ok) {
        *size = count * element_size(type);
        return true;
    }
    return napi_get_dataview_info(env, value, size, data, buffer, NULL) == napi_ok;
}

/* Finds the memory of any buffer. *shared_out: other threads may write to it. */
static bool memory_read(kn_door *door, napi_value value, void **data, size_t *size,
                        bool *shared_out)
{
    bool plain = false;
    *shared_out = false;
    if (napi_get_arraybuffer_info(door->env, value, data, size) == napi_ok) {
        if (door->takes_shared &&
            (napi_is_arraybuffer(door->env, value, &plain) != napi_ok || !plain)) {
            return kind_fail(door->env);
        }
    } else {
        napi_value buffer;
        if (!view_read(door->env, value, data, size, &buffer)) {
            return kind_fail(door->env);
        }
        (void)napi_is_arraybuffer(door->env, buffer, &plain);
        *shared_out = !plain;
    }
    return *size > 0 || usable_check(door, value);
}

bool kn_bytes_read(kn_door *door, napi_value value, kn_bytes *out)
{
    void *data;
    bool is_shared;
    if (!memory_read(door, value, &data, &out->len, &is_shared)) {
        return false;
    }
    out->ptr = data;
    out->heap = NULL;
    if (!is_shared || out->len == 0) {
        return true;
    }
    out->heap = malloc(out->len);
    if (out->heap == NULL) {
        return kn_fail_memory(door->env);
    }
    memcpy(out->heap, data, out->len);
    out->ptr = out->heap;
    return true;
}

bool kn_room_read(kn_door *door, napi_value value, uint8_t **ptr_out, size_t *len_out)
{
    void *data;
    bool is_shared;
    if (!memory_read(door, value, &data, len_out, &is_shared)) {
        return false;
    }
    *ptr_out = data;
    return true;
}

/* A string that may be longer than the buffer on the stack. */
static bool long_string_read(kn_door *door, napi_value value, kn_bytes *out)
{
    size_t count;
    napi_env env = door->env;
    napi_status status = napi_get_value_string_utf16(env, value, NULL, 0, &count);
    if (status != napi_ok) {
        return kn_fail_napi(env, status, "reading a string");
    }
    char16_t *units = malloc((count + 1) * sizeof *units);
    out->heap = units != NULL ? malloc(3 * count + 1) : NULL;
    if (out->heap == NULL) {
        free(units);
        return kn_fail_memory(env);
    }
    status = napi_get_value_string_utf16(env, value, units, count + 1, &count);
    out->ptr = out->heap;
    out->len = status == napi_ok ? kn_wtf8_write(units, count, out->heap) : 0;
    free(units);
    if (status != napi_ok) {
        kn_bytes_done(out);
        return kn_fail_napi(env, status, "reading a string");
    }
    return true;
}

/* Sets *is_string_out to false, without an exception, for what is none. */
static bool string_read(kn_door *door, napi_value value, kn_key *out, bool *is_string_out)
{
    char16_t units[KN_UNITS];
    size_t count;
    napi_status status = napi_get_value_string_utf16(door->env, value, units, KN_UNITS, &count);
    *is_string_out = status != napi_string_expected;
    if (status != napi_ok) {
        return !*is_string_out || kn_fail_napi(door->env, status, "reading a string");
    }
    if (count == KN_UNITS - 1) {
        return long_string_read(door, value, &out->bytes);
    }
    out->bytes.heap = NULL;
    out->bytes.ptr = out->small;
    out->bytes.len = kn_wtf8_write(units, count, out->small);
    return true;
}

bool kn_key_read(kn_door *door, napi_value value, kn_key *out)
{
    bool is_string;
    return string_read(door, value, out, &is_string) &&
           (is_string || kn_bytes_read(door, value, &out->bytes));
}

bool kn_text_read(kn_door *door, napi_value value, kn_key *out)
{
    bool is_string;
    if (!string_read(door, value, out, &is_string)) {
        return false;
    }
    return is_string || kn_fail(door->env, KN_TYPE_ERROR, "KEVY_EMISUSE", "expected a string");
}

bool kn_item_read(kn_door *door, napi_value value, kn_bytes *out)
{
    napi_valuetype type;
    napi_status status = napi_typeof(door->env, value, &type);
    if (status != napi_ok) {
        return kn_fail_napi(door->env, status, "reading an argument");
    }
    out->heap = NULL;
    return type == napi_string ? long_string_read(door, value, out)
                               : kn_bytes_read(door, value, out);
}

static napi_value large_buffer_new(kn_door *door, size_t size)
{
    napi_env env = door->env;
    napi_value make, undefined, count, buffer;
    napi_status status = napi_get_reference_value(env, door->make_buffer, &make);
    if (status == napi_ok) {
        status = napi_get_undefined(env, &undefined);
    }
    if (status == napi_ok) {
        status = napi_create_double(env, (double)size, &count);
    }
    if (status == napi_ok) {
        status = napi_call_function(env, undefined, make, 1, &count, &buffer);
    }
    if (status != napi_ok) {
        (void)kn_fail_napi(env, status, "making an ArrayBuffer");
        return NULL;
    }
    return buffer;
}

napi_value kn_buffer_new(kn_door *door, size_t size, uint8_t **data_out)
{
    napi_value buffer;
    void *data = NULL;
    napi_status status;
    if (size < LARGE_SIZE) {
        status = napi_create_arraybuffer(door->env, size, &data, &buffer);
    } else {
        buffer = large_buffer_new(door, size);
        if (buffer == NULL) {
            return NULL;
        }
        status = napi_get_arraybuffer_info(door->env, buffer, &data, &size);
    }
    if (status != napi_ok) {
        (void)kn_fail_napi(door->env, status, "making an ArrayBuffer");
        return NULL;
    }
    *data_out = data;
    return buffer;
}

napi_value kn_buffer_copy(kn_door *door, const uint8_t *bytes, size_t size)
{
    uint8_t *data;
    napi_value buffer = kn_buffer_new(door, size, &data);
    if (buffer != NULL && size > 0) {
        memcpy(data, bytes, size);
    }
    return buffer;
}

static napi_value string_fail(kn_door *door)
{
    (void)kn_fail(door->env, KN_RANGE_ERROR, "KEVY_ELIMIT",
                  "the value is longer than the longest string of V8 (536870888 units); "
                  "read it with getData or getInto");
    return NULL;
}

napi_value kn_string_new(kn_door *door, const uint8_t *bytes, size_t size)
{
    napi_value string = NULL;
    napi_status status;
    if (kn_is_ascii(bytes, size)) {
        if (size > STRING_UNITS_MAX) {
            return string_fail(door);
        }
        const char *text = (const char *)bytes;
        status = napi_create_string_latin1(door->env, size > 0 ? text : "", size, &string);
    } else {
        char16_t *units = malloc(size * sizeof *units);
        if (units == NULL) {
            (void)kn_fail_memory(door->env);
            return NULL;
        }
        size_t count = kn_wtf8_read(bytes, size, units);
        status = count > STRING_UNITS_MAX
                     ? napi_invalid_arg
                     : napi_create_string_utf16(door->env, units, count, &string);
        free(units);
    }
    return status == napi_ok ? string : string_fail(door);
}
