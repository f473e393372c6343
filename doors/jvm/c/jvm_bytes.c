/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Bytes across the border: parts of Java arrays are copied in, on the stack
 * while they are small, and what the engine gives is copied out.
 *
 * An array may be shared with threads that write it, so the engine always gets
 * a snapshot. A direct buffer is lent as it is: the engine copies from it once.
 */
#include "doors/jvm/c/jvm_door.h"

#include <stdlib.h>

static bool room_for(JNIEnv *env, size_t size, struct kj_bytes *out)
{
    if (size <= sizeof out->local) {
        return true;
    }
    out->heap = malloc(size);
    return out->heap != NULL || kj_fail_memory(env);
}

bool kj_part_open(JNIEnv *env, jbyte__array array, jint start, jint count, struct kj_bytes *out)
{
    out->heap = NULL;
    out->data = out->local;
    out->size = count > 0 ? (size_t)count : 0;
    if (!room_for(env, out->size, out)) {
        return false;
    }
    uint8_t *target = out->heap != NULL ? out->heap : out->local;
    out->data = target;
    return jbyte__array__read(env, array, start, count, (jbyte *)target) == KOL_OK;
}

bool kj_bytes_open(JNIEnv *env, jbyte__array array, struct kj_bytes *out)
{
    /* For null this leaves a NullPointerException, and the copy refuses it again. */
    jint count = array.raw != NULL ? jbyte__array__count(env, array) : 0;
    return kj_part_open(env, array, 0, count, out);
}

void kj_bytes_close(struct kj_bytes *bytes)
{
    free(bytes->heap);
    bytes->heap = NULL;
}

bool kj_view(JNIEnv *env, java_nio_ByteBuffer buffer, jint start, jint end, uint8_t **out)
{
    struct kol_view view;
    kol_status status = kol_buffer_view(env, buffer.raw, &view);
    if (status != KOL_OK) {
        (void)kol_throw_new(env, "java/lang/IllegalArgumentException",
                            "the buffer is not a direct one");
        return false;
    }
    if (start < 0 || end < start || (size_t)end > view.size) {
        (void)kol_throw_new(env, "java/lang/IndexOutOfBoundsException",
                            "position and limit are outside the buffer");
        return false;
    }
    *out = (uint8_t *)view.bytes + start;
    return true;
}

jbyte__array kj_array(JNIEnv *env, const uint8_t *data, size_t size)
{
    jbyte__array array = {NULL};
    if (size > INT32_MAX) {
        (void)kj_fail_result(env, KEVY_ELIMIT);
    } else if (jbyte__array__make(env, (const jbyte *)data, (jsize)size, &array) != KOL_OK) {
        array.raw = NULL;
    }
    return array;
}

jbyte__array kj_array_take(JNIEnv *env, KevyBuf *buf)
{
    jbyte__array array = kj_array(env, buf->ptr, buf->len);
    kevy_buf_free(buf->ptr, buf->len, buf->cap);
    *buf = (KevyBuf){NULL, 0, 0};
    return array;
}
