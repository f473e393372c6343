/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Direct buffers. What arrays need is generated in array.h.
 *
 * A buffer whose memory the VM owns is made by ByteBuffer.allocateDirect, resolved on first use.
 */
#include "kolibri/src/state.h"

KOL_HANDLE(kol__ByteOrder, "java/nio/ByteOrder", java_lang_Object)
KOL_HANDLE(kol__ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)
#define KOL__BYTE_ORDER(X, C) X(C, SF0, throws, kol__ByteOrder, nativeOrder, "nativeOrder")
#define KOL__BYTE_BUFFER(X, C)                                                                     \
    X(C, SF1, throws, kol__ByteBuffer, allocateDirect, "allocateDirect", jint)                     \
    X(C, F1, throws, kol__ByteBuffer, order, "order", kol__ByteOrder)
KOL_MEMBERS(kol__ByteOrder, KOL__BYTE_ORDER)
KOL_MEMBERS(kol__ByteBuffer, KOL__BYTE_BUFFER)
KOL_MEMBERS_DEFINE(kol__ByteOrder, KOL__BYTE_ORDER)
KOL_MEMBERS_DEFINE(kol__ByteBuffer, KOL__BYTE_BUFFER)

static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;

static kol_status buffers_ready(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&KOL__BYTE_ORDER__members,
                                                       &KOL__BYTE_BUFFER__members};
    kol_status status = KOL_OK;
    pthread_mutex_lock(&buffers_lock);
    if (!kol__s_kol__ByteBuffer_order.cls) {
        status = kol_class_load(env, tables, 2, NULL, 0);
    }
    pthread_mutex_unlock(&buffers_lock);
    return status;
}

kol_status kol_buffer_view(JNIEnv *env, jobject buffer, struct kol_view *out)
{
    out->bytes = NULL;
    out->size = 0;
    if (!buffer) {
        return KOL_ENULL;
    }
    jlong capacity = (*env)->GetDirectBufferCapacity(env, buffer);
    if (capacity < 0) {
        return KOL_ETYPE;
    }
    out->bytes = (*env)->GetDirectBufferAddress(env, buffer);
    out->size = (size_t)capacity;
    return out->bytes || capacity == 0 ? KOL_OK : KOL_ETYPE;
}

kol_status kol_buffer_wrap(JNIEnv *env, void *bytes, size_t size, jobject *out)
{
    static char nothing[1];
    *out = NULL;
    if (size > INT32_MAX) {
        return KOL_ERANGE;
    }
    *out = (*env)->NewDirectByteBuffer(env, bytes ? bytes : nothing, (jlong)size);
    return *out ? KOL_OK : KOL_EJAVA;
}

kol_status kol_buffer_new(JNIEnv *env, size_t size, jobject *out)
{
    *out = NULL;
    if (size > INT32_MAX) {
        return KOL_ERANGE;
    }
    kol_status status = buffers_ready(env);
    if (status != KOL_OK) {
        return status;
    }
    kol__ByteBuffer made;
    kol__ByteOrder order;
    status = kol__ByteBuffer_allocateDirect(env, (jint)size, &made);
    if (status == KOL_OK) {
        status = kol__ByteOrder_nativeOrder(env, &order);
    }
    if (status == KOL_OK) {
        kol__ByteBuffer same;
        status = kol__ByteBuffer_order(env, made, order, &same);
        kol__ByteBuffer__forget(env, same);
        kol__ByteOrder__forget(env, order);
    }
    *out = status == KOL_OK ? made.raw : NULL;
    return status;
}
