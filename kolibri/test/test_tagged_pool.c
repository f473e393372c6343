/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pools and writers: messages in messages do not touch each other, an empty pool never blocks, what
 * is large goes with its writer, writing into a lease allocates nothing, lack of memory is a status
 * at every allocation, many threads share a pool.
 */
#undef KOL_CHECK
#define KOL_CHECK 2
#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <kolibri/stats.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void write_numbers(struct kol_writer *writer, int first, int count)
{
    kol_write_list(writer, (size_t)count);
    for (int i = 0; i < count; i++) {
        char text[24];
        snprintf(text, sizeof text, "n%d", first + i);
        kol_write_string(writer, kol_string_of(text, strlen(text), KOL_UTF8));
    }
    kol_write_end(writer);
}

static void check_numbers(struct kol_message message, int first, int count)
{
    struct kol_reader reader;
    REQUIRE_INT(kol_reader_open(&reader, NULL, message), KOL_OK);
    struct kol_value list = kol_reader_root(&reader);
    CHECK_INT(kol_value_count(list), count);
    for (int i = 0; i < count; i++) {
        char want[24], got[24];
        size_t size;
        snprintf(want, sizeof want, "n%d", first + i);
        REQUIRE_INT(kol_value_copy_text(kol_value_at(list, (size_t)i), got, sizeof got, &size),
                    KOL_OK);
        REQUIRE(CHECK_STR(got, want));
    }
    kol_reader_close(&reader);
}

/* A getter that calls back while its object is being encoded, `depth` deep. */
static void write_with_getters(struct kol_buffers *buffers, struct kol_writer *writer, int depth)
{
    kol_write_list(writer, 3);
    write_numbers(writer, depth, 5);
    if (depth > 0) {
        struct kol_writer *inner;
        struct kol_message message;
        REQUIRE_INT(kol_writer_open(buffers, writer, &inner), KOL_OK);
        write_with_getters(buffers, inner, depth - 1);
        REQUIRE_INT(kol_writer_finish(inner, &message), KOL_OK);
        struct kol_reader reader;
        REQUIRE_INT(kol_reader_open(&reader, NULL, message), KOL_OK);
        kol_write_value(writer, kol_reader_root(&reader));
        kol_reader_close(&reader);
        kol_writer_close(inner);
    } else {
        kol_write_null(writer);
    }
    write_numbers(writer, -depth, 5);
    kol_write_end(writer);
}

TEST(a_getter_that_calls_back_does_not_touch_the_outer_message)
{
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    struct kol_reader reader;
    REQUIRE_INT(kol_buffers_new(256, 3, NULL, &buffers), KOL_OK);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    write_with_getters(buffers, writer, 20);
    CHECK_INT(kol_buffers_leases(buffers), 1);
    CHECK(kol_buffers_one_offs(buffers) > 0);
    REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
    REQUIRE_INT(kol_reader_open(&reader, NULL, message), KOL_OK);
    struct kol_value value = kol_reader_root(&reader);
    for (int depth = 20; depth >= 0; depth--) {
        char want[24], got[24];
        size_t size;
        snprintf(want, sizeof want, "n%d", 4 - depth);
        REQUIRE_INT(
            kol_value_copy_text(kol_value_at(kol_value_at(value, 2), 4), got, sizeof got, &size),
            KOL_OK);
        CHECK_STR(got, want);
        value = kol_value_at(value, 1);
    }
    CHECK_INT(kol_value_type(value), KOL_NULL);
    kol_reader_close(&reader);
    kol_writer_close(writer);
    kol_buffers_close(buffers);
}

