/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tests inside a JVM: JVM_TEST(name) { … } is a TEST whose body has an env.
 *
 * Each test has a process of its own, and so a JVM of its own: one process can have only one, and
 * it is never destroyed. It runs with -Xcheck:jni, and a test whose calls make HotSpot report
 * anything fails. The class path is what CMake compiled from kolibri/test/java and the runtime.
 *
 * JVM_TEST_RAW is the same without -Xcheck:jni: for cost tests, and for tests at KOL_CHECK 0 or 1
 * that call `nothrow` functions, which HotSpot would call unchecked.
 */
#ifndef TESTING_JVM_H
#define TESTING_JVM_H

#include "testing/harness.h"

#include <jni.h>

typedef void (*jvm_body)(JNIEnv *env);

#define JVM_TEST(name) JVM_TEST_WITH(name, "-Xcheck:jni")
#define JVM_TEST_RAW(name) JVM_TEST_WITH(name, "-XX:-CheckJNICalls")
/* The same with options of its own, separated by single spaces. */
#define JVM_TEST_WITH(name, option)                                                                \
    static void jvm_##name(JNIEnv *env);                                                           \
    TEST_LIMIT(name, 180)                                                                          \
    {                                                                                              \
        jvm_run(KOL_TEST_CLASSES, option, jvm_##name);                                             \
    }                                                                                              \
    static void jvm_##name(JNIEnv *env)

/* What the macros reach: starts the JVM, runs the body, checks that nothing is left pending. */
void jvm_run(const char *class_path, const char *option, jvm_body body);

/* The one VM of this process. */
JavaVM *jvm_vm(void);

/* Ends the test if an exception is pending, after printing it. */
void jvm_require_none(JNIEnv *env);

/* How many reports of -Xcheck:jni there were so far, and their first line. Resets the count. */
int jvm_reports(char *line, size_t size);

#endif
