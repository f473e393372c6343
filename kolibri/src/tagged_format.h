/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bytes of the tagged format as code: offsets, tags, kinds, and slots taken apart. The
 * specification is docs/tagged-format.md.
 *
 *     slot    63        48 47        28 27            0
 *             |   tag     |   count   |    offset     |     tags over fff0; else a double
 */
#ifndef KOLIBRI_SRC_TAGGED_FORMAT_H
#define KOLIBRI_SRC_TAGGED_FORMAT_H

#include "base/assert.h"
#include "base/bytes.h"

#include <kolibri/tagged_value.h>

#define TAGGED_MAGIC UINT32_C(0x544c4f4b)
#define TAGGED_NAN UINT64_C(0x7ff8000000000000)

enum { HEADER_VERSION = 4, HEADER_FLAGS = 5, HEADER_ZERO = 6, HEADER_SIZE = 8, HEADER_TEXT = 12 };
enum { HEADER_TEXT_SIZE = 16, HEADER_SHAPES = 20, HEADER_ROOT = 24, HEADER_END = 32 };
enum { FLAG_SHAPES = 1, SHAPE_HEAD_SIZE = 16, ERROR_FIELDS = 5 };

enum slot_tag {
    TAG_CONST = 0xfff1,
    TAG_INT32 = 0xfff2,
    TAG_INT48 = 0xfff3,
    TAG_TEXT8 = 0xfff4,
    TAG_TEXT16 = 0xfff5,
    TAG_LIST = 0xfff6,
    TAG_RECORD = 0xfff7,
    TAG_OBJECT = 0xfff8,
    TAG_BLOCK = 0xfff9
};
enum slot_const { CONST_UNDEFINED, CONST_NULL, CONST_FALSE, CONST_TRUE };
enum block_kind {
    KIND_INT64 = 1,
    KIND_DATE,
    KIND_BIGINT,
    KIND_TEXT8,
    KIND_TEXT16,
    KIND_LIST,
    KIND_OBJECT,
    KIND_MAP,
    KIND_SET,
    KIND_ERROR,
    KIND_CUSTOM,
    KIND_RECORDS,
    KIND_DOUBLES,
    KIND_INTS,
    KIND_BYTES,
    KIND_PACKED = KOL_I8,
    KIND_END = KOL_U8_CLAMPED + 1
};

#define SLOT_COUNT_MAX ((UINT32_C(1) << 20) - 1)
#define SLOT_DOUBLE_MAX UINT64_C(0xfff0ffffffffffff)
#define DATE_MAX 8.64e15

static inline uint64_t slot_of(enum slot_tag tag, size_t count, size_t offset)
{
    ASSERT(count <= SLOT_COUNT_MAX && offset < KOL_MESSAGE_MAX);
    return (uint64_t)tag << 48 | (uint64_t)count << 28 | offset;
}

static inline uint64_t slot_const_of(enum slot_const value)
{
    return (uint64_t)TAG_CONST << 48 | (uint64_t)value;
}

static inline int slot_is_double(uint64_t slot)
{
    return slot <= SLOT_DOUBLE_MAX;
}

static inline unsigned slot_tag_of(uint64_t slot)
{
    return (unsigned)(slot >> 48);
}

static inline uint32_t slot_count(uint64_t slot)
{
    return (uint32_t)(slot >> 28) & SLOT_COUNT_MAX;
}

static inline uint32_t slot_offset(uint64_t slot)
{
    return (uint32_t)slot & (KOL_MESSAGE_MAX - 1);
}

/* The kind of a BLOCK slot, 0 for every other slot. */
static inline unsigned slot_kind(uint64_t slot)
{
    return slot_tag_of(slot) == TAG_BLOCK ? slot_count(slot) : 0;
}

static inline int64_t slot_int48(uint64_t slot)
{
    uint64_t low = slot & ((UINT64_C(1) << 48) - 1);
    uint64_t sign = UINT64_C(1) << 47;
    return (int64_t)((low ^ sign) - sign);
}

static inline uint64_t double_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double bits_double(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline size_t round_up8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* The size of an element of a packed array, of DOUBLES and INTS; 0 for other kinds. */
static inline size_t element_size(unsigned kind)
{
    switch (kind) {
    case KOL_I8:
    case KOL_U8:
    case KOL_U8_CLAMPED:
    case KIND_BYTES:
        return 1;
    case KOL_I16:
    case KOL_U16:
        return 2;
    case KOL_I32:
    case KOL_U32:
    case KOL_F32:
    case KIND_INTS:
        return 4;
    case KOL_I64:
    case KOL_U64:
    case KOL_F64:
    case KIND_DOUBLES:
        return 8;
    default:
        return 0;
    }
}

/* Copies elements between memory in this machine's byte order and little-endian. */
static inline void copy_elements(void *to, const void *from, size_t count, size_t size)
{
    if (count == 0) {
        return;
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < count * size; i++) {
        size_t in = i % size;
        ((uint8_t *)to)[i - in + (size - 1 - in)] = ((const uint8_t *)from)[i];
    }
#else
    memcpy(to, from, count * size);
#endif
}

#endif
