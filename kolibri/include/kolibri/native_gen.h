/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The macros that turn one row of a native table into a prototype and its trampolines. Users read
 * native.h; class_gen.h explains how a row is read and what a type token owns.
 *
 * Per row: C_c__woven receives the pointer as jlong from a static method and is a few instructions;
 * C_c__plain receives objects and reads their pointers; a leaf row also emits C_c__leaf, without
 * env and class, for ART's @CriticalNative and for FFM. The plain form leases guarded objects for
 * the length of the call (struct kol__hold) and gives the leases back in reverse order.
 */
#ifndef KOLIBRI_NATIVE_GEN_H
#define KOLIBRI_NATIVE_GEN_H

#include <kolibri/class.h>

typedef void (*kol__function)(void);

/* The identity of a native token, shared by all files that declare it through its name. */
struct kol__native_type {
    const char *descriptor;
    const struct kol__native_type *base;
};

struct kol__native {
    char kind; /* M method, L leaf, S static, N creator, D destroyer, E end callback */
    const char *name;
    int count;
    kol__function woven;
    kol__function plain;
    kol__function leaf;
    const char *woven_types[9]; /* result, then the parameters */
    const char *plain_types[9];
};

struct kol_natives {
    const struct kol__native_type *type;
    const struct kol__native *rows;
    int count;
};

/* The guarded objects one unwoven call has leased: the receiver and up to 8 arguments. */
struct kol__hold {
    jobject held[9];
    int count;
};

/* A leaf call in progress, at level 2 and up. */
struct kol__leaf {
    const char *outer;
    int64_t started_ns;
    int64_t started_work_ns;
};

KOL__C_BEGIN
int kol__live(JNIEnv *env, jlong pointer, const struct kol__native_type *type, const char *where);
int kol__call_begin(JNIEnv *env, const char *where);
void kol__native_made(jlong pointer, const struct kol__native_type *type);
void kol__native_unmade(void *pointer);
void kol__leaf_begin(struct kol__leaf *leaf, const char *where);
void kol__leaf_end(struct kol__leaf *leaf, const char *where);
jlong kol__pointer(JNIEnv *env, jobject object, int null_is_fine, int *ok, struct kol__hold *hold);
void kol__release(JNIEnv *env, struct kol__hold *hold);
void kol__creator_failed(JNIEnv *env, const char *where);
KOL__C_END

KOL__INLINE void kol__hold_end(JNIEnv *env, struct kol__hold *hold)
{
    if (hold->count != 0) {
        kol__release(env, hold);
    }
}

#define KOL__NATIVE_TYPE(T, NAME, BASE)                                                            \
    static const struct kol__native_type kol__n_##T KOL__UNUSED = {"L" NAME ";", BASE};

