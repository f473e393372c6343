/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * native.h: every kind of row in the woven and the unwoven form, registration without initialising
 * the class, what is missing as one list, subclasses, creators that fail.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdlib.h>
#include <string.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_lang_Runnable, "java/lang/Runnable", java_lang_Object)
#define RUNNABLE(X, C) X(C, P0, throws, run, "run")
KOL_MEMBERS(java_lang_Runnable, RUNNABLE)
KOL_MEMBERS_DEFINE(java_lang_Runnable, RUNNABLE)

/* What the Java side does with the natives, one static method a scenario. */
KOL_HANDLE(Scenes, "io/example/Scenes", java_lang_Object)
#define SCENES(X, C)                                                                               \
    X(C, SF0, throws, java_lang_String, counter, "counter")                                        \
    X(C, SF0, throws, java_lang_String, woven, "woven")                                            \
    X(C, SF0, throws, java_lang_String, derived, "derived")                                        \
    X(C, SF0, throws, jboolean, wasLoudInitialised, "wasLoudInitialised")                          \
    X(C, SF0, throws, jint, useLoud, "useLoud")
KOL_MEMBERS(Scenes, SCENES)
KOL_MEMBERS_DEFINE(Scenes, SCENES)

struct counter {
    int n;
};

#define COUNTER_NATIVES(X, C)                                                                      \
    X(C, N1, create, "create", jint)                                                               \
    X(C, S0, jint, version, "version")                                                             \
    X(C, S2, jint, sumOf, "sumOf", C, C)                                                           \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, addFrom, "addFrom", C)                                                          \
    X(C, M0, void, reset, "reset")                                                                 \
    X(C, M1, java_lang_String, name, "name", java_lang_String)                                     \
    X(C, L1, jint, peek, "peek", jint)                                                             \
    X(C, M, jint, callBack, "callBack", java_lang_Runnable)                                        \
    X(C, D, destroy)

KOL_NATIVE(Counter, "io/example/Counter", struct counter)
#define COUNTER_MORE(X, C)                                                                         \
    COUNTER_NATIVES(X, C)                                                                          \
    X(C, M1, jint, addMaybe, "addMaybe", Counter__or_null)                                         \
    X(C, M8, jint, wide, "wide", jint, jlong, jdouble, jbyte, jboolean, jchar, jfloat, Counter)
KOL_NATIVES(Counter, COUNTER_MORE)

KOL_NATIVE(Woven, "io/example/Woven", struct counter)
#define WOVEN_MORE(X, C)                                                                           \
    COUNTER_NATIVES(X, C)                                                                          \
    X(C, M1, jint, addMaybe, "addMaybe", Woven__or_null)                                           \
    X(C, M8, jint, wide, "wide", jint, jlong, jdouble, jbyte, jboolean, jchar, jfloat, Woven)
KOL_NATIVES(Woven, WOVEN_MORE)

static int destroyed;

static struct counter *counter_new(JNIEnv *env, jint n)
{
    struct counter *made = n < 0 ? NULL : malloc(sizeof *made);
    if (n == -1) {
        kol_throw(env, 77, "n is %d", (int)n);
    } else if (made) {
        made->n = n;
    }
    return made;
}

static jint run(JNIEnv *env, struct counter *self, java_lang_Runnable r)
{
    return java_lang_Runnable_run(env, r) == KOL_OK ? self->n : -1;
}

