/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * object.h: objects made in C and given to constructors that fail before or after taking them,
 * pointers and leases of guarded objects, closing from C, C callbacks as Runnables.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdlib.h>
#include <string.h>

KOL_HANDLE(MakerObject, "io/example/Maker", java_lang_Object)
#define MAKER(X, C) X(C, N2, throws, wrap, "<init>", jlong, jint)
KOL_MEMBERS(MakerObject, MAKER)
KOL_MEMBERS_DEFINE(MakerObject, MAKER)
KOL_HANDLE(Runnable, "java/lang/Runnable", java_lang_Object)
#define RUNNABLE(X, C) X(C, P0, throws, run, "run")
KOL_MEMBERS(Runnable, RUNNABLE)
KOL_MEMBERS_DEFINE(Runnable, RUNNABLE)
KOL_HANDLE(System, "java/lang/System", java_lang_Object)
#define SYSTEM(X, C) X(C, SP0, throws, gc, "gc")
KOL_MEMBERS(System, SYSTEM)
KOL_MEMBERS_DEFINE(System, SYSTEM)
KOL_HANDLE(Thread, "java/lang/Thread", java_lang_Object)
#define THREAD(X, C)                                                                               \
    X(C, N1, throws, of, "<init>", Runnable)                                                       \
    X(C, P0, throws, start, "start")                                                               \
    X(C, SP1, throws, sleep, "sleep", jlong)                                                       \
    X(C, P0, throws, join, "join")
KOL_MEMBERS(Thread, THREAD)
KOL_MEMBERS_DEFINE(Thread, THREAD)

struct thing {
    int n;
};
KOL_NATIVE(Maker, "io/example/Maker", struct thing)
#define MAKER_NATIVES(X, C) X(C, D, destroy)
KOL_NATIVES(Maker, MAKER_NATIVES)

static int destroyed;

static void Maker_destroy(struct thing *self)
{
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
    free(self);
}

static int destroyed_now(void)
{
    return __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST);
}

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&MAKER__members, &RUNNABLE__members,
                                                       &SYSTEM__members, &THREAD__members};
    JNIEnv *same;
    REQUIRE_INT(kol_load(jvm_vm(), "io/example/Maker", &same), KOL_OK);
    REQUIRE_INT(kol_natives_register(env, &Maker__natives, NULL, 0), KOL_OK);
    REQUIRE_INT(kol_class_load(env, tables, 4, NULL, 0), KOL_OK);
}

static void collect_until(JNIEnv *env, const int *counter, int want)
{
    for (int i = 0; i < 2000 && __atomic_load_n(counter, __ATOMIC_SEQ_CST) < want; i++) {
        REQUIRE_INT(System_gc(env), KOL_OK);
        REQUIRE_INT(Thread_sleep(env, 2), KOL_OK);
    }
    CHECK_INT(__atomic_load_n(counter, __ATOMIC_SEQ_CST), want);
}

/*
 * Makes one in C; returns whether Java has taken it. In a frame, because HotSpot keeps a local
 * reference to the object whose constructor has thrown.
 */
static int give(JNIEnv *env, jint failing, MakerObject *out)
{
    struct thing *made = calloc(1, sizeof *made);
    REQUIRE(made != NULL);
    REQUIRE_INT(kol_frame_open(env, 8), KOL_OK);
    kol_status status = kol_give_begin(env, made);
    REQUIRE_INT(status, KOL_OK);
    status = MakerObject_wrap(env, (jlong)(intptr_t)made, failing, out);
    int was_taken = kol_give_end(env);
    CHECK_INT(status, failing ? KOL_EJAVA : KOL_OK);
    CHECK_INT((*env)->ExceptionCheck(env), failing != 0);
    (void)kol_take(env);
    out->raw = kol_frame_close(env, out->raw);
    if (!was_taken) {
        free(made);
    }
    return was_taken;
}

JVM_TEST(a_constructor_that_throws_leaks_nothing)
{
    MakerObject object;
    load(env);
    CHECK_INT(give(env, 1, &object), 0);
    CHECK_INT(give(env, 2, &object), 1);
    collect_until(env, &destroyed, 1);
    CHECK_INT(give(env, 0, &object), 1);
    CHECK_INT(destroyed_now(), 1);
    REQUIRE_INT(kol_object_close(env, object.raw), KOL_OK);
    CHECK_INT(destroyed_now(), 2);
}

