/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * array.h: every primitive, regions at their edges, pins and critical sections with commit and
 * abort, null before anything else, direct buffers made by us, by the VM and by Java.
 */
#undef KOL_CHECK
#define KOL_CHECK 1
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>

#include <stdlib.h>
#include <string.h>

KOL_HANDLE(ByteBuffer, "java/nio/ByteBuffer", java_lang_Object)
#define BYTE_BUFFER(X, C)                                                                          \
    X(C, SF1, throws, C, allocate, "allocate", jint)                                               \
    X(C, F1, throws, jbyte, get, "get", jint)                                                      \
    X(C, F1, throws, jint, getInt, "getInt", jint)                                                 \
    X(C, F2, throws, C, putInt, "putInt", jint, jint)                                              \
    X(C, F0, throws, jint, capacity, "capacity")
KOL_MEMBERS(ByteBuffer, BYTE_BUFFER)
KOL_MEMBERS_DEFINE(ByteBuffer, BYTE_BUFFER)

static void load(JNIEnv *env)
{
    static const struct kol_members *const tables[] = {&BYTE_BUFFER__members};
    REQUIRE_INT(kol_class_load(env, tables, 1, NULL, 0), KOL_OK);
}

static void check_thrown(JNIEnv *env, const char *class_name)
{
    char text[256];
    jthrowable thrown = kol_take(env);
    REQUIRE(thrown != NULL);
    kol_throwable_text(env, thrown, text, sizeof text);
    text[strcspn(text, ":")] = 0;
    CHECK_STR(text, class_name);
}