#define BODIES(T)                                                                                  \
    static struct counter *T##_create(JNIEnv *env, jint n)                                         \
    {                                                                                              \
        return counter_new(env, n);                                                                \
    }                                                                                              \
    static jint T##_version(JNIEnv *env)                                                           \
    {                                                                                              \
        (void)env;                                                                                 \
        return 17;                                                                                 \
    }                                                                                              \
    static jint T##_sumOf(JNIEnv *env, struct counter *a, struct counter *b)                       \
    {                                                                                              \
        (void)env;                                                                                 \
        return a->n + b->n;                                                                        \
    }                                                                                              \
    static jint T##_add(JNIEnv *env, struct counter *self, jint by)                                \
    {                                                                                              \
        (void)env;                                                                                 \
        return self->n += by;                                                                      \
    }                                                                                              \
    static jint T##_addFrom(JNIEnv *env, struct counter *self, struct counter *other)              \
    {                                                                                              \
        return T##_add(env, self, other->n);                                                       \
    }                                                                                              \
    static jint T##_addMaybe(JNIEnv *env, struct counter *self, struct counter *other)             \
    {                                                                                              \
        return other ? T##_add(env, self, other->n) : -1;                                          \
    }                                                                                              \
    static void T##_reset(JNIEnv *env, struct counter *self)                                       \
    {                                                                                              \
        (void)env;                                                                                 \
        self->n = 0;                                                                               \
    }                                                                                              \
    static java_lang_String T##_name(JNIEnv *env, struct counter *self, java_lang_String s)        \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)self;                                                                                \
        return s;                                                                                  \
    }                                                                                              \
    static jint T##_peek(struct counter *self, jint x)                                             \
    {                                                                                              \
        return self->n * x;                                                                        \
    }                                                                                              \
    static jint T##_wide(JNIEnv *env, struct counter *self, jint a, jlong b, jdouble c, jbyte d,   \
                         jboolean e, jchar f, jfloat g, struct counter *h)                         \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)self;                                                                                \
        return (jint)(a + b + (jlong)c + d + e + f + (jlong)(g * 2) + h->n);                       \
    }                                                                                              \
    static jint T##_callBack(JNIEnv *env, struct counter *self, java_lang_Runnable r)              \
    {                                                                                              \
        return run(env, self, r);                                                                  \
    }                                                                                              \
    static void T##_destroy(struct counter *self)                                                  \
    {                                                                                              \
        __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);                                       \
        free(self);                                                                                \
    }

BODIES(Counter)
BODIES(Woven)

struct derived {
    struct counter base;
    int extra;
};
KOL_NATIVE_SUB(Derived, "io/example/Derived", struct derived, Counter, base)
#define DERIVED_NATIVES(X, C)                                                                      \
    X(C, N1, make, "make", jint)                                                                   \
    X(C, M0, jint, extra, "extra")                                                                 \
    X(C, D, destroy)
KOL_NATIVES(Derived, DERIVED_NATIVES)

static struct derived *Derived_make(JNIEnv *env, jint n)
{
    struct derived *made = malloc(sizeof *made);
    (void)env;
    if (made) {
        made->base.n = n;
        made->extra = n * 10;
    }
    return made;
}

static jint Derived_extra(JNIEnv *env, struct derived *self)
{
    (void)env;
    return self->extra;
}

static void Derived_destroy(struct derived *self)
{
    free(self);
}

KOL_NATIVE(Loud, "io/example/Loud", struct counter)
#define LOUD_NATIVES(X, C) X(C, S0, jint, answer, "answer")
KOL_NATIVES(Loud, LOUD_NATIVES)

static jint Loud_answer(JNIEnv *env)
{
    (void)env;
    return 42;
}

KOL_NATIVE(Wrong, "io/example/Counter", struct counter)
#define WRONG_NATIVES(X, C)                                                                        \
    X(C, M1, jint, add, "add", jint)                                                               \
    X(C, M1, jint, add_long, "add", jlong)                                                         \
    X(C, M0, void, gone, "gone")                                                                   \
    X(C, S1, jint, not_static, "reset", java_lang_String)
KOL_NATIVES(Wrong, WRONG_NATIVES)

static jint Wrong_add(JNIEnv *env, struct counter *self, jint by)
{
    (void)env;
    (void)self;
    return by;
}

static jint Wrong_add_long(JNIEnv *env, struct counter *self, jlong by)
{
    (void)env;
    (void)self;
    return (jint)by;
}

static void Wrong_gone(JNIEnv *env, struct counter *self)
{
    (void)env;
    (void)self;
}

static jint Wrong_not_static(JNIEnv *env, java_lang_String s)
{
    (void)env;
    return java_lang_String__is_null(s);
}

KOL_NATIVE(Nowhere, "io/example/Nowhere", struct counter)
#define NOWHERE_NATIVES(X, C) X(C, S0, jint, zero, "zero")
KOL_NATIVES(Nowhere, NOWHERE_NATIVES)

static jint Nowhere_zero(JNIEnv *env)
{
    (void)env;
    return 0;
}

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&RUNNABLE__members, &SCENES__members};
    char report[512];
    REQUIRE_INT(kol_class_load(env, tables, 2, report, sizeof report), KOL_OK);
}

static void start(JNIEnv *env, const struct kol_natives *natives)
{
    char report[512];
    kol_status status = kol_natives_register(env, natives, report, sizeof report);
    jvm_require_none(env);
    CHECK_STR(report, "");
    REQUIRE_INT(status, KOL_OK);
    load(env);
}

