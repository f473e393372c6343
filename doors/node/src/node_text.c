/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * UTF-16 to WTF-8 and back. Node-API's own UTF-8 functions replace unpaired
 * surrogates, and its Latin-1 function cuts letters to 8 bits: either would
 * make two different keys one. So keys and text are read as UTF-16 and
 * written here.
 *
 * Reading takes what writing makes, and anything else: the first byte that
 * cannot continue a character ends it, and what was read of it is one U+FFFD
 * (the rule of the WHATWG's decoder, but for surrogates, which are kept).
 */
#include "node_door.h"

#include <string.h>

#define REPLACEMENT 0xFFFDu

static bool is_high(uint32_t unit)
{
    return (unit & 0xFC00u) == 0xD800u;
}

static bool is_low(uint32_t unit)
{
    return (unit & 0xFC00u) == 0xDC00u;
}

/* Copies the ASCII units at the start, eight at a time. Returns how many. */
static size_t ascii_prefix(const char16_t *units, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint32_t all = 0;
        for (size_t k = 0; k < 8; k++) {
            all |= units[i + k];
        }
        if (all >= 0x80) {
            return i;
        }
        for (size_t k = 0; k < 8; k++) {
            out[i + k] = (uint8_t)units[i + k];
        }
    }
    for (; i < count && units[i] < 0x80; i++) {
        out[i] = (uint8_t)units[i];
    }
    return i;
}

static size_t character_write(uint32_t c, uint8_t *out)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0u | c >> 6);
        out[1] = (uint8_t)(0x80u | (c & 0x3Fu));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0u | c >> 12);
        out[1] = (uint8_t)(0x80u | (c >> 6 & 0x3Fu));
        out[2] = (uint8_t)(0x80u | (c & 0x3Fu));
        return 3;
    }
    out[0] = (uint8_t)(0xF0u | c >> 18);
    out[1] = (uint8_t)(0x80u | (c >> 12 & 0x3Fu));
    out[2] = (uint8_t)(0x80u | (c >> 6 & 0x3Fu));
    out[3] = (uint8_t)(0x80u | (c & 0x3Fu));
    return 4;
}

size_t kn_wtf8_write(const char16_t *units, size_t count, uint8_t *out)
{
    size_t i = ascii_prefix(units, count, out);
    size_t size = i;
    while (i < count) {
        uint32_t c = units[i++];
        if (is_high(c) && i < count && is_low(units[i])) {
            c = 0x10000u + ((c - 0xD800u) << 10) + (units[i++] - 0xDC00u);
        }
        size += character_write(c, out + size);
    }
    return size;
}

bool kn_is_ascii(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    uint64_t all = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, 8);
        all |= eight;
    }
    for (; i < size; i++) {
        all |= bytes[i];
    }
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

/* The bounds of the second byte after `lead`, and how many bytes follow it;
 * 0 when it cannot begin a character. Surrogates (ED A0…BF) are let in. */
static size_t sequence_of(uint8_t lead, uint8_t *low, uint8_t *high)
{
    *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *high = lead == 0xF4 ? 0x8F : 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 1;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 2;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
}

/* Reads one character at *at and moves *at behind it. */
static uint32_t character_read(const uint8_t *bytes, size_t size, size_t *at)
{
    uint8_t lead = bytes[(*at)++];
    if (lead < 0x80) {
        return lead;
    }
    uint8_t low, high;
    size_t more = sequence_of(lead, &low, &high);
    if (more == 0) {
        return REPLACEMENT;
    }
    uint32_t c = lead & (0x3Fu >> more);
    for (size_t k = 0; k < more; k++) {
        if (*at == size || bytes[*at] < low || bytes[*at] > high) {
            return REPLACEMENT;
        }
        c = c << 6 | (bytes[(*at)++] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    return c;
}

size_t kn_wtf8_read(const uint8_t *bytes, size_t size, char16_t *out)
{
    size_t count = 0;
    for (size_t at = 0; at < size;) {
        uint32_t c = character_read(bytes, size, &at);
        if (c < 0x10000) {
            out[count++] = (char16_t)c;
        } else {
            out[count++] = (char16_t)(0xD800u + ((c - 0x10000u) >> 10));
            out[count++] = (char16_t)(0xDC00u + ((c - 0x10000u) & 0x3FFu));
        }
    }
    return count;
}
