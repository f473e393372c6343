/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the rooms of the JVM door share: the classes that C knows, bytes on
 * their way in and out, and failures.
 *
 *   jvm_load.c   JNI_OnLoad: registration, the version handshake
 *   jvm_store.c  the natives of io.kevy.Store: one handle on a store
 *   jvm_many.c   getMany and setMany
 *   jvm_inbox.c  the natives of io.kevy.Inbox: one subscription
 *   jvm_changes.c  the natives of io.kevy.ChangeQueue: what listeners are told
 *   jvm_close.c  the end of a handle, and waiting for it
 *   jvm_bytes.c  byte arrays in, buffers of the engine out
 *   jvm_fail.c   results of the engine as Java exceptions
 *
 * The classes are guarded native objects: Java leases the pointer for the
 * length of a call, so a native never sees a handle that was closed.
 *
 * Arrays cross as region copies, never as critical sections: the engine may
 * lock, write to a file or wait while it reads them.
 *
 * A function with a bool result has a Java exception pending when it returns
 * false.
 */
#ifndef DOORS_JVM_C_JVM_DOOR_H
#define DOORS_JVM_C_JVM_DOOR_H

#include <kevy.h>
#include <kolibri/kolibri.h>
#include <stdbool.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_nio_ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)

/* A handle on a store, and who waits for its end (jvm_close.c). */
struct kj_latch;
struct kj_changes;
struct kj_store {
    KevyDb *db;
    struct kj_latch *latch;
    struct kj_changes *changes; /* the queues of its change listeners (jvm_changes.c) */
};

KOL_NATIVE(Store, "io/kevy/Store", struct kj_store)
KOL_NATIVE(Inbox, "io/kevy/Inbox", KevySub)
KOL_NATIVE(ChangeQueue, "io/kevy/ChangeQueue", struct kj_changes)

/* The factories of exceptions, io.kevy.Failures. */
KOL_HANDLE(Failures, "io/kevy/Failures", java_lang_Object)
KOL_HANDLE(java_lang_Throwable, "java/lang/Throwable", java_lang_Object)
#define FAILURES(X, C)                                                                             \
    X(C, SF5, throws, java_lang_Throwable, at_open, "atOpen", jint, jint, jlong, java_lang_String, \
      java_lang_String)                                                                            \
    X(C, SF1, throws, java_lang_Throwable, of_status, "ofStatus", jint)                            \
    X(C, SF2, throws, java_lang_Throwable, of_refusal, "ofRefusal", jint, java_lang_String)
KOL_MEMBERS(Failures, FAILURES)

/* ---- jvm_store.c, jvm_inbox.c, jvm_changes.c ---- */

/* Registers the natives of a class; as kol_natives_register. */
kol_status kj_store_register(JNIEnv *env, char *report, size_t size);
kol_status kj_inbox_register(JNIEnv *env, char *report, size_t size);
kol_status kj_changes_register(JNIEnv *env, char *report, size_t size);

/* A queue for the change listeners of a live store; NULL without memory. Owned by its Java object.
 * kj_changes_end ends the listeners of all queues of a store, which is about to be closed, and
 * wakes who waits. */
struct kj_changes *kj_changes_new(struct kj_store *store);
void kj_changes_end(struct kj_store *store);

/* ---- jvm_many.c ---- */

/* Exceptions are pending on return. */
jbyte__array kj_get_many(JNIEnv *env, KevyDb *db, jbyte__array keys);
void kj_set_many(JNIEnv *env, KevyDb *db, jbyte__array packed);

/* ---- jvm_close.c ---- */

/* Takes a handle of the engine; NULL without memory, and then it is closed. Yours; free with
 * kj_store_free, which closes it and lets go those who wait. */
struct kj_store *kj_store_new(KevyDb *db);
void kj_store_free(struct kj_store *store);

/* Registers someone who will wait for the end of a live store: kj_latch_wait waits until
 * kj_store_free is through. NULL without memory: then there is nothing to wait for. Each latch is
 * waited for once. */
struct kj_latch *kj_latch_of(struct kj_store *store);
void kj_latch_wait(struct kj_latch *latch);

/* ---- jvm_bytes.c ---- */

/* Numbers of packed bytes, little-endian. */
static inline uint32_t kj_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void kj_put_u32(uint8_t *at, uint32_t number)
{
    for (unsigned k = 0; k < 4; k++) {
        at[k] = (uint8_t)(number >> 8 * k);
    }
}

enum { KJ_BYTES_LOCAL = 256 };

/* A copy of bytes from Java, on the stack while it is small. */
struct kj_bytes {
    const uint8_t *data;
    size_t size;
    uint8_t *heap;
    uint8_t local[KJ_BYTES_LOCAL];
};

/* Copies an array, or a part of one. Yours until kj_bytes_close, also after a
 * failure. A null array and a part outside of it are exceptions. */
bool kj_bytes_open(JNIEnv *env, jbyte__array array, struct kj_bytes *out);
bool kj_part_open(JNIEnv *env, jbyte__array array, jint start, jint count, struct kj_bytes *out);
void kj_bytes_close(struct kj_bytes *bytes);

/* The bytes of a direct buffer from `start` to `end`; borrowed while the buffer
 * is reachable. Anything else is an exception. */
bool kj_view(JNIEnv *env, java_nio_ByteBuffer buffer, jint start, jint end, uint8_t **out);

/* A new array with a copy of the bytes; null with an exception pending. */
jbyte__array kj_array(JNIEnv *env, const uint8_t *data, size_t size);

/* The same of a buffer of the engine, which is freed in any case. */
jbyte__array kj_array_take(JNIEnv *env, KevyBuf *buf);

/* ---- jvm_fail.c ---- */

/* Throw; each returns false. */
bool kj_fail_memory(JNIEnv *env);
bool kj_fail_open(JNIEnv *env, const KevyError *error);

/* For a result of the engine that gives no reason: -1, the handle is closed or
 * its store is; other results are taken for a kevy_status. */
bool kj_fail_result(JNIEnv *env, int32_t status);

/* Throws what the error reply says with which the store has just refused. */
bool kj_fail_reply(JNIEnv *env, const KevyBuf *reply);

/* A scalar function failed with -2 and gave no reason: runs the command that
 * does the same and says why. Throws and returns false for an error reply. True
 * when the command went through, since what stood in the way is gone. */
bool kj_retry(JNIEnv *env, KevyDb *db, size_t argc, const uint8_t *const *argv,
              const size_t *argv_len);

#endif
