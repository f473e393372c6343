/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bridge.h: static bridges that cost one call, exceptions that come back as the same object,
 * handles that outlive their use and are never confused.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

KOL_HANDLE(Listener, "io/example/Listener", java_lang_Object)
#define LISTENER(X, C)                                                                             \
    X(C, SF2, nothrow, jint, onData, "onData", jint, jint)                                         \
    X(C, SF0, throws, java_lang_Object, makeList, "makeList")
KOL_MEMBERS(Listener, LISTENER)
KOL_MEMBERS_DEFINE(Listener, LISTENER)

static jint load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&LISTENER__members};
    java_lang_Object list;
    jint handle = 0;
    REQUIRE_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_OK);
    REQUIRE_INT(Listener_makeList(env, &list), KOL_OK);
    REQUIRE_INT(kol_handle_new(env, list.raw, &handle), KOL_OK);
    CHECK(handle != 0);
    java_lang_Object__forget(env, list);
    return handle;
}

JVM_TEST_RAW(a_bridge_is_one_call)
{
    jint handle = load(env);
    CHECK_INT(Listener_onData(env, handle, 5), 1);
    jni_spy_arm(env);
    CHECK_INT(Listener_onData(env, handle, 6), 2);
    jni_spy_disarm();
    CHECK_STR(jni_spy_text(), "CallStaticIntMethodA 1");
    CHECK_INT(kol_bridge_throw(env), KOL_NONE);
}

JVM_TEST_RAW(what_a_bridge_caught_is_thrown_again)
{
    char text[128];
    jint handle = load(env);
    CHECK_INT(Listener_onData(env, handle, -1), -1);
    CHECK(!(*env)->ExceptionCheck(env));
    CHECK_INT(kol_bridge_throw(env), KOL_EJAVA);
    kol_throwable_text(env, kol_take(env), text, sizeof text);
    CHECK_STR(text, "java.lang.IllegalArgumentException: negative");
    CHECK_INT(kol_bridge_throw(env), KOL_NONE);
    CHECK_INT(Listener_onData(env, 12345, 1), -1);
    CHECK_INT(kol_bridge_throw(env), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
}

JVM_TEST(handles_are_never_confused)
{
    enum { COUNT = 300 };
    jint handles[COUNT];
    jobject object = NULL;
    jint first = load(env);
    REQUIRE_INT(kol_handle_get(env, first, &object), KOL_OK);
    for (int i = 0; i < COUNT; i++) {
        REQUIRE_INT(kol_handle_new(env, object, &handles[i]), KOL_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        jobject same = NULL;
        jint next = 0;
        REQUIRE_INT(kol_handle_drop(env, handles[i]), KOL_OK);
        REQUIRE_INT(kol_handle_drop(env, handles[i]), KOL_OK);
        REQUIRE_INT(kol_handle_new(env, object, &next), KOL_OK);
        REQUIRE(next != handles[i]);
        REQUIRE_INT(kol_handle_get(env, handles[i], &same), KOL_GONE);
        REQUIRE(same == NULL);
        REQUIRE_INT(kol_handle_get(env, next, &same), KOL_OK);
        (*env)->DeleteLocalRef(env, same);
    }
    CHECK_INT(kol_handle_get(env, 0, &object), KOL_GONE);
    CHECK_INT(kol_handle_get(env, -1, &object), KOL_GONE);
    CHECK_INT(kol_handle_new(env, NULL, &first), KOL_ENULL);
}
