/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Primitive arrays and direct buffers. For each of the eight primitives P there is the handle
 * P__array (jint__array is int[]), usable as a row type, with
 *
 *     kol_status P__array__new(env, count, &array)            zeroed; KOL_EJAVA when there is no
 *     room kol_status P__array__make(env, source, count, &array)   new, filled
 *     jsize      P__array__count(env, array)
 *     kol_status P__array__read(env, array, start, count, target)    copies out
 *     kol_status P__array__write(env, array, start, count, source)   copies in
 *     kol_status P__array__pin(env, array, &pin)              a P *elements of all of it
 *     void       P__array__unpin(env, &pin, keep)             KOL_COMMIT, or KOL_ABORT to throw
 *                                                             changes away (where it was a copy)
 *     kol_status P__array__enter(env, array, &pin)            critical: see below
 *     void       P__array__leave(env, &pin, keep)
 *
 * A null array is refused with a NullPointerException (KOL_EJAVA) before anything is asked of it; a
 * range outside the array is an ArrayIndexOutOfBoundsException. Reading and writing regions is the
 * fastest form up to about a kilobyte and the safest everywhere.
 *
 * Between enter and leave no collection may run: no Java call, no lock, no wait, no other function
 * of Kolibri, and not for long. Level 2 reports Java calls in between.
 *
 * A pin belongs to the native call that made it. Env's own thread.
 */
#ifndef KOLIBRI_ARRAY_H
#define KOLIBRI_ARRAY_H

#include <kolibri/class.h>

enum { KOL_COMMIT = 0, KOL_ABORT = JNI_ABORT };

KOL__C_BEGIN
kol_status kol__no_room(JNIEnv *env);
KOL__C_END

