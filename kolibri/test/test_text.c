/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * text.h in a JVM: what C writes Java reads and back, exactly, at every length around the sizes
 * that the room treats differently; caller's buffers, owned forms, failures of each JNI call.
 */
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdlib.h>
#include <string.h>

static jstring make(JNIEnv *env, const char *bytes, size_t size)
{
    jstring made = NULL;
    REQUIRE_INT(kol_text_new(env, bytes, size, &made), KOL_OK);
    return made;
}

static void check_units(JNIEnv *env, jstring string, const jchar *want, jsize count)
{
    jchar units[64];
    CHECK_INT((*env)->GetStringLength(env, string), count);
    (*env)->GetStringRegion(env, string, 0, count, units);
    CHECK_BYTES(units, (size_t)count * 2, want, (size_t)count * 2);
}

JVM_TEST(nul_and_supplementary_characters)
{
    const jchar a_nul_b[] = {'a', 0, 'b'};
    const jchar nuls[8] = {0};
    const jchar spy[] = {0xD83D, 0xDD75, 0xDBFF, 0xDFFF};
    check_units(env, make(env, "a\0b", 3), a_nul_b, 3);
    check_units(env, make(env, "\0\0\0\0\0\0\0\0", 8), nuls, 8);
    check_units(env, make(env, "\xF0\x9F\x95\xB5\xF4\x8F\xBF\xBF", 8), spy, 4);
    check_units(env, make(env, "", 0), nuls, 0);
    check_units(env, make(env, NULL, 0), nuls, 0);
}

JVM_TEST(the_owned_form_is_exact)
{
    struct kol_text text;
    const char bytes[] = "a\0b\xF0\x9F\x95\xB5\xED\xA0\x80\xC3\xA9";
    jstring string = make(env, bytes, sizeof bytes - 1);
    REQUIRE_INT(kol_text_open(env, string, &text), KOL_OK);
    CHECK_BYTES(text.bytes, text.size, bytes, sizeof bytes - 1);
    CHECK_INT(text.bytes[text.size], 0);
    CHECK(text.heap == NULL);
    kol_text_close(&text);
    CHECK_INT(kol_text_open(env, NULL, &text), KOL_ENULL);
    kol_text_close(&text);
}

/* A pattern whose characters take one to four bytes, so that every boundary cuts something. */
static char *pattern(size_t *size_out, size_t characters)
{
    static const char *const each[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x95\xB5"};
    char *bytes = malloc(characters * 4 + 1);
    size_t size = 0;
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < characters; i++) {
        size_t length = strlen(each[i % 4]);
        memcpy(bytes + size, each[i % 4], length);
        size += length;
    }
    *size_out = size;
    return bytes;
}

JVM_TEST(every_length_around_the_buffers)
{
    for (size_t characters = 0; characters < 1100; characters += characters < 300 ? 1 : 7) {
        size_t size = 0;
        char *bytes = pattern(&size, characters);
        struct kol_text text;
        jstring string = make(env, bytes, size);
        REQUIRE_INT(kol_text_open(env, string, &text), KOL_OK);
        REQUIRE(text.size == size && memcmp(text.bytes, bytes, size) == 0);
        kol_text_close(&text);
        (*env)->DeleteLocalRef(env, string);
        free(bytes);
    }
    CHECK(1);
}

JVM_TEST(a_megabyte)
{
    size_t size = 0;
    char *bytes = pattern(&size, 400000);
    struct kol_text text;
    jstring string = make(env, bytes, size);
    REQUIRE_INT(kol_text_open(env, string, &text), KOL_OK);
    CHECK(text.size == size && memcmp(text.bytes, bytes, size) == 0);
    kol_text_close(&text);
    free(bytes);
}

JVM_TEST(the_callers_buffer)
{
    char buffer[8] = "!!!!!!!";
    size_t size = 0;
    jstring string = make(env,
                          "\xE2\x82\xAC"
                          "ab",
                          5);
    CHECK_INT(kol_text_copy(env, string, KOL_TEXT_EXACT, buffer, 4, &size), KOL_ESMALL);
    CHECK_INT(size, 5);
    CHECK_STR(buffer, "!!!!!!!");
    CHECK_INT(kol_text_copy(env, string, KOL_TEXT_EXACT, buffer, 5, &size), KOL_OK);
    CHECK_INT(size, 5);
    CHECK_BYTES(buffer, 6,
                "\xE2\x82\xAC"
                "ab!",
                6);
    CHECK_INT(kol_text_copy(env, make(env, "\xED\xA0\x80", 3), KOL_TEXT_STRICT, buffer, 8, &size),
              KOL_OK);
    CHECK_BYTES(buffer, size, "\xEF\xBF\xBD", 3);
    CHECK_INT(kol_text_copy(env, NULL, KOL_TEXT_EXACT, buffer, 8, &size), KOL_ENULL);
    CHECK_INT(kol_text_copy(env, make(env, "", 0), KOL_TEXT_EXACT, NULL, 0, &size), KOL_OK);
    CHECK_INT(size, 0);
}

JVM_TEST(other_encodings)
{
    const jchar latin[] = {'a', 0, 0xFF};
    const jchar units[] = {0xDC00, 'x', 0xD800};
    const jchar replaced[] = {0xFFFD, 0xFFFD, 0xFFFD};
    jstring string = NULL;
    CHECK_INT(kol_text_new_latin1(env, "a\0\xFF", 3, &string), KOL_OK);
    check_units(env, string, latin, 3);
    CHECK_INT(kol_text_new_utf16(env, units, 3, &string), KOL_OK);
    check_units(env, string, units, 3);
    CHECK_INT(kol_text_new_utf16(env, NULL, 0, &string), KOL_OK);
    check_units(env, string, units, 0);
    CHECK_INT(kol_text_new_strict(env, "\xED\xA0\x80", 3, &string), KOL_OK);
    check_units(env, string, replaced, 3);
}

JVM_TEST_RAW(short_text_costs_two_calls_and_one_check)
{
    struct kol_text text;
    jstring string = make(env, "short", 5);
    jni_spy_arm(env);
    REQUIRE_INT(kol_text_open(env, string, &text), KOL_OK);
    jni_spy_disarm();
    CHECK_STR(jni_spy_text(), "GetStringLength 1, GetStringRegion 1, ExceptionCheck 1");
    jni_spy_arm(env);
    string = make(env, "short", 5);
    jni_spy_disarm();
    CHECK_STR(jni_spy_text(), "NewString 1");
}

JVM_TEST_RAW(each_failing_call_is_reported)
{
    struct kol_text text;
    size_t size = 0;
    char *bytes = pattern(&size, 1000);
    jstring string = make(env, bytes, size);
    int reached = 0;
    for (int n = 1; n < 100; n++) {
        jni_spy_arm_throwing(env, n);
        kol_status status = kol_text_open(env, string, &text);
        kol_text_close(&text);
        jni_spy_disarm();
        CHECK_INT(jni_spy_forbidden(), 0);
        if (!jni_spy_has_thrown()) {
            CHECK_INT(status, KOL_OK);
            break;
        }
        reached++;
        (*env)->ExceptionClear(env);
    }
    CHECK(reached >= 8);
    free(bytes);
    jni_spy_arm_throwing(env, 1);
    CHECK_INT(kol_text_new(env, "x", 1, &string), KOL_EJAVA);
    jni_spy_disarm();
    CHECK(string == NULL);
    (*env)->ExceptionClear(env);
}
