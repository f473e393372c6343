/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * env.h: who is attached and detached when, lookups on threads that C made, load and unload going
 * round, and a VM that refuses.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <pthread.h>
#include <string.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(Thread, "java/lang/Thread", java_lang_Object)
#define THREAD(X, C)                                                                               \
    X(C, SF0, throws, Thread, currentThread, "currentThread")                                      \
    X(C, F0, throws, java_lang_String, getName, "getName")                                         \
    X(C, F0, throws, jboolean, isDaemon, "isDaemon")
KOL_MEMBERS(Thread, THREAD)
KOL_MEMBERS_DEFINE(Thread, THREAD)
KOL_HANDLE(Members, "io/example/Members", java_lang_Object)
#define MEMBERS(X, C) X(C, SF2, throws, jint, add, "add", jint, jint)
KOL_MEMBERS(Members, MEMBERS)
KOL_MEMBERS_DEFINE(Members, MEMBERS)

static const struct kol_members *const tables[] = {&THREAD__members, &MEMBERS__members};

static void load(JNIEnv *env)
{
    JNIEnv *same;
    REQUIRE_INT(kol_load(jvm_vm(), "io/example/Members", &same), KOL_OK);
    CHECK(same == env);
    REQUIRE_INT(kol_class_load(env, tables, 2, NULL, 0), KOL_OK);
}

/* What a thread saw; checked by the test's own thread. */
struct seen {
    int is_failed;
    char name[64];
    int is_daemon;
    int is_attached_after;
};

static void look(JNIEnv *env, struct seen *seen)
{
    Thread thread;
    java_lang_String name;
    jboolean is_daemon = 0;
    size_t size = 0;
    seen->is_failed = Thread_currentThread(env, &thread) != KOL_OK ||
                      Thread_getName(env, thread, &name) != KOL_OK ||
                      Thread_isDaemon(env, thread, &is_daemon) != KOL_OK ||
                      kol_text_copy(env, name.raw, 0, seen->name, 63, &size) != KOL_OK;
    seen->name[size] = 0;
    seen->is_daemon = is_daemon;
}

static void run_thread(void *(*run)(void *), void *user)
{
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, run, user) == 0);
    pthread_join(thread, NULL);
}

static void *attach_scoped(void *user)
{
    struct seen *seen = user;
    struct kol_attachment outer;
    struct kol_attachment inner;
    if (kol_attachment_open(&outer, "k\xC3\xB6lner", 0) != KOL_OK ||
        kol_attachment_open(&inner, "other", 1) != KOL_OK) {
        seen->is_failed = 1;
        return NULL;
    }
    look(inner.env, seen);
    seen->is_failed |= inner.env != outer.env || kol_env() != outer.env;
    kol_attachment_close(&inner);
    seen->is_failed |= kol_env() == NULL;
    kol_attachment_close(&outer);
    kol_attachment_close(&outer);
    seen->is_attached_after = kol_env() != NULL;
    return NULL;
}

JVM_TEST(an_attachment_ends_with_its_outermost_scope)
{
    struct seen seen = {0};
    load(env);
    run_thread(attach_scoped, &seen);
    CHECK(!seen.is_failed);
    CHECK_STR(seen.name, "k\xC3\xB6lner");
    CHECK_INT(seen.is_daemon, 0);
    CHECK_INT(seen.is_attached_after, 0);
}

static void *attach_lazily(void *user)
{
    struct seen *seen = user;
    JNIEnv *env = kol_env_attached();
    seen->is_failed = env == NULL || kol_env_attached() != env || kol_env() != env;
    if (env) {
        look(env, seen);
    }
    return NULL;
}

static void *attach_lazily_and_exit(void *user)
{
    attach_lazily(user);
    pthread_exit(NULL);
}

JVM_TEST(a_lazily_attached_thread_detaches_when_it_ends)
{
    load(env);
    for (int i = 0; i < 200; i++) {
        struct seen seen = {0};
        run_thread(i % 2 ? attach_lazily : attach_lazily_and_exit, &seen);
        REQUIRE(!seen.is_failed && seen.is_daemon);
    }
    CHECK(1);
}

static void *attach_foreign(void *user)
{
    struct seen *seen = user;
    void *env = NULL;
    struct kol_attachment attachment;
    JavaVM *vm = jvm_vm();
    seen->is_failed = (*vm)->AttachCurrentThread(vm, &env, NULL) != JNI_OK;
    seen->is_failed |= kol_attachment_open(&attachment, NULL, 0) != KOL_OK;
    kol_attachment_close(&attachment);
    seen->is_failed |= kol_env_attached() != env;
    seen->is_failed |= kol_env() == NULL;
    (*vm)->DetachCurrentThread(vm);
    /* No stale env: the VM no longer knows this thread. */
    seen->is_attached_after = kol_env() != NULL;
    /* And it can be attached again. */
    seen->is_failed |= kol_env_attached() == NULL;
    return NULL;
}

