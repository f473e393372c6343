/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * throw.h: exceptions made in C with their class, status, cause and exact message; taken and thrown
 * again as the same object; a second failure that hides nothing; every JNI call on the way failing.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdio.h>
#include <string.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(Throwable, "java/lang/Throwable", java_lang_Object)
KOL_HANDLE(KolibriException, "io/kolibri/KolibriException", Throwable)
#define THROWABLE(X, C)                                                                            \
    X(C, F0, throws, java_lang_String, getMessage, "getMessage")                                   \
    X(C, F0, throws, Throwable, getCause, "getCause")                                              \
    X(C, F0, throws, Throwable__array, getSuppressed, "getSuppressed")
KOL_MEMBERS(Throwable, THROWABLE)
KOL_MEMBERS_DEFINE(Throwable, THROWABLE)
#define KOLIBRI(X, C) X(C, F0, throws, jint, status, "status")
KOL_MEMBERS(KolibriException, KOLIBRI)
KOL_MEMBERS_DEFINE(KolibriException, KOLIBRI)
KOL_HANDLE(Nasty, "io/example/Nasty", Throwable)
#define NASTY(X, C) X(C, N0, throws, make, "<init>")
KOL_MEMBERS(Nasty, NASTY)
KOL_MEMBERS_DEFINE(Nasty, NASTY)

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&THROWABLE__members, &KOLIBRI__members,
                                                       &NASTY__members};
    REQUIRE_INT(kol_class_load(env, tables, 3, NULL, 0), KOL_OK);
}

static Throwable take(JNIEnv *env)
{
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    REQUIRE(!(*env)->ExceptionCheck(env));
    return Throwable__raw(thrown);
}

static void check_text(JNIEnv *env, Throwable thrown, const char *want)
{
    char text[2048];
    kol_throwable_text(env, (jthrowable)thrown.raw, text, sizeof text);
    CHECK_STR(text, want);
}

static void check_message(JNIEnv *env, Throwable thrown, const char *want, size_t size)
{
    java_lang_String message;
    struct kol_text text;
    REQUIRE_INT(Throwable_getMessage(env, thrown, &message), KOL_OK);
    REQUIRE_INT(kol_text_open(env, message.raw, &text), KOL_OK);
    CHECK_BYTES(text.bytes, text.size, want, size);
    kol_text_close(&text);
}

JVM_TEST(a_status_becomes_a_kolibri_exception)
{
    KolibriException made;
    jint status = 0;
    load(env);
    CHECK_INT(kol_throw(env, -42, "at %d: %s", 7, "h\xC3\xA9\xF0\x9F\x95\xB5"), KOL_EJAVA);
    Throwable thrown = take(env);
    check_text(env, thrown, "io.kolibri.KolibriException: at 7: h\xC3\xA9\xF0\x9F\x95\xB5");
    REQUIRE_INT(KolibriException__cast(env, Throwable__up(thrown), &made), KOL_OK);
    REQUIRE_INT(KolibriException_status(env, made, &status), KOL_OK);
    CHECK_INT(status, -42);
}

JVM_TEST(a_mapped_status_has_its_class)
{
    load(env);
    REQUIRE_INT(kol_throw_map(5, "java/io/IOException"), KOL_OK);
    REQUIRE_INT(kol_throw_map(5, "java/io/EOFException"), KOL_OK);
    kol_throw(env, 5, "end");
    check_text(env, take(env), "java.io.EOFException: end");
    for (int i = 100; i < 131; i++) {
        REQUIRE_INT(kol_throw_map(i, "java/io/IOException"), KOL_OK);
    }
    CHECK_INT(kol_throw_map(131, "java/io/IOException"), KOL_ERANGE);
    CHECK_INT(kol_throw_map(5, "java/io/IOException"), KOL_OK);
}

