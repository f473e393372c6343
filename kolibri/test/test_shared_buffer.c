/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * shared_buffer.h over a real ByteBuffer: where a message lies, what does not fit, answers, rooms,
 * places that Java may name and must not, failures at every JNI call.
 */
#undef KOL_CHECK
#define KOL_CHECK 2
#include "testing/jni_spy.h"
#include "testing/jvm.h"

#include <kolibri/kolibri.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024, OURS = 2, THEIRS = 2, BLOCK = CHUNK * (OURS + THEIRS) };

static jlong where_at(uint64_t offset, uint64_t size)
{
    return (jlong)(size << 32 | offset);
}

static struct kol_buffers *open_pool(JNIEnv *env, struct kol_view *view)
{
    jobject block;
    struct kol_buffers *buffers;
    REQUIRE_INT(kol_buffer_new(env, BLOCK, &block), KOL_OK);
    REQUIRE_INT(kol_buffer_view(env, block, view), KOL_OK);
    REQUIRE_INT(kol_buffers_open(env, block, CHUNK, OURS, &buffers), KOL_OK);
    (*env)->DeleteLocalRef(env, block);
    return buffers;
}

static void write_text(struct kol_writer *writer, size_t size)
{
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memset(text, 'x', size);
    kol_write_string(writer, kol_string_of(text, size, KOL_LATIN1));
    free(text);
}

static size_t text_size(JNIEnv *env, struct kol_buffers *buffers, jlong where, jobject big)
{
    struct kol_reader reader;
    struct kol_string text;
    REQUIRE_INT(kol_message_open(env, buffers, where, big, &reader), KOL_OK);
    REQUIRE_INT(kol_value_as_text(kol_reader_root(&reader), &text), KOL_OK);
    kol_reader_close(&reader);
    return text.count;
}

JVM_TEST(a_message_lies_in_the_block_if_it_fits)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    for (size_t size = 0; size < 3000; size += 50) {
        struct kol_writer *writer;
        jlong where;
        jobject big;
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        write_text(writer, size);
        REQUIRE_INT(kol_writer_send(env, writer, &where, &big), KOL_OK);
        CHECK_INT(big == NULL, size + 32 <= CHUNK);
        CHECK_INT(where >> 32, (jlong)((size + 39) & ~(size_t)7));
        CHECK_INT(where & UINT32_MAX, 0);
        CHECK_INT(text_size(env, buffers, where, big), size);
        kol_writer_delivered(writer);
        kol_writer_close(writer);
        (*env)->DeleteLocalRef(env, big);
    }
    CHECK_INT(kol_buffers_leases(buffers), 0);
    kol_buffers_close(buffers);
}

JVM_TEST(an_empty_pool_sends_in_a_big_buffer)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    struct kol_writer *writers[OURS + 1];
    for (int i = 0; i <= OURS; i++) {
        jlong where;
        jobject big;
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writers[i]), KOL_OK);
        write_text(writers[i], 100);
        REQUIRE_INT(kol_writer_send(env, writers[i], &where, &big), KOL_OK);
        CHECK_INT(big != NULL, i == OURS);
        CHECK_INT(where & UINT32_MAX, i < OURS ? i * CHUNK : 0);
        CHECK_INT(text_size(env, buffers, where, big), 100);
    }
    for (int i = 0; i <= OURS; i++) {
        kol_writer_close(writers[i]);
    }
    kol_buffers_close(buffers);
}

JVM_TEST(what_was_finished_before_can_be_sent)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    for (size_t size = 100; size < 5000; size += 2400) {
        struct kol_writer *writer;
        struct kol_message message;
        jlong where;
        jobject big, again;
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        write_text(writer, size);
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        REQUIRE_INT(kol_writer_send(env, writer, &where, &big), KOL_OK);
        CHECK_INT(text_size(env, buffers, where, big), size);
        REQUIRE_INT(kol_writer_send(env, writer, &where, &again), KOL_OK);
        CHECK_INT(text_size(env, buffers, where, again), size);
        kol_writer_close(writer);
    }
    kol_buffers_close(buffers);
}

