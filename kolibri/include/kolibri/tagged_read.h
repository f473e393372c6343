/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The cursor: a message is validated once, then its values are read where they lie, unchecked.
 *
 * A kol_value is two words, passed by value; it is borrowed from its reader, as are the strings and
 * arrays that it gives out, until the reader is closed or the message's memory goes. Nobody may
 * change the message meanwhile. Asking a value for what it is not is KOL_ETYPE, never a crash.
 *
 * Any thread, and several at once.
 */
#ifndef KOLIBRI_TAGGED_READ_H
#define KOLIBRI_TAGGED_READ_H

#include <kolibri/tagged_shape.h>

/* A validated message. The fields are for the functions. */
struct kol_reader {
    const uint8_t *bytes;
    uint32_t text;
    struct kol_shapes *shapes;
    struct kol_shapes *own;
    const char *what; /* was wrong; NULL: nothing */
    char where[KOL_PATH_MAX + 1];
};

/* One value of a message. The fields are for the functions. */
struct kol_value {
    const struct kol_reader *reader;
    uint64_t slot;
};

/* An array of numbers where it lies: `count` elements, little-endian, 8-aligned. */
struct kol_array {
    const void *data;
    size_t count;
    kol_packed kind;
};

KOL__C_BEGIN

/*
 * Validates a message and reads it from then on. `shapes` is the table of what this connection has
 * received, which also takes the definitions in the message; NULL for messages that stand alone.
 * Yours until kol_reader_close. KOL_EFORMAT, KOL_EDEPTH, KOL_ERANGE, KOL_ENOMEM; after an error
 * closing is allowed and needless. Allocates only when the message defines shapes.
 */
kol_status kol_reader_open(struct kol_reader *reader, struct kol_shapes *shapes,
                           struct kol_message message) KOL__MUST;
void kol_reader_close(struct kol_reader *reader);

/*
 * Why opening failed, and where: "a key that is no string at $.items[3]". The place is a path, for
 * a damaged definition of a shape "byte 96", and nothing for a header. Empty when nothing was wrong
 * or the reader was closed. Writes at most `size` bytes with a NUL; the text is at most
 * KOL_PROBLEM_MAX bytes. Returns its length before cutting to size.
 */
size_t kol_reader_problem(const struct kol_reader *reader, char *text, size_t size);

/* The value of the message. */
struct kol_value kol_reader_root(const struct kol_reader *reader);

kol_type kol_value_type(struct kol_value value);

/* True, and nothing else, for undefined and null. */
int kol_value_is_nothing(struct kol_value value);

/*
 * Numbers. An int is also a long and a double; a long or a double is also an int where that loses
 * nothing. A BigInt is a long where it fits. KOL_ETYPE: not a number, or not integral; KOL_ERANGE.
 */
kol_status kol_value_as_bool(struct kol_value value, int *out) KOL__MUST;
kol_status kol_value_as_int(struct kol_value value, int32_t *out) KOL__MUST;
kol_status kol_value_as_long(struct kol_value value, int64_t *out) KOL__MUST;
kol_status kol_value_as_double(struct kol_value value, double *out) KOL__MUST;
kol_status kol_value_as_bigint(struct kol_value value, struct kol_bigint *out) KOL__MUST;

/* Milliseconds since 1970. */
kol_status kol_value_as_date(struct kol_value value, double *out) KOL__MUST;

/* A string where it lies, KOL_LATIN1 or KOL_UTF16_LE. */
kol_status kol_value_as_text(struct kol_value value, struct kol_string *out) KOL__MUST;

/* A string as UTF-8 with a NUL. `*size_out` is its size without it; KOL_ESMALL: it did not fit. */
kol_status kol_value_copy_text(struct kol_value value, char *utf8, size_t size,
                               size_t *size_out) KOL__MUST;

/* The bytes of a byte array; the elements of a packed array. */
kol_status kol_value_as_bytes(struct kol_value value, const uint8_t **data_out,
                              size_t *size_out) KOL__MUST;
kol_status kol_value_as_packed(struct kol_value value, struct kol_array *out) KOL__MUST;

/* All elements of a list as doubles, at most `max`; KOL_ETYPE if one is none; KOL_ESMALL. */
kol_status kol_value_copy_doubles(struct kol_value value, double *numbers, size_t max,
                                  size_t *count_out) KOL__MUST;

/*
 * How many: elements of a list, set, byte array or packed array, pairs of an object or a map,
 * fields of a custom value, 5 for an error; 0 for everything else.
 */
size_t kol_value_count(struct kol_value value);

/*
 * The element, the pair's value, or the field number `index`; undefined when there is none. An
 * element of a packed array is an int where that fits, else a long or double; of u64 a double where
 * it is over 2^63.
 */
struct kol_value kol_value_at(struct kol_value value, size_t index);

/* The key of pair number `index` of an object. KOL_NONE when there is none. */
kol_status kol_value_key_at(struct kol_value value, size_t index, struct kol_string *out) KOL__MUST;

/* The key of pair number `index` of a map; undefined when there is none. */
struct kol_value kol_value_map_key_at(struct kol_value value, size_t index);

/*
 * The value of a key of an object; of equal keys the last. KOL_NONE if there is none. A shape finds
 * it at once; an object with keys of its own is searched pair by pair, so whoever wants many keys
 * of an object that somebody else made large goes through it once, by kol_value_key_at.
 */
kol_status kol_value_get(struct kol_value value, struct kol_string key,
                         struct kol_value *out) KOL__MUST;

/*
 * The shape of an object that has one, or that all objects of a list have; else NULL. A position
 * found with kol_shape_find is then good for all values of the same shape.
 */
const struct kol_shape *kol_value_shape(struct kol_value value);

/* The schema id of a custom value; 0 for everything else. */
uint32_t kol_value_schema(struct kol_value value);

KOL__C_END

#endif
