/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The builder and the cursor: each kind there and back with its edges, the conversion table's rows
 * for C. Shapes are test_tagged_shapes.c, misuse and paths test_tagged_misuse.c.
 */
#include "kolibri/test/tagged_desk.h"
#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(longs_are_exact)
{
    static const int64_t longs[] = {0,
                                    -1,
                                    INT32_MAX,
                                    (INT64_C(1) << 47) - 1,
                                    INT64_C(1) << 47,
                                    -(INT64_C(1) << 47),
                                    -(INT64_C(1) << 47) - 1,
                                    (INT64_C(1) << 53) - 1,
                                    INT64_C(1) << 53,
                                    (INT64_C(1) << 53) + 1,
                                    INT64_MAX,
                                    INT64_MIN};
    struct desk desk;
    desk_open(&desk);
    for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++) {
        int64_t got = 7;
        kol_write_long(desk.writer, longs[i]);
        struct kol_value value = desk_read(&desk);
        CHECK_INT(kol_value_type(value), KOL_LONG);
        CHECK_INT(kol_value_as_long(value, &got), KOL_OK);
        CHECK(got == longs[i]);
        double real;
        int is_exact = (longs[i] & (longs[i] < 0 ? 0 : 1)) == 0 || llabs(longs[i]) < (1LL << 53);
        CHECK_INT(kol_value_as_double(value, &real), is_exact ? KOL_OK : KOL_ERANGE);
        desk_next(&desk);
    }
    desk_close(&desk);
}

static kol_status int_of(struct desk *desk, double number, int32_t *out)
{
    kol_write_double(desk->writer, number);
    kol_status status = kol_value_as_int(desk_read(desk), out);
    desk_next(desk);
    return status;
}

TEST(a_double_is_an_int_only_if_that_loses_nothing)
{
    struct desk desk;
    int32_t got;
    desk_open(&desk);
    CHECK_INT(int_of(&desk, 2147483647.0, &got), KOL_OK);
    CHECK_INT(got, INT32_MAX);
    CHECK_INT(int_of(&desk, -2147483648.0, &got), KOL_OK);
    CHECK_INT(got, INT32_MIN);
    CHECK_INT(int_of(&desk, 2147483648.0, &got), KOL_ERANGE);
    CHECK_INT(int_of(&desk, 9223372036854775808.0, &got), KOL_ERANGE);
    CHECK_INT(int_of(&desk, 1e300, &got), KOL_ERANGE);
    CHECK_INT(int_of(&desk, 0.5, &got), KOL_ETYPE);
    CHECK_INT(int_of(&desk, (double)NAN, &got), KOL_ETYPE);
    CHECK_INT(int_of(&desk, (double)INFINITY, &got), KOL_ETYPE);
    desk_close(&desk);
}

TEST(nan_is_one_nan_and_minus_zero_stays)
{
    const uint64_t odd = UINT64_C(0xfff8dead00000001);
    struct desk desk;
    double nan, got;
    uint64_t slot;
    memcpy(&nan, &odd, 8);
    desk_open(&desk);
    kol_write_double(desk.writer, nan);
    CHECK(kol_value_as_double(desk_read(&desk), &got) == KOL_OK && isnan(got));
    memcpy(&slot, (const uint8_t *)desk.message.bytes + 24, 8);
    CHECK(slot == UINT64_C(0x7ff8000000000000));
    desk_next(&desk);
    kol_write_double(desk.writer, -0.0);
    CHECK(kol_value_as_double(desk_read(&desk), &got) == KOL_OK && got == 0 && signbit(got));
    desk_close(&desk);
}

