/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The JNI spy: counts JNI calls, makes the n-th one throw, and forbids calls while an exception is
 * pending.
 *
 * It swaps the function table inside the real env and swaps it back, because a copied env crashes
 * HotSpot. It sees one env (thread) at a time, and only calls between jni_spy_arm and
 * jni_spy_disarm: warm up before arming, so that lookups done once do not count. A call through a
 * form with `...` is a failure: nothing of ours may use those. Slots beyond the header this was
 * compiled with are passed through and not counted.
 *
 * Not thread safe; one spy for the process.
 */
#ifndef TESTING_JNI_SPY_H
#define TESTING_JNI_SPY_H

#include <jni.h>

/* Starts counting calls through this env. */
void jni_spy_arm(JNIEnv *env);

/*
 * As jni_spy_arm, and the `n`-th call (from 1) of a function that may throw does nothing but throw
 * a RuntimeException.
 */
void jni_spy_arm_throwing(JNIEnv *env, int n);

/* Puts the real table back. Fine if not armed. */
void jni_spy_disarm(void);

/* After the last arm: calls in all, and calls of one function by its name in jni.h. */
int jni_spy_count(void);
int jni_spy_count_of(const char *function);

/* True if the throwing call was reached. */
int jni_spy_has_thrown(void);

/* How many calls were made with an exception pending that must not be; the first one's name. */
int jni_spy_forbidden(void);
const char *jni_spy_forbidden_name(void);

/* One line of all functions called, for a failed check: "ExceptionCheck 2, FindClass 1". */
const char *jni_spy_text(void);

#endif
