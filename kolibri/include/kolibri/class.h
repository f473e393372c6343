/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Java classes as C types, and their members as C functions.
 *
 *     KOL_HANDLE(java_util_Iterator, "java/util/Iterator", java_lang_Object)
 *     #define JAVA_UTIL_ITERATOR(X, C)                             \
 *         X(C, F0, nothrow, jboolean,         hasNext, "hasNext")  \
 *         X(C, F0, throws,  java_lang_Object, next,    "next")
 *     KOL_MEMBERS(java_util_Iterator, JAVA_UTIL_ITERATOR)           in a header
 *     KOL_MEMBERS_DEFINE(java_util_Iterator, JAVA_UTIL_ITERATOR)    in one .c file
 *
 * gives
 *
 *     jboolean         java_util_Iterator_hasNext(JNIEnv *, java_util_Iterator);
 *     kol_status       java_util_Iterator_next(JNIEnv *, java_util_Iterator, java_lang_Object
 *     *out); java_lang_Object java_util_Iterator_next__unchecked(JNIEnv *, java_util_Iterator);
 *
 * once kol_class_load has resolved JAVA_UTIL_ITERATOR__members.
 *
 * A handle is a struct of one word: a wrong class is a compile error everywhere, and it costs
 * nothing. It is a borrowed reference with the life of the jobject in it. T__global is an owning
 * type of its own: pass T__of(global) where a handle is wanted.
 *
 * Rows. The C name comes first, so overloads, or a field and a method of one name, get two C names.
 *     X(C, F2, throws, jint, c_name, "javaName", A, B)   function (SF static, VF nonvirtual)
 *     X(C, P1, nothrow, c_name, "javaName", A)           procedure (SP static, VP nonvirtual)
 *     X(C, N1, throws, c_name, "<init>", A)              constructor; returns a C
 *     X(C, G, jint, c_name, "javaName")                  field: C_c_name and C_c_name__set
 *                                                        (SG static)
 *     X(C, B2, c_name, "javaName", A, B)                 static bridge (bridge.h); returns its jint
 * The third word: `throws` gives a status that must be used, and an __unchecked form; `nothrow`
 * gives the value alone and promises that no exception can come (a broken promise is named from
 * level 2 on and undefined below it); `optional` gives a status, KOL_EABSENT where the member does
 * not exist, and C_c_name__present(). At most 8 arguments. Types are tokens: a primitive, a
 * handle, T__array for T[], jint__array for int[].
 *
 * A null receiver is refused from level 1 on: a NullPointerException is pending and the result is
 * KOL_EJAVA, or 0 in a `nothrow` function.
 *
 * Threads: functions of a loaded table may be called from any thread with that thread's env.
 */
#ifndef KOLIBRI_CLASS_H
#define KOLIBRI_CLASS_H

#include <kolibri/bridge_gen.h>

/* java.lang.Object and its array: the top of every chain of handles. */
KOL__REFERENCE(java_lang_Object, "Ljava/lang/Object;")
KOL__REFERENCE(java_lang_Object__array, "[Ljava/lang/Object;")
KOL__BASED(java_lang_Object__array, java_lang_Object)
KOL__OBJECT_ARRAY(java_lang_Object)

/*
 * Declares the handle T of the class NAME (binary name with slashes: "java/util/Map$Entry") with
 * the handle of its base class. It brings:
 *   T, T__array                 the types; T__global and T__weak own a reference
 *   T__raw(jobject)             from a raw reference, unchecked and free; `.raw` is the way back
 *   T__null, T__is_null, T__same(env, a, b), T__forget(env, local)
 *   T__local(env, handle)       another local reference, yours; null with an OutOfMemoryError
 *                               pending when the VM has no room, and of null
 *   T__up(handle)               as its base, free
 *   T__cast(env, object, &out)  from any object: KOL_OK, KOL_ETYPE, or KOL_EJAVA if the class
 *                               cannot be loaded; null casts to null
 *   T__keep(env, handle)        a global; yours, end it with T__drop. Null with an
 *                               OutOfMemoryError pending when the VM has no room
 *   T__drop(env, &global)       env may be NULL, on any thread, also one the VM does not know
 *   T__of(global)               borrowed until the global is dropped
 *   T__keep_weak, T__promote, T__drop_weak   promote gives a local reference, or KOL_GONE
 *   T__array__new, __count, __get, __set
 */
#define KOL_HANDLE(T, NAME, BASE)                                                                  \
    KOL__REFERENCE(T, "L" NAME ";")                                                                \
    KOL__BASED(T, BASE)                                                                            \
    KOL__REFERENCE(T##__array, "[L" NAME ";")                                                      \
    KOL__BASED(T##__array, java_lang_Object)                                                       \
    KOL__OBJECT_ARRAY(T)

/*
 * Declares T__array for a token that has none yet, for arrays of arrays: KOL_ARRAY_OF(jint__array,
 * "[[I") brings jint__array__array, which is int[][].
 */
#define KOL_ARRAY_OF(T, DESCRIPTOR)                                                                \
    KOL__REFERENCE(T##__array, DESCRIPTOR)                                                         \
    KOL__BASED(T##__array, java_lang_Object)                                                       \
    KOL__OBJECT_ARRAY(T)

/* Declares the functions of LIST for the handle C, and the table LIST__members. */
#define KOL_MEMBERS(C, LIST)                                                                       \
    extern KOL__HIDDEN const struct kol_members LIST##__members;                                   \
    LIST(KOL__FN, C)

/* Defines the ids and the table of LIST, in one .c file of the program. */
#define KOL_MEMBERS_DEFINE(C, LIST)                                                                \
    LIST(KOL__SLOT, C)                                                                             \
    static const struct kol__row kol__rows_##LIST[] = {LIST(KOL__ROW, C)};                         \
    const struct kol_members LIST##__members = {                                                   \
        kol__d_##C, kol__rows_##LIST,                                                              \
        (int)(sizeof kol__rows_##LIST / sizeof kol__rows_##LIST[0])};

KOL__C_BEGIN

/*
 * Resolves every member of `count` tables. Classes are found through the class loader captured at
 * load (env.h), without one through the loader of the caller's class. Resolving a member runs its
 * class's static initialiser, so register natives first (native.h).
 *
 * KOL_OK; KOL_EMISSING with every missing member listed in `report`, one a line, cut to `size`
 * (report may be NULL); KOL_EJAVA when a class cannot be loaded or initialised, the exception
 * pending. After an error the tables must not be used. May be called again, also after an unload.
 * Classes of the library's own loader are held weakly, others strongly until kol_unload.
 * Any thread; not concurrently with calls through the same tables.
 */
kol_status kol_class_load(JNIEnv *env, const struct kol_members *const *tables, int count,
                          char *report, size_t size) KOL__MUST;

KOL__C_END

#endif