JVM_TEST(a_lease_keeps_a_guarded_object)
{
    MakerObject object;
    kol_lease lease;
    void *pointer = NULL;
    load(env);
    give(env, 0, &object);
    kol_lease_open(&lease);
    REQUIRE_INT(kol_object_pointer(env, object.raw, &lease, &pointer), KOL_OK);
    REQUIRE(pointer != NULL);
    REQUIRE_INT(kol_object_close(env, object.raw), KOL_OK);
    CHECK_INT(destroyed_now(), 0);
    ((struct thing *)pointer)->n = 1;
    CHECK_INT(kol_object_pointer(env, object.raw, &lease, &pointer), KOL_EJAVA);
    CHECK(pointer == NULL);
    kol_lease_close(env, &lease);
    CHECK((*env)->ExceptionCheck(env));
    kol_lease_close(env, &lease);
    CHECK_INT(destroyed_now(), 1);
    char text[128];
    kol_throwable_text(env, kol_take(env), text, sizeof text);
    CHECK_STR(text, "io.kolibri.ReleasedException: io.example.Maker was already released");
}

JVM_TEST(a_lease_has_room_for_nine)
{
    MakerObject object;
    kol_lease lease;
    void *pointer = NULL;
    load(env);
    give(env, 0, &object);
    kol_lease_open(&lease);
    for (int i = 0; i < 9; i++) {
        REQUIRE_INT(kol_object_pointer(env, object.raw, &lease, &pointer), KOL_OK);
    }
    CHECK_INT(kol_object_pointer(env, object.raw, &lease, &pointer), KOL_ERANGE);
    kol_lease_close(env, &lease);
    CHECK_INT(kol_object_pointer(env, NULL, &lease, &pointer), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    REQUIRE_INT(kol_object_close(env, object.raw), KOL_OK);
    CHECK_INT(destroyed_now(), 1);
}

struct calls {
    int runs;
    int dones;
    int is_throwing;
};

static void count_run(JNIEnv *env, void *user)
{
    struct calls *calls = user;
    __atomic_fetch_add(&calls->runs, 1, __ATOMIC_SEQ_CST);
    if (calls->is_throwing) {
        kol_throw_new(env, "java/lang/IllegalStateException", "from C");
    }
}

static void count_done(void *user)
{
    struct calls *calls = user;
    __atomic_fetch_add(&calls->dones, 1, __ATOMIC_SEQ_CST);
}

JVM_TEST(a_runnable_runs_c_and_ends_once)
{
    struct calls calls = {0, 0, 0};
    jobject raw = NULL;
    Thread thread;
    load(env);
    REQUIRE_INT(kol_runnable_new(env, count_run, count_done, &calls, &raw), KOL_OK);
    REQUIRE_INT(Runnable_run(env, Runnable__raw(raw)), KOL_OK);
    REQUIRE_INT(Thread_of(env, Runnable__raw(raw), &thread), KOL_OK);
    REQUIRE_INT(Thread_start(env, thread), KOL_OK);
    REQUIRE_INT(Thread_join(env, thread), KOL_OK);
    CHECK_INT(calls.runs, 2);
    calls.is_throwing = 1;
    CHECK_INT(Runnable_run(env, Runnable__raw(raw)), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(calls.dones, 0);
    REQUIRE_INT(kol_object_close(env, raw), KOL_OK);
    CHECK_INT(calls.dones, 1);
    CHECK_INT(Runnable_run(env, Runnable__raw(raw)), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(calls.runs, 3);
}

JVM_TEST(a_forgotten_runnable_ends_by_itself)
{
    struct calls calls = {0, 0, 0};
    jobject raw = NULL;
    load(env);
    REQUIRE_INT(kol_frame_open(env, 4), KOL_OK);
    REQUIRE_INT(kol_runnable_new(env, count_run, count_done, &calls, &raw), KOL_OK);
    REQUIRE_INT(kol_runnable_new(env, count_run, NULL, &calls, &raw), KOL_OK);
    kol_frame_close(env, NULL);
    collect_until(env, &calls.dones, 1);
}
