/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * C functions called from Java: native methods of native objects.
 *
 *     KOL_NATIVE(Counter, "io/example/Counter", struct counter)
 *     #define COUNTER_NATIVES(X, C)               \
 *         X(C, N1, create, "create", jint)        \
 *         X(C, M1, jint, add, "add", jint)        \
 *         X(C, D, destroy)
 *     KOL_NATIVES(Counter, COUNTER_NATIVES)
 *     static struct counter *Counter_create(JNIEnv *env, jint start) { … }
 *     static jint Counter_add(JNIEnv *env, struct counter *self, jint by) { … }
 *     static void Counter_destroy(struct counter *self) { … }
 *
 * KOL_NATIVES writes the prototypes: a definition that disagrees is "conflicting types", a missing
 * one does not link. Register with kol_natives_register(env, &Counter__natives, …).
 *
 * Rows.
 *     X(C, M1, jint, c_name, "javaName", A)    method of the object: (env, self, a)
 *     X(C, S1, jint, c_name, "javaName", A)    static: (env, a)
 *     X(C, L1, jint, c_name, "javaName", A)    leaf method: (self, a). No env, so no Java call, no
 *                                              throw; at most a microsecond, no lock that can block
 *     X(C, N1, c_name, "javaName", A)          creator: (env, a), returns the object's pointer;
 *     null
 *                                              with an exception pending says that it failed
 *     X(C, D, c_name)                          destroyer: (self); frees the memory, called once
 *     X(C, E, c_name)                          end callback: (self); called once, when the object
 *     is
 *                                              closed or its scope ends, before the destroyer
 * Result `void` is allowed. At most 8 arguments. Types are those of class.h, and native tokens: a
 * parameter Counter arrives as struct counter *, never null; a Counter__or_null may be null.
 *
 * In Java the same row serves two forms. Unwoven: `native int add(int by);`, an instance method of
 * a subclass of io.kolibri.NativeObject; C reads the pointer, throws ReleasedException if the
 * object was closed, NullPointerException for null. Woven (by hand, compiler plugin or weaver):
 * `private static native int add(long self, int by);` and a bridge; each native argument is a long
 * there. Registration looks at what the class has.
 *
 * A native method throws by kol_throw… (throw.h) and then returns any value.
 * The destroyer and the end callback run on the thread that closes, or on the cleaner's.
 */
#ifndef KOLIBRI_NATIVE_H
#define KOLIBRI_NATIVE_H

#include <kolibri/native_gen.h>

/*
 * Declares the token T for native objects: the Java class NAME, a subclass of NativeObject, whose
 * pointer is an S. T__or_null is the same where null may come.
 */
#define KOL_NATIVE(T, NAME, S)                                                                     \
    KOL__NATIVE_TYPE(T, NAME, NULL)                                                                \
    KOL__NATIVE_TOKEN(T, T, NAME, S, 0)                                                            \
    KOL__NATIVE_TOKEN(T##__or_null, T, NAME, S, 1)

/*
 * The same for a Java subclass of BASE's class. `member` is the base struct inside S and must be
 * its first member, so that the one pointer is both. Methods of BASE work on it.
 */
#define KOL_NATIVE_SUB(T, NAME, S, BASE, member)                                                   \
    KOL__STATIC_ASSERT(offsetof(S, member) == 0, #T ": the base must be the first member");        \
    KOL__NATIVE_TYPE(T, NAME, &kol__n_##BASE)                                                      \
    KOL__NATIVE_TOKEN(T, T, NAME, S, 0)                                                            \
    KOL__NATIVE_TOKEN(T##__or_null, T, NAME, S, 1)

/*
 * Prototypes, trampolines and the table T__natives of a native token. In the .c file that has them.
 */
#define KOL_NATIVES(T, LIST)                                                                       \
    LIST(KOL__NT, T)                                                                               \
    static const struct kol__native kol__natives_##T[] = {LIST(KOL__NR, T)};                       \
    static const struct kol_natives T##__natives KOL__UNUSED = {                                   \
        &kol__n_##T, kol__natives_##T,                                                             \
        (int)(sizeof kol__natives_##T / sizeof kol__natives_##T[0])};

KOL__C_BEGIN

/*
 * Registers a table's functions with its Java class, found through the captured class loader and
 * not initialised. Every row must have its method there, woven or unwoven; all are registered by
 * one RegisterNatives, or none.
 *
 * KOL_OK; KOL_EMISSING with every missing method listed in `report`, one a line, cut to `size`
 * (report may be NULL); KOL_EJAVA when the class cannot be loaded, the exception pending.
 * From JNI_OnLoad, or any thread before the first call.
 */
kol_status kol_natives_register(JNIEnv *env, const struct kol_natives *natives, char *report,
                                size_t size) KOL__MUST;

/*
 * Writes the rows of a table as text, one line each, for the weaver's `check`, which compares them
 * with class files when a program is built. A line is class, kind, name, woven and plain
 * descriptor; the destroyer and the end callback have none. Cut to `size`, always terminated;
 * returns the size of the whole text without the terminator. Needs no VM. Any thread.
 */
size_t kol_natives_write(const struct kol_natives *natives, char *out, size_t size);

KOL__C_END

#endif