JVM_TEST(messages_are_exact_and_cut_at_a_character)
{
    static const char *const units[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x95\xB5"};
    load(env);
    for (size_t length = 1; length <= 4; length++) {
        for (size_t before = 0; before < 4; before++) {
            char message[3000];
            size_t size = before;
            memset(message, 'x', before);
            while (size + length < 2000) {
                memcpy(message + size, units[length - 1], length);
                size += length;
            }
            message[size] = 0;
            REQUIRE_INT(kol_frame_open(env, 8), KOL_OK);
            kol_throw(env, 1, "%s", message);
            check_message(env, take(env), message, before + (1023 - before) / length * length);
            kol_frame_close(env, NULL);
        }
    }
    kol_throw_new(env, "java/lang/Error", NULL);
    check_text(env, take(env), "java.lang.Error");
}

JVM_TEST(causes)
{
    load(env);
    kol_throw_new(env, "java/io/IOException", "disk");
    Throwable cause = take(env);
    kol_throw_cause(env, "java/lang/IllegalStateException", "store", (jthrowable)cause.raw);
    Throwable thrown = take(env);
    Throwable found;
    REQUIRE_INT(Throwable_getCause(env, thrown, &found), KOL_OK);
    CHECK(Throwable__same(env, found, cause));
    CHECK_INT(kol_throw_again(env, (jthrowable)thrown.raw), KOL_EJAVA);
    CHECK(Throwable__same(env, take(env), thrown));
}

JVM_TEST(the_first_exception_stays_and_gains_the_second)
{
    Throwable__array suppressed;
    Throwable second;
    load(env);
    kol_throw_new(env, "java/io/IOException", "first");
    jthrowable first = (*env)->ExceptionOccurred(env);
    kol_throw(env, 1, "second");
    Throwable thrown = take(env);
    CHECK(Throwable__same(env, thrown, Throwable__raw(first)));
    REQUIRE_INT(Throwable_getSuppressed(env, thrown, &suppressed), KOL_OK);
    REQUIRE_INT(Throwable__array__count(env, suppressed), 1);
    REQUIRE_INT(Throwable__array__get(env, suppressed, 0, &second), KOL_OK);
    check_text(env, second, "io.kolibri.KolibriException: second");
}

JVM_TEST(a_missing_class_is_what_is_thrown)
{
    load(env);
    CHECK_INT(kol_throw_new(env, "io/example/Nowhere", "x"), KOL_EJAVA);
    check_text(env, take(env), "java.lang.ClassNotFoundException: io.example.Nowhere");
    /* A class without such a constructor. */
    CHECK_INT(kol_throw_new(env, "io/example/Nasty", "x"), KOL_EJAVA);
    char text[256];
    kol_throwable_text(env, (jthrowable)take(env).raw, text, sizeof text);
    CHECK(strncmp(text, "java.lang.NoSuchMethodError: ", 29) == 0);
}

JVM_TEST(a_throwable_whose_text_throws_still_has_its_class)
{
    Nasty nasty;
    char small[8];
    load(env);
    REQUIRE_INT(Nasty_make(env, &nasty), KOL_OK);
    check_text(env, Nasty__up(nasty), "io.example.Nasty");
    kol_throw_new(env, "java/lang/Error", "pending");
    kol_throwable_text(env, (jthrowable)nasty.raw, small, sizeof small);
    CHECK_STR(small, "io.exam");
    kol_throwable_text(env, (jthrowable)nasty.raw, NULL, 0);
    check_text(env, take(env), "java.lang.Error: pending");
}

JVM_TEST(a_throwable_text_is_cut_at_a_character)
{
    load(env);
    kol_throw_new(env, "java/lang/Error", "\xE2\x82\xAC\xE2\x82\xAC");
    Throwable thrown = take(env);
    size_t prefix = strlen("java.lang.Error: ");
    for (size_t room = 0; room <= 6; room++) {
        char text[64];
        kol_throwable_text(env, (jthrowable)thrown.raw, text, prefix + room + 1);
        CHECK_INT(strlen(text), prefix + room / 3 * 3);
    }
}

JVM_TEST_RAW(something_is_thrown_whatever_call_fails)
{
    int reached = 0;
    load(env);
    for (int n = 1; n < 100; n++) {
        jni_spy_arm_throwing(env, n);
        CHECK_INT(kol_throw(env, 3, "message"), KOL_EJAVA);
        jni_spy_disarm();
        /* The JDK's own Class.forName uses the env too, and FindClass to report its failure. */
        CHECK(jni_spy_forbidden() == 0 || strcmp(jni_spy_forbidden_name(), "FindClass") == 0);
        take(env);
        if (!jni_spy_has_thrown()) {
            break;
        }
        reached++;
    }
    CHECK(reached >= 5);
}
