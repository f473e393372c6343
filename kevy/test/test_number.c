/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers in text, at their bounds, and under a locale whose decimal point is
 * a comma. What Redis takes for a number is proven by transcripts/numbers.txt.
 */
#include "kevy/src/text/number.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing/harness.h"

static bool parse(const char *text, int64_t *out)
{
    return kv_number_parse_int(bytes_of(text, strlen(text)), out);
}

static const char *format(int64_t number)
{
    static char text[KV_INT_TEXT + 1];
    text[kv_number_format_int(number, (uint8_t *)text)] = '\0';
    return text;
}

TEST(int_bounds)
{
    int64_t number = 0;
    CHECK(parse("0", &number) && number == 0);
    CHECK(parse("-1", &number) && number == -1);
    CHECK(parse("9223372036854775807", &number) && number == INT64_MAX);
    CHECK(parse("-9223372036854775808", &number) && number == INT64_MIN);
    static const char *const not_numbers[] = {"",
                                              "-",
                                              "-0",
                                              "00",
                                              "01",
                                              "-01",
                                              "+1",
                                              " 1",
                                              "1 ",
                                              "1.0",
                                              "1e3",
                                              "0x1",
                                              "abc",
                                              "--1",
                                              "1-",
                                              "9223372036854775808",
                                              "-9223372036854775809",
                                              "18446744073709551616",
                                              "99999999999999999999",
                                              "999999999999999999999999"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        if (!CHECK(!parse(not_numbers[i], &number))) {
            printf("    %s\n", not_numbers[i]);
        }
    }
    CHECK(!kv_number_parse_int(bytes_of("1\0", 2), &number));
}

TEST(int_round_trip)
{
    uint64_t state = test_seed();
    int64_t back = 0;
    CHECK_STR(format(0), "0");
    CHECK_STR(format(INT64_MIN), "-9223372036854775808");
    CHECK_STR(format(INT64_MAX), "9223372036854775807");
    for (int i = 0; i < 100000; i++) {
        int64_t number = (int64_t)(test_random(&state) >> test_random(&state) % 64);
        number = test_random(&state) % 2 == 0 ? number : -number;
        if (!parse(format(number), &back) || back != number) {
            CHECK_INT(back, number);
            return;
        }
    }
    uint8_t text[KV_INT_TEXT];
    size_t size = kv_number_format_uint(UINT64_MAX, text);
    CHECK_BYTES(text, size, "18446744073709551615", 20);
}

TEST(cursor)
{
    uint64_t cursor = 1;
    CHECK(kv_number_parse_cursor(BYTES_LITERAL(""), &cursor) && cursor == 0);
    CHECK(kv_number_parse_cursor(BYTES_LITERAL("007"), &cursor) && cursor == 7);
    CHECK(kv_number_parse_cursor(BYTES_LITERAL("+7"), &cursor) && cursor == 7);
    CHECK(kv_number_parse_cursor(BYTES_LITERAL("-1"), &cursor) && cursor == UINT64_MAX);
    CHECK(kv_number_parse_cursor(BYTES_LITERAL("18446744073709551615"), &cursor) &&
          cursor == UINT64_MAX);
    CHECK(!kv_number_parse_cursor(BYTES_LITERAL("18446744073709551616"), &cursor));
    CHECK(!kv_number_parse_cursor(BYTES_LITERAL("-"), &cursor));
    CHECK(!kv_number_parse_cursor(BYTES_LITERAL(" 1"), &cursor));
}

static const char *format_float(long double number)
{
    static char text[KV_FLOAT_TEXT + 1];
    text[kv_number_format_float(number, (uint8_t *)text)] = '\0';
    return text;
}

static void check_floats(void)
{
    long double number = 0;
    CHECK(kv_number_parse_float(BYTES_LITERAL("3.5"), &number) && number == 3.5L);
    CHECK(kv_number_parse_float(BYTES_LITERAL("-2e3"), &number) && number == -2000);
    CHECK(kv_number_parse_float(BYTES_LITERAL("inf"), &number) && isinf(number));
    CHECK(!kv_number_parse_float(BYTES_LITERAL("3,5"), &number));
    CHECK(!kv_number_parse_float(BYTES_LITERAL("nan"), &number));
    CHECK(!kv_number_parse_float(BYTES_LITERAL(""), &number));
    CHECK(!kv_number_parse_float(BYTES_LITERAL(" 1"), &number));
    CHECK(!kv_number_parse_float(bytes_of("1\0", 2), &number));
    CHECK_STR(format_float(3.5L), "3.5");
    CHECK_STR(format_float(-0.0L), "0");
    CHECK_STR(format_float(100), "100");
    CHECK_STR(format_float(-0.25L), "-0.25");
}

TEST(floats)
{
    check_floats();
}

TEST(floats_under_another_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool is_set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_set; i++) {
        is_set = setlocale(LC_ALL, names[i]) != NULL;
    }
    if (!is_set) {
        SKIP("no locale with a decimal comma is installed");
    }
    check_floats();
}

TEST(float_too_long)
{
    static char text[6000];
    long double number;
    memset(text, '1', sizeof text);
    CHECK(!kv_number_parse_float(bytes_of(text, sizeof text), &number));
    CHECK(!kv_number_parse_float(bytes_of(text, 5120), &number));
    memset(text, '0', sizeof text);
    text[0] = '1';
    text[1] = '.';
    CHECK(kv_number_parse_float(bytes_of(text, 5000), &number) && number == 1);
}
