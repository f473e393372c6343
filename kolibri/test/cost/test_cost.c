/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What things cost, counted in JNI calls, at level 1: the claims that a stopwatch is too coarse
 * for.
 *
 * Everything is warmed up before it is counted.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdlib.h>

KOL_HANDLE(ArrayList, "java/util/ArrayList", java_lang_Object)
#define ARRAY_LIST(X, C)                                                                           \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, F0, nothrow, jint, size, "size")                                                          \
    X(C, F0, throws, jint, size_checked, "size")                                                   \
    X(C, F1, throws, jboolean, add, "add", java_lang_Object)
KOL_MEMBERS(ArrayList, ARRAY_LIST)
KOL_MEMBERS_DEFINE(ArrayList, ARRAY_LIST)
KOL_HANDLE(Members, "io/example/Members", java_lang_Object)
#define MEMBERS(X, C)                                                                              \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, G, jint, i, "i")                                                                          \
    X(C, SG, jint, made, "made")                                                                   \
    X(C, SF2, nothrow, jint, add, "add", jint, jint)
KOL_MEMBERS(Members, MEMBERS)
KOL_MEMBERS_DEFINE(Members, MEMBERS)

struct counter {
    int n;
};
KOL_NATIVE(Counter, "io/example/Counter", struct counter)
KOL_NATIVE(Woven, "io/example/Woven", struct counter)
#define ROWS(X, C)                                                                                 \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, addFrom, "addFrom", C)
KOL_NATIVES(Counter, ROWS)
KOL_NATIVES(Woven, ROWS)

#define BODIES(T)                                                                                  \
    static struct counter *T##_create(JNIEnv *env, jint n)                                         \
    {                                                                                              \
        static struct counter counters[8];                                                         \
        (void)env;                                                                                 \
        counters[n].n = n;                                                                         \
        return &counters[n];                                                                       \
    }                                                                                              \
    static jint T##_add(JNIEnv *env, struct counter *self, jint by)                                \
    {                                                                                              \
        (void)env;                                                                                 \
        return self->n += by;                                                                      \
    }                                                                                              \
    static jint T##_addFrom(JNIEnv *env, struct counter *self, struct counter *other)              \
    {                                                                                              \
        return T##_add(env, self, other->n);                                                       \
    }
BODIES(Counter)
BODIES(Woven)

/* The Java side of a call, entered from C: one call of ours, then what the native does. */
KOL_HANDLE(CounterObject, "io/example/Counter", java_lang_Object)
KOL_HANDLE(WovenObject, "io/example/Woven", java_lang_Object)
#define OBJECT(X, C)                                                                               \
    X(C, N1, throws, make, "<init>", jint)                                                         \
    X(C, F1, nothrow, jint, add, "add", jint)                                                      \
    X(C, F1, nothrow, jint, addFrom, "addFrom", C)
#define COUNTER_OBJECT(X, C) OBJECT(X, C)
#define WOVEN_OBJECT(X, C) OBJECT(X, C)
KOL_MEMBERS(CounterObject, COUNTER_OBJECT)
KOL_MEMBERS_DEFINE(CounterObject, COUNTER_OBJECT)
KOL_MEMBERS(WovenObject, WOVEN_OBJECT)
KOL_MEMBERS_DEFINE(WovenObject, WOVEN_OBJECT)

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {
        &ARRAY_LIST__members, &MEMBERS__members, &COUNTER_OBJECT__members, &WOVEN_OBJECT__members};
    REQUIRE_INT(kol_natives_register(env, &Counter__natives, NULL, 0), KOL_OK);
    REQUIRE_INT(kol_natives_register(env, &Woven__natives, NULL, 0), KOL_OK);
    REQUIRE_INT(kol_class_load(env, tables, 4, NULL, 0), KOL_OK);
}

JVM_TEST_RAW(size_is_one_call_and_no_check)
{
    ArrayList list;
    jint size = 0;
    load(env);
    REQUIRE_INT(ArrayList_make(env, &list), KOL_OK);
    jni_spy_arm(env);
    CHECK_INT(ArrayList_size(env, list), 0);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1");
    jni_spy_arm(env);
    CHECK_INT(ArrayList_size_checked(env, list, &size), KOL_OK);
    CHECK_INT(jni_spy_count(), 2);
    CHECK_INT(jni_spy_count_of("ExceptionCheck"), 1);
    jni_spy_arm(env);
    CHECK_INT(ArrayList_size_checked__unchecked(env, list), 0);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1");
    jni_spy_disarm();
}

JVM_TEST_RAW(fields_statics_constructors)
{
    Members m;
    load(env);
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    jni_spy_arm(env);
    CHECK_INT(Members_i(env, m), 7);
    CHECK_STR(jni_spy_text(), "GetIntField 1");
    jni_spy_arm(env);
    Members_i__set(env, m, 8);
    CHECK_STR(jni_spy_text(), "SetIntField 1");
    jni_spy_arm(env);
    CHECK_INT(Members_made(env), 1);
    CHECK_STR(jni_spy_text(), "GetStaticIntField 1");
    jni_spy_arm(env);
    CHECK_INT(Members_add(env, 1, 2), 3);
    CHECK_STR(jni_spy_text(), "CallStaticIntMethodA 1");
    jni_spy_arm(env);
    CHECK(!Members__is_null(Members_make__unchecked(env)));
    CHECK_STR(jni_spy_text(), "NewObjectA 1");
    jni_spy_disarm();
}

JVM_TEST_RAW(globals_are_one_call_each)
{
    Members m;
    load(env);
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    jni_spy_arm(env);
    Members__global global = Members__keep(env, m);
    Members__drop(env, &global);
    CHECK_STR(jni_spy_text(), "NewGlobalRef 1, DeleteGlobalRef 1");
    jni_spy_disarm();
}

JVM_TEST_RAW(a_woven_call_is_one_transition_and_no_further_call)
{
    WovenObject a;
    WovenObject b;
    load(env);
    REQUIRE_INT(WovenObject_make(env, 1, &a), KOL_OK);
    REQUIRE_INT(WovenObject_make(env, 2, &b), KOL_OK);
    CHECK_INT(WovenObject_add(env, a, 0), 1);
    CHECK_INT(WovenObject_addFrom(env, a, b), 3);
    jni_spy_arm(env);
    CHECK_INT(WovenObject_add(env, a, 1), 4);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1");
    jni_spy_arm(env);
    CHECK_INT(WovenObject_addFrom(env, a, b), 6);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1");
    jni_spy_disarm();
}

JVM_TEST_RAW(an_unwoven_call_reads_one_field_an_object)
{
    CounterObject a;
    CounterObject b;
    load(env);
    REQUIRE_INT(CounterObject_make(env, 1, &a), KOL_OK);
    REQUIRE_INT(CounterObject_make(env, 2, &b), KOL_OK);
    CHECK_INT(CounterObject_addFrom(env, a, b), 3);
    jni_spy_arm(env);
    CHECK_INT(CounterObject_add(env, a, 1), 4);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1, GetLongField 1");
    jni_spy_arm(env);
    CHECK_INT(CounterObject_addFrom(env, a, b), 6);
    CHECK_STR(jni_spy_text(), "CallIntMethodA 1, GetLongField 2");
    jni_spy_disarm();
}