/* A codec that calls back while the message is being read: frames on one chunk are a stack. */
TEST(a_codec_that_calls_back_shares_the_chunk)
{
    enum { DEEP = 30 };
    struct kol_buffers *buffers;
    struct kol_writer *writers[DEEP];
    struct kol_message messages[DEEP];
    REQUIRE_INT(kol_buffers_new(65536, 1, NULL, &buffers), KOL_OK);
    for (int i = 0; i < DEEP; i++) {
        REQUIRE_INT(kol_writer_open(buffers, i > 0 ? writers[i - 1] : NULL, &writers[i]), KOL_OK);
        write_numbers(writers[i], i * 100, 10);
        REQUIRE_INT(kol_writer_finish(writers[i], &messages[i]), KOL_OK);
        if (i > 0) {
            CHECK((const uint8_t *)messages[i].bytes ==
                  (const uint8_t *)messages[i - 1].bytes + messages[i - 1].size);
        }
    }
    for (int i = DEEP - 1; i >= 0; i--) {
        check_numbers(messages[i], i * 100, 10);
        kol_writer_close(writers[i]);
    }
    /* the rest can be used again, and by one at a time only */
    struct kol_writer *outer, *first, *second;
    struct kol_message message, other, third;
    REQUIRE_INT(kol_writer_open(buffers, NULL, &outer), KOL_OK);
    write_numbers(outer, 1, 3);
    REQUIRE_INT(kol_writer_finish(outer, &message), KOL_OK);
    size_t one_offs = kol_buffers_one_offs(buffers);
    for (int i = 0; i < 3; i++) {
        REQUIRE_INT(kol_writer_open(buffers, outer, &first), KOL_OK);
        write_numbers(first, 2, 30);
        REQUIRE_INT(kol_writer_finish(first, &other), KOL_OK);
        CHECK((const uint8_t *)other.bytes == (const uint8_t *)message.bytes + message.size);
        CHECK_INT(kol_buffers_one_offs(buffers), one_offs);
        REQUIRE_INT(kol_writer_open(buffers, outer, &second), KOL_OK);
        CHECK_INT(kol_buffers_one_offs(buffers), ++one_offs);
        write_numbers(second, 5, 50);
        REQUIRE_INT(kol_writer_finish(second, &third), KOL_OK);
        check_numbers(other, 2, 30);
        check_numbers(third, 5, 50);
        kol_writer_close(second);
        kol_writer_close(first);
    }
    check_numbers(message, 1, 3);
    kol_writer_close(outer);
    CHECK_INT(kol_buffers_leases(buffers), 0);
    kol_buffers_close(buffers);
}

TEST(closed_in_the_wrong_order_nothing_is_overwritten)
{
    struct kol_buffers *buffers;
    struct kol_writer *outer, *inner, *next;
    struct kol_message message, other, third;
    REQUIRE_INT(kol_buffers_new(4096, 1, NULL, &buffers), KOL_OK);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &outer), KOL_OK);
    write_numbers(outer, 1, 3);
    REQUIRE_INT(kol_writer_finish(outer, &message), KOL_OK);
    REQUIRE_INT(kol_writer_open(buffers, outer, &inner), KOL_OK);
    write_numbers(inner, 7, 20);
    REQUIRE_INT(kol_writer_finish(inner, &other), KOL_OK);
    kol_writer_close(outer);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &next), KOL_OK);
    write_numbers(next, 9, 100);
    REQUIRE_INT(kol_writer_finish(next, &third), KOL_OK);
    check_numbers(other, 7, 20);
    check_numbers(third, 9, 100);
    kol_writer_close(inner);
    kol_writer_close(next);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &next), KOL_OK);
    size_t one_offs = kol_buffers_one_offs(buffers);
    write_numbers(next, 9, 10);
    REQUIRE_INT(kol_writer_finish(next, &third), KOL_OK);
    CHECK_INT(kol_buffers_one_offs(buffers), one_offs);
    kol_writer_close(next);
    kol_buffers_close(buffers);
}

