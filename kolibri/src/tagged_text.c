/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings of the four forms as runs of UTF-16 units: measuring, copying, comparing, hashing.
 *
 * One reader of units (`next_unit`) knows the forms; ASCII and Latin-1, which are most strings,
 * have their short ways. UTF-8 is read by utf.c's rules.
 */
#include "kolibri/src/tagged_text.h"

#include "base/bytes.h"
#include "kolibri/src/utf.h"

/* The units that are still to come. `low` is the second half of a pair that came from UTF-8. */
struct units {
    const uint8_t *at;
    const uint8_t *end;
    kol_text_form form;
    uint16_t low;
};

static struct units units_of(struct kol_string string)
{
    size_t size = string.form >= KOL_UTF16 ? (size_t)string.count * 2 : string.count;
    struct units units = {string.data, NULL, string.form, 0};
    units.end = size > 0 ? units.at + size : units.at;
    return units;
}

static uint16_t utf8_unit(struct units *units)
{
    int32_t point;
    if (units->low != 0) {
        uint16_t low = units->low;
        units->low = 0;
        return low;
    }
    units->at += kol__utf8_point(units->at, (size_t)(units->end - units->at), 0, &point);
    if (point < 0) {
        return 0xfffd;
    }
    if (point < 0x10000) {
        return (uint16_t)point;
    }
    units->low = (uint16_t)(0xdc00 + (point & 0x3ff));
    return (uint16_t)(0xd7c0 + (point >> 10));
}

static int next_unit(struct units *units, uint16_t *out)
{
    if (units->at == units->end && units->low == 0) {
        return 0;
    }
    switch (units->form) {
    case KOL_UTF8:
        *out = utf8_unit(units);
        break;
    case KOL_LATIN1:
        *out = *units->at++;
        break;
    case KOL_UTF16:
        memcpy(out, units->at, sizeof *out);
        units->at += 2;
        break;
    case KOL_UTF16_LE:
    default:
        *out = load_u16(units->at);
        units->at += 2;
    }
    return 1;
}

static int is_ascii(const uint8_t *at, size_t size)
{
    uint64_t seen = 0;
    while (size >= 8) {
        seen |= load_u64(at);
        at += 8;
        size -= 8;
    }
    for (size_t i = 0; i < size; i++) {
        seen |= at[i];
    }
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

struct text_extent kol__text_measure(struct kol_string string)
{
    struct text_extent extent = {string.count, 1};
    if (string.form == KOL_LATIN1 ||
        (string.form == KOL_UTF8 && is_ascii(string.data, string.count))) {
        return extent;
    }
    struct units units = units_of(string);
    uint16_t unit, seen = 0;
    extent.units = 0;
    while (next_unit(&units, &unit)) {
        seen |= unit;
        extent.units++;
    }
    extent.is_narrow = seen < 256;
    return extent;
}

void kol__text_put8(struct kol_string string, size_t count, uint8_t *out)
{
    if (count == 0) {
        return;
    }
    /* narrow UTF-8 with as many units as bytes is ASCII */
    if (string.form == KOL_LATIN1 || (string.form == KOL_UTF8 && count == string.count)) {
        memcpy(out, string.data, count);
        return;
    }
    struct units units = units_of(string);
    uint16_t unit;
    while (next_unit(&units, &unit)) {
        *out++ = (uint8_t)unit;
    }
}

void kol__text_put16(struct kol_string string, uint8_t *out)
{
    struct units units = units_of(string);
    uint16_t unit;
    if (string.form == KOL_UTF16_LE && string.count > 0) {
        memcpy(out, string.data, (size_t)string.count * 2);
        return;
    }
    while (next_unit(&units, &unit)) {
        store_u16(out, unit);
        out += 2;
    }
}

uint32_t kol__text_hash(struct kol_string string)
{
    struct units units = units_of(string);
    uint32_t hash = 2166136261u;
    uint16_t unit;
    while (next_unit(&units, &unit)) {
        hash = (hash ^ unit) * 16777619u;
    }
    return hash ^ hash >> 15;
}

int kol_string_equal(struct kol_string a, struct kol_string b)
{
    if (a.form == b.form && a.form != KOL_UTF8) {
        return a.count == b.count &&
               (a.count == 0 ||
                memcmp(a.data, b.data, a.form >= KOL_UTF16 ? (size_t)a.count * 2 : a.count) == 0);
    }
    struct units left = units_of(a), right = units_of(b);
    uint16_t x = 0, y = 0;
    int has_left, has_right;
    do {
        has_left = next_unit(&left, &x);
        has_right = next_unit(&right, &y);
    } while (has_left && has_right && x == y);
    return !has_left && !has_right;
}

/* The code point that begins with `unit`; takes the second half of a pair from `units`. */
static int32_t point_of(struct units *units, uint16_t unit)
{
    struct units behind = *units;
    uint16_t low;
    if ((unit & 0xfc00) == 0xd800 && next_unit(&behind, &low) && (low & 0xfc00) == 0xdc00) {
        *units = behind;
        return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
    }
    return unit;
}

size_t kol_string_copy(struct kol_string string, char *utf8, size_t size)
{
    unsigned char one[4];
    size_t needed = 0;
    uint16_t unit;
    for (struct units units = units_of(string); next_unit(&units, &unit);) {
        needed += kol__utf8_put(point_of(&units, unit), one);
    }
    if (needed > size) {
        return needed;
    }
    for (struct units units = units_of(string); next_unit(&units, &unit);) {
        utf8 += kol__utf8_put(point_of(&units, unit), (unsigned char *)utf8);
    }
    return needed;
}
