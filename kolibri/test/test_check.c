/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Levels 2 and 3: every misuse is named and stopped, and correct use is clean under -Xcheck:jni
 * without a check of its own.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#undef KOL_CHECK
#define KOL_CHECK 3
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(Members, "io/example/Members", java_lang_Object)
KOL_HANDLE(Inner, "io/example/Members$Inner", java_lang_Object)
#define MEMBERS(X, C)                                                                              \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, G, jint, i, "i")                                                                          \
    X(C, G, java_lang_String, name, "name")                                                        \
    X(C, F0, nothrow, jint, keep, "keep")                                                          \
    X(C, F1, throws, java_lang_String, of_string, "of", java_lang_String)                          \
    X(C, SF0, nothrow, java_lang_Object, lies, "lies")                                             \
    X(C, SF0, throws, java_lang_Object, honest, "lies")                                            \
    X(C, SP0, nothrow, nothing, "nothing")
KOL_MEMBERS(Members, MEMBERS)
KOL_MEMBERS_DEFINE(Members, MEMBERS)

struct counter {
    int n;
};
KOL_NATIVE(Woven, "io/example/Woven", struct counter)
KOL_NATIVE(Other, "io/example/Other", struct counter)
KOL_NATIVE(Any, "io/kolibri/NativeObject", struct counter)
KOL_NATIVE_SUB(Deeper, "io/example/Deeper", struct counter, Woven, n)
#define WOVEN_NATIVES(X, C)                                                                        \
    X(C, N1, create, "create", jint)                                                               \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, addFrom, "addFrom", Woven)                                                      \
    X(C, M1, jint, addMaybe, "addMaybe", Woven__or_null)                                           \
    X(C, L1, jint, peek, "peek", jint)                                                             \
    X(C, D, destroy)
KOL_NATIVES(Woven, WOVEN_NATIVES)

static JNIEnv *leaked_env;

static struct counter *Woven_create(JNIEnv *env, jint n)
{
    struct counter *made = malloc(sizeof *made);
    (void)env;
    if (made) {
        made->n = n;
    }
    return made;
}

static jint Woven_add(JNIEnv *env, struct counter *self, jint by)
{
    (void)env;
    return self->n += by;
}

static jint Woven_addFrom(JNIEnv *env, struct counter *self, struct counter *other)
{
    return Woven_add(env, self, other->n);
}

static jint Woven_addMaybe(JNIEnv *env, struct counter *self, struct counter *other)
{
    return other ? Woven_add(env, self, other->n) : -1;
}

/* What this thread alone has worked: the VM's threads work too. */
static int64_t worked_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* 1: uses an env it should not have. 2: takes too long. */
static jint Woven_peek(struct counter *self, jint how)
{
    if (how == 1) {
        Members_nothing(leaked_env);
    } else if (how == 2) {
        for (int64_t start = worked_ns(); worked_ns() - start < 50000000;) {
        }
    }
    return self->n;
}

static void Woven_destroy(struct counter *self)
{
    free(self);
}

static char seen[256];
static int misuses;

static void note(const char *where, const char *what, void *user)
{
    (void)user;
    misuses++;
    size_t size = strlen(where);
    memcpy(seen, where, size);
    memcpy(seen + size, ": ", 2);
    memcpy(seen + size + 2, what, strlen(what) + 1);
}

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&MEMBERS__members};
    REQUIRE_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_OK);
    REQUIRE_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_OK);
    kol_on_misuse(note, NULL);
}

static void check_seen(const char *want)
{
    CHECK_STR(seen, want);
    CHECK_INT(misuses, 1);
    misuses = 0;
    seen[0] = 0;
}

static Members make(JNIEnv *env)
{
    Members made;
    REQUIRE_INT(Members_make(env, &made), KOL_OK);
    return made;
}

JVM_TEST(correct_use_is_clean)
{
    load(env);
    Members m = make(env);
    CHECK_INT(Members_keep(env, m), 10);
    Members_i__set(env, m, 3);
    CHECK_INT(Members_i(env, m), 3);
    Members_name__set(env, m, java_lang_String__null());
    CHECK(java_lang_String__is_null(Members_name(env, m)));
    CHECK_INT(misuses, 0);
}

JVM_TEST(a_broken_promise_is_named)
{
    load(env);
    CHECK(java_lang_Object__is_null(Members_lies(env)));
    check_seen("Members.lies: declared nothrow, but an exception is pending after it");
    CHECK(kol_take(env) != NULL);
}

JVM_TEST(a_call_with_an_exception_pending_is_stopped)
{
    java_lang_Object out;
    load(env);
    Members m = make(env);
    CHECK_INT(Members_honest(env, &out), KOL_EJAVA);
    CHECK_INT(misuses, 0);
    CHECK_INT(Members_honest(env, &out), KOL_EMISUSE);
    check_seen("Members.honest: called with an exception pending");
    CHECK_INT(Members_keep(env, m), 0);
    check_seen("Members.keep: called with an exception pending");
    CHECK(kol_take(env) != NULL);
    CHECK_INT(Members_keep(env, m), 10);
}

static void *use_env_of_another(void *user)
{
    JNIEnv *env = user;
    Members_nothing(env);
    return NULL;
}