TEST(bigints_keep_their_sign_and_every_byte)
{
    static const uint8_t magnitude[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0};
    struct desk desk;
    struct kol_bigint got;
    int64_t number;
    desk_open(&desk);
    kol_write_bigint(desk.writer, (struct kol_bigint){magnitude, 11, 1});
    struct kol_value value = desk_read(&desk);
    CHECK_INT(kol_value_as_bigint(value, &got), KOL_OK);
    CHECK_BYTES(got.magnitude, got.size, magnitude, 9);
    CHECK(got.is_negative);
    CHECK_INT(kol_value_as_long(value, &number), KOL_ERANGE);
    desk_next(&desk);
    kol_write_bigint(desk.writer, (struct kol_bigint){(const uint8_t *)"\0\0\0\0\0\0\0\200", 8, 1});
    CHECK_INT(kol_value_as_long(desk_read(&desk), &number), KOL_OK);
    CHECK(number == INT64_MIN);
    desk_next(&desk);
    kol_write_bigint(desk.writer, (struct kol_bigint){(const uint8_t *)"\0\0\0\0\0\0\0\200", 8, 0});
    CHECK_INT(kol_value_as_long(desk_read(&desk), &number), KOL_ERANGE);
    desk_next(&desk);
    kol_write_bigint(desk.writer, (struct kol_bigint){NULL, 0, 1});
    desk_check_says(&desk, "n0");
    desk_close(&desk);
}

static void check_text(struct desk *desk, struct kol_string written, const char *utf8, size_t size,
                       kol_text_form form)
{
    char got[64];
    size_t got_size;
    struct kol_string text;
    kol_write_string(desk->writer, written);
    struct kol_value value = desk_read(desk);
    CHECK_INT(kol_value_as_text(value, &text), KOL_OK);
    CHECK_INT(text.form, form);
    CHECK(kol_string_equal(text, written));
    CHECK(kol_string_equal(written, text));
    CHECK_INT(kol_value_copy_text(value, got, sizeof got, &got_size), KOL_OK);
    CHECK_BYTES(got, got_size, utf8, size);
    CHECK_INT(kol_value_copy_text(value, got, size, &got_size), KOL_ESMALL);
    CHECK_INT(got_size, size);
    desk_next(desk);
}

TEST(texts_keep_every_unit)
{
    static const uint16_t half[] = {'a', 0xd83d}, pair[] = {0xd83d, 0xde00}, narrow[] = {'a', 0xff};
    struct desk desk;
    desk_open(&desk);
    check_text(&desk, KOL_STRING("a\0b"), "a\0b", 3, KOL_LATIN1);
    check_text(&desk, KOL_STRING("caf\xc3\xa9"), "caf\xc3\xa9", 5, KOL_LATIN1);
    check_text(&desk, KOL_STRING("\xe2\x82\xac"), "\xe2\x82\xac", 3, KOL_UTF16_LE);
    check_text(&desk, KOL_STRING("\xf0\x9f\x98\x80!"), "\xf0\x9f\x98\x80!", 5, KOL_UTF16_LE);
    check_text(&desk, KOL_STRING("\xed\xa0\xbd"), "\xed\xa0\xbd", 3, KOL_UTF16_LE);
    check_text(&desk, kol_string_of(half, 2, KOL_UTF16), "a\xed\xa0\xbd", 4, KOL_UTF16_LE);
    check_text(&desk, kol_string_of(pair, 2, KOL_UTF16), "\xf0\x9f\x98\x80", 4, KOL_UTF16_LE);
    check_text(&desk, kol_string_of(narrow, 2, KOL_UTF16), "a\xc3\xbf", 3, KOL_LATIN1);
    check_text(&desk, kol_string_of("\xff", 1, KOL_LATIN1), "\xc3\xbf", 2, KOL_LATIN1);
    check_text(&desk, kol_string_of(NULL, 0, KOL_UTF16), "", 0, KOL_LATIN1);
    desk_close(&desk);
}

TEST(malformed_utf8_is_replaced)
{
    struct desk desk;
    desk_open(&desk);
    kol_write_list(desk.writer, 4);
    kol_write_string(desk.writer, KOL_STRING("a\xff"));
    kol_write_string(desk.writer, KOL_STRING("\xc0\x80"));
    kol_write_string(desk.writer, KOL_STRING("\xe2\x82"));
    kol_write_string(desk.writer, KOL_STRING("\xf0\x9f\x98x"));
    kol_write_end(desk.writer);
    desk_check_says(&desk, "[\"a\\ufffd\",\"\\ufffd\\ufffd\",\"\\ufffd\",\"\\ufffdx\"]");
    desk_close(&desk);
}

