/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Property: the matcher agrees with a table of all prefixes: cell (i, j) says
 * whether the first i elements of the pattern match the first j bytes of the
 * text. The input's first byte is the size of the text, which follows; the
 * rest is the pattern.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/text/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATTERN_MAX = 256 };

/* Reads the class behind `[` at *at: whether it takes c. */
static bool class_takes(struct bytes pattern, size_t *at, int8_t c)
{
    const int8_t *p = (const int8_t *)pattern.data;
    size_t i = *at, end = pattern.size;
    bool is_not = i < end && p[i] == '^', found = false;
    for (i += is_not; i < end && p[i] != ']'; i++) {
        if (p[i] == '\\' && end - i >= 2) {
            i++;
            found = found || p[i] == c;
        } else if (end - i >= 3 && p[i + 1] == '-') {
            int8_t low = p[i] < p[i + 2] ? p[i] : p[i + 2],
                   high = p[i] < p[i + 2] ? p[i + 2] : p[i];
            found = found || (c >= low && c <= high);
            i += 2;
        } else {
            found = found || p[i] == c;
        }
    }
    *at = i < end ? i + 1 : end;
    return found != is_not;
}

/* Whether the element at *at takes c; steps over it. */
static bool element_takes(struct bytes pattern, size_t *at, uint8_t c)
{
    uint8_t first = pattern.data[*at];
    *at += 1;
    if (first == '[') {
        return class_takes(pattern, at, (int8_t)c);
    }
    if (first == '\\' && *at < pattern.size) {
        first = pattern.data[*at];
        *at += 1;
        return first == c;
    }
    return first == '?' || first == c;
}

static bool table_matches(struct bytes pattern, struct bytes text)
{
    bool row[257] = {true}, next[257];
    for (size_t at = 0; at < pattern.size;) {
        size_t behind = at;
        memset(next, 0, sizeof next);
        if (pattern.data[at] == '*') {
            behind++;
            bool any = false;
            for (size_t j = 0; j <= text.size; j++) {
                any = any || row[j];
                next[j] = any;
            }
        } else {
            element_takes(pattern, &behind, 0);
            for (size_t j = 0; j < text.size; j++) {
                size_t start = at;
                next[j + 1] = row[j] && element_takes(pattern, &start, text.data[j]);
            }
        }
        at = behind;
        memcpy(row, next, sizeof row);
    }
    return row[text.size];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > PATTERN_MAX + 255) {
        return 0;
    }
    size_t text_size = data[0] < size - 1 ? data[0] : size - 1;
    struct bytes text = bytes_of(data + 1, text_size);
    struct bytes pattern = bytes_of(data + 1 + text_size, size - 1 - text_size);
    bool matches = kv_glob_match(pattern, text, false);
    if (text_size == 0 ? matches != (pattern.size == 0) : matches != table_matches(pattern, text)) {
        abort();
    }
    if (matches && !kv_glob_match(pattern, text, true) &&
        memchr(pattern.data, '[', pattern.size) == NULL) {
        abort();
    }
    return 0;
}
