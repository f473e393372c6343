/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Globals and weak globals: made, failed, dropped on threads of every kind; local frames and their
 * survivor.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <pthread.h>

KOL_HANDLE(Members, "io/example/Members", java_lang_Object)
KOL_HANDLE(System, "java/lang/System", java_lang_Object)
#define MEMBERS(X, C)                                                                              \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, F0, throws, jint, overridden, "overridden")
KOL_MEMBERS(Members, MEMBERS)
KOL_MEMBERS_DEFINE(Members, MEMBERS)
#define SYSTEM(X, C) X(C, SP0, throws, gc, "gc")
KOL_MEMBERS(System, SYSTEM)
KOL_MEMBERS_DEFINE(System, SYSTEM)

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&MEMBERS__members, &SYSTEM__members};
    JNIEnv *same;
    REQUIRE_INT(kol_load(jvm_vm(), "io/example/Members", &same), KOL_OK);
    CHECK(same == env);
    REQUIRE_INT(kol_class_load(env, tables, 2, NULL, 0), KOL_OK);
}

static Members make(JNIEnv *env)
{
    Members made;
    REQUIRE_INT(Members_make(env, &made), KOL_OK);
    return made;
}

JVM_TEST(globals)
{
    jint one = 0;
    load(env);
    Members local = make(env);
    Members__global global = Members__keep(env, local);
    CHECK(global.raw != NULL);
    CHECK_INT((*env)->GetObjectRefType(env, global.raw), JNIGlobalRefType);
    Members__forget(env, local);
    REQUIRE_INT(System_gc(env), KOL_OK);
    REQUIRE_INT(Members_overridden(env, Members__of(global), &one), KOL_OK);
    CHECK_INT(one, 1);
    Members__drop(env, &global);
    CHECK(global.raw == NULL);
    Members__drop(env, &global);
    global = Members__keep(env, Members__null());
    CHECK(global.raw == NULL);
}

JVM_TEST_RAW(no_room_for_a_global_is_an_error_at_that_point)
{
    load(env);
    Members local = make(env);
    jni_spy_arm_throwing(env, 1);
    Members__global global = Members__keep(env, local);
    jni_spy_disarm();
    CHECK(global.raw == NULL);
    CHECK(kol_take(env) != NULL);
}

struct drop {
    Members__global global;
    int was_attached;
};

static void *drop_detached(void *user)
{
    struct drop *drop = user;
    drop->was_attached = kol_env() != NULL;
    Members__drop(NULL, &drop->global);
    drop->was_attached |= kol_env() != NULL;
    return NULL;
}

JVM_TEST(locals)
{
    load(env);
    Members first = make(env);
    Members second = Members__local(env, first);
    CHECK_INT((*env)->GetObjectRefType(env, second.raw), JNILocalRefType);
    CHECK(second.raw != first.raw && Members__same(env, first, second));
    Members__forget(env, first);
    Members__forget(env, second);
    CHECK(Members__is_null(Members__local(env, Members__null())));
}

JVM_TEST(a_global_may_be_dropped_on_a_thread_the_vm_does_not_know)
{
    pthread_t thread;
    Members__weak weak;
    Members again;
    load(env);
    Members local = make(env);
    struct drop drop = {Members__keep(env, local), 1};
    REQUIRE_INT(Members__keep_weak(env, local, &weak), KOL_OK);
    Members__forget(env, local);
    REQUIRE(pthread_create(&thread, NULL, drop_detached, &drop) == 0);
    pthread_join(thread, NULL);
    CHECK_INT(drop.was_attached, 0);
    REQUIRE_INT(System_gc(env), KOL_OK);
    CHECK_INT(Members__promote(env, weak, &again), KOL_GONE);
    Members__drop_weak(NULL, &weak);
}

JVM_TEST(weak_references_are_promoted_or_gone)
{
    Members__weak weak;
    Members again;
    jint one = 0;
    load(env);
    Members local = make(env);
    REQUIRE_INT(Members__keep_weak(env, local, &weak), KOL_OK);
    REQUIRE_INT(System_gc(env), KOL_OK);
    REQUIRE_INT(Members__promote(env, weak, &again), KOL_OK);
    CHECK_INT((*env)->GetObjectRefType(env, again.raw), JNILocalRefType);
    REQUIRE_INT(Members_overridden(env, again, &one), KOL_OK);
    Members__forget(env, again);
    Members__forget(env, local);
    REQUIRE_INT(System_gc(env), KOL_OK);
    CHECK_INT(Members__promote(env, weak, &again), KOL_GONE);
    CHECK(Members__is_null(again));
    Members__drop_weak(env, &weak);
    CHECK_INT(Members__promote(env, weak, &again), KOL_GONE);
}

JVM_TEST(a_weak_flood_leaves_nothing_behind)
{
    load(env);
    Members local = make(env);
    for (int i = 0; i < 60000; i++) {
        Members__weak weak;
        REQUIRE_INT(Members__keep_weak(env, local, &weak), KOL_OK);
        Members__drop_weak(env, &weak);
    }
    CHECK(!Members__is_null(local));
}

JVM_TEST(a_frame_gives_its_survivor_a_new_life)
{
    load(env);
    REQUIRE_INT(kol_frame_open(env, 100), KOL_OK);
    Members survivor = make(env);
    for (int i = 0; i < 99; i++) {
        (void)make(env);
    }
    survivor = Members__raw(kol_frame_close(env, survivor.raw));
    CHECK_INT((*env)->GetObjectRefType(env, survivor.raw), JNILocalRefType);
    jint one = 0;
    REQUIRE_INT(Members_overridden(env, survivor, &one), KOL_OK);
    REQUIRE_INT(kol_frame_open(env, 1), KOL_OK);
    CHECK(kol_frame_close(env, NULL) == NULL);
}

JVM_TEST_RAW(a_frame_that_could_not_be_opened_is_not_closed)
{
    load(env);
    jni_spy_arm_throwing(env, 1);
    CHECK_INT(kol_frame_open(env, 1), KOL_EJAVA);
    jni_spy_disarm();
    CHECK(kol_take(env) != NULL);
}