TEST(nothing_of_a_long_message_is_left_for_a_short_one)
{
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    REQUIRE_INT(kol_buffers_new(4096, 1, NULL, &buffers), KOL_OK);
    for (int i = 0; i < 4; i++) {
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        if (i % 2 == 0) {
            write_numbers(writer, 0, 100);
        } else {
            kol_write_null(writer);
        }
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        CHECK(i % 2 == 0 ? message.size > 1000 : message.size == KOL_MESSAGE_MIN);
        kol_writer_close(writer);
    }
    kol_buffers_close(buffers);
}

TEST(a_lease_costs_no_allocation_and_no_copy)
{
    struct counted counted;
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    const struct kol_string keys[] = {KOL_STRING("id"), KOL_STRING("name")};
    const struct kol_shape *shape;
    counted_init(&counted, 0);
    REQUIRE_INT(kol_buffers_new(0, 2, &counted.memory, &buffers), KOL_OK);
    REQUIRE_INT(kol_shape_of(kol_buffers_sent(buffers), keys, 2, &shape), KOL_OK);
    size_t taken = counted.taken;
    for (int round = 0; round < 100; round++) {
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        kol_write_list(writer, 3);
        kol_write_records(writer, shape, 500);
        for (int i = 0; i < 500; i++) {
            kol_write_int(writer, i);
            kol_write_string(writer, KOL_STRING("a name of some length, in text"));
        }
        kol_write_end(writer);
        write_numbers(writer, 0, 100);
        kol_write_list(writer, KOL_UNKNOWN);
        for (int i = 0; i < 500; i++) {
            kol_write_double(writer, i);
        }
        kol_write_end(writer);
        kol_write_end(writer);
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        kol_writer_close(writer);
    }
    CHECK(message.size > 25000 && message.size < 65536);
    CHECK_INT(counted.taken, taken);
    CHECK_INT(kol_buffers_one_offs(buffers), 0);
    kol_buffers_close(buffers);
    CHECK_INT(counted.live, 0);
}

TEST(a_chunk_is_used_to_its_last_byte)
{
    struct counted counted;
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    static const uint8_t bytes[4096];
    counted_init(&counted, 0);
    REQUIRE_INT(kol_buffers_new(4096, 1, &counted.memory, &buffers), KOL_OK);
    size_t taken = counted.taken;
    for (size_t text = 0; text <= 4096 - 48; text += 8) {
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        kol_write_list(writer, 2);
        /* header 32, two slots 16, head of the block 8 */
        size_t rest = 4096 - 56 - text < 4096 ? 4096 - 56 - text : 0;
        kol_write_string(writer, kol_string_of(bytes, text, KOL_LATIN1));
        if (text <= 4096 - 56) {
            kol_write_bytes(writer, bytes, rest);
        } else {
            kol_write_null(writer);
        }
        kol_write_end(writer);
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        CHECK_INT(message.size, 4096);
        kol_writer_close(writer);
    }
    CHECK_INT(counted.taken, taken);
    kol_buffers_close(buffers);
}

TEST(what_is_large_goes_with_its_writer)
{
    struct counted counted;
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    counted_init(&counted, 0);
    REQUIRE_INT(kol_buffers_new(256, 1, &counted.memory, &buffers), KOL_OK);
    size_t live = counted.live;
    for (int count = 1; count < 5000; count = count * 3 / 2 + 1) {
        REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
        write_numbers(writer, 0, count);
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        check_numbers(message, 0, count);
        CHECK(count < 1000 || counted.live > live);
        kol_writer_close(writer);
        CHECK_INT(counted.live, live);
    }
    kol_buffers_close(buffers);
    CHECK_INT(counted.live, 0);
}

static int misuses;

static void count_misuse(const char *where, const char *what, void *user)
{
    (void)what;
    (void)user;
    misuses += strcmp(where, "kol_buffers_close") == 0;
}

