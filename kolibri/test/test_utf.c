/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * utf.c: exact transcoding both ways, malformed input by the maximal-subpart rule, strict and exact
 * treatment of half a surrogate pair, and nothing read past the end: each input lies in a heap
 * block of its own size, so that a sanitizer sees one byte too many.
 */
#include "testing/harness.h"

#include <kolibri/text.h>

#include <stdlib.h>
#include <string.h>

/*
 * Decodes from a heap copy of exactly `size` bytes, so that a sanitizer sees any byte read beyond.
 */
static size_t decode(const char *bytes, size_t size, int flags, jchar *out)
{
    char *copy = malloc(size ? size : 1);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes, size);
    size_t counted = kol_utf16_count(copy, size, flags);
    size_t count = kol_utf16_from_utf8(copy, size, flags, out);
    CHECK_INT(count, counted);
    free(copy);
    return count;
}

static void check_decoded(const char *bytes, size_t size, int flags, const jchar *want,
                          size_t want_count)
{
    jchar units[64];
    size_t count = decode(bytes, size, flags, units);
    CHECK_BYTES(units, count * sizeof *units, want, want_count * sizeof *want);
}

#define DECODES(text, flags, ...)                                                                  \
    do {                                                                                           \
        const jchar want[] = {__VA_ARGS__};                                                        \
        check_decoded(text, sizeof(text) - 1, flags, want, sizeof want / sizeof want[0]);          \
    } while (0)

TEST(decodes_every_length)
{
    DECODES("a\0b", KOL_TEXT_EXACT, 'a', 0, 'b');
    DECODES("\xC2\x80\xDF\xBF", KOL_TEXT_EXACT, 0x80, 0x7FF);
    DECODES("\xE0\xA0\x80\xEF\xBF\xBF", KOL_TEXT_EXACT, 0x800, 0xFFFF);
    DECODES("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", KOL_TEXT_EXACT, 0xD800, 0xDC00, 0xDBFF, 0xDFFF);
    DECODES("\xF0\x9F\x95\xB5", KOL_TEXT_STRICT, 0xD83D, 0xDD75);
}

TEST(one_replacement_for_a_maximal_subpart)
{
    /* The example of the Unicode standard, table 3-8 and its neighbours. */
    DECODES("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", KOL_TEXT_EXACT, 'a', 0xFFFD,
            0xFFFD, 0xFFFD, 'b', 0xFFFD, 'c', 0xFFFD, 0xFFFD, 'd');
    DECODES("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", KOL_TEXT_EXACT, 0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD,
            0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD, 'A');
    DECODES("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", KOL_TEXT_EXACT, 0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD,
            0xFFFD, 'A', 0xFFFD, 0xFFFD, 'B');
    DECODES("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", KOL_TEXT_EXACT, 0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD,
            'A');
    DECODES("\xC1\xBF\xF5\x80\xF8\x88", KOL_TEXT_EXACT, 0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD,
            0xFFFD);
}

TEST(a_cut_tail_is_one_replacement_and_drops_nothing)
{
    DECODES("x\xC3", KOL_TEXT_EXACT, 'x', 0xFFFD);
    DECODES("x\xE2\x82", KOL_TEXT_EXACT, 'x', 0xFFFD);
    DECODES("x\xF0\x9F\x95", KOL_TEXT_EXACT, 'x', 0xFFFD);
    DECODES("\xF0\x9F\x95y\xC3\xA9", KOL_TEXT_EXACT, 0xFFFD, 'y', 0xE9);
}

TEST(half_a_pair_survives_unless_strict)
{
    DECODES("\xED\xA0\x80", KOL_TEXT_EXACT, 0xD800);
    DECODES("\xED\xBF\xBF", KOL_TEXT_EXACT, 0xDFFF);
    DECODES("\xED\xA0\x80", KOL_TEXT_STRICT, 0xFFFD, 0xFFFD, 0xFFFD);
    DECODES("\xED\x9F\xBF\xEE\x80\x80", KOL_TEXT_STRICT, 0xD7FF, 0xE000);
}

static void check_round(const jchar *units, size_t count)
{
    char bytes[64];
    jchar back[64];
    size_t size = kol_utf8_from_utf16(units, count, KOL_TEXT_EXACT, bytes);
    CHECK_INT(kol_utf8_size(units, count, KOL_TEXT_EXACT), size);
    size_t back_count = decode(bytes, size, KOL_TEXT_EXACT, back);
    CHECK_BYTES(back, back_count * sizeof *back, units, count * sizeof *units);
}

TEST(every_unit_and_every_pair_edge_round_trips)
{
    for (unsigned unit = 0; unit <= 0xFFFF; unit++) {
        jchar units[3] = {'<', (jchar)unit, '>'};
        char bytes[16];
        jchar back[16];
        size_t size = kol_utf8_from_utf16(units, 3, KOL_TEXT_EXACT, bytes);
        size_t count = kol_utf16_from_utf8(bytes, size, KOL_TEXT_EXACT, back);
        REQUIRE(count == 3 && memcmp(back, units, sizeof units) == 0);
        REQUIRE(kol_utf8_is_valid(bytes, size) == ((unit & 0xF800) != 0xD800));
    }
    const jchar edges[] = {0xDC00, 0xD800, 0xD800, 0xDC00, 0xDBFF, 0xDFFF, 0xDFFF, 0xD800};
    check_round(edges, 8);
}

TEST(strict_output_replaces_half_a_pair)
{
    const jchar units[] = {0xD83D, 'a', 0xDD75};
    char bytes[16];
    size_t size = kol_utf8_from_utf16(units, 3, KOL_TEXT_STRICT, bytes);
    CHECK_BYTES(bytes, size, "\xEF\xBF\xBD\x61\xEF\xBF\xBD", 7);
    CHECK_INT(kol_utf8_size(units, 3, KOL_TEXT_STRICT), 7);
}

TEST(validity)
{
    CHECK(kol_utf8_is_valid("", 0));
    CHECK(kol_utf8_is_valid("h\xC3\xA9\xF0\x9F\x95\xB5", 7));
    CHECK(!kol_utf8_is_valid("\xC0\x80", 2));
    CHECK(!kol_utf8_is_valid("\xED\xA0\x80", 3));
    CHECK(!kol_utf8_is_valid("\xF4\x90\x80\x80", 4));
    CHECK(!kol_utf8_is_valid("abc\xE2\x82", 5));
}

TEST(random_bytes_are_counted_as_they_are_written)
{
    uint64_t state = test_seed();
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        jchar units[24];
        size_t size = test_random(&state) % sizeof bytes;
        for (size_t i = 0; i < size; i++) {
            uint64_t random = test_random(&state);
            bytes[i] = (char)(random & 1 ? 0x80 | (random >> 8 & 0x7F) : random >> 16);
        }
        int flags = (int)(test_random(&state) & 1);
        size_t count = decode(bytes, size, flags, units);
        REQUIRE(count <= size);
        for (size_t i = 0; flags == KOL_TEXT_STRICT && i < count; i++) {
            int is_high = (units[i] & 0xFC00) == 0xD800;
            REQUIRE((units[i] & 0xFC00) != 0xDC00);
            REQUIRE(!is_high || (i + 1 < count && (units[i + 1] & 0xFC00) == 0xDC00));
            i += (size_t)is_high;
        }
    }
}