JVM_TEST(an_answer_goes_into_the_room_or_behind_a_handle)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    const size_t start = OURS * CHUNK + 64;
    for (size_t size = 0; size < 2000; size += 40) {
        struct kol_writer *writer;
        REQUIRE_INT(kol_writer_open_room(buffers, where_at(start, 512), &writer), KOL_OK);
        write_text(writer, size);
        jlong answer = kol_writer_answer(env, writer);
        kol_writer_close(writer);
        CHECK_INT(answer > 0, size + 32 <= 512);
        if (answer > 0) {
            CHECK_INT(text_size(env, buffers, where_at(start, (uint64_t)answer), NULL), size);
        } else {
            jobject big;
            struct kol_view all;
            CHECK(~answer <= UINT32_MAX);
            REQUIRE_INT(kol_handle_get(env, (jint)~answer, &big), KOL_OK);
            REQUIRE_INT(kol_buffer_view(env, big, &all), KOL_OK);
            CHECK_INT(text_size(env, buffers, where_at(0, all.size), big), size);
            REQUIRE_INT(kol_handle_drop(env, (jint)~answer), KOL_OK);
            (*env)->DeleteLocalRef(env, big);
        }
    }
    kol_buffers_close(buffers);
}

/* So often that handles have their upper bit set. */
JVM_TEST(an_answer_without_a_room_is_behind_a_handle)
{
    struct kol_view view, all;
    struct kol_buffers *buffers = open_pool(env, &view);
    struct kol_writer *writer;
    jobject big;
    for (int i = 0; i < 5000; i++) {
        REQUIRE_INT(kol_writer_open_room(buffers, 0, &writer), KOL_OK);
        kol_write_int(writer, i);
        jlong answer = kol_writer_answer(env, writer);
        kol_writer_close(writer);
        REQUIRE(answer < 0);
        REQUIRE_INT(kol_handle_get(env, (jint)~answer, &big), KOL_OK);
        REQUIRE_INT(kol_handle_drop(env, (jint)~answer), KOL_OK);
        REQUIRE_INT(kol_buffer_view(env, big, &all), KOL_OK);
        CHECK_INT(all.size, KOL_MESSAGE_MIN);
        CHECK_INT(((const uint8_t *)all.bytes)[24], i & 0xff);
        (*env)->DeleteLocalRef(env, big);
    }
    kol_buffers_close(buffers);
}

JVM_TEST(a_failed_answer_is_an_exception_with_its_path)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    struct kol_writer *writer;
    char text[256];
    REQUIRE_INT(kol_writer_open_room(buffers, where_at(OURS * CHUNK, 64), &writer), KOL_OK);
    kol_write_list(writer, 1);
    kol_write_date(writer, 1e300);
    CHECK_INT(kol_writer_answer(env, writer), 0);
    kol_throwable_text(env, kol_take(env), text, sizeof text);
    CHECK_STR(text, "io.kolibri.KolibriException: an index or a size is out of range, at $[0]");
    kol_writer_close(writer);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    kol_throw_new(env, "java/lang/IllegalStateException", "from a getter");
    kol_write_failure(writer, KOL_EJAVA);
    CHECK_INT(kol_writer_answer(env, writer), 0);
    kol_throwable_text(env, kol_take(env), text, sizeof text);
    CHECK_STR(text, "java.lang.IllegalStateException: from a getter");
    kol_writer_close(writer);
    kol_buffers_close(buffers);
}

