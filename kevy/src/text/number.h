/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers in text, with exactly Redis's idea of what a number is, and never
 * with the host's locale: an embedding program may have set any.
 *
 * An integer is an optional `-` and digits without a leading zero, in the
 * range of int64_t; no blank, no `+`. A float is what C's strtold accepts,
 * from the first byte to the last, but no leading blank, no NaN, and no number
 * that is out of range. Any thread; no allocation.
 */
#ifndef KEVY_SRC_TEXT_NUMBER_H
#define KEVY_SRC_TEXT_NUMBER_H

#include "base/bytes.h"

/* Room for any int64_t or uint64_t in decimal. */
#define KV_INT_TEXT 20u

/* Room for any finite long double as kv_number_format_float writes it. */
#define KV_FLOAT_TEXT 5120u

/* Returns whether `text` is an integer, and the integer. */
bool kv_number_parse_int(struct bytes text, int64_t *out);

/* As kv_number_parse_int, for 0 to UINT64_MAX, as Redis takes a cursor: also
 * with a leading `+` or zeros; a leading `-` negates modulo 2^64; no text is 0. */
bool kv_number_parse_cursor(struct bytes text, uint64_t *out);

/* Returns whether `text` is a float, and the float, perhaps infinite. */
bool kv_number_parse_float(struct bytes text, long double *out);

/* Writes `number` in decimal to `out` (KV_INT_TEXT bytes, no NUL) and returns the size. */
size_t kv_number_format_int(int64_t number, uint8_t *out);
size_t kv_number_format_uint(uint64_t number, uint8_t *out);

/* Writes a finite number with up to 17 digits behind the point, without the
 * zeros at its end, never with an exponent, to `out` (KV_FLOAT_TEXT bytes);
 * returns the size. */
size_t kv_number_format_float(long double number, uint8_t *out);

#endif
