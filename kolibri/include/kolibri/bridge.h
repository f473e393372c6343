/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The cheapest ways from C to Java, for code that crosses often.
 *
 * Static bridges. A static Java method that catches everything and returns a status needs no
 * exception check:
 *
 *     static int onData(int handle, int size) {
 *         try { …; return 0; } catch (Throwable t) { return Bridge.caught(t); }
 *     }
 *     X(C, SF2, nothrow, jint, onData, "onData", jint, jint)
 *     if (Listener_onData(env, handle, size) != 0) {
 *         return kol_bridge_throw(env);
 *     }
 *
 * Handles. An int that stands for a Java object which C holds for long: passing it costs nothing,
 * where a global reference costs a hundred nanoseconds to make and drop. Java turns it back with
 * io.kolibri.Handles.get. A handle that was dropped is never taken for a newer one.
 *
 * Env's own thread.
 */
#ifndef KOLIBRI_BRIDGE_H
#define KOLIBRI_BRIDGE_H

#include <jni.h>
#include <kolibri/status.h>

KOL__C_BEGIN

/*
 * Throws again what Bridge.caught kept on this thread last: the same object. Returns KOL_EJAVA; or
 * KOL_NONE if nothing was kept.
 */
kol_status kol_bridge_throw(JNIEnv *env);

/* A handle of an object, kept until kol_handle_drop; never 0. KOL_OK, KOL_ENULL, KOL_EJAVA. */
kol_status kol_handle_new(JNIEnv *env, jobject object, jint *out) KOL__MUST;

/* The object of a handle as a local reference, yours. KOL_OK; KOL_GONE when it was dropped. */
kol_status kol_handle_get(JNIEnv *env, jint handle, jobject *out) KOL__MUST;

/* Drops a handle. Dropping twice is fine. */
kol_status kol_handle_drop(JNIEnv *env, jint handle) KOL__MUST;

KOL__C_END

#endif
