/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The conversions of number.h. Integers are written here; floats go through
 * libc's correctly rounding functions, in the C locale.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtold_l */
#endif
#include "kevy/src/text/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include "base/assert.h"

/* So many digits always fit into a uint64_t. */
enum { DIGITS_SAFE = 19 };

/* Reads digits up to the end; false at any other byte, at none, past `max`. */
static bool parse_digits(const uint8_t *p, const uint8_t *end, uint64_t max, uint64_t *out)
{
    uint64_t number = 0;
    if (p == end) {
        return false;
    }
    for (const uint8_t *safe = end - p > DIGITS_SAFE ? p + DIGITS_SAFE : end; p < safe; p++) {
        unsigned digit = (unsigned)*p - '0';
        if (digit > 9) {
            return false;
        }
        number = number * 10 + digit;
    }
    for (; p < end; p++) {
        unsigned digit = (unsigned)*p - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out = number;
    return number <= max;
}

bool kv_number_parse_int(struct bytes text, int64_t *out)
{
    const uint8_t *p = text.data, *end = p + text.size;
    if (text.size == 0 || text.size > KV_INT_TEXT) {
        return false;
    }
    bool negative = *p == '-';
    p += negative;
    uint64_t number;
    if (!parse_digits(p, end, (uint64_t)INT64_MAX + negative, &number)) {
        return false;
    }
    if (*p == '0' && (negative || end - p > 1)) {
        return false;
    }
    *out = negative ? -(int64_t)(number - 1) - 1 : (int64_t)number;
    return true;
}

bool kv_number_parse_cursor(struct bytes text, uint64_t *out)
{
    const uint8_t *p = text.data, *end = p + text.size;
    if (text.size == 0) {
        *out = 0;
        return true;
    }
    bool negative = *p == '-';
    p += negative || *p == '+';
    uint64_t number;
    if (!parse_digits(p, end, UINT64_MAX, &number)) {
        return false;
    }
    *out = negative ? 0 - number : number;
    return true;
}

/* The C locale: for libc a constant, so this allocates nothing. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A longer text is no number to Redis. */
enum { FLOAT_SIZE_MAX = KV_FLOAT_TEXT - 1 };

bool kv_number_parse_float(struct bytes text, long double *out)
{
    char copy[FLOAT_SIZE_MAX + 1];
    if (text.size == 0 || text.size > FLOAT_SIZE_MAX || is_blank(text.data[0])) {
        return false;
    }
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    locale_t locale = c_locale();
    if (locale == (locale_t)0) {
        return false;
    }
    char *end;
    errno = 0;
    long double number = strtold_l(copy, &end, locale);
    bool out_of_range = errno == ERANGE && (isinf(number) || number == 0);
    freelocale(locale);
    if ((size_t)(end - copy) != text.size || out_of_range || isnan(number)) {
        return false;
    }
    *out = number;
    return true;
}

static size_t digits_of(uint64_t number)
{
    size_t count = 1;
    for (;;) {
        if (number < 10) {
            return count;
        }
        if (number < 100) {
            return count + 1;
        }
        if (number < 1000) {
            return count + 2;
        }
        if (number < 10000) {
            return count + 3;
        }
        number /= 10000;
        count += 4;
    }
}

size_t kv_number_format_uint(uint64_t number, uint8_t *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    size_t size = digits_of(number), at = size;
    while (at > 1) {
        at -= 2;
        memcpy(out + at, pairs + 2 * (number % 100), 2);
        number /= 100;
    }
    if (at == 1) {
        out[0] = (uint8_t)('0' + number);
    }
    return size;
}

size_t kv_number_format_int(int64_t number, uint8_t *out)
{
    if (number >= 0) {
        return kv_number_format_uint((uint64_t)number, out);
    }
    *out = '-';
    return 1 + kv_number_format_uint(0 - (uint64_t)number, out + 1);
}

/* Drops the zeros at the end of a fraction, its point if nothing is left of
 * it, and the sign of a zero. */
static size_t float_trim(const uint8_t *text, size_t size)
{
    if (memchr(text, '.', size) == NULL) {
        return size;
    }
    while (text[size - 1] == '0') {
        size--;
    }
    return text[size - 1] == '.' ? size - 1 : size;
}

size_t kv_number_format_float(long double number, uint8_t *out)
{
    ASSERT(isfinite(number));
    locale_t locale = c_locale();
    if (locale == (locale_t)0) {
        return 0;
    }
    locale_t old = uselocale(locale);
    int written = snprintf((char *)out, KV_FLOAT_TEXT, "%.17Lf", number);
    uselocale(old);
    freelocale(locale);
    if (written <= 0 || written >= (int)KV_FLOAT_TEXT) {
        return 0;
    }
    size_t size = float_trim(out, (size_t)written);
    if (size == 2 && out[0] == '-' && out[1] == '0') {
        out[0] = '0';
        return 1;
    }
    return size;
}
