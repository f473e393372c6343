/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Exceptions in both directions.
 *
 * Java to C: a pending exception stays pending and the status says KOL_EJAVA; returning to Java
 * throws the same object. To go on working in between, take it, and throw it again or drop it.
 *
 * C to Java: kol_throw makes one exception for a status: its class by a map, by default
 * io.kolibri.KolibriException, which carries the status. Messages are UTF-8 and exact.
 *
 * A function that throws while another exception is pending adds the new one to it as suppressed,
 * so that the first cause is what Java sees. Env's own thread.
 */
#ifndef KOLIBRI_THROW_H
#define KOLIBRI_THROW_H

#include <jni.h>
#include <kolibri/status.h>

KOL__C_BEGIN

/*
 * Throws the exception of `status` with a printf message in UTF-8 (at most 1023 bytes, cut at a
 * character). Always returns KOL_EJAVA, so `return kol_throw(…)` reads well. `status` may be a
 * number of your own; see kol_throw_map.
 */
kol_status kol_throw(JNIEnv *env, int status, const char *format, ...) KOL__FORMAT(3, 4);

/*
 * Throws a new object of the class `name` ("java/io/IOException"), made by its constructor of one
 * String. `message` is UTF-8 and may be NULL. Returns KOL_EJAVA.
 */
kol_status kol_throw_new(JNIEnv *env, const char *name, const char *message);

/* The same with a cause (initCause); `cause` may be NULL and stays yours. */
kol_status kol_throw_cause(JNIEnv *env, const char *name, const char *message, jthrowable cause);

/* Throws this very object again. Returns KOL_EJAVA. The reference stays yours. */
kol_status kol_throw_again(JNIEnv *env, jthrowable throwable);

/*
 * Says that a status becomes an exception of class `name` (a constant string with slashes), made by
 * its constructor of one String. At most 32 numbers; KOL_ERANGE beyond. Any thread.
 */
kol_status kol_throw_map(int status, const char *name) KOL__MUST;

/*
 * Takes the pending exception: a local reference, yours, nothing is pending afterwards. NULL when
 * nothing was pending.
 */
jthrowable kol_take(JNIEnv *env);

/*
 * Writes "class: message" of a throwable in UTF-8 into `buffer`, cut at a character and ended with
 * a NUL. Runs its toString(); an exception in that is dropped, and the class name stands alone.
 */
void kol_throwable_text(JNIEnv *env, jthrowable throwable, char *buffer, size_t size);

KOL__C_END

#endif