static void check_scene(JNIEnv *env, kol_status status, java_lang_String result, const char *want)
{
    struct kol_text text;
    jvm_require_none(env);
    REQUIRE_INT(status, KOL_OK);
    REQUIRE_INT(kol_text_open(env, result.raw, &text), KOL_OK);
    CHECK_STR(text.bytes, want);
    kol_text_close(&text);
}

static const char all_rows[] =
    "add 2, addFrom 43, addMaybe -1, name x\xC3\xA9, peek 215, version 17, wide 150, sumOf 84, "
    "callBack 43, reset 0, released, released argument, null argument, thrown KolibriException 77 "
    "n "
    "is -1, creator OutOfMemoryError, callback threw the same";

JVM_TEST(every_row_works_unwoven)
{
    java_lang_String result;
    start(env, &Counter__natives);
    kol_status status = Scenes_counter(env, &result);
    check_scene(env, status, result, all_rows);
}

JVM_TEST(every_row_works_woven)
{
    java_lang_String result;
    start(env, &Woven__natives);
    kol_status status = Scenes_woven(env, &result);
    check_scene(env, status, result, all_rows);
}

JVM_TEST(a_subclass_shares_its_pointer_with_the_base)
{
    java_lang_String result;
    start(env, &Counter__natives);
    start(env, &Derived__natives);
    kol_status status = Scenes_derived(env, &result);
    check_scene(env, status, result, "add 6, extra 50, addFrom 106");
}

JVM_TEST(registration_does_not_initialise_the_class)
{
    jboolean was;
    jint answer;
    start(env, &Loud__natives);
    REQUIRE_INT(Scenes_wasLoudInitialised(env, &was), KOL_OK);
    CHECK(!was);
    /* Its initialiser calls the native, which must be there by then. */
    REQUIRE_INT(Scenes_useLoud(env, &answer), KOL_OK);
    CHECK_INT(answer, 42);
}

JVM_TEST(what_is_missing_is_one_list)
{
    char report[512];
    CHECK_INT(kol_natives_register(env, &Wrong__natives, report, sizeof report), KOL_EMISSING);
    CHECK_STR(report, "Lio/example/Counter;.add(J)I\nLio/example/Counter;.gone()V\n"
                      "Lio/example/Counter;.reset(Ljava/lang/String;)I");
    /* Nothing was registered: the one row that matched is still unlinked. */
    jvm_require_none(env);
    CHECK_INT(kol_natives_register(env, &Wrong__natives, NULL, 0), KOL_EMISSING);
    char cut[8];
    CHECK_INT(kol_natives_register(env, &Wrong__natives, cut, sizeof cut), KOL_EMISSING);
    CHECK_STR(cut, "Lio/exa");
}

JVM_TEST(a_missing_class_leaves_its_exception)
{
    char text[256];
    CHECK_INT(kol_natives_register(env, &Nowhere__natives, NULL, 0), KOL_EJAVA);
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    kol_throwable_text(env, thrown, text, sizeof text);
    CHECK(strstr(text, "io") && strstr(text, "Nowhere"));
}

JVM_TEST(registering_twice_is_fine)
{
    java_lang_String result;
    start(env, &Counter__natives);
    start(env, &Counter__natives);
    kol_status status = Scenes_counter(env, &result);
    check_scene(env, status, result, all_rows);
}

TEST(rows_are_written_as_lines)
{
    static const char *const wanted =
        "io/example/Counter N create (I)J (I)J\n"
        "io/example/Counter S version ()I ()I\n"
        "io/example/Counter S sumOf (JJ)I (Lio/example/Counter;Lio/example/Counter;)I\n"
        "io/example/Counter M add (JI)I (I)I\n"
        "io/example/Counter M addFrom (JJ)I (Lio/example/Counter;)I\n";
    char text[2048];
    char small[20];
    size_t size = kol_natives_write(&Counter__natives, text, sizeof text);
    REQUIRE(size == strlen(text));
    REQUIRE(strncmp(text, wanted, strlen(wanted)) == 0);
    REQUIRE(strstr(text, "io/example/Counter L peek (JI)I (I)I\n") != NULL);
    REQUIRE(strstr(text, " D ") == NULL);
    REQUIRE(kol_natives_write(&Counter__natives, small, sizeof small) == size);
    REQUIRE(strncmp(small, wanted, sizeof small - 1) == 0);
    REQUIRE(strlen(small) == sizeof small - 1);
    REQUIRE(kol_natives_write(&Counter__natives, NULL, 0) == size);
}