JVM_TEST(a_foreign_attachment_is_not_ours_to_end)
{
    struct seen seen = {0};
    load(env);
    run_thread(attach_foreign, &seen);
    CHECK(!seen.is_failed);
    CHECK_INT(seen.is_attached_after, 0);
    /* This thread was made by the VM: nothing of ours detaches it. */
    struct kol_attachment attachment;
    REQUIRE_INT(kol_attachment_open(&attachment, NULL, 0), KOL_OK);
    kol_attachment_close(&attachment);
    CHECK(kol_env() == env);
}

static void *find_on_thread(void *user)
{
    struct seen *seen = user;
    jclass cls = NULL;
    JNIEnv *env = kol_env_attached();
    seen->is_failed = env == NULL ||
                      kol_class_find(env, "io/example/Members$Inner", &cls) != KOL_OK ||
                      kol_class_find(env, "[Lio/example/Members$Sub;", &cls) != KOL_OK ||
                      kol_class_find(env, "[[I", &cls) != KOL_OK ||
                      kol_class_find(env, "io/example/Nowhere", &cls) != KOL_EJAVA;
    if (env) {
        jthrowable thrown = kol_take(env);
        kol_throwable_text(env, thrown, seen->name, sizeof seen->name);
    }
    return NULL;
}

JVM_TEST(classes_are_found_on_threads_that_c_made)
{
    struct seen seen = {0};
    load(env);
    run_thread(find_on_thread, &seen);
    CHECK(!seen.is_failed);
    CHECK_STR(seen.name, "java.lang.ClassNotFoundException: io.example.Nowhere");
    char long_name[3000];
    jclass cls;
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    CHECK_INT(kol_class_find(env, long_name, &cls), KOL_ERANGE);
    CHECK_INT(kol_class_find(env, "", &cls), KOL_ERANGE);
}

JVM_TEST(load_and_unload_go_round)
{
    jint sum = 0;
    for (int round = 0; round < 5; round++) {
        load(env);
        REQUIRE_INT(Members_add(env, round, 1, &sum), KOL_OK);
        CHECK_INT(sum, round + 1);
        kol_unload(jvm_vm());
        CHECK(kol_env() == NULL);
        CHECK(kol__s_Members_add.id.any == NULL && kol__s_Members_add.cls == NULL);
    }
    kol_unload(jvm_vm());
}

static void *use_unloaded(void *user)
{
    struct seen *seen = user;
    struct kol_attachment attachment;
    seen->is_failed = kol_env() != NULL || kol_env_attached() != NULL ||
                      kol_attachment_open(&attachment, NULL, 0) != KOL_EUNLOADED;
    kol_attachment_close(&attachment);
    return NULL;
}

JVM_TEST(an_unloaded_library_attaches_nobody)
{
    struct seen seen = {0};
    load(env);
    kol_unload(jvm_vm());
    run_thread(use_unloaded, &seen);
    CHECK(!seen.is_failed);
}

JVM_TEST(a_missing_anchor_is_an_error_and_spoils_nothing)
{
    JNIEnv *same;
    CHECK_INT(kol_load(jvm_vm(), "io/example/Nowhere", &same), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    load(env);
}

JVM_TEST(what_on_load_returns)
{
    char text[128];
    load(env);
    CHECK_INT(kol_load_result(env, KOL_OK, ""), JNI_VERSION_1_6);
    CHECK_INT(kol_load_result(env, KOL_EMISSING, "one\ntwo"), JNI_ERR);
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    kol_throwable_text(env, thrown, text, sizeof text);
    CHECK_STR(text, "java.lang.UnsatisfiedLinkError: one\ntwo");
}

JVM_TEST(the_known_env_is_only_known_inside)
{
    struct kol_attachment attachment;
    load(env);
    JNIEnv *before = kol_env_enter(env);
    CHECK(kol_env() == env);
    REQUIRE_INT(kol_attachment_open(&attachment, NULL, 0), KOL_OK);
    CHECK(kol_env() == env);
    kol_attachment_close(&attachment);
    CHECK(kol_env() == env);
    kol_env_leave(before);
    CHECK(kol_env() == env);
}

JVM_TEST(counters)
{
    struct kol_stats before;
    struct kol_stats after;
    struct seen seen = {0};
    load(env);
    kol_stats_read(&before);
    run_thread(attach_scoped, &seen);
    run_thread(attach_lazily, &seen);
    kol_throw(env, 1, "counted");
    CHECK(kol_take(env) != NULL);
    kol_stats_read(&after);
    CHECK_INT(after.attaches - before.attaches, 2);
    CHECK_INT(after.threads_attached, 0);
    CHECK_INT(after.exceptions_thrown - before.exceptions_thrown, 1);
    CHECK_INT(after.tables_loaded, 2);
    kol_unload(jvm_vm());
    kol_stats_read(&after);
    CHECK_INT(after.tables_loaded, 0);
}
