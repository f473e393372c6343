/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * class.h at level 1: every kind of row, overloads, names that collide, optional members, missing
 * ones as one list, null receivers, classes of the boot loader and of ours, loading twice.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <string.h>

KOL_HANDLE(java_lang_String, "java/lang/String", java_lang_Object)
KOL_HANDLE(java_util_Iterator, "java/util/Iterator", java_lang_Object)
KOL_HANDLE(java_util_ArrayList, "java/util/ArrayList", java_lang_Object)
KOL_HANDLE(java_lang_Integer, "java/lang/Integer", java_lang_Object)
KOL_HANDLE(Members, "io/example/Members", java_lang_Object)
KOL_HANDLE(Inner, "io/example/Members$Inner", java_lang_Object)
KOL_HANDLE(Sub, "io/example/Members$Sub", Members)
KOL_ARRAY_OF(jint__array, "[[I")

#define ITERATOR(X, C)                                                                             \
    X(C, F0, nothrow, jboolean, hasNext, "hasNext")                                                \
    X(C, F0, throws, java_lang_Object, next, "next")
KOL_MEMBERS(java_util_Iterator, ITERATOR)
KOL_MEMBERS_DEFINE(java_util_Iterator, ITERATOR)
#define ITERATOR_MORE(X, C) X(C, P0, throws, remove, "remove")
KOL_MEMBERS(java_util_Iterator, ITERATOR_MORE)
KOL_MEMBERS_DEFINE(java_util_Iterator, ITERATOR_MORE)
#define ARRAY_LIST(X, C)                                                                           \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, N, throws, of_capacity, "<init>", jint)                                                   \
    X(C, F, throws, jboolean, add, "add", java_lang_Object)                                        \
    X(C, F0, nothrow, jint, size, "size")                                                          \
    X(C, F0, throws, java_util_Iterator, iterator, "iterator")
KOL_MEMBERS(java_util_ArrayList, ARRAY_LIST)
KOL_MEMBERS_DEFINE(java_util_ArrayList, ARRAY_LIST)
#define INTEGER(X, C)                                                                              \
    X(C, SF1, throws, java_lang_Integer, valueOf, "valueOf", jint)                                 \
    X(C, SF2, throws, jint, parse, "parseInt", java_lang_String, jint)                             \
    X(C, F0, nothrow, jint, intValue, "intValue")                                                  \
    X(C, SG, jint, MAX_VALUE, "MAX_VALUE")
KOL_MEMBERS(java_lang_Integer, INTEGER)
KOL_MEMBERS_DEFINE(java_lang_Integer, INTEGER)
#define MEMBERS(X, C)                                                                              \
    X(C, N0, throws, make, "<init>")                                                               \
    X(C, N2, throws, make_with, "<init>", jint, java_lang_String)                                  \
    X(C, G, jboolean, z, "z")                                                                      \
    X(C, G, jbyte, b, "b")                                                                         \
    X(C, G, jchar, c, "c")                                                                         \
    X(C, G, jshort, s, "s")                                                                        \
    X(C, G, jint, i, "i")                                                                          \
    X(C, G, jlong, j, "j")                                                                         \
    X(C, G, jfloat, f, "f")                                                                        \
    X(C, G, jdouble, d, "d")                                                                       \
    X(C, G, java_lang_String, name, "name")                                                        \
    X(C, G, jint, keep_field, "keep")                                                              \
    X(C, SG, jint, made, "made")                                                                   \
    X(C, SG, java_lang_String, shared, "shared")                                                   \
    X(C, SG, jlong__array, longs, "longs")                                                         \
    X(C, F0, nothrow, jint, keep, "keep")                                                          \
    X(C, F0, nothrow, jint, overridden, "overridden")                                              \
    X(C, VF0, nothrow, jint, overridden_here, "overridden")                                        \
    X(C, F1, nothrow, jint, of, "of", jint)                                                        \
    X(C, F1, throws, java_lang_String, of_string, "of", java_lang_String)                          \
    X(C, F8, nothrow, jlong, all, "all", jboolean, jbyte, jchar, jshort, jint, jlong, jfloat,      \
      jdouble)                                                                                     \
    X(C, P1, throws, fail, "fail", java_lang_String)                                               \
    X(C, VP1, throws, fail_here, "fail", java_lang_String)                                         \
    X(C, SF2, nothrow, jint, add, "add", jint, jint)                                               \
    X(C, SF1, throws, jint__array__array, grid, "grid", Members__array)                            \
    X(C, SP0, nothrow, nothing, "nothing")                                                         \
    X(C, SP0, optional, absent_procedure, "newer")                                                 \
    X(C, F0, optional, jint, absent, "newest")                                                     \
    X(C, F0, optional, jint, there, "keep")
