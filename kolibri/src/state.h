/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the rooms of Kolibri share: the one state of this copy of the library, the JDK classes that
 * the library itself calls, and the runtime classes of io.kolibri.
 *
 * There is one state per library that links Kolibri statically (the documented form). It is filled
 * by kol_load, or by the first call that needs it, and emptied by kol_unload, so that load and
 * unload may go round. Everything but `vm` is written under `lock` before any call reads it.
 *
 * The library's own class loader is held weakly: a strong reference would keep it, and so the
 * library, from ever being unloaded.
 */
#ifndef KOLIBRI_SRC_STATE_H
#define KOLIBRI_SRC_STATE_H

/* The library checks its own calls into Java, whatever level its users build at. */
#undef KOL_CHECK
#define KOL_CHECK 1
#include <kolibri/kolibri.h>
#include <pthread.h>

#include "kolibri/src/counters.h"
#include "kolibri/src/misuse.h"

/* Nothing here is exported by the shared library. */
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

KOL_HANDLE(kol__String, "java/lang/String", java_lang_Object)
KOL_HANDLE(kol__Loader, "java/lang/ClassLoader", java_lang_Object)
KOL_HANDLE(kol__Throwable, "java/lang/Throwable", java_lang_Object)
KOL_HANDLE(kol__Class, "java/lang/Class", java_lang_Object)
KOL_HANDLE(kol__Method, "java/lang/reflect/Method", java_lang_Object)
KOL_HANDLE(kol__Native, "io/kolibri/Native", java_lang_Object)
KOL_HANDLE(kol__NativeObject, "io/kolibri/NativeObject", java_lang_Object)

#define KOL__CLASS(X, C)                                                                           \
    X(C, SF3, throws, kol__Class, forName, "forName", kol__String, jboolean, kol__Loader)          \
    X(C, F0, throws, kol__Loader, getClassLoader, "getClassLoader")                                \
    X(C, F0, throws, kol__Class, getComponentType, "getComponentType")                             \
    X(C, F0, throws, kol__String, getName, "getName")                                              \
    X(C, F0, throws, kol__Method__array, getDeclaredMethods, "getDeclaredMethods")
#define KOL__METHOD(X, C)                                                                          \
    X(C, F0, throws, kol__String, getName, "getName")                                              \
    X(C, F0, throws, jint, getModifiers, "getModifiers")                                           \
    X(C, F0, throws, kol__Class, getReturnType, "getReturnType")                                   \
    X(C, F0, throws, kol__Class__array, getParameterTypes, "getParameterTypes")
#define KOL__LOADER(X, C)                                                                          \
    X(C, SF0, throws, kol__Loader, getSystemClassLoader, "getSystemClassLoader")
#define KOL__THROWABLE(X, C)                                                                       \
    X(C, F0, throws, kol__String, toString, "toString")                                            \
    X(C, F1, throws, kol__Throwable, initCause, "initCause", kol__Throwable)                       \
    X(C, P1, throws, addSuppressed, "addSuppressed", kol__Throwable)
#define KOL__NATIVE_HOME(X, C)                                                                     \
    X(C, SG, jboolean, is_registered, "registered")                                                \
    X(C, SF1, throws, java_lang_Object__array, flatten, "flatten", java_lang_Object)               \
    X(C, SP1, throws, expect, "expect", jlong)                                                     \
    X(C, SF0, throws, jboolean, expected, "expected")                                              \
    X(C, SP3, throws, bind, "bind", kol__Class, jlong, jlong)                                      \
    X(C, SP4, throws, leaf, "leaf", kol__Class, kol__String, kol__String, jlong)
#define KOL__NATIVE_OBJECT(X, C)                                                                   \
    X(C, G, jlong, pointer, "pointer")                                                             \
    X(C, SF1, throws, jlong, enter, "enter", kol__NativeObject)                                    \
    X(C, P0, throws, close, "close")                                                               \
    X(C, SP1, throws, leave, "leave", kol__NativeObject)

KOL_MEMBERS(kol__Class, KOL__CLASS)
KOL_MEMBERS(kol__Method, KOL__METHOD)
KOL_MEMBERS(kol__Loader, KOL__LOADER)
KOL_MEMBERS(kol__Throwable, KOL__THROWABLE)
KOL_MEMBERS(kol__Native, KOL__NATIVE_HOME)
KOL_MEMBERS(kol__NativeObject, KOL__NATIVE_OBJECT)

/* A loaded table and the reference to its class that all its slots share. */
struct kol__loaded {
    const struct kol_members *table;
    jobject cls;
    int is_weak;
    struct kol__loaded *next;
};

struct kol__state {
    pthread_mutex_t lock;
    JavaVM *vm;
    jweak loader;          /* NULL until captured */
    int loader_is_certain; /* false while the system loader only stands in */
    jclass no_such_method;
    jclass no_such_field;
    struct kol__loaded *loaded;
    struct kol__type *types;
    int has_jdk;
    int has_runtime;
};

extern KOL__HIDDEN struct kol__state kol__state;

/* A text that grows up to a size and is cut there; `text` may be NULL. */
struct kol__report {
    char *text;
    size_t size;
    size_t used;
    int lines;
};

void kol__report_open(struct kol__report *report, char *text, size_t size);
void kol__report_line(struct kol__report *report, const char *descriptor, const char *name,
                      const char *signature);

/*
 * Writes "(params)result" of `count` parameters behind an optional first one; 0 if it is too long.
 */
int kol__signature(char *out, size_t size, const char *first, const char *const *types, int count);

/*
 * After a failed lookup: 1 if the member is absent (the error is cleared), 0 if another exception
 * is pending. Only NoSuchMethodError and NoSuchFieldError are ever cleared.
 */
int kol__is_absent(JNIEnv *env);

/* Makes the state usable; `descriptor` is a class to find the loader by. */
kol_status kol__ready(JNIEnv *env, const char *descriptor);

/* Makes the io.kolibri classes usable; registers their one native if no library has yet. */
kol_status kol__runtime_ready(JNIEnv *env);

/* The class of a descriptor as a local reference, not initialised. KOL_OK or KOL_EJAVA. */
kol_status kol__find(JNIEnv *env, const char *descriptor, jclass *out);

/* Resolves the rows of one table for a class reference that the slots will keep. */
kol_status kol__resolve(JNIEnv *env, const struct kol_members *table, jclass cls, jobject kept,
                        struct kol__report *report);

/* Asks Java for the upcall stub of a bridge's row; none is no error. KOL_OK or KOL_EJAVA. */
kol_status kol__bridge_bind(JNIEnv *env, jclass cls, const struct kol__row *row,
                            const char *signature);

/* A reference to a class that may be kept: weak for our own loader. KOL_OK or KOL_EJAVA. */
kol_status kol__hold_class(JNIEnv *env, jclass cls, jobject *out, int *is_weak);

/* The parts of kol_unload, each in the room that made what it drops. */
void kol__tables_drop(JNIEnv *env);
void kol__types_drop(JNIEnv *env);
void kol__runtime_drop(JNIEnv *env);
void kol__jdk_drop(JNIEnv *env);

/* The env of this thread as the VM knows it now. */
JNIEnv *kol__env_asked(void);

/* Level 2: whether this thread is inside a leaf, which has no business with env; it is noted. */
int kol__is_in_leaf(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