JVM_TEST(another_threads_env_is_stopped)
{
    pthread_t thread;
    load(env);
    REQUIRE(pthread_create(&thread, NULL, use_env_of_another, env) == 0);
    pthread_join(thread, NULL);
    check_seen("Members.nothing: the env belongs to another thread");
}

JVM_TEST(a_handle_with_another_classs_object_is_stopped)
{
    java_lang_String out;
    load(env);
    Members m = make(env);
    java_lang_String not_a_string = java_lang_String__raw(m.raw);
    CHECK_INT(Members_of_string(env, m, not_a_string, &out), KOL_EMISUSE);
    check_seen("Members.of_string: a handle holds an object of another class");
    CHECK_INT(Members_keep(env, Members__raw((*env)->NewStringUTF(env, "x"))), 0);
    check_seen("Members.keep: a handle holds an object of another class");
    Members_name__set(env, m, not_a_string);
    check_seen("Members.name: a handle holds an object of another class");
}

/* Calls a native as the VM would. */
typedef jint (*woven_int)(JNIEnv *, jclass, jlong, jint);
typedef jint (*woven_long)(JNIEnv *, jclass, jlong, jlong);
typedef jlong (*woven_create)(JNIEnv *, jclass, jint);

static kol__function row(const char *name)
{
    for (int i = 0; i < Woven__natives.count; i++) {
        if (strcmp(Woven__natives.rows[i].name, name) == 0) {
            return Woven__natives.rows[i].woven;
        }
    }
    return NULL;
}

static void check_refused(JNIEnv *env, const char *want)
{
    char text[256];
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    kol_throwable_text(env, thrown, text, sizeof text);
    CHECK_STR(text + strlen("java.lang.IllegalStateException: "), want);
    check_seen(want);
}

JVM_TEST(native_pointers_are_judged)
{
    load(env);
    woven_int add = (woven_int)row("add");
    woven_long add_from = (woven_long)row("addFrom");
    woven_long add_maybe = (woven_long)row("addMaybe");
    jlong made = ((woven_create)row("create"))(env, NULL, 5);
    CHECK_INT(add(env, NULL, made, 1), 6);
    CHECK_INT(add_from(env, NULL, made, made), 12);
    CHECK_INT(add_maybe(env, NULL, made, 0), -1);
    CHECK_INT(add(env, NULL, 0, 1), 0);
    check_refused(env, "Woven.add: a null pointer where a native object is needed");
    CHECK_INT(add_from(env, NULL, made, 0), 0);
    check_refused(env, "Woven.addFrom: a null pointer where a native object is needed");
    struct counter foreign = {7};
    CHECK_INT(add_from(env, NULL, made, (jlong)(intptr_t)&foreign), 19);
    kol__native_made((jlong)(intptr_t)&foreign, &kol__n_Other);
    CHECK_INT(add_from(env, NULL, made, (jlong)(intptr_t)&foreign), 0);
    check_refused(env, "Woven.addFrom: a pointer to a native object of another type");
    kol__native_made((jlong)(intptr_t)&foreign, &kol__n_Deeper);
    CHECK_INT(add_from(env, NULL, made, (jlong)(intptr_t)&foreign), 26);
    CHECK(!kol__live(env, made, &kol__n_Any, "any"));
    ((void (*)(void *))row("destroy"))((void *)(intptr_t)made);
    CHECK_INT(add(env, NULL, made, 1), 0);
    check_refused(env, "Woven.add: a pointer to a destroyed native object");
}

JVM_TEST(many_objects_are_kept_apart)
{
    enum { COUNT = 5000 };
    static jlong made[COUNT];
    load(env);
    for (int i = 0; i < COUNT; i++) {
        made[i] = ((woven_create)row("create"))(env, NULL, i);
    }
    for (int i = 0; i < COUNT; i += 2) {
        ((void (*)(void *))row("destroy"))((void *)(intptr_t)made[i]);
    }
    for (int i = 1; i < COUNT; i += 2) {
        REQUIRE(((woven_int)row("add"))(env, NULL, made[i], 1) == i + 1);
        ((void (*)(void *))row("destroy"))((void *)(intptr_t)made[i]);
    }
    CHECK_INT(misuses, 0);
}

JVM_TEST(a_leaf_that_misbehaves_is_thrown_by_the_next_call)
{
    load(env);
    leaked_env = env;
    woven_int add = (woven_int)row("add");
    woven_int peek = (woven_int)row("peek");
    jlong made = ((woven_create)row("create"))(env, NULL, 5);
    CHECK_INT(peek(env, NULL, made, 0), 5);
    CHECK_INT(add(env, NULL, made, 0), 5);
    CHECK_INT(peek(env, NULL, made, 1), 5);
    check_seen("Members.nothing: a leaf called into Java");
    CHECK_INT(add(env, NULL, made, 0), 0);
    check_refused(env, "Woven.peek: a leaf that used env, or ran too long");
    CHECK_INT(add(env, NULL, made, 0), 5);
    CHECK_INT(peek(env, NULL, made, 2), 5);
    CHECK_INT(add(env, NULL, made, 0), 0);
    check_refused(env, "Woven.peek: a leaf that used env, or ran too long");
    ((void (*)(void *))row("destroy"))((void *)(intptr_t)made);
}