KOL_MEMBERS(Members, MEMBERS)
KOL_MEMBERS_DEFINE(Members, MEMBERS)
#define SUB(X, C) X(C, N0, throws, make, "<init>")
KOL_MEMBERS(Sub, SUB)
KOL_MEMBERS_DEFINE(Sub, SUB)
#define WRONG(X, C)                                                                                \
    X(C, F1, nothrow, jint, right_but_static, "add", jint)                                         \
    X(C, G, jlong, i_as_long, "i")                                                                 \
    X(C, F0, optional, jint, fine, "fine")                                                         \
    X(C, F0, nothrow, jint, keep_wrong, "keep")                                                    \
    X(C, SG, jint, not_static, "i")
KOL_MEMBERS(Members, WRONG)
KOL_MEMBERS_DEFINE(Members, WRONG)
KOL_HANDLE(Nowhere, "io/example/Nowhere", java_lang_Object)
#define NOWHERE(X, C) X(C, F0, nothrow, jint, zero, "zero")
KOL_MEMBERS(Nowhere, NOWHERE)
KOL_MEMBERS_DEFINE(Nowhere, NOWHERE)

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {
        &ITERATOR__members, &ITERATOR_MORE__members, &ARRAY_LIST__members,
        &INTEGER__members,  &MEMBERS__members,       &SUB__members};
    char report[512];
    kol_status status = kol_class_load(env, tables, 6, report, sizeof report);
    jvm_require_none(env);
    CHECK_STR(report, "");
    REQUIRE_INT(status, KOL_OK);
}

static java_lang_String text(JNIEnv *env, const char *bytes)
{
    jstring made;
    REQUIRE_INT(kol_text_new(env, bytes, strlen(bytes), &made), KOL_OK);
    return java_lang_String__raw(made);
}

static void check_text(JNIEnv *env, java_lang_String string, const char *want)
{
    struct kol_text opened;
    REQUIRE_INT(kol_text_open(env, string.raw, &opened), KOL_OK);
    CHECK_STR(opened.bytes, want);
    kol_text_close(&opened);
}

