/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Type tokens and handles, as the macros write them. Users read class.h; rows are class_gen.h.
 *
 * A type token T owns: T (what C code holds), kol__d_T and kol__dw_T (its descriptor as declared,
 * and as woven: a native object is J there), kol__c_T (what a native's C function sees), kol__w_T
 * and kol__u_T (what the woven and the unwoven trampoline receive), kol__wrap_T/kol__raw_T,
 * kol__v_T (to a jvalue), kol__{F,SF,VF}call_T, kol__{G,SG}get_T/set_T, kol__in_{w,u}_T (argument
 * of a trampoline to what C sees), kol__dead_T (level 2), kol__check_T (level 3).
 *
 * A handle is a token whose value is a struct of one word.
 */
#ifndef KOLIBRI_HANDLE_GEN_H
#define KOLIBRI_HANDLE_GEN_H

#include <jni.h>
#include <kolibri/config.h>
#include <kolibri/status.h>

/* The record of a handle's class. All but the descriptor belongs to the library. */
struct kol__type {
    const char *descriptor;
    jclass cls;
    int is_weak;
    struct kol__type *next;
};

struct kol__hold; /* native_gen.h */

KOL__C_BEGIN
void kol__refuse_null(JNIEnv *env, const char *where);
void kol__broken_promise(JNIEnv *env, const char *where);
int kol__enter(JNIEnv *env, const char *where);
int kol__of_type(JNIEnv *env, jobject object, struct kol__type *type, const char *where);
jobject kol__global(JNIEnv *env, jobject object);
void kol__global_drop(JNIEnv *env, jobject global);
kol_status kol__weak(JNIEnv *env, jobject object, jweak *out);
void kol__weak_drop(JNIEnv *env, jweak weak);
kol_status kol__promote(JNIEnv *env, jweak weak, jobject *out);
kol_status kol__cast(JNIEnv *env, jobject object, struct kol__type *type);
kol_status kol__array_new(JNIEnv *env, jsize count, struct kol__type *type, jobject *out);
KOL__C_END

KOL__INLINE kol_status kol__status(JNIEnv *env)
{
    return kol__jni(env)->ExceptionCheck(env) ? KOL_EJAVA : KOL_OK;
}

KOL__INLINE jvalue kol__v_end(void)
{
    jvalue value;
    value.j = 0;
    return value;
}

/* ---- type tokens ---- */
/* What C++ templates find by a token's type instead of by its name (kolibri.hpp). */
#ifdef __cplusplus
#define KOL__OVERLOADS(T)                                                                          \
    KOL__INLINE const char *kol__descriptor_of(const T *)                                          \
    {                                                                                              \
        return kol__d_##T;                                                                         \
    }                                                                                              \
    KOL__INLINE jvalue kol__value_of(T x)                                                          \
    {                                                                                              \
        return kol__v_##T(x);                                                                      \
    }                                                                                              \
    KOL__INLINE T kol__call_of(const T *, JNIEnv *env, jobject o, jmethodID m, const jvalue *a)    \
    {                                                                                              \
        return kol__Fcall_##T(env, o, NULL, m, a);                                                 \
    }                                                                                              \
    KOL__INLINE T kol__static_of(const T *, JNIEnv *env, jclass c, jmethodID m, const jvalue *a)   \
    {                                                                                              \
        return kol__SFcall_##T(env, NULL, c, m, a);                                                \
    }
#else
#define KOL__OVERLOADS(T)
#endif

#define KOL__TYPE(T, RAW, FIELD, N)                                                                \
    typedef T kol__c_##T;                                                                          \
    typedef RAW kol__w_##T;                                                                        \
    typedef RAW kol__u_##T;                                                                        \
    KOL__INLINE jvalue kol__v_##T(T x)                                                             \
    {                                                                                              \
        jvalue v;                                                                                  \
        v.j = 0;                                                                                   \
        v.FIELD = kol__raw_##T(x);                                                                 \
        return v;                                                                                  \
    }                                                                                              \
    KOL__INLINE T kol__in_w_##T(RAW x)                                                             \
    {                                                                                              \
        return kol__wrap_##T(x);                                                                   \
    }                                                                                              \
    KOL__INLINE int kol__dead_##T(JNIEnv *env, RAW x, const char *where)                           \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)x;                                                                                   \
        (void)where;                                                                               \
        return 0;                                                                                  \
    }                                                                                              \
    KOL__INLINE int kol__in_u_##T(JNIEnv *env, RAW x, T *out, struct kol__hold *hold)              \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)hold;                                                                                \
        *out = kol__wrap_##T(x);                                                                   \
        return 1;                                                                                  \
    }                                                                                              \
    KOL__INLINE T kol__Fcall_##T(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)   \
    {                                                                                              \
        (void)c;                                                                                   \
        return kol__wrap_##T(kol__jni(env)->Call##N##MethodA(env, o, m, a));                       \
    }                                                                                              \
    KOL__INLINE T kol__SFcall_##T(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)  \
    {                                                                                              \
        (void)o;                                                                                   \
        return kol__wrap_##T(kol__jni(env)->CallStatic##N##MethodA(env, c, m, a));                 \
    }                                                                                              \
    KOL__INLINE T kol__VFcall_##T(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)  \
    {                                                                                              \
        return kol__wrap_##T(kol__jni(env)->CallNonvirtual##N##MethodA(env, o, c, m, a));          \
    }                                                                                              \
    KOL__INLINE T kol__Gget_##T(JNIEnv *env, jobject o, jclass c, jfieldID f)                      \
    {                                                                                              \
        (void)c;                                                                                   \
        return kol__wrap_##T(kol__jni(env)->Get##N##Field(env, o, f));                             \
    }                                                                                              \
    KOL__INLINE T kol__SGget_##T(JNIEnv *env, jobject o, jclass c, jfieldID f)                     \
    {                                                                                              \
        (void)o;                                                                                   \
        return kol__wrap_##T(kol__jni(env)->GetStatic##N##Field(env, c, f));                       \
    }                                                                                              \
    KOL__INLINE void kol__Gset_##T(JNIEnv *env, jobject o, jclass c, jfieldID f, T x)              \
    {                                                                                              \
        (void)c;                                                                                   \
        kol__jni(env)->Set##N##Field(env, o, f, kol__raw_##T(x));                                  \
    }                                                                                              \
    KOL__INLINE void kol__SGset_##T(JNIEnv *env, jobject o, jclass c, jfieldID f, T x)             \
    {                                                                                              \
        (void)o;                                                                                   \
        kol__jni(env)->SetStatic##N##Field(env, c, f, kol__raw_##T(x));                            \
    }                                                                                              \
    KOL__OVERLOADS(T)