#define ROUND_TRIP(P, a, b, c)                                                                     \
    do {                                                                                           \
        const P in[] = {a, b, c};                                                                  \
        P out[3];                                                                                  \
        P##__array array;                                                                          \
        P##__pin pin;                                                                              \
        REQUIRE_INT(P##__array__make(env, in, 3, &array), KOL_OK);                                 \
        CHECK_INT(P##__array__count(env, array), 3);                                               \
        REQUIRE_INT(P##__array__read(env, array, 0, 3, out), KOL_OK);                              \
        CHECK_BYTES(out, sizeof out, in, sizeof in);                                               \
        REQUIRE_INT(P##__array__write(env, array, 1, 1, in), KOL_OK);                              \
        REQUIRE_INT(P##__array__pin(env, array, &pin), KOL_OK);                                    \
        CHECK(pin.count == 3 && pin.elements[1] == in[0]);                                         \
        pin.elements[2] = in[1];                                                                   \
        P##__array__unpin(env, &pin, KOL_COMMIT);                                                  \
        P##__array__unpin(env, &pin, KOL_COMMIT);                                                  \
        REQUIRE_INT(P##__array__enter(env, array, &pin), KOL_OK);                                  \
        CHECK(pin.elements[2] == in[1]);                                                           \
        P##__array__leave(env, &pin, KOL_ABORT);                                                   \
        CHECK_INT(P##__array__read(env, array, 2, 2, out), KOL_EJAVA);                             \
        check_thrown(env, "java.lang.ArrayIndexOutOfBoundsException");                             \
    } while (0)

JVM_TEST(every_primitive)
{
    ROUND_TRIP(jboolean, 1, 0, 1);
    ROUND_TRIP(jbyte, -128, 0, 127);
    ROUND_TRIP(jchar, 0xD800, 0, 0xFFFF);
    ROUND_TRIP(jshort, INT16_MIN, 0, INT16_MAX);
    ROUND_TRIP(jint, INT32_MIN, 0, INT32_MAX);
    ROUND_TRIP(jlong, INT64_MIN, 0, INT64_MAX);
    ROUND_TRIP(jfloat, -0.5f, 0, 1e30f);
    ROUND_TRIP(jdouble, -0.5, 0, 1e300);
}

JVM_TEST(edges_of_regions)
{
    jint values[4] = {1, 2, 3, 4};
    jint__array array;
    REQUIRE_INT(jint__array__new(env, 0, &array), KOL_OK);
    CHECK_INT(jint__array__read(env, array, 0, 0, values), KOL_OK);
    CHECK_INT(jint__array__read(env, array, 0, 1, values), KOL_EJAVA);
    check_thrown(env, "java.lang.ArrayIndexOutOfBoundsException");
    CHECK_INT(jint__array__new(env, -1, &array), KOL_ERANGE);
    CHECK(jint__array__is_null(array));
    REQUIRE_INT(jint__array__make(env, NULL, 0, &array), KOL_OK);
    REQUIRE_INT(jint__array__make(env, values, 4, &array), KOL_OK);
    CHECK_INT(jint__array__write(env, array, -1, 1, values), KOL_EJAVA);
    check_thrown(env, "java.lang.ArrayIndexOutOfBoundsException");
    CHECK_INT(jint__array__write(env, array, 3, INT32_MAX, values), KOL_EJAVA);
    check_thrown(env, "java.lang.ArrayIndexOutOfBoundsException");
    CHECK_INT(jint__array__read(env, array, 4, 0, values), KOL_OK);
}

JVM_TEST(chunked_loops_see_every_element_once)
{
    enum { COUNT = 1000, CHUNK = 64 };
    jint values[COUNT];
    jint chunk[CHUNK];
    jlong sum = 0;
    jint__array array;
    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
    }
    REQUIRE_INT(jint__array__make(env, values, COUNT, &array), KOL_OK);
    for (jsize at = 0; at < COUNT; at += CHUNK) {
        jsize part = COUNT - at < CHUNK ? COUNT - at : CHUNK;
        REQUIRE_INT(jint__array__read(env, array, at, part, chunk), KOL_OK);
        for (jsize i = 0; i < part; i++) {
            sum += chunk[i];
        }
    }
    CHECK_INT(sum, (jlong)COUNT * (COUNT - 1) / 2);
}

JVM_TEST(null_is_refused_before_anything_is_asked)
{
    jbyte__array none = jbyte__array__null();
    jbyte__pin pin;
    jbyte byte = 0;
    jni_spy_arm(env);
    CHECK_INT(jbyte__array__count(env, none), 0);
    CHECK_INT(jni_spy_count_of("GetArrayLength"), 0);
    jni_spy_disarm();
    check_thrown(env, "java.lang.NullPointerException");
    CHECK_INT(jbyte__array__read(env, none, 0, 1, &byte), KOL_EJAVA);
    check_thrown(env, "java.lang.NullPointerException");
    CHECK_INT(jbyte__array__write(env, none, 0, 1, &byte), KOL_EJAVA);
    check_thrown(env, "java.lang.NullPointerException");
    CHECK_INT(jbyte__array__pin(env, none, &pin), KOL_EJAVA);
    check_thrown(env, "java.lang.NullPointerException");
    jbyte__array__unpin(env, &pin, KOL_COMMIT);
    CHECK_INT(jbyte__array__enter(env, none, &pin), KOL_EJAVA);
    check_thrown(env, "java.lang.NullPointerException");
    jbyte__array__leave(env, &pin, KOL_COMMIT);
}

JVM_TEST_RAW(failing_calls_leave_nothing_pinned)
{
    jbyte__array array;
    jbyte__pin pin;
    REQUIRE_INT(jbyte__array__new(env, 10, &array), KOL_OK);
    jni_spy_arm_throwing(env, 1);
    CHECK_INT(jbyte__array__pin(env, array, &pin), KOL_EJAVA);
    jbyte__array__unpin(env, &pin, KOL_COMMIT);
    CHECK_INT(jni_spy_count_of("ReleaseByteArrayElements"), 0);
    jni_spy_disarm();
    CHECK(kol_take(env) != NULL);
    jni_spy_arm_throwing(env, 1);
    CHECK_INT(jbyte__array__enter(env, array, &pin), KOL_EJAVA);
    jbyte__array__leave(env, &pin, KOL_COMMIT);
    CHECK_INT(jni_spy_count_of("ReleasePrimitiveArrayCritical"), 0);
    jni_spy_disarm();
    CHECK(kol_take(env) != NULL);
    jni_spy_arm_throwing(env, 1);
    CHECK_INT(jbyte__array__new(env, 10, &array), KOL_EJAVA);
    jni_spy_disarm();
    CHECK(kol_take(env) != NULL);
}

JVM_TEST(an_array_too_large_is_an_error)
{
    jlong__array array;
    CHECK_INT(jlong__array__new(env, INT32_MAX, &array), KOL_EJAVA);
    check_thrown(env, "java.lang.OutOfMemoryError");
}

JVM_TEST(a_wrapped_buffer_is_our_memory)
{
    unsigned char memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct kol_view view;
    jobject raw = NULL;
    jint value = 0;
    load(env);
    REQUIRE_INT(kol_buffer_wrap(env, memory, sizeof memory, &raw), KOL_OK);
    ByteBuffer buffer = ByteBuffer__raw(raw);
    REQUIRE_INT(ByteBuffer_getInt(env, buffer, 0, &value), KOL_OK);
    CHECK_INT(value, 0x01020304);
    REQUIRE_INT(ByteBuffer_putInt(env, buffer, 4, 0x0A0B0C0D, &buffer), KOL_OK);
    CHECK_INT(memory[7], 0x0D);
    REQUIRE_INT(kol_buffer_view(env, raw, &view), KOL_OK);
    CHECK(view.bytes == memory && view.size == sizeof memory);
    REQUIRE_INT(kol_buffer_wrap(env, NULL, 0, &raw), KOL_OK);
    REQUIRE_INT(kol_buffer_view(env, raw, &view), KOL_OK);
    CHECK_INT(view.size, 0);
    CHECK_INT(kol_buffer_wrap(env, memory, (size_t)INT32_MAX + 1, &raw), KOL_ERANGE);
}

JVM_TEST(a_new_buffer_is_zeroed_and_native_endian)
{
    struct kol_view view;
    jobject raw = NULL;
    jint value = 0x11223344;
    load(env);
    for (int round = 0; round < 2; round++) {
        REQUIRE_INT(kol_buffer_new(env, 4096, &raw), KOL_OK);
        REQUIRE_INT(kol_buffer_view(env, raw, &view), KOL_OK);
        CHECK_INT(view.size, 4096);
        CHECK_INT(((char *)view.bytes)[4095], 0);
    }
    memcpy(view.bytes, &value, sizeof value);
    jint seen = 0;
    REQUIRE_INT(ByteBuffer_getInt(env, ByteBuffer__raw(raw), 0, &seen), KOL_OK);
    CHECK_INT(seen, value);
    CHECK_INT(kol_buffer_new(env, (size_t)INT32_MAX + 1, &raw), KOL_ERANGE);
    CHECK(raw == NULL);
}

JVM_TEST(what_is_not_a_direct_buffer_is_refused)
{
    struct kol_view view;
    ByteBuffer heap;
    load(env);
    CHECK_INT(kol_buffer_view(env, NULL, &view), KOL_ENULL);
    REQUIRE_INT(ByteBuffer_allocate(env, 16, &heap), KOL_OK);
    CHECK_INT(kol_buffer_view(env, heap.raw, &view), KOL_ETYPE);
    CHECK(view.bytes == NULL && view.size == 0);
}