TEST(a_pool_closed_too_early_is_reported_and_lives_on)
{
    struct counted counted;
    struct kol_buffers *buffers;
    struct kol_writer *writer, *late;
    struct kol_message message;
    struct kol_stats before, after;
    counted_init(&counted, 0);
    kol_on_misuse(count_misuse, NULL);
    kol_stats_read(&before);
    REQUIRE_INT(kol_buffers_new(256, 1, &counted.memory, &buffers), KOL_OK);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    CHECK_INT(kol_buffers_leases(buffers), 1);
    kol_buffers_close(buffers);
    CHECK_INT(misuses, 1);
    CHECK_INT(kol_writer_open(buffers, NULL, &late), KOL_EENDED);
    CHECK(late == NULL);
    write_numbers(writer, 0, 100);
    REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
    check_numbers(message, 0, 100);
    kol_writer_close(writer);
    CHECK_INT(counted.live, 0);
    kol_stats_read(&after);
    CHECK(after.one_offs > before.one_offs);
    REQUIRE_INT(kol_buffers_new(256, 1, NULL, &buffers), KOL_OK);
    kol_buffers_close(buffers);
    kol_buffers_close(NULL);
    CHECK_INT(misuses, 1);
    kol_on_misuse(NULL, NULL);
}

TEST(sizes_that_make_no_sense_are_refused)
{
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    static uint64_t room[8];
    CHECK_INT(kol_buffers_new(128, 1, NULL, &buffers), KOL_ERANGE);
    CHECK_INT(kol_buffers_new(257, 1, NULL, &buffers), KOL_ERANGE);
    CHECK_INT(kol_buffers_new((size_t)32 << 20, 1, NULL, &buffers), KOL_ERANGE);
    CHECK_INT(kol_buffers_new(256, 65, NULL, &buffers), KOL_ERANGE);
    REQUIRE_INT(kol_buffers_new(256, 64, NULL, &buffers), KOL_OK);
    CHECK_INT(kol_writer_open_at(buffers, room, 31, &writer), KOL_EMISUSE);
    CHECK_INT(kol_writer_open_at(buffers, (uint8_t *)room + 1, 40, &writer), KOL_EMISUSE);
    for (size_t size = 32; size <= sizeof room; size++) {
        struct kol_message message;
        REQUIRE_INT(kol_writer_open_at(buffers, room, size, &writer), KOL_OK);
        kol_write_string(writer, KOL_STRING("eight by"));
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        CHECK_INT(message.bytes == room, size >= 40);
        CHECK_INT(message.size, 40);
        kol_writer_close(writer);
    }
    kol_buffers_close(buffers);
}

/* One of everything that takes memory, in a pool without room. */
static kol_status write_all(struct kol_buffers *buffers, struct kol_shapes *received, char **text)
{
    static const char notation[] =
        "[{\"a\":1,\"\\u20ac\":[\"text text text text\",\"\\u20ac\\u20ac\"]},map(1=2),set(1),"
        "f64(3ff8000000000000,3ff8000000000000),n123456789abcdef0123,bytes(00112233445566),"
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"deep\"]]]]]]]]]]]]]]]]]]]]]]]]]]]],custom(1,2,3)]";
    struct kol_writer *writer, *other;
    struct kol_message message;
    struct kol_reader reader;
    kol_status status = kol_writer_open(buffers, NULL, &writer);
    *text = NULL;
    if (status != KOL_OK) {
        return status;
    }
    status = kol_writer_open(buffers, writer, &other);
    if (status == KOL_OK) {
        const struct kol_string key = KOL_STRING("key");
        const struct kol_shape *shape;
        kol_write_list(other, 80);
        status = kol_shape_of(kol_buffers_sent(buffers), &key, 1, &shape);
        for (int i = 0; i < 80 && status == KOL_OK; i++) {
            kol_write_record(other, shape);
            tagged_parse(other, notation, NULL);
            kol_write_end(other);
        }
        kol_write_end(other);
        kol_status finished = kol_writer_finish(other, &message);
        status = status == KOL_OK ? finished : status;
    }
    if (status == KOL_OK) {
        status = kol_reader_open(&reader, received, message);
    }
    if (status == KOL_OK) {
        kol_write_value(writer, kol_reader_root(&reader));
        status = kol_writer_finish(writer, &message);
        *text = status == KOL_OK ? tagged_print(kol_reader_root(&reader)) : NULL;
        kol_reader_close(&reader);
    }
    kol_writer_close(other);
    kol_writer_close(writer);
    return status;
}

