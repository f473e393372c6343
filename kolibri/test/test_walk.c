/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * walk.h and jdk.h: boxes and collections of every kind, snapshots, nulls, large ones in frames,
 * and what a walk costs.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/jdk.h>
#include <kolibri/kolibri.h>

#include <string.h>

KOL_JDK_DEFINE

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {KOL_JDK_TABLES};
    char report[512];
    kol_status status =
        kol_class_load(env, tables, (int)(sizeof tables / sizeof *tables), report, sizeof report);
    CHECK_STR(report, "");
    REQUIRE_INT(status, KOL_OK);
}

static java_lang_Object box(JNIEnv *env, jint value)
{
    java_lang_Integer boxed;
    REQUIRE_INT(java_lang_Integer_valueOf(env, value, &boxed), KOL_OK);
    return java_lang_Number__up(java_lang_Integer__up(boxed));
}

static java_util_ArrayList list_of(JNIEnv *env, jint count)
{
    java_util_ArrayList list;
    jboolean added;
    REQUIRE_INT(java_util_ArrayList_of_capacity(env, count, &list), KOL_OK);
    java_util_Collection collection = java_util_List__up(java_util_ArrayList__up(list));
    for (jint i = 0; i < count; i++) {
        java_lang_Object boxed = box(env, i);
        REQUIRE_INT(java_util_Collection_add(env, collection, boxed, &added), KOL_OK);
        java_lang_Object__forget(env, boxed);
    }
    return list;
}

static jlong sum_of(JNIEnv *env, jobject collection, jsize want_count)
{
    struct kol_walk walk;
    jobject each;
    jlong sum = 0;
    jsize count = 0;
    REQUIRE_INT(kol_walk_open(env, collection, &walk), KOL_OK);
    CHECK_INT(kol_walk_count(&walk), want_count);
    kol_status status = kol_walk_next(env, &walk, &each);
    while (status == KOL_OK) {
        if (each) {
            sum += java_lang_Integer_value(env, java_lang_Integer__raw(each));
        }
        count++;
        status = kol_walk_next(env, &walk, &each);
    }
    CHECK_INT(status, KOL_NONE);
    CHECK_INT(count, want_count);
    kol_walk_close(env, &walk);
    kol_walk_close(env, &walk);
    return sum;
}

JVM_TEST_RAW(boxes_of_every_type)
{
    java_lang_Boolean z;
    java_lang_Character c;
    java_lang_Byte b;
    java_lang_Short s;
    java_lang_Integer i;
    java_lang_Long j;
    java_lang_Float f;
    java_lang_Double d;
    load(env);
    REQUIRE_INT(java_lang_Boolean_valueOf(env, JNI_TRUE, &z), KOL_OK);
    REQUIRE_INT(java_lang_Character_valueOf(env, 0xFFFF, &c), KOL_OK);
    REQUIRE_INT(java_lang_Byte_valueOf(env, -128, &b), KOL_OK);
    REQUIRE_INT(java_lang_Short_valueOf(env, -32768, &s), KOL_OK);
    REQUIRE_INT(java_lang_Integer_valueOf(env, INT32_MIN, &i), KOL_OK);
    REQUIRE_INT(java_lang_Long_valueOf(env, INT64_MIN, &j), KOL_OK);
    REQUIRE_INT(java_lang_Float_valueOf(env, -0.5f, &f), KOL_OK);
    REQUIRE_INT(java_lang_Double_valueOf(env, -0.25, &d), KOL_OK);
    CHECK_INT(java_lang_Boolean_value(env, z), 1);
    CHECK_INT(java_lang_Character_value(env, c), 0xFFFF);
    CHECK_INT(java_lang_Byte_value(env, b), -128);
    CHECK_INT(java_lang_Short_value(env, s), -32768);
    CHECK_INT(java_lang_Integer_value(env, i), INT32_MIN);
    CHECK_INT(java_lang_Long_value(env, j), INT64_MIN);
    CHECK(java_lang_Float_value(env, f) == -0.5f);
    CHECK(java_lang_Double_value(env, d) == -0.25);
    java_lang_Integer again;
    REQUIRE_INT(java_lang_Integer_valueOf(env, 7, &i), KOL_OK);
    REQUIRE_INT(java_lang_Integer_valueOf(env, 7, &again), KOL_OK);
    CHECK(java_lang_Integer__same(env, i, again));
}

JVM_TEST_RAW(lists_of_every_size_around_a_frame)
{
    load(env);
    for (jint count = 0; count < 100; count += count < 30 || count > 66 ? 7 : 1) {
        REQUIRE_INT(kol_frame_open(env, 16), KOL_OK);
        java_util_ArrayList list = list_of(env, count);
        CHECK_INT(sum_of(env, list.raw, count), (jlong)count * (count - 1) / 2);
        kol_frame_close(env, NULL);
    }
}

