/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Patterns: the edges by hand, everything else against the plainest matcher
 * that can be written, and the time of hostile ones. The same edges are proven
 * on a real server by transcripts/scan.txt.
 */
#include "kevy/src/text/glob.h"

#include <stdio.h>
#include <string.h>

#include "testing/harness.h"

static bool match(const char *pattern, const char *text)
{
    return kv_glob_match(bytes_of(pattern, strlen(pattern)), bytes_of(text, strlen(text)), false);
}

static bool match_nocase(const char *pattern, const char *text)
{
    return kv_glob_match(bytes_of(pattern, strlen(pattern)), bytes_of(text, strlen(text)), true);
}

TEST(plain)
{
    CHECK(match("", "") && !match("", "a") && match("abc", "abc"));
    CHECK(!match("abc", "abd") && !match("abc", "ab") && !match("ab", "abc"));
    CHECK(match("?", "a") && !match("?", "") && !match("?", "ab"));
    CHECK(match("a*", "a") && match("a*", "abc") && match("*c", "abc") && match("*b*", "abc"));
    CHECK(!match("*d*", "abc") && match("a*b*c", "a--b--b--c") && !match("a*b", "a--b--c"));
    CHECK(!match("A", "a") && match_nocase("A", "a") && match_nocase("a[B]", "Ab"));
}

TEST(the_empty_text_is_matched_by_nothing_only)
{
    CHECK(!match("*", "") && !match("**", "") && !match("[^a]", ""));
    CHECK(kv_glob_is_all(BYTES_LITERAL("*")) && !kv_glob_is_all(BYTES_LITERAL("**")));
}

TEST(classes)
{
    CHECK(match("[abc]", "b") && !match("[abc]", "d") && match("[^abc]", "d"));
    CHECK(match("[a-c]", "b") && match("[c-a]", "b") && !match("[a-c]", "d"));
    CHECK(match("[a-]", "]") && match("[a-]", "_") && !match("[a-]", "-") && !match("[a-]b", "]b"));
    CHECK(match("[-a]", "-") && match("[a\\-c]", "-") && !match("[a\\-c]", "b"));
    CHECK(match("[\\]]", "]") && match("[[]", "[") && !match("[]", "a") && !match("[]a]", "a"));
    CHECK(match("[a", "a") && match("[^", "x") && !match("[", "[") && match("[\\", "\\"));
    CHECK(match("[^]", "x") && !match_nocase("[a-C]", "B") && match_nocase("[A-c]", "B"));
    CHECK(match("[\xff-a]", "\xff") && match("[\xff-a]", "A") && !match("[\xff-a]", "\xfe"));
    CHECK(match_nocase("\\A", "a") && !match_nocase("[\\A]", "a"));
}

TEST(backslashes)
{
    CHECK(match("\\*", "*") && !match("\\*", "a") && match("a\\", "a\\") && match("\\\\", "\\"));
    CHECK(match("\\a", "a") && !match("\\", "a"));
}

/* ---- Against a plain matcher ---- */

static bool plain(const char *p, const char *end, const char *t, const char *text_end);

static bool plain_class(const char **p, const char *end, int8_t c)
{
    bool is_not = *p < end && **p == '^', found = false;
    *p += is_not;
    for (; *p < end && **p != ']'; *p += 1) {
        if (**p == '\\' && end - *p >= 2) {
            *p += 1;
            found = found || (int8_t) * *p == c;
        } else if (end - *p >= 3 && (*p)[1] == '-') {
            int8_t a = (int8_t) * *p, b = (int8_t)(*p)[2];
            found = found || (c >= (a < b ? a : b) && c <= (a < b ? b : a));
            *p += 2;
        } else {
            found = found || (int8_t) * *p == c;
        }
    }
    *p += *p < end;
    return found != is_not;
}

static bool plain_star(const char *p, const char *end, const char *t, const char *text_end)
{
    for (; t < text_end; t++) {
        if (plain(p, end, t, text_end)) {
            return true;
        }
    }
    return plain(p, end, t, text_end);
}

static bool plain(const char *p, const char *end, const char *t, const char *text_end)
{
    if (p == end) {
        return t == text_end;
    }
    if (*p == '*') {
        return plain_star(p + 1, end, t, text_end);
    }
    if (t == text_end) {
        return false;
    }
    if (*p == '[') {
        p++;
        return plain_class(&p, end, (int8_t)*t) && plain(p, end, t + 1, text_end);
    }
    if (*p == '\\' && end - p >= 2) {
        p++;
    } else if (*p == '?') {
        return plain(p + 1, end, t + 1, text_end);
    }
    return *p == *t && plain(p + 1, end, t + 1, text_end);
}

TEST(random_patterns_agree_with_the_plain_matcher)
{
    static const char letters[] = "aab*?[]^-\\\xff";
    uint64_t state = test_seed();
    size_t hits = 0;
    for (int round = 0; round < 300000; round++) {
        char pattern[12], text[8];
        size_t pattern_size = test_random(&state) % sizeof pattern;
        size_t text_size = 1 + test_random(&state) % (sizeof text - 1);
        for (size_t i = 0; i < pattern_size; i++) {
            pattern[i] = letters[test_random(&state) % (sizeof letters - 1)];
        }
        for (size_t i = 0; i < text_size; i++) {
            text[i] = letters[test_random(&state) % (sizeof letters - 1)];
        }
        bool want = plain(pattern, pattern + pattern_size, text, text + text_size);
        bool got = kv_glob_match(bytes_of(pattern, pattern_size), bytes_of(text, text_size), false);
        hits += want;
        if (want != got) {
            CHECK_INT(got, want);
            printf("    pattern %.*s text %.*s\n", (int)pattern_size, pattern, (int)text_size,
                   text);
            return;
        }
    }
    CHECK(hits > 1000);
}

/* ---- Hostile ---- */

/* Of sizes that end within moments, or, with one loop too many, never within the time limit. */
static void ends(struct bytes pattern, struct bytes text, bool want)
{
    CHECK_INT(kv_glob_match(pattern, text, false), want);
}

TEST(many_stars)
{
    uint8_t pattern[61], text[31];
    for (size_t i = 0; i < 30; i++) {
        pattern[2 * i] = 'a';
        pattern[2 * i + 1] = '*';
        text[i] = 'a';
    }
    pattern[60] = 'c';
    text[30] = 'b';
    ends(bytes_of(pattern, 61), bytes_of(text, 31), false);
    ends(bytes_of(pattern, 60), bytes_of(text, 31), true);
}

TEST(only_stars)
{
    static uint8_t pattern[1000000];
    memset(pattern, '*', sizeof pattern);
    ends(bytes_of(pattern, sizeof pattern), BYTES_LITERAL("key"), true);
    pattern[sizeof pattern - 1] = 'x';
    ends(bytes_of(pattern, sizeof pattern), BYTES_LITERAL("key"), false);
}

TEST(long_class_behind_a_star)
{
    static uint8_t pattern[1000003], text[500000];
    memset(pattern, 'z', sizeof pattern);
    memset(text, 'a', sizeof text);
    memcpy(pattern, "*[", 2);
    pattern[sizeof pattern - 1] = ']';
    ends(bytes_of(pattern, sizeof pattern), bytes_of(text, sizeof text), false);
}
