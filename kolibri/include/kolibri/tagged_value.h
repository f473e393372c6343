/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tagged format can say: the types, the limits, and the small structs that its functions
 * take and return. The bytes are in docs/tagged-format.md.
 */
#ifndef KOLIBRI_TAGGED_VALUE_H
#define KOLIBRI_TAGGED_VALUE_H

#include <kolibri/status.h>

enum {
    KOL_TAGGED_VERSION = 1,
    KOL_MESSAGE_MIN = 32,
    KOL_MESSAGE_MAX = 1 << 28,     /* bytes of a message */
    KOL_DEPTH_MAX = 512,           /* containers in each other */
    KOL_SHAPES_MAX = 1024,         /* shapes of a table */
    KOL_SHAPE_KEYS_MAX = 256,      /* keys of a shape */
    KOL_SHAPE_KEY_MAX = 1024,      /* UTF-16 units of a key of a shape */
    KOL_SHAPE_UNITS_MAX = 1 << 18, /* of all keys of a table */
    KOL_PATH_MAX = 200,            /* characters of a path, without its NUL */
    KOL_PROBLEM_MAX = 300          /* bytes of what is wrong with a message, and where */
};

/* What a value is. How it was encoded does not show. */
typedef enum kol_type {
    KOL_UNDEFINED,
    KOL_NULL,
    KOL_BOOL,
    KOL_INT,  /* 32 bits */
    KOL_LONG, /* 64 bits */
    KOL_DOUBLE,
    KOL_BIGINT,
    KOL_TEXT,
    KOL_LIST,
    KOL_OBJECT, /* keys are strings */
    KOL_MAP,    /* keys are values */
    KOL_SET,
    KOL_DATE,
    KOL_BYTES,
    KOL_PACKED, /* an array of numbers of one kind */
    KOL_ERROR,
    KOL_CUSTOM
} kol_type;

/* The element kinds of packed arrays, by their numbers in messages. */
typedef enum kol_packed {
    KOL_I8 = 16,
    KOL_U8,
    KOL_I16,
    KOL_U16,
    KOL_I32,
    KOL_U32,
    KOL_I64,
    KOL_U64,
    KOL_F32,
    KOL_F64,
    KOL_U8_CLAMPED
} kol_packed;

/* A finished message: `size` bytes, 8-aligned. Whoever returns one says how long it lives. */
struct kol_message {
    const void *bytes;
    size_t size;
};

/* How the characters of a kol_string lie in memory. */
typedef enum kol_text_form {
    KOL_UTF8, /* WTF-8: half a surrogate pair is its three bytes; malformed parts are U+FFFD */
    KOL_LATIN1,
    KOL_UTF16,   /* units in the byte order of this machine, at any address */
    KOL_UTF16_LE /* units, little-endian: what messages hold */
} kol_text_form;

/*
 * A borrowed string: `count` bytes, or units if it is UTF-16. data may be NULL when count is 0. It
 * fits into two registers, so its count has 32 bits; what is longer is too long for any message.
 */
struct kol_string {
    const void *data;
    uint32_t count;
    kol_text_form form;
};

KOL__INLINE struct kol_string kol_string_of(const void *data, size_t count, kol_text_form form)
{
    struct kol_string string;
    string.data = data;
    string.count = (uint32_t)count == count ? (uint32_t)count : UINT32_MAX;
    string.form = form;
    return string;
}

/* The string of a literal in UTF-8. */
#define KOL_STRING(literal) kol_string_of(literal, sizeof(literal) - 1, KOL_UTF8)

/* An integer of any size: |value| = magnitude, little-endian, its last byte not 0. Zero: size 0. */
struct kol_bigint {
    const uint8_t *magnitude;
    size_t size;
    int is_negative;
};

/*
 * One resize function instead of three: size 0 frees, a NULL block allocates. NULL says that there
 * is no memory. May be called from any thread.
 */
struct kol_memory {
    void *(*resize)(void *user, void *block, size_t size);
    void *user;
};

KOL__C_BEGIN

/* True when both strings have the same UTF-16 units, whatever their forms. Any thread. */
int kol_string_equal(struct kol_string a, struct kol_string b);

/*
 * Writes a string as UTF-8 (WTF-8), without a NUL. Returns its size, also when that is more than
 * `size`: then nothing is written.
 */
size_t kol_string_copy(struct kol_string string, char *utf8, size_t size);

KOL__C_END

#endif
