/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Java side of bench-jni as C sees it, twice: as Kolibri's typed functions, and as the ids that
 * raw JNI wants. to_java.c does the timing.
 */
#ifndef BENCH_JNI_TARGET_H
#define BENCH_JNI_TARGET_H

#include <kolibri/kolibri.h>

#define TARGET_TEXT "twenty plain letters"

KOL_HANDLE(Target, "bench/Target", java_lang_Object)
KOL_HANDLE(Upcalls, "bench/Upcalls", java_lang_Object)
KOL_HANDLE(List, "java/util/ArrayList", java_lang_Object)
KOL_HANDLE(Map, "java/util/HashMap", java_lang_Object)
KOL_HANDLE(Buffer, "java/nio/ByteBuffer", java_lang_Object)
KOL_HANDLE(Int, "java/lang/Integer", java_lang_Object)

#define TARGET(X, C)                                                                               \
    X(C, SF2, nothrow, jint, add, "add", jint, jint)                                               \
    X(C, B2, bridge, "bridge", jint, jint)                                                         \
    X(C, F4, throws, jint, four, "four", jint, jint, jint, jint)                                   \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, G, jint, field, "field")                                                                  \
    X(C, SG, jint, shared, "shared")                                                               \
    X(C, SG, Int, key, "KEY")                                                                      \
    X(C, SG, List, list, "LIST")                                                                   \
    X(C, SG, Map, map, "MAP")                                                                      \
    X(C, SG, jint__array, ints, "INTS")
#define UPCALLS(X, C)                                                                              \
    X(C, B2, bridge, "bridge", jint, jint)                                                         \
    X(C, B1, drain, "drain", jint)                                                                 \
    X(C, SG, Buffer, bytes, "BYTES")
#define LIST(X, C)                                                                                 \
    X(C, F0, nothrow, jint, size, "size")                                                          \
    X(C, F0, throws, jint, size_checked, "size")                                                   \
    X(C, F1, throws, java_lang_Object, get, "get", jint)
#define MAP(X, C) X(C, F2, throws, java_lang_Object, put, "put", java_lang_Object, java_lang_Object)
#define INTEGER(X, C) X(C, SF1, throws, C, valueOf, "valueOf", jint)
KOL_MEMBERS(Target, TARGET)
KOL_MEMBERS(Upcalls, UPCALLS)
KOL_MEMBERS(List, LIST)
KOL_MEMBERS(Map, MAP)
KOL_MEMBERS(Int, INTEGER)

/* What the loops work on, and raw JNI's ids. References live as long as the call that opened. */
struct target {
    JavaVM *vm;
    jclass cls, integer;
    Target object;
    List list;
    Map map;
    java_lang_Object key;
    jint__array ints;
    jstring text;
    jmethodID add, four, make, size, get, put, value_of;
    jfieldID field, shared;
    struct kol_commands commands; /* in the buffer that Upcalls.drain reads */
};

/* Loads the tables and fills the target. KOL_OK, or a status with an exception pending. */
kol_status target_open(JNIEnv *env, jclass cls, struct target *target);

#endif
