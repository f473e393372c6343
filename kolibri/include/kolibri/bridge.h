/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The cheapest ways from C to Java, for code that crosses often.
 *
 * Static bridges. A static Java method of primitives that catches everything and returns a status
 * needs no exception check. Its row in a member table (class.h) is a B row:
 *
 *     static int onData(int handle, int size) {
 *         try { …; return 0; } catch (Throwable t) { return Bridge.caught(t); }
 *     }
 *     X(C, B2, onData, "onData", jint, jint)
 *     if (Listener_onData(env, handle, size) < 0) {
 *         return kol_bridge_throw(env);
 *     }
 *
 * The C function returns what the bridge returned: below 0 says that something was thrown. Near the
 * end of the thread's stack, where a call of Java cannot even begin, it returns -1 with the
 * StackOverflowError pending, which kol_bridge_throw leaves as it is.
 *
 * Upcalls. By default a bridge is a JNI call. On Java 22 and later it is an upcall of
 * java.lang.foreign at half the price when its class asks for it, before the table is loaded:
 *
 *     static { BridgeBinding.allow(MethodHandles.lookup()); }
 *
 * For short bridges that do not call back into C. The call site is the same, and so is what it
 * returns: whatever escapes the bridge is kept like what it caught. C_onData__mode() says how calls
 * are made, io.kolibri.BridgeBinding.reason why not by an upcall. A call goes through JNI all the
 * same where it is not certain that the stack suffices: with less than about 270 KB left, and on
 * the first thread of the process. At levels 2 and 3 a bridge that is called from a leaf is
 * reported; below them that ends the process.
 *
 * Handles. An int that stands for a Java object which C holds for long: passing it costs nothing,
 * where a global reference costs a hundred nanoseconds to make and drop. Java turns it back with
 * io.kolibri.Handles.get. A handle that was dropped is not taken for a newer one, until its place
 * was used 4,095 times more.
 *
 * Env's own thread.
 */
#ifndef KOLIBRI_BRIDGE_H
#define KOLIBRI_BRIDGE_H

#include <jni.h>
#include <kolibri/status.h>

KOL__C_BEGIN

/*
 * Throws again what Bridge.caught kept on this thread last: the same object. Returns KOL_EJAVA,
 * also when an exception is pending already; or KOL_NONE if nothing was kept, which is so when
 * there was no memory to keep it.
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
