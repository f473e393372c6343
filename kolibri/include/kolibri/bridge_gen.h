/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a row `X(C, B2, onData, "onData", jint, jint)` of a member table becomes: a static bridge.
 * Users read bridge.h; the walk over a table is class_gen.h.
 *
 * A bridge is a static Java method of primitives that catches everything and returns an int. The
 * row's slot holds the method's id and, where Java allowed it and the VM has upcalls, the address
 * of a stub of the same C signature. The function calls the stub while kol__bridge_room says that
 * an overflow of the stack cannot happen in it, since that would end the process, and goes through
 * JNI otherwise.
 */
#ifndef KOLIBRI_BRIDGE_GEN_H
#define KOLIBRI_BRIDGE_GEN_H

#include <kolibri/class_gen.h>

/* How a bridge is called. */
typedef enum kol_bridge_mode { KOL_BRIDGE_JNI, KOL_BRIDGE_FFM } kol_bridge_mode;

KOL__C_BEGIN

/*
 * Whether this thread has stack left for a bridge: above 0 enough, below 0 too little, 0 not known,
 * which is so on the first thread of a process and where the system does not tell.
 */
int kol__bridge_room(void);

/* What a bridge returned near the end of the stack: -1 if an exception is pending. */
jint kol__bridge_checked(JNIEnv *env, jint result);

KOL__C_END

/* The C types and the arguments of a stub; kol__p_T exists for primitives only. */
#define KOL__TYPES_0(j) void
#define KOL__TYPES_1(j, A) kol__p_##A a1
#define KOL__TYPES_2(j, A, B) KOL__TYPES_1(j, A), kol__p_##B a2
#define KOL__TYPES_3(j, A, B, C) KOL__TYPES_2(j, A, B), kol__p_##C a3
#define KOL__TYPES_4(j, A, B, C, D) KOL__TYPES_3(j, A, B, C), kol__p_##D a4
#define KOL__TYPES_5(j, A, B, C, D, E) KOL__TYPES_4(j, A, B, C, D), kol__p_##E a5
#define KOL__TYPES_6(j, A, B, C, D, E, F) KOL__TYPES_5(j, A, B, C, D, E), kol__p_##F a6
#define KOL__TYPES_7(j, A, B, C, D, E, F, G) KOL__TYPES_6(j, A, B, C, D, E, F), kol__p_##G a7
#define KOL__TYPES_8(j, A, B, C, D, E, F, G, H) KOL__TYPES_7(j, A, B, C, D, E, F, G), kol__p_##H a8
#define KOL__NAMES_0
#define KOL__NAMES_1 a1
#define KOL__NAMES_2 a1, a2
#define KOL__NAMES_3 a1, a2, a3
#define KOL__NAMES_4 a1, a2, a3, a4
#define KOL__NAMES_5 a1, a2, a3, a4, a5
#define KOL__NAMES_6 a1, a2, a3, a4, a5, a6
#define KOL__NAMES_7 a1, a2, a3, a4, a5, a6, a7
#define KOL__NAMES_8 a1, a2, a3, a4, a5, a6, a7, a8
#define KOL__STUB_N(n, C, c, ...) typedef jint (*kol__b_##C##_##c)(KOL__TYPES_##n(__VA_ARGS__));
#define KOL__STUB_COUNTED(n, C, c, ...) KOL__STUB_N(n, C, c, __VA_ARGS__)
#define KOL__NAMES_N(n) KOL__NAMES_##n
#define KOL__NAMES_COUNTED(n) KOL__NAMES_N(n)

#define KOL__LETTER_BF 'B'
#define KOL__FN_BRI(K, n, C, c, ...)                                                               \
    KOL__CLAIM(n, C, c, __VA_ARGS__)                                                               \
    KOL__SLOT_OF(C, c)                                                                             \
    KOL__STUB_COUNTED(KOL__COUNT(__VA_ARGS__), C, c, __VA_ARGS__)                                  \
    KOL__INLINE kol_bridge_mode C##_##c##__mode(void)                                              \
    {                                                                                              \
        return kol__s_##C##_##c.stub ? KOL_BRIDGE_FFM : KOL_BRIDGE_JNI;                            \
    }                                                                                              \
    KOL__INLINE jint C##_##c(KOL__PARAMS(SF, C, __VA_ARGS__))                                      \
    {                                                                                              \
        KOL__ENTER(SF, C, c, -1, __VA_ARGS__)                                                      \
        kol__b_##C##_##c kol__stub = (kol__b_##C##_##c)kol__s_##C##_##c.stub;                      \
        int kol__room = kol__bridge_room();                                                        \
        if (kol__room > 0 && kol__stub) {                                                          \
            return kol__stub(KOL__NAMES_COUNTED(KOL__COUNT(__VA_ARGS__)));                         \
        }                                                                                          \
        KOL__ARGUMENTS(__VA_ARGS__)                                                                \
        jint kol__r = KOL__CALL(SF, C, jint, c, __VA_ARGS__);                                      \
        return kol__room < 0 ? kol__bridge_checked(env, kol__r) : kol__r;                          \
    }
#define KOL__SLOT_BRI(K, n, C, c, ...) struct kol__slot kol__s_##C##_##c;
#define KOL__ROW_BRI(K, n, C, c, ...) KOL__RECORD(K, C, 0, jint, c, __VA_ARGS__)

#endif
