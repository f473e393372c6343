/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The macros that turn one row of a member table into a typed function, its id and its record.
 * Users read class.h; this room is for those who change what a row becomes.
 *
 * How a row is read. `X(C, F2, throws, jint, put, "put", A, B)` arrives as KOL__FN(C, F2, …).
 * KOL__K_F2 (class_words.h) says FUN, F, 2: the shape FUN picks KOL__FN_FUN, the word `throws`
 * picks KOL__FUN_throws, which writes the functions; the kind F picks the receiver and the JNI
 * call. What follows the Java name are type tokens (handle_gen.h), walked by KOL__EACH.
 *
 * Generated calls use the A forms of JNI only: the fastest or tied everywhere.
 */
#ifndef KOLIBRI_CLASS_GEN_H
#define KOLIBRI_CLASS_GEN_H

#include <kolibri/class_words.h>
#include <kolibri/handle_gen.h>

/* A resolved member. Filled once by kol_class_load, read without a guard by every call. */
struct kol__slot {
    union {
        jmethodID method;
        jfieldID field;
        void *any;
    } id;
    jclass cls;
    void (*stub)(void); /* bridges: the upcall stub, or null */
};

struct kol__row {
    struct kol__slot *slot;
    const char *name;
    char kind; /* F method, S static method, B bridge, G field, H static field */
    char optional;
    short count;
    const char *types[9]; /* result, then the parameters */
};

struct kol_members {
    const char *descriptor;
    const struct kol__row *rows;
    int count;
};

/* ---- walking a row's types: KOL__EACH(M, "javaName", A, B) is M(1, A) M(2, B) ---- */
#define KOL__PICK9(j, a1, a2, a3, a4, a5, a6, a7, a8, n, ...) n
#define KOL__COUNT(...) KOL__PICK9(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define KOL__EACH_0(M, j)
#define KOL__EACH_1(M, j, A) M(1, A)
#define KOL__EACH_2(M, j, A, B) M(1, A) M(2, B)
#define KOL__EACH_3(M, j, A, B, C) M(1, A) M(2, B) M(3, C)
#define KOL__EACH_4(M, j, A, B, C, D) M(1, A) M(2, B) M(3, C) M(4, D)
#define KOL__EACH_5(M, j, A, B, C, D, E) M(1, A) M(2, B) M(3, C) M(4, D) M(5, E)
#define KOL__EACH_6(M, j, A, B, C, D, E, F) M(1, A) M(2, B) M(3, C) M(4, D) M(5, E) M(6, F)
#define KOL__EACH_7(M, j, A, B, C, D, E, F, G)                                                     \
    M(1, A) M(2, B) M(3, C) M(4, D) M(5, E) M(6, F) M(7, G)
#define KOL__EACH_8(M, j, A, B, C, D, E, F, G, H)                                                  \
    M(1, A) M(2, B) M(3, C) M(4, D) M(5, E) M(6, F) M(7, G) M(8, H)