#define KOL__NATIVE_TOKEN(T, TYPE, NAME, S, NULL_IS_FINE)                                          \
    typedef S *kol__c_##T;                                                                         \
    typedef jlong kol__w_##T;                                                                      \
    typedef jobject kol__u_##T;                                                                    \
    static const char kol__d_##T[] KOL__UNUSED = "L" NAME ";";                                     \
    static const char kol__dw_##T[] KOL__UNUSED = "J";                                             \
    KOL__INLINE S *kol__in_w_##T(jlong x)                                                          \
    {                                                                                              \
        return (S *)(intptr_t)x;                                                                   \
    }                                                                                              \
    KOL__INLINE int kol__dead_##T(JNIEnv *env, jlong x, const char *where)                         \
    {                                                                                              \
        return !(NULL_IS_FINE && x == 0) && kol__live(env, x, &kol__n_##TYPE, where);              \
    }                                                                                              \
    KOL__INLINE int kol__in_u_##T(JNIEnv *env, jobject x, S **out, struct kol__hold *hold)         \
    {                                                                                              \
        int ok = 0;                                                                                \
        *out = (S *)(intptr_t)kol__pointer(env, x, NULL_IS_FINE, &ok, hold);                       \
        return ok;                                                                                 \
    }

/* ---- arguments, walked by KOL__EACH ---- */
#define KOL__C_PARAM(i, A) , kol__c_##A a##i
#define KOL__W_PARAM(i, A) , kol__w_##A a##i
#define KOL__U_PARAM(i, A) , kol__u_##A a##i
#define KOL__W_PASS(i, A) , kol__in_w_##A(a##i)
#define KOL__U_LOCAL(i, A) kol__c_##A b##i;
#define KOL__U_READ(i, A) &&kol__in_u_##A(env, a##i, &b##i, &kol__held)
#define KOL__U_PASS(i, A) , b##i
#define KOL__WOVEN_DESC(i, A) , kol__dw_##A

/* KOL__IF_VOID(R)(a, b) is a for void and b for every other result. */
#define KOL__SECOND_OF(a, b, ...) b
#define KOL__SECOND(...) KOL__SECOND_OF(__VA_ARGS__)
#define KOL__VOID_void ~, KOL__TAKE_A
#define KOL__TAKE_A(a, b) a
#define KOL__TAKE_B(a, b) b
#define KOL__IF_VOID(R) KOL__SECOND(KOL__VOID_##R, KOL__TAKE_B, ~)
#define KOL__RETURN(R, call) KOL__IF_VOID(R)(call;, return kol__raw_##R(call);)
#define KOL__RESULT(R) KOL__IF_VOID(R)(, kol__w_##R kol__r = 0;)
#define KOL__ASSIGN(R, call) KOL__IF_VOID(R)(call;, kol__r = kol__raw_##R(call);)
#define KOL__GIVE(R) KOL__IF_VOID(R)(, return kol__r;)

/*
 * Level 2: a woven call is refused, with an exception pending, if a pointer is no live object of
 * its type, and a leaf is watched. The plain form reads its pointers from live objects.
 */
#if KOL_CHECK >= 2
#define KOL__W_DEAD(i, A) || kol__dead_##A(env, a##i, kol__where)
#define KOL__WATCH(C, c, R, SELF_DEAD, ...)                                                        \
    static const char kol__where[] = #C "." #c;                                                    \
    if (kol__call_begin(env, kol__where) || SELF_DEAD KOL__EACH(KOL__W_DEAD, __VA_ARGS__)) {       \
        KOL__IF_VOID(R)(return;, return 0;)                                                        \
    }
#define KOL__WATCH_SELF(C) kol__dead_##C(env, self, kol__where)
#define KOL__MADE(C, pointer) kol__native_made(pointer, &kol__n_##C);
#define KOL__UNMADE(pointer) kol__native_unmade(pointer);
#define KOL__LEAF_CALL(C, c, R, call)                                                              \
    struct kol__leaf kol__l;                                                                       \
    kol__leaf_begin(&kol__l, #C "." #c);                                                           \
    KOL__IF_VOID(R)(, kol__c_##R kol__r =) call;                                                   \
    kol__leaf_end(&kol__l, #C "." #c);                                                             \
    KOL__GIVE(R)
#else
#define KOL__WATCH(C, c, R, SELF_DEAD, ...)
#define KOL__MADE(C, pointer)
#define KOL__UNMADE(pointer)
#define KOL__LEAF_CALL(C, c, R, call) KOL__IF_VOID(R)(, return ) call;
#endif

/* The body of a plain trampoline: read the pointers, call, give leases back. */
#define KOL__PLAIN_BODY(R, READ_SELF, call, ...)                                                   \
    struct kol__hold kol__held;                                                                    \
    KOL__RESULT(R)                                                                                 \
    KOL__EACH(KOL__U_LOCAL, __VA_ARGS__)                                                           \
    kol__held.count = 0;                                                                           \
    if (READ_SELF KOL__EACH(KOL__U_READ, __VA_ARGS__)) {                                           \
        KOL__ASSIGN(R, call)                                                                       \
    }                                                                                              \
    kol__hold_end(env, &kol__held);                                                                \
    KOL__GIVE(R)

#define KOL__METHOD_TRAMPOLINES(C, R, c, WOVEN_CALL, PLAIN_CALL, ...)                              \
    static kol__w_##R JNICALL C##_##c##__woven(JNIEnv *env, jclass cls,                            \
                                               jlong self KOL__EACH(KOL__W_PARAM, __VA_ARGS__))    \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)cls;                                                                                 \
        KOL__WATCH(C, c, R, KOL__WATCH_SELF(C), __VA_ARGS__)                                       \
        KOL__RETURN(R, WOVEN_CALL)                                                                 \
    }                                                                                              \
    static kol__w_##R JNICALL C##_##c##__plain(                                                    \
        JNIEnv *env, jobject object KOL__EACH(KOL__U_PARAM, __VA_ARGS__))                          \
    {                                                                                              \
        kol__c_##C self;                                                                           \
        KOL__PLAIN_BODY(R, kol__in_u_##C(env, object, &self, &kol__held), PLAIN_CALL, __VA_ARGS__) \
    }
#define KOL__STATIC_TRAMPOLINES(C, R, c, ...)                                                      \
    static kol__w_##R JNICALL C##_##c##__woven(JNIEnv *env,                                        \
                                               jclass cls KOL__EACH(KOL__W_PARAM, __VA_ARGS__))    \
    {                                                                                              \
        (void)cls;                                                                                 \
        KOL__WATCH(C, c, R, 0, __VA_ARGS__)                                                        \
        KOL__RETURN(R, C##_##c(env KOL__EACH(KOL__W_PASS, __VA_ARGS__)))                           \
    }                                                                                              \
    static kol__w_##R JNICALL C##_##c##__plain(JNIEnv *env,                                        \
                                               jclass cls KOL__EACH(KOL__U_PARAM, __VA_ARGS__))    \
    {                                                                                              \
        (void)cls;                                                                                 \
        KOL__PLAIN_BODY(R, 1, C##_##c(env KOL__EACH(KOL__U_PASS, __VA_ARGS__)), __VA_ARGS__)       \
    }

/* ---- the pass that declares and defines functions ---- */
#define KOL__NT_MET(K, n, C, R, c, ...)                                                            \
    KOL__CLAIM(n, C, c, __VA_ARGS__)                                                               \
    static kol__c_##R C##_##c(JNIEnv *env, kol__c_##C self KOL__EACH(KOL__C_PARAM, __VA_ARGS__));  \
    KOL__METHOD_TRAMPOLINES(C, R, c,                                                               \
                            C##_##c(env, kol__in_w_##C(self) KOL__EACH(KOL__W_PASS, __VA_ARGS__)), \
                            C##_##c(env, self KOL__EACH(KOL__U_PASS, __VA_ARGS__)), __VA_ARGS__)
#define KOL__NT_LEA(K, n, C, R, c, ...)                                                            \
    KOL__CLAIM(n, C, c, __VA_ARGS__)                                                               \
    static kol__c_##R C##_##c(kol__c_##C self KOL__EACH(KOL__C_PARAM, __VA_ARGS__));               \
    KOL__INLINE kol__c_##R C##_##c##__watched(                                                     \
        kol__c_##C self KOL__EACH(KOL__C_PARAM, __VA_ARGS__))                                      \
    {                                                                                              \
        KOL__LEAF_CALL(C, c, R, C##_##c(self KOL__EACH(KOL__PASS, __VA_ARGS__)))                   \
    }                                                                                              \
    static kol__w_##R C##_##c##__leaf(jlong self KOL__EACH(KOL__W_PARAM, __VA_ARGS__)){            \
        KOL__RETURN(R,                                                                             \
                    C##_##c##__watched(kol__in_w_##C(self) KOL__EACH(                              \
                        KOL__W_PASS,                                                               \
                        __VA_ARGS__)))} KOL__METHOD_TRAMPOLINES(C, R, c,                           \
                                                                C##_##c##__watched(kol__in_w_##C(  \
                                                                    self) KOL__EACH(KOL__W_PASS,   \
                                                                                    __VA_ARGS__)), \
                                                                C##_##c##__watched(self KOL__EACH( \
                                                                    KOL__U_PASS, __VA_ARGS__)),    \
                                                                __VA_ARGS__)
