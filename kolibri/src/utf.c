/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * UTF-8 and UTF-16, both ways, on plain arrays. No VM here; strings of the VM are text.c.
 *
 * Reading follows the table of well-formed sequences: the second byte's range depends on the first,
 * so overlong forms, values past U+10FFFF and (strict) surrogates end at their first impossible
 * byte. What was read until there is one maximal subpart and becomes one U+FFFD.
 */
#include "kolibri/src/utf.h"

#include <kolibri/text.h>

enum { REPLACEMENT = 0xFFFD };

struct lead {
    unsigned char length; /* 0: no lead byte */
    unsigned char low;    /* range of the second byte */
    unsigned char high;
};

static struct lead lead_of(unsigned char byte, int flags)
{
    struct lead lead = {0, 0x80, 0xBF};
    if (byte >= 0xC2 && byte <= 0xDF) {
        lead.length = 2;
    } else if ((byte & 0xF0) == 0xE0) {
        lead.length = 3;
        lead.low = byte == 0xE0 ? 0xA0 : 0x80;
        lead.high = byte == 0xED && flags == KOL_TEXT_STRICT ? 0x9F : 0xBF;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
        lead.length = 4;
        lead.low = byte == 0xF0 ? 0x90 : 0x80;
        lead.high = byte == 0xF4 ? 0x8F : 0xBF;
    }
    return lead;
}

size_t kol__utf8_point(const unsigned char *at, size_t room, int flags, int32_t *out)
{
    if (at[0] < 0x80) {
        *out = at[0];
        return 1;
    }
    struct lead lead = lead_of(at[0], flags);
    *out = -1;
    if (lead.length == 0) {
        return 1;
    }
    int32_t point = at[0] & (0x7F >> lead.length);
    for (size_t i = 1; i < lead.length; i++) {
        unsigned char low = i == 1 ? lead.low : 0x80;
        unsigned char high = i == 1 ? lead.high : 0xBF;
        if (i >= room || at[i] < low || at[i] > high) {
            return i;
        }
        point = (point << 6) | (at[i] & 0x3F);
    }
    *out = point;
    return lead.length;
}

size_t kol_utf16_count(const char *bytes, size_t size, int flags)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t count = 0;
    for (size_t i = 0; i < size;) {
        int32_t point;
        i += kol__utf8_point(at + i, size - i, flags, &point);
        count += point > 0xFFFF ? 2 : 1;
    }
    return count;
}

size_t kol_utf16_from_utf8(const char *bytes, size_t size, int flags, jchar *out)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t count = 0;
    for (size_t i = 0; i < size;) {
        int32_t point;
        i += kol__utf8_point(at + i, size - i, flags, &point);
        if (point < 0) {
            out[count++] = REPLACEMENT;
        } else if (point > 0xFFFF) {
            out[count++] = (jchar)(0xD7C0 + (point >> 10));
            out[count++] = (jchar)(0xDC00 + (point & 0x3FF));
        } else {
            out[count++] = (jchar)point;
        }
    }
    return count;
}

/* Reads one code point of UTF-16; half a pair stands for itself, or is replaced when strict. */
static size_t read_units(const jchar *at, size_t room, int flags, int32_t *out)
{
    *out = at[0];
    if ((at[0] & 0xF800) != 0xD800) {
        return 1;
    }
    if (at[0] < 0xDC00 && room > 1 && (at[1] & 0xFC00) == 0xDC00) {
        *out = 0x10000 + ((at[0] & 0x3FF) << 10) + (at[1] & 0x3FF);
        return 2;
    }
    if (flags == KOL_TEXT_STRICT) {
        *out = REPLACEMENT;
    }
    return 1;
}

size_t kol_utf8_size(const jchar *units, size_t count, int flags)
{
    size_t size = 0;
    for (size_t i = 0; i < count;) {
        int32_t point;
        i += read_units(units + i, count - i, flags, &point);
        size += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    }
    return size;
}

size_t kol__utf8_put(int32_t point, unsigned char *out)
{
    if (point < 0x80) {
        out[0] = (unsigned char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (unsigned char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (unsigned char)((0xF00 >> length) | point);
    return length;
}

size_t kol_utf8_from_utf16(const jchar *units, size_t count, int flags, char *out)
{
    size_t size = 0;
    for (size_t i = 0; i < count;) {
        int32_t point;
        i += read_units(units + i, count - i, flags, &point);
        size += kol__utf8_put(point, (unsigned char *)out + size);
    }
    return size;
}

int kol_utf8_is_valid(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < size;) {
        int32_t point;
        i += kol__utf8_point(at + i, size - i, KOL_TEXT_STRICT, &point);
        if (point < 0) {
            return 0;
        }
    }
    return 1;
}