#define KOL__EACH_N(n, M, ...) KOL__EACH_##n(M, __VA_ARGS__)
#define KOL__EACH_COUNTED(n, M, ...) KOL__EACH_N(n, M, __VA_ARGS__)
#define KOL__EACH(M, ...) KOL__EACH_COUNTED(KOL__COUNT(__VA_ARGS__), M, __VA_ARGS__)
#define KOL__FIRST_OF(a, ...) a
#define KOL__FIRST(...) KOL__FIRST_OF(__VA_ARGS__, ~)
#define KOL__CLAIM(n, C, c, ...)                                                                   \
    KOL__STATIC_ASSERT((n) < 0 || (n) == KOL__COUNT(__VA_ARGS__),                                  \
                       #C "." #c ": the row's number is not its number of types");

#define KOL__PARAM(i, A) , A a##i
#define KOL__VALUE(i, A) kol__v_##A(a##i),
#define KOL__PASS(i, A) , a##i
#define KOL__DESC(i, A) , kol__d_##A

/* ---- rows: what the kind of call decides ---- */
#define KOL__SELF_PARAM_F(C) , C self
#define KOL__SELF_PARAM_VF(C) , C self
#define KOL__SELF_PARAM_SF(C)
#define KOL__SELF_PARAM_N(C)
#define KOL__SELF_PARAM_G(C) , C self
#define KOL__SELF_PARAM_SG(C)
#define KOL__SELF_PASS_F , self
#define KOL__SELF_PASS_VF , self
#define KOL__SELF_PASS_SF
#define KOL__SELF_PASS_N
#define KOL__SELF_F self.raw
#define KOL__SELF_VF self.raw
#define KOL__SELF_SF NULL
#define KOL__SELF_N NULL
#define KOL__SELF_G self.raw
#define KOL__SELF_SG NULL
#define KOL__LETTER_F 'F'
#define KOL__LETTER_VF 'F'
#define KOL__LETTER_SF 'S'
#define KOL__LETTER_N 'F'
#define KOL__LETTER_G 'G'
#define KOL__LETTER_SG 'H'
#define KOL__OPTIONAL_nothrow 0
#define KOL__OPTIONAL_throws 0
#define KOL__OPTIONAL_optional 1

/* ---- rows: the checks of each level. `back` is what the function returns when refused ---- */
#if KOL_CHECK >= 3
#define KOL__CHECK_ARG(i, A) || kol__check_##A(env, a##i, kol__where)
#define KOL__CHECK_ARGS(...) (0 KOL__EACH(KOL__CHECK_ARG, __VA_ARGS__))
#define KOL__CHECK_SELF_F(C) kol__check_##C(env, self, kol__where)
#else
#define KOL__CHECK_ARGS(...) 0
#define KOL__CHECK_SELF_F(C) 0
#endif
#define KOL__CHECK_SELF_VF(C) KOL__CHECK_SELF_F(C)
#define KOL__CHECK_SELF_G(C) KOL__CHECK_SELF_F(C)
#define KOL__CHECK_SELF_SF(C) 0
#define KOL__CHECK_SELF_N(C) 0
#define KOL__CHECK_SELF_SG(C) 0
#if KOL_CHECK >= 2
#define KOL__ENTER(K, C, c, back, ...)                                                             \
    static const char kol__where[] = #C "." #c;                                                    \
    if (kol__enter(env, kol__where) || KOL__CHECK_SELF_##K(C) || KOL__CHECK_ARGS(__VA_ARGS__)) {   \
        return back;                                                                               \
    }
#define KOL__PROMISE(C, c)                                                                         \
    if (kol__status(env)) {                                                                        \
        kol__broken_promise(env, #C "." #c);                                                       \
    }
#else
#define KOL__ENTER(K, C, c, back, ...)
#define KOL__PROMISE(C, c)
#endif
#if KOL_CHECK >= 1
#define KOL__CHECKED kol__status(env)
#define KOL__RECEIVER_F(C, c, back)                                                                \
    if (KOL__UNLIKELY(self.raw == NULL)) {                                                         \
        kol__refuse_null(env, #C "." #c);                                                          \
        return back;                                                                               \
    }
#else
#define KOL__CHECKED KOL_OK
#define KOL__RECEIVER_F(C, c, back)
#endif
#define KOL__RECEIVER_VF(C, c, back) KOL__RECEIVER_F(C, c, back)
#define KOL__RECEIVER_G(C, c, back) KOL__RECEIVER_F(C, c, back)
#define KOL__RECEIVER_SF(C, c, back)
#define KOL__RECEIVER_N(C, c, back)
#define KOL__RECEIVER_SG(C, c, back)

/* ---- rows: the functions ---- */
#define KOL__PARAMS(K, C, ...) JNIEnv *env KOL__SELF_PARAM_##K(C) KOL__EACH(KOL__PARAM, __VA_ARGS__)
#define KOL__ARGUMENTS(...)                                                                        \
    const jvalue kol__a[] KOL__UNUSED = {KOL__EACH(KOL__VALUE, __VA_ARGS__) kol__v_end()};
#define KOL__CALL(K, C, R, c, ...)                                                                 \
    kol__##K##call_##R(env, KOL__SELF_##K, kol__s_##C##_##c.cls, kol__s_##C##_##c.id.method,       \
                       KOL__COUNT(__VA_ARGS__) ? kol__a : NULL)
#define KOL__AGAIN(K, C, c, ...)                                                                   \
    C##_##c##__unchecked(env KOL__SELF_PASS_##K KOL__EACH(KOL__PASS, __VA_ARGS__))

#define KOL__FUN_nothrow(K, C, R, c, ...)                                                          \
    KOL__INLINE R C##_##c(KOL__PARAMS(K, C, __VA_ARGS__))                                          \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, kol__wrap_##R(0))                                                  \
            KOL__ENTER(K, C, c, kol__wrap_##R(0), __VA_ARGS__) R kol__r =                          \
                KOL__CALL(K, C, R, c, __VA_ARGS__);                                                \
        KOL__PROMISE(C, c)                                                                         \
        return kol__r;                                                                             \
    }
#define KOL__REFUSED(R, status) (*out = kol__wrap_##R(0), (status))
#define KOL__FUN_throws(K, C, R, c, ...)                                                           \
    KOL__INLINE R C##_##c##__unchecked(KOL__PARAMS(K, C, __VA_ARGS__))                             \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, kol__wrap_##R(0)) KOL__ENTER(                                      \
            K, C, c, kol__wrap_##R(0), __VA_ARGS__) return KOL__CALL(K, C, R, c, __VA_ARGS__);     \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status C##_##c(KOL__PARAMS(K, C, __VA_ARGS__), R *out)               \
    {                                                                                              \
        KOL__RECEIVER_##K(C, c, KOL__REFUSED(R, KOL_EJAVA))                                        \
            KOL__ENTER(K, C, c, KOL__REFUSED(R, KOL_EMISUSE), __VA_ARGS__) *out =                  \
                KOL__AGAIN(K, C, c, __VA_ARGS__);                                                  \
        return KOL__CHECKED;                                                                       \
    }
#define KOL__FUN_optional(K, C, R, c, ...)                                                         \
    KOL__INLINE int C##_##c##__present(void)                                                       \
    {                                                                                              \
        return kol__s_##C##_##c.id.any != NULL;                                                    \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status C##_##c(KOL__PARAMS(K, C, __VA_ARGS__), R *out)               \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, KOL__REFUSED(R, KOL_EJAVA)) KOL__ENTER(                            \
            K, C, c, KOL__REFUSED(R, KOL_EMISUSE), __VA_ARGS__) if (!C##_##c##__present())         \
        {                                                                                          \
            return KOL__REFUSED(R, KOL_EABSENT);                                                   \
        }                                                                                          \
        *out = KOL__CALL(K, C, R, c, __VA_ARGS__);                                                 \
        return kol__status(env);                                                                   \
    }
#define KOL__PRO_nothrow(K, C, c, ...)                                                             \
    KOL__INLINE void C##_##c(KOL__PARAMS(K, C, __VA_ARGS__))                                       \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, ) KOL__ENTER(K, C, c, , __VA_ARGS__)                               \
            KOL__CALL(K, C, void, c, __VA_ARGS__);                                                 \
        KOL__PROMISE(C, c)                                                                         \
    }
#define KOL__PRO_throws(K, C, c, ...)                                                              \
    KOL__INLINE void C##_##c##__unchecked(KOL__PARAMS(K, C, __VA_ARGS__))                          \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, ) KOL__ENTER(K, C, c, , __VA_ARGS__)                               \
            KOL__CALL(K, C, void, c, __VA_ARGS__);                                                 \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status C##_##c(KOL__PARAMS(K, C, __VA_ARGS__))                       \
    {                                                                                              \
        KOL__RECEIVER_##K(C, c, KOL_EJAVA) KOL__ENTER(K, C, c, KOL_EMISUSE, __VA_ARGS__)           \
            KOL__AGAIN(K, C, c, __VA_ARGS__);                                                      \
        return KOL__CHECKED;                                                                       \
    }
#define KOL__PRO_optional(K, C, c, ...)                                                            \
    KOL__INLINE int C##_##c##__present(void)                                                       \
    {                                                                                              \
        return kol__s_##C##_##c.id.any != NULL;                                                    \
    }                                                                                              \
    KOL__MUST KOL__INLINE kol_status C##_##c(KOL__PARAMS(K, C, __VA_ARGS__))                       \
    {                                                                                              \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        KOL__RECEIVER_##K(C, c, KOL_EJAVA)                                                         \
            KOL__ENTER(K, C, c, KOL_EMISUSE, __VA_ARGS__) if (!C##_##c##__present())               \
        {                                                                                          \
            return KOL_EABSENT;                                                                    \
        }                                                                                          \
        KOL__CALL(K, C, void, c, __VA_ARGS__);                                                     \
        return kol__status(env);                                                                   \
    }
#define KOL__FIELD(K, C, T, c)                                                                     \
    KOL__INLINE T C##_##c(JNIEnv *env KOL__SELF_PARAM_##K(C))                                      \
    {                                                                                              \
        KOL__RECEIVER_##K(C, c, kol__wrap_##T(0))                                                  \
            KOL__ENTER(K, C, c, kol__wrap_##T(0), "") return kol__##K##get_##T(                    \
                env, KOL__SELF_##K, kol__s_##C##_##c.cls, kol__s_##C##_##c.id.field);              \
    }                                                                                              \
    KOL__INLINE void C##_##c##__set(JNIEnv *env KOL__SELF_PARAM_##K(C), T a1)                      \
    {                                                                                              \
        KOL__RECEIVER_##K(C, c, ) KOL__ENTER(K, C, c, , "", T) kol__##K##set_##T(                  \
            env, KOL__SELF_##K, kol__s_##C##_##c.cls, kol__s_##C##_##c.id.field, a1);              \
    }

/* ---- rows: one dispatch by shape for each of the three passes over a list ---- */
#define KOL__WORD(w, C, c)                                                                         \
    KOL__STATIC_ASSERT(KOL__OPTIONAL_##w >= 0, #C "." #c ": nothrow, throws or optional");
#define KOL__SLOT_OF(C, c) extern KOL__HIDDEN struct kol__slot kol__s_##C##_##c;
#define KOL__FN_FUN(K, n, C, w, R, c, ...)                                                         \
    KOL__WORD(w, C, c)                                                                             \
    KOL__CLAIM(n, C, c, __VA_ARGS__) KOL__SLOT_OF(C, c) KOL__FUN_##w(K, C, R, c, __VA_ARGS__)
#define KOL__FN_PRO(K, n, C, w, c, ...)                                                            \
    KOL__WORD(w, C, c)                                                                             \
    KOL__CLAIM(n, C, c, __VA_ARGS__) KOL__SLOT_OF(C, c) KOL__PRO_##w(K, C, c, __VA_ARGS__)
#define KOL__FN_NEW(K, n, C, w, c, ...)                                                            \
    KOL__WORD(w, C, c)                                                                             \
    KOL__CLAIM(n, C, c, __VA_ARGS__) KOL__SLOT_OF(C, c) KOL__FUN_##w(K, C, C, c, __VA_ARGS__)
#define KOL__FN_FLD(K, n, C, T, c, ...) KOL__SLOT_OF(C, c) KOL__FIELD(K, C, T, c)

#define KOL__SLOT_FUN(K, n, C, w, R, c, ...) struct kol__slot kol__s_##C##_##c;
#define KOL__SLOT_PRO(K, n, C, w, c, ...) struct kol__slot kol__s_##C##_##c;
#define KOL__SLOT_NEW(K, n, C, w, c, ...) struct kol__slot kol__s_##C##_##c;
#define KOL__SLOT_FLD(K, n, C, T, c, ...) struct kol__slot kol__s_##C##_##c;

#define KOL__RECORD(K, C, optional, R, c, ...)                                                     \
    {&kol__s_##C##_##c, KOL__FIRST(__VA_ARGS__), KOL__LETTER_##K,                                  \
     optional,          KOL__COUNT(__VA_ARGS__), {kol__d_##R KOL__EACH(KOL__DESC, __VA_ARGS__)}},
#define KOL__ROW_FUN(K, n, C, w, R, c, ...) KOL__RECORD(K, C, KOL__OPTIONAL_##w, R, c, __VA_ARGS__)
#define KOL__ROW_PRO(K, n, C, w, c, ...) KOL__RECORD(K, C, KOL__OPTIONAL_##w, void, c, __VA_ARGS__)
#define KOL__ROW_NEW(K, n, C, w, c, ...) KOL__RECORD(K, C, KOL__OPTIONAL_##w, void, c, __VA_ARGS__)
#define KOL__ROW_FLD(K, n, C, T, c, ...) KOL__RECORD(K, C, 0, T, c, __VA_ARGS__)

#define KOL__SHAPED(pass, shape, K, n, C, ...) KOL__##pass##_##shape(K, n, C, __VA_ARGS__)
#define KOL__PASSED(...) KOL__SHAPED(__VA_ARGS__)
#define KOL__FN(C, K, ...) KOL__PASSED(FN, KOL__K_##K, C, __VA_ARGS__)
#define KOL__SLOT(C, K, ...) KOL__PASSED(SLOT, KOL__K_##K, C, __VA_ARGS__)
#define KOL__ROW(C, K, ...) KOL__PASSED(ROW, KOL__K_##K, C, __VA_ARGS__)

#endif