TEST(strings_around_the_short_form)
{
    static const size_t sizes[] = {(1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    struct desk desk;
    char *text = malloc((1 << 20) + 1);
    uint16_t *units = malloc(((1 << 20) + 1) * sizeof *units);
    REQUIRE(text != NULL && units != NULL);
    memset(text, 'x', (1 << 20) + 1);
    for (size_t i = 0; i < (1 << 20) + 1; i++) {
        units[i] = (uint16_t)(0x4000 + i % 1000);
    }
    desk_open(&desk);
    for (size_t i = 0; i < 3; i++) {
        struct kol_string narrow = kol_string_of(text, sizes[i], KOL_LATIN1), got;
        struct kol_string wide = kol_string_of(units, sizes[i], KOL_UTF16);
        kol_write_list(desk.writer, 2);
        kol_write_string(desk.writer, narrow);
        kol_write_string(desk.writer, wide);
        kol_write_end(desk.writer);
        struct kol_value list = desk_read(&desk);
        CHECK(kol_value_as_text(kol_value_at(list, 0), &got) == KOL_OK);
        CHECK(kol_string_equal(got, narrow));
        CHECK(kol_value_as_text(kol_value_at(list, 1), &got) == KOL_OK);
        CHECK(kol_string_equal(got, wide));
        desk_next(&desk);
    }
    free(text);
    free(units);
    desk_close(&desk);
}

TEST(lists_around_the_short_form)
{
    static const size_t counts[] = {0, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    struct desk desk;
    desk_open(&desk);
    for (size_t i = 0; i < 8; i++) {
        size_t count = counts[i % 4];
        int32_t last = -1;
        kol_write_list(desk.writer, i < 4 ? count : KOL_UNKNOWN);
        for (size_t k = 0; k < count; k++) {
            kol_write_int(desk.writer, (int32_t)k);
        }
        kol_write_end(desk.writer);
        struct kol_value list = desk_read(&desk);
        CHECK_INT(kol_value_count(list), count);
        CHECK(count == 0 || kol_value_as_int(kol_value_at(list, count - 1), &last) == KOL_OK);
        CHECK_INT(last, (int64_t)count - 1);
        CHECK_INT(kol_value_type(kol_value_at(list, count)), KOL_UNDEFINED);
        desk_next(&desk);
    }
    desk_close(&desk);
}

TEST(objects_of_every_count)
{
    struct desk desk;
    char key[24];
    desk_open(&desk);
    for (size_t i = 0; i < 40; i++) {
        size_t count = i / 2;
        kol_write_object(desk.writer, i % 2 ? KOL_UNKNOWN : count);
        for (size_t k = 0; k < count; k++) {
            snprintf(key, sizeof key, "k%zu", k);
            kol_write_key(desk.writer, kol_string_of(key, strlen(key), KOL_UTF8));
            kol_write_list(desk.writer, k % 2 ? 1 : KOL_UNKNOWN);
            kol_write_int(desk.writer, (int32_t)k);
            kol_write_end(desk.writer);
        }
        kol_write_end(desk.writer);
        struct kol_value object = desk_read(&desk), found;
        CHECK_INT(kol_value_count(object), count);
        for (size_t k = 0; k < count; k++) {
            int32_t got = -1;
            snprintf(key, sizeof key, "k%zu", k);
            REQUIRE(kol_value_get(object, kol_string_of(key, strlen(key), KOL_UTF8), &found) ==
                    KOL_OK);
            CHECK(kol_value_as_int(kol_value_at(found, 0), &got) == KOL_OK);
            CHECK_INT(got, k);
        }
        CHECK_INT(kol_value_get(object, KOL_STRING("k99"), &found), KOL_NONE);
        CHECK_INT(kol_value_type(found), KOL_UNDEFINED);
        desk_next(&desk);
    }
    desk_close(&desk);
}

TEST(of_equal_keys_the_last_counts)
{
    struct desk desk;
    struct kol_value found;
    int32_t got = 0;
    desk_open(&desk);
    REQUIRE(tagged_parse(desk.writer, "{\"a\":1,\"\\u20ac\":2,\"a\":3,\"__proto__\":4}", NULL));
    struct kol_value object = desk_read(&desk);
    CHECK(kol_value_get(object, KOL_STRING("a"), &found) == KOL_OK &&
          kol_value_as_int(found, &got) == KOL_OK);
    CHECK_INT(got, 3);
    CHECK(kol_value_get(object, KOL_STRING("\xe2\x82\xac"), &found) == KOL_OK &&
          kol_value_as_int(found, &got) == KOL_OK);
    CHECK_INT(got, 2);
    CHECK(kol_value_get(object, KOL_STRING("__proto__"), &found) == KOL_OK);
    desk_close(&desk);
}

TEST(elements_of_packed_arrays_are_numbers)
{
    static const struct {
        const char *array;
        const char *want;
    } rows[] = {
        {"i8(-128,127)", "[-128,127]"},
        {"u8(0,255)", "[0,255]"},
        {"u8c(255)", "[255]"},
        {"i16(-32768)", "[-32768]"},
        {"u16(65535)", "[65535]"},
        {"i32(-2147483648)", "[-2147483648]"},
        {"u32(2147483647,4294967295)", "[2147483647,4294967295L]"},
        {"i64(-9223372036854775808,5)", "[-9223372036854775808L,5L]"},
        {"u64(9223372036854775807,18446744073709551615)",
         "[9223372036854775807L,d43f0000000000000]"},
        {"f32(3fc00000,ffc00001)", "[d3ff8000000000000,d7ff8000000000000]"},
        {"f64(3ff8000000000000,fff8000000000001)", "[d3ff8000000000000,d7ff8000000000000]"},
        {"bytes(00ff)", "[0,255]"},
    };
    struct desk desk;
    desk_open(&desk);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        REQUIRE(tagged_parse(desk.writer, rows[i].array, NULL));
        struct kol_value array = desk_read(&desk);
        struct kol_writer *list;
        struct kol_message message;
        struct kol_reader reader;
        REQUIRE_INT(kol_writer_open(desk.buffers, NULL, &list), KOL_OK);
        kol_write_list(list, kol_value_count(array));
        for (size_t k = 0; k < kol_value_count(array); k++) {
            kol_write_value(list, kol_value_at(array, k));
        }
        kol_write_end(list);
        REQUIRE_INT(kol_writer_finish(list, &message), KOL_OK);
        REQUIRE_INT(kol_reader_open(&reader, NULL, message), KOL_OK);
        char *text = tagged_print(kol_reader_root(&reader));
        CHECK_STR(text, rows[i].want);
        free(text);
        kol_reader_close(&reader);
        kol_writer_close(list);
        desk_next(&desk);
    }
    desk_close(&desk);
}

TEST(lists_of_numbers_in_one_go)
{
    static const double doubles[] = {1.5, -0.0, 3};
    static const int32_t ints[] = {1, -2};
    struct desk desk;
    double got[3];
    size_t count;
    desk_open(&desk);
    kol_write_doubles(desk.writer, doubles, 3);
    struct kol_value list = desk_read(&desk);
    CHECK_INT(kol_value_type(list), KOL_LIST);
    CHECK_INT(kol_value_copy_doubles(list, got, 3, &count), KOL_OK);
    CHECK_BYTES(got, count * 8, doubles, sizeof doubles);
    CHECK_INT(kol_value_copy_doubles(list, got, 2, &count), KOL_ESMALL);
    desk_next(&desk);
    kol_write_ints(desk.writer, ints, 2);
    list = desk_read(&desk);
    CHECK_INT(kol_value_copy_doubles(list, got, 3, &count), KOL_OK);
    CHECK(count == 2 && got[1] == -2);
    desk_next(&desk);
    kol_write_ints(desk.writer, ints, 2);
    desk_check_says(&desk, "[1,-2]");
    desk_close(&desk);
}

TEST(dates_have_their_range)
{
    struct desk desk;
    desk_open(&desk);
    kol_write_date(desk.writer, -0.0);
    desk_check_says(&desk, "date(0)");
    kol_write_date(desk.writer, 8.64e15);
    desk_check_says(&desk, "date(8640000000000000)");
    kol_write_date(desk.writer, 8.64e15 + 1);
    desk_check_fails(&desk, KOL_ERANGE, "$");
    kol_write_date(desk.writer, 0.5);
    desk_check_fails(&desk, KOL_ERANGE, "$");
    kol_write_date(desk.writer, (double)NAN);
    desk_check_fails(&desk, KOL_ERANGE, "$");
    desk_close(&desk);
}

TEST(a_value_is_only_what_it_is)
{
    struct desk desk;
    desk_open(&desk);
    REQUIRE(tagged_parse(desk.writer,
                         "[null,undefined,true,1,2L,d3ff8000000000000,n1,\"t\",[],{},map(),set(),"
                         "date(1),bytes(),u8(),error(\"E\",\"\",undefined,undefined,undefined),"
                         "custom(9)]",
                         NULL));
    static const kol_type types[] = {KOL_NULL,   KOL_UNDEFINED, KOL_BOOL, KOL_INT,   KOL_LONG,
                                     KOL_DOUBLE, KOL_BIGINT,    KOL_TEXT, KOL_LIST,  KOL_OBJECT,
                                     KOL_MAP,    KOL_SET,       KOL_DATE, KOL_BYTES, KOL_PACKED,
                                     KOL_ERROR,  KOL_CUSTOM};
    struct kol_value list = desk_read(&desk);
    REQUIRE_INT(kol_value_count(list), 17);
    for (size_t i = 0; i < 17; i++) {
        struct kol_value value = kol_value_at(list, i), found;
        kol_type type = types[i];
        int is_true, is_number = type == KOL_INT || type == KOL_LONG || type == KOL_DOUBLE;
        int64_t number;
        double real;
        struct kol_bigint bigint;
        struct kol_string text;
        struct kol_array array;
        const uint8_t *data;
        size_t size;
        CHECK_INT(kol_value_type(value), type);
        CHECK_INT(kol_value_as_bool(value, &is_true) == KOL_OK, type == KOL_BOOL);
        CHECK_INT(kol_value_as_long(value, &number) == KOL_OK,
                  type == KOL_INT || type == KOL_LONG || type == KOL_BIGINT);
        CHECK_INT(kol_value_as_double(value, &real) == KOL_OK, is_number);
        CHECK_INT(kol_value_as_bigint(value, &bigint) == KOL_OK, type == KOL_BIGINT);
        CHECK_INT(kol_value_as_text(value, &text) == KOL_OK, type == KOL_TEXT);
        CHECK_INT(kol_value_as_date(value, &real) == KOL_OK, type == KOL_DATE);
        CHECK_INT(kol_value_as_bytes(value, &data, &size) == KOL_OK, type == KOL_BYTES);
        CHECK_INT(kol_value_as_packed(value, &array) == KOL_OK, type == KOL_PACKED);
        CHECK_INT(kol_value_get(value, KOL_STRING("x"), &found),
                  type == KOL_OBJECT ? KOL_NONE : KOL_ETYPE);
        CHECK_INT(kol_value_count(value), type == KOL_ERROR ? 5 : 0);
        CHECK_INT(kol_value_schema(value), type == KOL_CUSTOM ? 9 : 0);
        CHECK_INT(kol_value_is_nothing(value), type == KOL_NULL || type == KOL_UNDEFINED);
        CHECK_INT(kol_value_type(kol_value_at(value, 99)), KOL_UNDEFINED);
    }
    desk_close(&desk);
}