JVM_TEST_RAW(arrays_iterables_iterators_and_nulls)
{
    java_lang_Object__array array;
    java_util_Iterator iterator;
    load(env);
    java_util_ArrayList list = list_of(env, 40);
    java_util_Collection collection = java_util_List__up(java_util_ArrayList__up(list));
    REQUIRE_INT(java_util_Collection_toArray(env, collection, &array), KOL_OK);
    REQUIRE_INT(java_lang_Object__array__set(env, array, 39, java_lang_Object__null()), KOL_OK);
    CHECK_INT(sum_of(env, array.raw, 40), 39 * 38 / 2);
    REQUIRE_INT(java_util_Collection_iterator(env, collection, &iterator), KOL_OK);
    CHECK_INT(sum_of(env, iterator.raw, 40), 40 * 39 / 2);
}

JVM_TEST_RAW(maps_give_keys_and_values)
{
    java_util_HashMap made;
    java_lang_Object before;
    struct kol_walk walk;
    jobject key;
    jobject value;
    load(env);
    REQUIRE_INT(java_util_HashMap_make(env, &made), KOL_OK);
    java_util_Map map = java_util_HashMap__up(made);
    for (jint i = 0; i < 50; i++) {
        REQUIRE_INT(java_util_Map_put(env, map, box(env, i), box(env, 2 * i), &before), KOL_OK);
    }
    int count = 0;
    REQUIRE_INT(kol_walk_open(env, map.raw, &walk), KOL_OK);
    while (kol_walk_next_pair(env, &walk, &key, &value) == KOL_OK) {
        CHECK_INT(2 * java_lang_Integer_value(env, java_lang_Integer__raw(key)),
                  java_lang_Integer_value(env, java_lang_Integer__raw(value)));
        count++;
    }
    kol_walk_close(env, &walk);
    CHECK_INT(count, 50);
}

JVM_TEST_RAW(a_walk_sees_a_snapshot)
{
    struct kol_walk walk;
    jobject each;
    int count = 0;
    load(env);
    java_util_ArrayList list = list_of(env, 40);
    REQUIRE_INT(kol_walk_open(env, list.raw, &walk), KOL_OK);
    while (kol_walk_next(env, &walk, &each) == KOL_OK) {
        REQUIRE_INT(
            java_util_Collection_clear(env, java_util_List__up(java_util_ArrayList__up(list))),
            KOL_OK);
        count++;
    }
    kol_walk_close(env, &walk);
    CHECK_INT(count, 40);
}

JVM_TEST(what_cannot_be_walked)
{
    struct kol_walk walk;
    char text[64];
    load(env);
    CHECK_INT(kol_walk_open(env, NULL, &walk), KOL_ENULL);
    kol_walk_close(env, &walk);
    CHECK_INT(kol_walk_open(env, box(env, 1).raw, &walk), KOL_EJAVA);
    kol_walk_close(env, &walk);
    kol_throwable_text(env, kol_take(env), text, sizeof text);
    text[strcspn(text, ":")] = 0;
    CHECK_STR(text, "java.lang.ClassCastException");
}

JVM_TEST_RAW(a_walk_costs_one_call_a_reference_and_a_frame_each_32)
{
    struct kol_walk walk;
    jobject each;
    load(env);
    java_util_ArrayList list = list_of(env, 320);
    for (int round = 0; round < 2; round++) {
        jni_spy_arm(env);
        REQUIRE_INT(kol_walk_open(env, list.raw, &walk), KOL_OK);
        while (kol_walk_next(env, &walk, &each) == KOL_OK) {
        }
        kol_walk_close(env, &walk);
        jni_spy_disarm();
    }
    CHECK_INT(jni_spy_count_of("GetObjectArrayElement"), 320);
    CHECK(jni_spy_count() <= 320 + 2 * 320 / 32 + 6);
}

JVM_TEST_RAW(a_failing_frame_ends_the_walk)
{
    struct kol_walk walk;
    jobject each;
    load(env);
    java_util_ArrayList list = list_of(env, 100);
    CHECK_INT(sum_of(env, list.raw, 100), 4950);
    for (int n = 1; n < 10; n++) {
        int seen = 0;
        jni_spy_arm_throwing(env, n);
        kol_status status = kol_walk_open(env, list.raw, &walk);
        while (status == KOL_OK && (status = kol_walk_next(env, &walk, &each)) == KOL_OK) {
            seen += each != NULL;
            if (jni_spy_has_thrown()) {
                break;
            }
        }
        kol_walk_close(env, &walk);
        CHECK_INT(jni_spy_forbidden(), 0);
        jni_spy_disarm();
        CHECK(kol_take(env) != NULL);
        CHECK(seen < 10);
    }
}
