/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The matcher of glob.h. A pattern is a row of elements (a byte, `?`, a class)
 * between stars. Only the last star seen is ever retried: what lies before it
 * has matched as early as it can, so an earlier star has nothing to add.
 *
 * Classes are compiled to a set of 256 bits the first time they are reached,
 * and kept in a few slots, so that retrying a star does not read a long class
 * again at each position.
 */
#include "kevy/src/text/glob.h"

#define CLASS_SLOTS 8u

struct glob_class {
    size_t start; /* of the byte behind its `[` */
    size_t end;   /* behind its `]` */
    uint64_t set[4];
};

struct glob {
    struct bytes pattern;
    bool nocase;
    size_t class_count; /* compiled so far; slot = number modulo CLASS_SLOTS */
    struct glob_class classes[CLASS_SLOTS];
};

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static uint8_t upper(uint8_t c)
{
    return c >= 'a' && c <= 'z' ? (uint8_t)(c - ('a' - 'A')) : c;
}

static void set_add(struct glob_class *cls, uint8_t c)
{
    cls->set[c >> 6] |= UINT64_C(1) << (c & 63);
}

static bool set_has(const struct glob_class *cls, uint8_t c)
{
    return (cls->set[c >> 6] >> (c & 63) & 1) != 0;
}

static void set_add_byte(struct glob_class *cls, uint8_t c, bool nocase)
{
    set_add(cls, c);
    if (nocase) {
        set_add(cls, lower(c));
        set_add(cls, upper(c));
    }
}

/* The ends are put in order before their case is dropped, as Redis does. */
static void set_add_range(struct glob_class *cls, uint8_t from, uint8_t to, bool nocase)
{
    int8_t low = (int8_t)from, high = (int8_t)to;
    if (low > high) {
        low = (int8_t)to;
        high = (int8_t)from;
    }
    if (nocase) {
        low = (int8_t)lower((uint8_t)low);
        high = (int8_t)lower((uint8_t)high);
    }
    for (int c = INT8_MIN; c <= INT8_MAX; c++) {
        int8_t folded = nocase ? (int8_t)lower((uint8_t)c) : (int8_t)c;
        if (folded >= low && folded <= high) {
            set_add(cls, (uint8_t)c);
        }
    }
}

/* Reads the class whose first byte behind `[` is at `at`. */
static void class_compile(const struct glob *glob, size_t at, struct glob_class *cls)
{
    const uint8_t *p = glob->pattern.data;
    size_t size = glob->pattern.size;
    *cls = (struct glob_class){.start = at};
    bool inverted = at < size && p[at] == '^';
    at += inverted;
    while (at < size && p[at] != ']') {
        if (p[at] == '\\' && size - at >= 2) {
            set_add(cls, p[at + 1]);
            at += 2;
        } else if (size - at >= 3 && p[at + 1] == '-') {
            set_add_range(cls, p[at], p[at + 2], glob->nocase);
            at += 3;
        } else {
            set_add_byte(cls, p[at], glob->nocase);
            at++;
        }
    }
    cls->end = at < size ? at + 1 : size;
    for (size_t i = 0; i < 4 && inverted; i++) {
        cls->set[i] = ~cls->set[i];
    }
}

static const struct glob_class *class_at(struct glob *glob, size_t at)
{
    size_t kept = glob->class_count < CLASS_SLOTS ? glob->class_count : CLASS_SLOTS;
    for (size_t i = 0; i < kept; i++) {
        if (glob->classes[i].start == at) {
            return &glob->classes[i];
        }
    }
    struct glob_class *slot = &glob->classes[glob->class_count++ % CLASS_SLOTS];
    class_compile(glob, at, slot);
    return slot;
}

/* Matches the element at *at (no star) against c and steps over it. */
static bool element_match(struct glob *glob, size_t *at, uint8_t c)
{
    const uint8_t *p = glob->pattern.data + *at;
    if (*p == '[') {
        const struct glob_class *cls = class_at(glob, *at + 1);
        *at = cls->end;
        return set_has(cls, c);
    }
    if (*p == '\\' && glob->pattern.size - *at >= 2) {
        p++;
        *at += 1;
    } else if (*p == '?') {
        *at += 1;
        return true;
    }
    *at += 1;
    return *p == c || (glob->nocase && lower(*p) == lower(c));
}

static bool only_stars(struct bytes pattern, size_t at)
{
    while (at < pattern.size && pattern.data[at] == '*') {
        at++;
    }
    return at == pattern.size;
}

bool kv_glob_match(struct bytes pattern, struct bytes text, bool nocase)
{
    if (text.size == 0) {
        return pattern.size == 0;
    }
    struct glob glob;
    glob.pattern = pattern;
    glob.nocase = nocase;
    glob.class_count = 0;
    size_t at = 0, i = 0;
    size_t star = SIZE_MAX, star_text = 0; /* behind the last star; where its rest is tried */
    while (i < text.size) {
        if (at < pattern.size && pattern.data[at] == '*') {
            star = ++at;
            star_text = i;
        } else if (at < pattern.size && element_match(&glob, &at, text.data[i])) {
            i++;
        } else if (star != SIZE_MAX && star < pattern.size) {
            at = star;
            i = ++star_text;
        } else {
            return star == pattern.size;
        }
    }
    return only_stars(pattern, at);
}