#define KOL__PRIMITIVE(T, FIELD, N, DESCRIPTOR)                                                    \
    typedef T kol__p_##T;                                                                          \
    static const char kol__d_##T[] KOL__UNUSED = DESCRIPTOR;                                       \
    static const char kol__dw_##T[] KOL__UNUSED = DESCRIPTOR;                                      \
    KOL__INLINE T kol__wrap_##T(T x)                                                               \
    {                                                                                              \
        return x;                                                                                  \
    }                                                                                              \
    KOL__INLINE T kol__raw_##T(T x)                                                                \
    {                                                                                              \
        return x;                                                                                  \
    }                                                                                              \
    KOL__INLINE int kol__check_##T(JNIEnv *env, T x, const char *where)                            \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)x;                                                                                   \
        (void)where;                                                                               \
        return 0;                                                                                  \
    }                                                                                              \
    KOL__TYPE(T, T, FIELD, N)

KOL__PRIMITIVE(jboolean, z, Boolean, "Z")
KOL__PRIMITIVE(jbyte, b, Byte, "B")
KOL__PRIMITIVE(jchar, c, Char, "C")
KOL__PRIMITIVE(jshort, s, Short, "S")
KOL__PRIMITIVE(jint, i, Int, "I")
KOL__PRIMITIVE(jlong, j, Long, "J")
KOL__PRIMITIVE(jfloat, f, Float, "F")
KOL__PRIMITIVE(jdouble, d, Double, "D")