#define KOL__NT_STA(K, n, C, R, c, ...)                                                            \
    KOL__CLAIM(n, C, c, __VA_ARGS__)                                                               \
    static kol__c_##R C##_##c(JNIEnv *env KOL__EACH(KOL__C_PARAM, __VA_ARGS__));                   \
    KOL__STATIC_TRAMPOLINES(C, R, c, __VA_ARGS__)
#define KOL__NT_NEW(K, n, C, c, ...)                                                               \
    KOL__CLAIM(n, C, c, __VA_ARGS__)                                                               \
    static kol__c_##C C##_##c(JNIEnv *env KOL__EACH(KOL__C_PARAM, __VA_ARGS__));                   \
    static jlong C##_##c##__made(JNIEnv *env KOL__EACH(KOL__C_PARAM, __VA_ARGS__))                 \
    {                                                                                              \
        jlong made = (jlong)(intptr_t)C##_##c(env KOL__EACH(KOL__PASS, __VA_ARGS__));              \
        if (KOL__UNLIKELY(made == 0)) {                                                            \
            kol__creator_failed(env, #C "." #c);                                                   \
        }                                                                                          \
        KOL__MADE(C, made)                                                                         \
        return made;                                                                               \
    }                                                                                              \
    KOL__STATIC_TRAMPOLINES(C, jlong, c##__made, __VA_ARGS__)
#define KOL__NT_DES(K, n, C, c)                                                                    \
    static void C##_##c(kol__c_##C self);                                                          \
    static void C##_##c##__free(void *self)                                                        \
    {                                                                                              \
        KOL__UNMADE(self)                                                                          \
        C##_##c((kol__c_##C)self);                                                                 \
    }
#define KOL__NT_END(K, n, C, c)                                                                    \
    static void C##_##c(kol__c_##C self);                                                          \
    static void C##_##c##__free(void *self)                                                        \
    {                                                                                              \
        C##_##c((kol__c_##C)self);                                                                 \
    }

/* ---- the pass that fills the table ---- */
#define KOL__ANY(f) ((kol__function)(f))
#define KOL__RECORD_NATIVE(letter, C, R, c, LEAF, ...)                                             \
    {letter,                                                                                       \
     KOL__FIRST(__VA_ARGS__),                                                                      \
     KOL__COUNT(__VA_ARGS__),                                                                      \
     KOL__ANY(C##_##c##__woven),                                                                   \
     KOL__ANY(C##_##c##__plain),                                                                   \
     LEAF,                                                                                         \
     {kol__dw_##R KOL__EACH(KOL__WOVEN_DESC, __VA_ARGS__)},                                        \
     {kol__d_##R KOL__EACH(KOL__DESC, __VA_ARGS__)}},
#define KOL__NR_MET(K, n, C, R, c, ...) KOL__RECORD_NATIVE('M', C, R, c, NULL, __VA_ARGS__)
#define KOL__NR_LEA(K, n, C, R, c, ...)                                                            \
    KOL__RECORD_NATIVE('L', C, R, c, KOL__ANY(C##_##c##__leaf), __VA_ARGS__)
#define KOL__NR_STA(K, n, C, R, c, ...) KOL__RECORD_NATIVE('S', C, R, c, NULL, __VA_ARGS__)
#define KOL__NR_NEW(K, n, C, c, ...) KOL__RECORD_NATIVE('N', C, jlong, c##__made, NULL, __VA_ARGS__)
#define KOL__NR_DES(K, n, C, c) {'D', #c, 0, KOL__ANY(C##_##c##__free), NULL, NULL, {NULL}, {NULL}},
#define KOL__NR_END(K, n, C, c) {'E', #c, 0, KOL__ANY(C##_##c##__free), NULL, NULL, {NULL}, {NULL}},

#define KOL__NT(C, K, ...) KOL__PASSED(NT, KOL__K_##K, C, __VA_ARGS__)
#define KOL__NR(C, K, ...) KOL__PASSED(NR, KOL__K_##K, C, __VA_ARGS__)

#endif