JVM_TEST_RAW(boot_classes)
{
    load(env);
    java_util_ArrayList list;
    REQUIRE_INT(java_util_ArrayList_of_capacity(env, 4, &list), KOL_OK);
    for (int i = 0; i < 3; i++) {
        java_lang_Integer boxed;
        jboolean added;
        REQUIRE_INT(java_lang_Integer_valueOf(env, i * 1000, &boxed), KOL_OK);
        REQUIRE_INT(java_util_ArrayList_add(env, list, java_lang_Integer__up(boxed), &added),
                    KOL_OK);
    }
    CHECK_INT(java_util_ArrayList_size(env, list), 3);
    java_util_Iterator it;
    REQUIRE_INT(java_util_ArrayList_iterator(env, list, &it), KOL_OK);
    int sum = 0;
    java_lang_Object each;
    while (java_util_Iterator_hasNext(env, it)) {
        java_lang_Integer boxed;
        REQUIRE_INT(java_util_Iterator_next(env, it, &each), KOL_OK);
        REQUIRE_INT(java_lang_Integer__cast(env, each, &boxed), KOL_OK);
        sum += java_lang_Integer_intValue(env, boxed);
    }
    CHECK_INT(sum, 3000);
    CHECK_INT(java_util_Iterator_next(env, it, &each), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(java_util_Iterator_remove(env, it), KOL_OK);
    CHECK_INT(java_util_ArrayList_size(env, list), 2);
    CHECK_INT(java_lang_Integer_MAX_VALUE(env), INT32_MAX);
}

JVM_TEST_RAW(fields_of_every_type)
{
    load(env);
    Members m;
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    CHECK_INT(Members_z(env, m), 1);
    CHECK_INT(Members_b(env, m), -1);
    CHECK_INT(Members_c(env, m), 'c');
    CHECK_INT(Members_s(env, m), -2);
    CHECK_INT(Members_i(env, m), 7);
    CHECK_INT(Members_j(env, m), (jlong)1 << 40);
    CHECK(Members_f(env, m) == 0.5f);
    CHECK(Members_d(env, m) == 0.25);
    check_text(env, Members_name(env, m), "field");
    Members_z__set(env, m, JNI_FALSE);
    Members_c__set(env, m, 0xFFFF);
    Members_j__set(env, m, -5);
    Members_d__set(env, m, 1.5);
    Members_name__set(env, m, text(env, "set"));
    CHECK_INT(Members_z(env, m), 0);
    CHECK_INT(Members_c(env, m), 0xFFFF);
    CHECK_INT(Members_j(env, m), -5);
    CHECK(Members_d(env, m) == 1.5);
    check_text(env, Members_name(env, m), "set");
    Members_made__set(env, 41);
    CHECK_INT(Members_made(env), 41);
    check_text(env, Members_shared(env), "shared");
    CHECK_INT(jlong__array__count(env, Members_longs(env)), 3);
}

JVM_TEST_RAW(methods_of_every_kind)
{
    load(env);
    Members m;
    Sub sub;
    REQUIRE_INT(Members_make_with(env, 3, text(env, "n"), &m), KOL_OK);
    REQUIRE_INT(Sub_make(env, &sub), KOL_OK);
    CHECK_INT(Members_keep(env, m), 10);
    CHECK_INT(Members_keep_field(env, m), 5);
    CHECK_INT(Members_overridden(env, Sub__up(sub)), 2);
    CHECK_INT(Members_overridden_here(env, Sub__up(sub)), 1);
    CHECK_INT(Members_of(env, m, 4), 7);
    java_lang_String joined;
    REQUIRE_INT(Members_of_string(env, m, text(env, "a"), &joined), KOL_OK);
    check_text(env, joined, "an");
    CHECK_INT(Members_all(env, m, 1, -2, 3, -4, 5, 6000000000, 7.9f, 8.9), 6000000018);
    CHECK_INT(Members_add(env, 2, 3), 5);
    Members_nothing(env);
    Members__array all;
    jint__array__array grid;
    REQUIRE_INT(Members__array__new(env, 9, &all), KOL_OK);
    REQUIRE_INT(Members__array__set(env, all, 8, m), KOL_OK);
    Members ninth;
    REQUIRE_INT(Members__array__get(env, all, 8, &ninth), KOL_OK);
    CHECK(Members__same(env, ninth, m));
    CHECK_INT(Members__array__get(env, all, 9, &ninth), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    REQUIRE_INT(Members_grid(env, all, &grid), KOL_OK);
    jint__array row;
    jint first = 0;
    REQUIRE_INT(jint__array__array__get(env, grid, 0, &row), KOL_OK);
    REQUIRE_INT(jint__array__read(env, row, 0, 1, &first), KOL_OK);
    CHECK_INT(first, 9);
}

JVM_TEST_RAW(exceptions_are_statuses)
{
    load(env);
    Members m;
    CHECK_INT(Members_make_with(env, -1, java_lang_String__null(), &m), KOL_EJAVA);
    CHECK(Members__is_null(m));
    CHECK(kol_take(env) != NULL);
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    CHECK_INT(Members_fail(env, m, text(env, "x")), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(Members_fail_here(env, m, text(env, "x")), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    Members_fail__unchecked(env, m, text(env, "x"));
    CHECK(kol_take(env) != NULL);
    jint parsed = 3;
    CHECK_INT(java_lang_Integer_parse(env, text(env, "12x"), 10, &parsed), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    CHECK_INT(java_lang_Integer_parse(env, text(env, "-7f"), 16, &parsed), KOL_OK);
    CHECK_INT(parsed, -127);
}

JVM_TEST_RAW(optional_members)
{
    load(env);
    Members m;
    jint value = 0;
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    CHECK(!Members_absent__present());
    CHECK_INT(Members_absent(env, m, &value), KOL_EABSENT);
    CHECK(!Members_absent_procedure__present());
    CHECK_INT(Members_absent_procedure(env), KOL_EABSENT);
    CHECK(Members_there__present());
    CHECK_INT(Members_there(env, m, &value), KOL_OK);
    CHECK_INT(value, 10);
}

static void check_npe(JNIEnv *env, const char *want)
{
    char message[256];
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    kol_throwable_text(env, thrown, message, sizeof message);
    CHECK_STR(message, want);
}

JVM_TEST_RAW(a_null_receiver_is_an_exception)
{
    java_lang_Object out;
    load(env);
    CHECK_INT(java_util_Iterator_next(env, java_util_Iterator__null(), &out), KOL_EJAVA);
    check_npe(env, "java.lang.NullPointerException: null receiver of java_util_Iterator.next");
    CHECK_INT(java_util_Iterator_hasNext(env, java_util_Iterator__null()), 0);
    check_npe(env, "java.lang.NullPointerException: null receiver of java_util_Iterator.hasNext");
    CHECK_INT(Members_i(env, Members__null()), 0);
    check_npe(env, "java.lang.NullPointerException: null receiver of Members.i");
    Members_i__set(env, Members__null(), 1);
    check_npe(env, "java.lang.NullPointerException: null receiver of Members.i");
    CHECK_INT(Members_fail(env, Members__null(), java_lang_String__null()), KOL_EJAVA);
    check_npe(env, "java.lang.NullPointerException: null receiver of Members.fail");
    CHECK_INT(Members__array__count(env, Members__array__null()), 0);
    check_npe(env, "java.lang.NullPointerException: null receiver of Members[]");
}

JVM_TEST(what_is_missing_is_one_list)
{
    static const struct kol_members *const tables[] = {&WRONG__members};
    char report[512];
    CHECK_INT(kol_class_load(env, tables, 1, report, sizeof report), KOL_EMISSING);
    CHECK_STR(report, "Lio/example/Members;.add(I)I\nLio/example/Members;.iJ\n"
                      "Lio/example/Members;.iI");
    CHECK_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_EMISSING);
}

JVM_TEST(a_missing_class_leaves_its_exception)
{
    static const struct kol_members *const tables[] = {&NOWHERE__members};
    CHECK_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
    /* It did not spoil what comes later. */
    load(env);
}

JVM_TEST_RAW(loading_twice_is_fine)
{
    load(env);
    load(env);
    CHECK_INT(Members_add(env, 20, 22), 42);
}

JVM_TEST(casts_are_checked)
{
    load(env);
    Members m;
    Sub sub;
    Inner inner;
    REQUIRE_INT(Members_make(env, &m), KOL_OK);
    CHECK_INT(Sub__cast(env, Members__up(m), &sub), KOL_ETYPE);
    CHECK_INT(Inner__cast(env, Members__up(m), &inner), KOL_ETYPE);
    CHECK_INT(Sub__cast(env, java_lang_Object__null(), &sub), KOL_OK);
    CHECK(Sub__is_null(sub));
    REQUIRE_INT(Sub_make(env, &sub), KOL_OK);
    CHECK_INT(Members__cast(env, Members__up(Sub__up(sub)), &m), KOL_OK);
    CHECK(Members__same(env, m, Sub__up(sub)));
    Nowhere nowhere;
    CHECK_INT(Nowhere__cast(env, Members__up(m), &nowhere), KOL_EJAVA);
    CHECK(kol_take(env) != NULL);
}