typedef void kol__c_void;
typedef void kol__w_void;
static const char kol__d_void[] KOL__UNUSED = "V";
static const char kol__dw_void[] KOL__UNUSED = "V";

KOL__INLINE void kol__Fcall_void(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)
{
    (void)c;
    kol__jni(env)->CallVoidMethodA(env, o, m, a);
}

KOL__INLINE void kol__SFcall_void(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)
{
    (void)o;
    kol__jni(env)->CallStaticVoidMethodA(env, c, m, a);
}

KOL__INLINE void kol__VFcall_void(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)
{
    kol__jni(env)->CallNonvirtualVoidMethodA(env, o, c, m, a);
}

/* ---- handles ---- */
#define KOL__REFERENCE(T, DESCRIPTOR)                                                              \
    typedef struct T {                                                                             \
        jobject raw;                                                                               \
    } T;                                                                                           \
    typedef struct T##__global {                                                                   \
        jobject raw;                                                                               \
    } T##__global;                                                                                 \
    typedef struct T##__weak {                                                                     \
        jweak raw;                                                                                 \
    } T##__weak;                                                                                   \
    static const char kol__d_##T[] KOL__UNUSED = DESCRIPTOR;                                       \
    static const char kol__dw_##T[] KOL__UNUSED = DESCRIPTOR;                                      \
    static struct kol__type kol__t_##T KOL__UNUSED = {DESCRIPTOR, NULL, 0, NULL};                  \
    KOL__INLINE T T##__raw(jobject raw)                                                            \
    {                                                                                              \
        T handle;                                                                                  \
        handle.raw = raw;                                                                          \
        return handle;                                                                             \
    }                                                                                              \
    KOL__INLINE T T##__null(void)                                                                  \
    {                                                                                              \
        return T##__raw(NULL);                                                                     \
    }                                                                                              \
    KOL__INLINE int T##__is_null(T handle)                                                         \
    {                                                                                              \
        return handle.raw == NULL;                                                                 \
    }                                                                                              \
    KOL__INLINE int T##__same(JNIEnv *env, T a, T b)                                               \
    {                                                                                              \
        return kol__jni(env)->IsSameObject(env, a.raw, b.raw) != 0;                                \
    }                                                                                              \
    KOL__MUST KOL__INLINE T T##__local(JNIEnv *env, T handle)                                      \
    {                                                                                              \
        return T##__raw(kol__jni(env)->NewLocalRef(env, handle.raw));                              \
    }                                                                                              \
    KOL__INLINE void T##__forget(JNIEnv *env, T local)                                             \
    {                                                                                              \
        kol__jni(env)->DeleteLocalRef(env, local.raw);                                             \
    }                                                                                              \
    KOL__MUST KOL__INLINE T##__global T##__keep(JNIEnv *env, T handle)                             \
    {                                                                                              \
        T##__global global;                                                                        \
        global.raw = kol__global(env, handle.raw);                                                 \
        return global;                                                                             \
    }                                                                                              \
    KOL__INLINE void T##__drop(JNIEnv *env, T##__global *global)                                   \
    {                                                                                              \
        kol__global_drop(env, global->raw);                                                        \
        global->raw = NULL;                                                                        \
    }                                                                                              \
    KOL__INLINE T T##__of(T##__global global)                                                      \
    {                                                                                              \
        return T##__raw(global.raw);                                                               \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status T##__keep_weak(JNIEnv *env, T handle, T##__weak *out)         \
    {                                                                                              \
        return kol__weak(env, handle.raw, &out->raw);                                              \
    }                                                                                              \
    KOL__INLINE void T##__drop_weak(JNIEnv *env, T##__weak *weak)                                  \
    {                                                                                              \
        kol__weak_drop(env, weak->raw);                                                            \
        weak->raw = NULL;                                                                          \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status T##__promote(JNIEnv *env, T##__weak weak, T *out)             \
    {                                                                                              \
        return kol__promote(env, weak.raw, &out->raw);                                             \
    }                                                                                              \
    KOL__INLINE T kol__wrap_##T(jobject raw)                                                       \
    {                                                                                              \
        return T##__raw(raw);                                                                      \
    }                                                                                              \
    KOL__INLINE jobject kol__raw_##T(T handle)                                                     \
    {                                                                                              \
        return handle.raw;                                                                         \
    }                                                                                              \
    KOL__INLINE int kol__check_##T(JNIEnv *env, T handle, const char *where)                       \
    {                                                                                              \
        return kol__of_type(env, handle.raw, &kol__t_##T, where);                                  \
    }                                                                                              \
    KOL__INLINE T kol__Ncall_##T(JNIEnv *env, jobject o, jclass c, jmethodID m, const jvalue *a)   \
    {                                                                                              \
        (void)o;                                                                                   \
        return T##__raw(kol__jni(env)->NewObjectA(env, c, m, a));                                  \
    }                                                                                              \
    KOL__TYPE(T, jobject, l, Object)

/* What every handle but java_lang_Object has: the way up, and the checked way down. */
#define KOL__BASED(T, BASE)                                                                        \
    KOL__INLINE BASE T##__up(T handle)                                                             \
    {                                                                                              \
        return BASE##__raw(handle.raw);                                                            \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status T##__cast(JNIEnv *env, java_lang_Object object, T *out)       \
    {                                                                                              \
        out->raw = object.raw;                                                                     \
        return kol__cast(env, object.raw, &kol__t_##T);                                            \
    }

#if KOL_CHECK >= 1
#define KOL__ARRAY_RECEIVER(T, back)                                                               \
    if (KOL__UNLIKELY(array.raw == NULL)) {                                                        \
        kol__refuse_null(env, #T "[]");                                                            \
        return back;                                                                               \
    }
#else
#define KOL__ARRAY_RECEIVER(T, back)
#endif
#define KOL__OBJECT_ARRAY(T)                                                                       \
    KOL__MUST KOL__INLINE kol_status T##__array__new(JNIEnv *env, jsize count, T##__array *out)    \
    {                                                                                              \
        return kol__array_new(env, count, &kol__t_##T, &out->raw);                                 \
    }                                                                                              \
    KOL__INLINE jsize T##__array__count(JNIEnv *env, T##__array array)                             \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(T, 0)                                                                  \
        return kol__jni(env)->GetArrayLength(env, (jarray)array.raw);                              \
    }                                                                                              \
    KOL__INLINE T T##__array__get__unchecked(JNIEnv *env, T##__array array, jsize i)               \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(T, T##__raw(NULL))                                                     \
        return T##__raw(kol__jni(env)->GetObjectArrayElement(env, (jobjectArray)array.raw, i));    \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status T##__array__get(JNIEnv *env, T##__array array, jsize i,       \
                                                     T *out)                                       \
    {                                                                                              \
        *out = T##__array__get__unchecked(env, array, i);                                          \
        return kol__status(env);                                                                   \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status T##__array__set(JNIEnv *env, T##__array array, jsize i, T x)  \
    {                                                                                              \
        KOL__ARRAY_RECEIVER(T, KOL_EJAVA)                                                          \
        kol__jni(env)->SetObjectArrayElement(env, (jobjectArray)array.raw, i, x.raw);              \
        return kol__status(env);                                                                   \
    }

#endif
