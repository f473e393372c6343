/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Native objects seen from C: their pointers from a Java reference, closing them, making them from
 * C, owners' queues, and C callbacks as java.lang.Runnable.
 *
 * When an object's memory goes is decided by its class (io.kolibri.NativeKind); what each kind
 * promises stands there and in native.h.
 *
 * Making one from C. Declare the Java constructor that takes the pointer as a row
 * (X(C, N1, throws, wrap, "<init>", jlong)) and say around it whose pointer it is:
 *
 *     struct counter *made = counter_new();
 *     CounterObject object;
 *     kol_status status = kol_give_begin(env, made);
 *     if (status == KOL_OK) {
 *         status = CounterObject_wrap(env, (jlong)(intptr_t)made, &object);
 *     }
 *     if (!kol_give_end(env)) {
 *         counter_free(made);
 *     }
 *
 * Env's own thread.
 */
#ifndef KOLIBRI_OBJECT_H
#define KOLIBRI_OBJECT_H

#include <kolibri/native.h>

/* What a call has leased. Guarded objects keep their memory while a lease is open. */
typedef struct kol_lease {
    struct kol__hold hold;
} kol_lease;

KOL__C_BEGIN

/*
 * Starts an empty lease, and ends one: gives back all it holds, newest first, with a pending
 * exception left pending. A lease belongs to one native call. Ending twice is fine.
 */
void kol_lease_open(kol_lease *lease);
void kol_lease_close(JNIEnv *env, kol_lease *lease);

/*
 * The pointer of a live native object, borrowed until the lease closes (at most 9 objects a lease).
 * KOL_OK; KOL_EJAVA with a NullPointerException for null, ReleasedException when it was closed, or
 * IllegalStateException on the wrong thread of an owner's object; KOL_ERANGE when the lease is
 * full. Which struct it is, the caller must know.
 */
kol_status kol_object_pointer(JNIEnv *env, jobject object, kol_lease *lease, void **out) KOL__MUST;

/* Closes a native object as its close() in Java does. KOL_OK or KOL_EJAVA. */
kol_status kol_object_close(JNIEnv *env, jobject object) KOL__MUST;

/*
 * Between begin and end, a constructor of a NativeObject on this thread that takes `pointer` is
 * noticed. End returns 1 if one did: then the pointer is Java's, also if the constructor threw
 * later. 0: it is still yours. End leaves a pending exception pending.
 */
kol_status kol_give_begin(JNIEnv *env, void *pointer) KOL__MUST;
int kol_give_end(JNIEnv *env);

/* Runs what waits in the queue of an io.kolibri.Owner, on its thread. KOL_OK or KOL_EJAVA. */
kol_status kol_owner_drain(JNIEnv *env, jobject owner, jint *count_out) KOL__MUST;

/*
 * A java.lang.Runnable whose run() calls `run(env, user)`; an exception that leaves pending is
 * thrown by run(). It is an AutoCloseable too, a guarded native object: `done(user)`, which may be
 * NULL, is called once, when it was closed and no run is in progress, or when it was collected.
 * The local reference is yours. KOL_OK; KOL_ENOMEM or KOL_EJAVA: then `done` was not called.
 */
kol_status kol_runnable_new(JNIEnv *env, void (*run)(JNIEnv *env, void *user),
                            void (*done)(void *user), void *user, jobject *out) KOL__MUST;

KOL__C_END

#endif