JVM_TEST(java_names_only_what_is_there)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    struct kol_message message;
    struct kol_writer *writer;
    jobject big, heap;
    static const struct {
        uint64_t offset, size;
        int is_there;
        int is_room;
    } places[] = {
        {0, BLOCK, 1, 0},
        {0, BLOCK + 1, 0, 0},
        {8, BLOCK, 0, 0},
        {4, 64, 0, 0},
        {BLOCK, 0, 1, 0},
        {BLOCK + 8, 0, 0, 0},
        {UINT32_MAX, UINT32_MAX, 0, 0},
        {UINT32_MAX - 7, 64, 0, 0},
        {0, UINT64_C(1) << 31, 0, 0},
        {CHUNK * OURS, 64, 1, 1},
        {CHUNK * OURS, CHUNK * THEIRS, 1, 1},
        {CHUNK * OURS - 8, 64, 1, 0},
        {CHUNK * OURS + 4, 64, 0, 0},
        {CHUNK * OURS, 24, 1, 0},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        jlong where = where_at(places[i].offset, places[i].size);
        CHECK_INT(kol_message_view(env, buffers, where, NULL, &message),
                  places[i].is_there ? KOL_OK : KOL_ERANGE);
        CHECK_INT(message.size, places[i].is_there ? places[i].size : 0);
        CHECK_INT(kol_writer_open_room(buffers, where, &writer),
                  places[i].is_room ? KOL_OK : KOL_ERANGE);
        kol_writer_close(writer);
    }
    REQUIRE_INT(kol_buffer_new(env, 64, &big), KOL_OK);
    CHECK_INT(kol_message_view(env, buffers, where_at(0, 64), big, &message), KOL_OK);
    CHECK_INT(kol_message_view(env, buffers, where_at(8, 64), big, &message), KOL_ERANGE);
    heap = (*env)->NewStringUTF(env, "no buffer");
    CHECK_INT(kol_message_view(env, buffers, where_at(0, 0), heap, &message), KOL_ETYPE);
    kol_buffers_close(buffers);
}

JVM_TEST(blocks_that_make_no_pool_are_refused)
{
    static const struct {
        jint chunk_size, count;
        kol_status want;
    } rows[] = {{CHUNK, 4, KOL_OK},      {CHUNK, 5, KOL_ERANGE}, {CHUNK, 0, KOL_ERANGE},
                {CHUNK, -1, KOL_ERANGE}, {0, 1, KOL_ERANGE},     {-1024, 1, KOL_ERANGE},
                {1000, 1, KOL_ERANGE},   {128, 1, KOL_ERANGE},   {1 << 30, 1, KOL_ERANGE},
                {256, 16, KOL_OK}};
    jobject block;
    REQUIRE_INT(kol_buffer_new(env, BLOCK, &block), KOL_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kol_buffers *buffers;
        CHECK_INT(kol_buffers_open(env, block, rows[i].chunk_size, rows[i].count, &buffers),
                  rows[i].want);
        kol_buffers_close(buffers);
    }
    struct kol_buffers *buffers;
    CHECK_INT(kol_buffers_open(env, NULL, CHUNK, 1, &buffers), KOL_ENULL);
    CHECK_INT(kol_buffers_open(env, (*env)->NewStringUTF(env, "x"), CHUNK, 1, &buffers), KOL_ETYPE);
}

/* Every JNI call on the way of a message that does not fit may throw; nothing is lost by it. */
JVM_TEST_RAW(each_jni_call_may_throw)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    int n = 0, thrown = 1;
    struct kol_writer *writer;
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    write_text(writer, 3000);
    jlong answer = kol_writer_answer(env, writer);
    CHECK(answer < 0);
    REQUIRE_INT(kol_handle_drop(env, (jint)~answer), KOL_OK);
    for (n = 1; thrown && n < 100; n++) {
        jni_spy_arm_throwing(env, n);
        answer = kol_writer_answer(env, writer);
        jni_spy_disarm();
        thrown = jni_spy_has_thrown();
        CHECK_INT(jni_spy_forbidden(), 0);
        if (thrown) {
            CHECK_INT(answer, 0);
            CHECK(kol_take(env) != NULL);
        }
    }
    CHECK(n > 3);
    CHECK(answer < 0);
    kol_writer_close(writer);
    CHECK_INT(kol_buffers_leases(buffers), 0);
    kol_buffers_close(buffers);
}

/* Sending what lies in the block takes no JNI call at all. */
JVM_TEST_RAW(a_message_in_the_block_costs_no_call)
{
    struct kol_view view;
    struct kol_buffers *buffers = open_pool(env, &view);
    struct kol_writer *writer;
    struct kol_reader reader;
    jlong where;
    jobject big;
    jni_spy_arm(env);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    kol_write_int(writer, 5);
    REQUIRE_INT(kol_writer_send(env, writer, &where, &big), KOL_OK);
    REQUIRE_INT(kol_message_open(env, buffers, where, NULL, &reader), KOL_OK);
    kol_reader_close(&reader);
    kol_writer_close(writer);
    jni_spy_disarm();
    CHECK_INT(jni_spy_count(), 0);
    kol_buffers_close(buffers);
}
