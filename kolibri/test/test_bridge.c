/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bridge.h: static bridges that cost one call, exceptions that come back as the same object, the
 * end of the stack, handles that outlive their use and are never confused. Upcalls, which a VM has
 * from Java 22 on, are tested from Java (lib_bridge.c).
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>
#include <pthread.h>
#include <stdio.h>

KOL_HANDLE(Listener, "io/example/Listener", java_lang_Object)
#define LISTENER(X, C)                                                                             \
    X(C, B2, onData, "onData", jint, jint)                                                         \
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
    CHECK_INT(Listener_onData__mode(), KOL_BRIDGE_JNI);
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

/* Goes down the stack until a bridge finds too little room, and calls one there. What comes back
 * goes through the frame, so that no compiler makes a loop of it. */
static int call_below(JNIEnv *env, jint handle, int depth)
{
    volatile int used[1024];
    if (kol__bridge_room() > 0 && depth < 10000) {
        used[depth % 1024] = call_below(env, handle, depth + 1);
        return used[depth % 1024];
    }
    jni_spy_arm(env);
    jint result = Listener_onData(env, handle, 8);
    jni_spy_disarm();
    return result;
}

struct diver {
    jint handle;
    int room_above;
    int result;
    char calls[128];
    JavaVM *vm;
};

static void *dive(void *user)
{
    struct diver *diver = user;
    void *env = NULL;
    if ((*diver->vm)->AttachCurrentThread(diver->vm, &env, NULL) == JNI_OK) {
        diver->room_above = kol__bridge_room();
        diver->result = call_below(env, diver->handle, 0);
        snprintf(diver->calls, sizeof diver->calls, "%s", jni_spy_text());
        (*diver->vm)->DetachCurrentThread(diver->vm);
    }
    return NULL;
}

JVM_TEST_RAW(with_little_stack_an_exception_is_asked_for)
{
    struct diver diver = {.handle = load(env), .vm = jvm_vm()};
    CHECK_INT(Listener_onData(env, diver.handle, 7), 1);
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE_INT(pthread_attr_init(&attributes), 0);
    REQUIRE_INT(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
    REQUIRE_INT(pthread_create(&thread, &attributes, dive, &diver), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    CHECK_INT(diver.room_above, 1);
    CHECK_INT(diver.result, 2);
    CHECK_STR(diver.calls, "CallStaticIntMethodA 1, ExceptionCheck 1");
}

JVM_TEST_RAW(the_first_thread_does_not_know_its_stack)
{
    REQUIRE(load(env) != 0);
    CHECK_INT(kol__bridge_room(), 0);
}

JVM_TEST_RAW(what_is_pending_is_what_a_bridge_threw)
{
    REQUIRE(load(env) != 0);
    CHECK_INT(kol__bridge_checked(env, 5), 5);
    kol_throw_new(env, "java/lang/StackOverflowError", "at the end");
    CHECK_INT(kol__bridge_checked(env, 0), -1);
    CHECK_INT(kol_bridge_throw(env), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(kol_bridge_throw(env), KOL_NONE);
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