#define KOL__PRIMITIVE_ARRAY(P, N, DESCRIPTOR)                                                     \
    KOL__REFERENCE(P##__array, DESCRIPTOR)                                                         \
    KOL__BASED(P##__array, java_lang_Object)                                                       \
    typedef struct P##__pin {                                                                      \
        P *elements;                                                                               \
        jsize count;                                                                               \
        jobject array;                                                                             \
    } P##__pin;                                                                                    \
    KOL__MUST KOL__INLINE kol_status P##__array__new(JNIEnv *env, jsize count, P##__array *out)    \
    {                                                                                              \
        out->raw = count < 0 ? NULL : kol__jni(env)->New##N##Array(env, count);                    \
        return out->raw ? KOL_OK : count < 0 ? KOL_ERANGE : KOL_EJAVA;                             \
    }                                                                                              \
    KOL__INLINE jsize P##__array__count(JNIEnv *env, P##__array array)                             \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(P, 0)                                                                  \
        return kol__jni(env)->GetArrayLength(env, (jarray)array.raw);                              \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status P##__array__read(JNIEnv *env, P##__array array, jsize start,  \
                                                      jsize count, P *target)                      \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(P, KOL_EJAVA)                                                          \
        kol__jni(env)->Get##N##ArrayRegion(env, (P##Array)array.raw, start, count, target);        \
        return kol__status(env);                                                                   \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status P##__array__write(JNIEnv *env, P##__array array, jsize start, \
                                                       jsize count, const P *source)               \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(P, KOL_EJAVA)                                                          \
        kol__jni(env)->Set##N##ArrayRegion(env, (P##Array)array.raw, start, count, source);        \
        return kol__status(env);                                                                   \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status P##__array__make(JNIEnv *env, const P *source, jsize count,   \
                                                      P##__array *out)                             \
    {                                                                                              \
        kol_status status = P##__array__new(env, count, out);                                      \
        if (status == KOL_OK && count > 0) {                                                       \
            kol__jni(env)->Set##N##ArrayRegion(env, (P##Array)out->raw, 0, count, source);         \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status P##__array__pin(JNIEnv *env, P##__array array, P##__pin *pin) \
    {                                                                                              \
        pin->elements = NULL;                                                                      \
        pin->array = NULL;                                                                         \
        pin->count = 0;                                                                            \
        KOL__ARRAY_RECEIVER(P, KOL_EJAVA)                                                          \
        pin->count = kol__jni(env)->GetArrayLength(env, (jarray)array.raw);                        \
        pin->elements = kol__jni(env)->Get##N##ArrayElements(env, (P##Array)array.raw, NULL);      \
        if (pin->elements == NULL) {                                                               \
            return kol__no_room(env);                                                              \
        }                                                                                          \
        pin->array = array.raw;                                                                    \
        return KOL_OK;                                                                             \
    }                                                                                              \
    KOL__INLINE void P##__array__unpin(JNIEnv *env, P##__pin *pin, jint keep)                      \
    {                                                                                              \
        if (pin->array != NULL) {                                                                  \
            kol__jni(env)->Release##N##ArrayElements(env, (P##Array)pin->array, pin->elements,     \
                                                     keep);                                        \
            pin->array = NULL;                                                                     \
            pin->elements = NULL;                                                                  \
        }                                                                                          \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status P##__array__enter(JNIEnv *env, P##__array array,              \
                                                       P##__pin *pin)                              \
    {                                                                                              \
        pin->elements = NULL;                                                                      \
        pin->array = NULL;                                                                         \
        pin->count = 0;                                                                            \
        KOL__ARRAY_RECEIVER(P, KOL_EJAVA)                                                          \
        pin->count = kol__jni(env)->GetArrayLength(env, (jarray)array.raw);                        \
        pin->elements =                                                                            \
            (P *)kol__jni(env)->GetPrimitiveArrayCritical(env, (jarray)array.raw, NULL);           \
        if (pin->elements == NULL) {                                                               \
            return kol__no_room(env);                                                              \
        }                                                                                          \
        pin->array = array.raw;                                                                    \
        return KOL_OK;                                                                             \
    }                                                                                              \
    KOL__INLINE void P##__array__leave(JNIEnv *env, P##__pin *pin, jint keep)                      \
    {                                                                                              \
        if (pin->array != NULL) {                                                                  \
            kol__jni(env)->ReleasePrimitiveArrayCritical(env, (jarray)pin->array, pin->elements,   \
                                                         keep);                                    \
            pin->array = NULL;                                                                     \
            pin->elements = NULL;                                                                  \
        }                                                                                          \
    }

KOL__PRIMITIVE_ARRAY(jboolean, Boolean, "[Z")
KOL__PRIMITIVE_ARRAY(jbyte, Byte, "[B")
KOL__PRIMITIVE_ARRAY(jchar, Char, "[C")
KOL__PRIMITIVE_ARRAY(jshort, Short, "[S")
KOL__PRIMITIVE_ARRAY(jint, Int, "[I")
KOL__PRIMITIVE_ARRAY(jlong, Long, "[J")
KOL__PRIMITIVE_ARRAY(jfloat, Float, "[F")
KOL__PRIMITIVE_ARRAY(jdouble, Double, "[D")

/* The memory of a direct java.nio.ByteBuffer. */
struct kol_view {
    void *bytes;
    size_t size;
};

KOL__C_BEGIN

/*
 * The whole memory of a direct buffer, from index 0 to its capacity; position and limit are Java's
 * business. Borrowed while the buffer is reachable. KOL_OK; KOL_ENULL; KOL_ETYPE if the buffer is
 * not direct.
 */
kol_status kol_buffer_view(JNIEnv *env, jobject buffer, struct kol_view *out) KOL__MUST;

/*
 * Wraps memory of yours as a direct ByteBuffer (big-endian, as every new one). The VM does not own
 * the memory: it must outlive the buffer and every slice of it. KOL_OK, KOL_ERANGE beyond 2 GiB -
 * 1, KOL_EJAVA.
 */
kol_status kol_buffer_wrap(JNIEnv *env, void *bytes, size_t size, jobject *out) KOL__MUST;

/*
 * A new direct buffer whose memory the VM owns, zeroed, in native byte order. KOL_EJAVA,
 * KOL_ERANGE.
 */
kol_status kol_buffer_new(JNIEnv *env, size_t size, jobject *out) KOL__MUST;

KOL__C_END

#endif
