/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Bytes: a borrowed run of them, and little-endian numbers in them.
 *
 * Every number in a file or on a wire goes through these functions, so that
 * the formats are the same on every machine, aligned or not. On little-endian
 * machines each is one load or store.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed run of bytes; data may be NULL when size is 0. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){(const uint8_t *)data, size};
}

/* A string literal's bytes, without its NUL. */
#define BYTES_LITERAL(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTES_SWAP16(x) __builtin_bswap16(x)
#define BYTES_SWAP32(x) __builtin_bswap32(x)
#define BYTES_SWAP64(x) __builtin_bswap64(x)
#else
#define BYTES_SWAP16(x) (x)
#define BYTES_SWAP32(x) (x)
#define BYTES_SWAP64(x) (x)
#endif

static inline uint16_t load_u16(const uint8_t *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return BYTES_SWAP16(x);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return BYTES_SWAP32(x);
}

static inline uint64_t load_u64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return BYTES_SWAP64(x);
}

static inline void store_u16(uint8_t *p, uint16_t x)
{
    x = BYTES_SWAP16(x);
    memcpy(p, &x, sizeof x);
}

static inline void store_u32(uint8_t *p, uint32_t x)
{
    x = BYTES_SWAP32(x);
    memcpy(p, &x, sizeof x);
}

static inline void store_u64(uint8_t *p, uint64_t x)
{
    x = BYTES_SWAP64(x);
    memcpy(p, &x, sizeof x);
}

#endif
