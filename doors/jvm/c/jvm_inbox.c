/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The natives of io.kevy.Inbox, one subscription: a queue of frames.
 *
 * A thread that waits in here holds its lease, so the subscription stays until
 * it has left; closing one wakes its waiters by the pointer, for which Java
 * holds a lease too. A frame that is lost because no array could be made for it
 * is an OutOfMemoryError of the caller's.
 */
#include "doors/jvm/c/jvm_door.h"

#define INBOX_NATIVES(X, C)                                                                        \
    X(C, D, close)                                                                                 \
    X(C, M0, jbyte__array, take, "take")                                                           \
    X(C, M1, jbyte__array, await, "await", jlong)                                                  \
    X(C, M4, jbyte__array, batch, "batch", jlong, jint, jlong, jlong__array)                       \
    X(C, M2, void, add, "add", jbyte__array, jboolean)                                             \
    X(C, M2, void, remove, "remove", jbyte__array, jboolean)                                       \
    X(C, M3, void, limit, "limit", jint, jlong, jint)                                              \
    X(C, M0, jlong, dropped, "dropped")                                                            \
    X(C, S1, void, wake, "wake", jlong)
KOL_NATIVES(Inbox, INBOX_NATIVES)

kol_status kj_inbox_register(JNIEnv *env, char *report, size_t size)
{
    return kol_natives_register(env, &Inbox__natives, report, size);
}

static void Inbox_close(KevySub *self)
{
    kevy_sub_close(self);
}

/* A result of the queue: an array, null for nothing, or an exception. */
static jbyte__array taken(JNIEnv *env, int32_t result, KevyBuf *buf)
{
    jbyte__array array = {NULL};
    if (result < 0) {
        (void)kj_fail_result(env, result == -1 ? KEVY_EMISUSE : KEVY_ENOMEM);
    } else if (result == 1) {
        array = kj_array_take(env, buf);
    }
    return array;
}

static jbyte__array Inbox_take(JNIEnv *env, KevySub *self)
{
    KevyBuf frame = {NULL, 0, 0};
    int32_t result = kevy_sub_next(self, &frame);
    return taken(env, result, &frame);
}

static jbyte__array Inbox_await(JNIEnv *env, KevySub *self, jlong timeout_ms)
{
    KevyBuf frame = {NULL, 0, 0};
    int32_t result = kevy_sub_wait(self, (uint64_t)timeout_ms, &frame);
    return taken(env, result, &frame);
}

/* Writes how many messages the batch holds and how many are missing before it
 * to counts[0] and counts[1]. */
static jbyte__array Inbox_batch(JNIEnv *env, KevySub *self, jlong timeout_ms, jint flags,
                                jlong bytes_max, jlong__array counts)
{
    KevyBuf packed = {NULL, 0, 0};
    uint32_t count = 0;
    uint64_t dropped = 0;
    int32_t result = kevy_sub_wait_batch(self, (uint64_t)timeout_ms, (uint32_t)flags,
                                         (size_t)bytes_max, &packed, &count, &dropped);
    jbyte__array array = taken(env, result, &packed);
    jlong numbers[2] = {count, (jlong)dropped};
    if (array.raw != NULL && jlong__array__write(env, counts, 0, 2, numbers) != KOL_OK) {
        array.raw = NULL;
    }
    return array;
}

static void change(JNIEnv *env, KevySub *self, jbyte__array name, jboolean is_pattern,
                   int32_t (*apply)(KevySub *, const uint8_t *, size_t, int32_t))
{
    struct kj_bytes bytes;
    if (kj_bytes_open(env, name, &bytes)) {
        int32_t result = apply(self, bytes.data, bytes.size, is_pattern);
        if (result < 0) {
            (void)kj_fail_result(env, result == -1 ? KEVY_EMISUSE : KEVY_ELIMIT);
        }
    }
    kj_bytes_close(&bytes);
}

static void Inbox_add(JNIEnv *env, KevySub *self, jbyte__array name, jboolean is_pattern)
{
    change(env, self, name, is_pattern, kevy_sub_add);
}

static void Inbox_remove(JNIEnv *env, KevySub *self, jbyte__array name, jboolean is_pattern)
{
    change(env, self, name, is_pattern, kevy_sub_remove);
}

static void Inbox_limit(JNIEnv *env, KevySub *self, jint count_max, jlong bytes_max, jint policy)
{
    if (kevy_sub_limit(self, (uint32_t)count_max, (size_t)bytes_max, policy) < 0) {
        (void)kj_fail_result(env, KEVY_EMISUSE);
    }
}

static jlong Inbox_dropped(JNIEnv *env, KevySub *self)
{
    (void)env;
    return (jlong)kevy_sub_dropped(self);
}

static void Inbox_wake(JNIEnv *env, jlong self)
{
    (void)env;
    (void)kevy_sub_wake((KevySub *)(intptr_t)self);
}