TEST_LIMIT(every_allocation_may_fail, 60)
{
    struct counted counted;
    char *want = NULL;
    size_t fail_at = 0;
    kol_status status = KOL_ENOMEM;
    for (; status != KOL_OK && fail_at < 1000; fail_at++) {
        struct kol_buffers *buffers = NULL;
        counted_init(&counted, fail_at + 1);
        status = kol_buffers_new(256, 1, &counted.memory, &buffers);
        if (status == KOL_OK) {
            status = write_all(buffers, kol_buffers_received(buffers), &want);
            CHECK_INT(kol_buffers_leases(buffers), 0);
            /* the pool is as good as before */
            if (status == KOL_ENOMEM) {
                char *again = NULL;
                CHECK_INT(write_all(buffers, kol_buffers_received(buffers), &again), KOL_OK);
                free(again);
            }
            kol_buffers_close(buffers);
        }
        REQUIRE(status == KOL_OK || status == KOL_ENOMEM);
        CHECK_INT(counted.live, 0);
    }
    CHECK(fail_at > 10 && want != NULL);
    free(want);
}

struct crowd {
    struct kol_buffers *buffers;
    struct kol_shapes *received;
    int number;
};

/* Sends records over one connection, with shapes that others define at the same time. */
static void *send_records(void *user)
{
    struct crowd *crowd = user;
    uint64_t state = (uint64_t)crowd->number + test_seed();
    for (size_t round = 0; round < test_scale(4000); round++) {
        char name[24];
        int32_t got = -1, number = (int32_t)(test_random(&state) % 50);
        struct kol_writer *writer;
        struct kol_message message;
        struct kol_reader reader;
        const struct kol_shape *shape;
        struct kol_value found;
        snprintf(name, sizeof name, "key%d", number);
        struct kol_string key = kol_string_of(name, strlen(name), KOL_UTF8);
        REQUIRE_INT(kol_shape_of(kol_buffers_sent(crowd->buffers), &key, 1, &shape), KOL_OK);
        REQUIRE_INT(kol_writer_open(crowd->buffers, NULL, &writer), KOL_OK);
        kol_write_record(writer, shape);
        kol_write_int(writer, number);
        kol_write_end(writer);
        REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
        REQUIRE_INT(kol_reader_open(&reader, crowd->received, message), KOL_OK);
        kol_writer_delivered(writer);
        REQUIRE(kol_value_get(kol_reader_root(&reader), key, &found) == KOL_OK &&
                kol_value_as_int(found, &got) == KOL_OK && got == number);
        kol_reader_close(&reader);
        kol_writer_close(writer);
    }
    return NULL;
}

TEST_LIMIT(many_threads_share_a_pool, 60)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    struct crowd crowds[THREADS];
    struct kol_buffers *buffers;
    REQUIRE_INT(kol_buffers_new(256, 3, NULL, &buffers), KOL_OK);
    for (int i = 0; i < THREADS; i++) {
        crowds[i] = (struct crowd){buffers, kol_buffers_received(buffers), i};
        REQUIRE(pthread_create(&threads[i], NULL, send_records, &crowds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT(kol_buffers_leases(buffers), 0);
    CHECK_INT(kol_shapes_count(kol_buffers_sent(buffers)), 50);
    CHECK_INT(kol_shapes_count(kol_buffers_received(buffers)), 50);
    kol_buffers_close(buffers);
}
