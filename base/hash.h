/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One seeded 64-bit hash for keys, names and record checks: 16 bytes a step,
 * each step one 64 x 64 -> 128 bit multiply whose halves are folded together.
 *
 * The seed is secret and random for each store, so that nobody outside can
 * choose keys that fall into one bucket. The value is the same on every
 * machine, little- or big-endian, with or without a wide multiply: records
 * carry it in files. It is no cryptographic hash.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/bytes.h"

/* Odd constants with about half their bits set; changing one changes every
 * file, see docs/log-format.md. */
#define HASH_K0 UINT64_C(0x9e3779b97f4a7c15)
#define HASH_K1 UINT64_C(0xd6e8feb86659fd93)
#define HASH_K2 UINT64_C(0xa0761d6478bd642f)
#define HASH_K3 UINT64_C(0xe7037ed1a0b428db)

/* The 128-bit product of a and b, its halves xored. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, mid0 = a1 * b0, mid1 = a0 * b1, high = a1 * b1;
    uint64_t carry = ((low >> 32) + (uint32_t)mid0 + (uint32_t)mid1) >> 32;
    return (low + (mid0 << 32) + (mid1 << 32)) ^ (high + (mid0 >> 32) + (mid1 >> 32) + carry);
#endif
}

/* Loads the last 1..16 bytes of a run as two words that overlap where it is
 * shorter than 16; the size is hashed too, so that the overlap says nothing. */
static inline void hash_tail(const uint8_t *p, size_t size, uint64_t *a, uint64_t *b)
{
    if (size >= 8) {
        *a = load_u64(p);
        *b = load_u64(p + size - 8);
    } else if (size >= 4) {
        *a = load_u32(p);
        *b = load_u32(p + size - 4);
    } else {
        *a = size == 0 ? 0 : ((uint64_t)p[0] << 16) | ((uint64_t)p[size / 2] << 8) | p[size - 1];
        *b = 0;
    }
}

/* Four independent lanes for runs over 64 bytes: the multiplies overlap.
 * Both factors carry a secret (s and t): data that equals a known factor
 * would make the product 0 and forget everything before it. */
static inline uint64_t hash_long(const uint8_t **data, size_t *size, uint64_t s, uint64_t t)
{
    const uint8_t *p = *data;
    size_t left = *size;
    uint64_t s1 = s ^ HASH_K1, s2 = s ^ HASH_K2, s3 = s ^ HASH_K3;
    do {
        s = hash_fold(load_u64(p) ^ t, load_u64(p + 8) ^ s);
        s1 = hash_fold(load_u64(p + 16) ^ t, load_u64(p + 24) ^ s1);
        s2 = hash_fold(load_u64(p + 32) ^ t, load_u64(p + 40) ^ s2);
        s3 = hash_fold(load_u64(p + 48) ^ t, load_u64(p + 56) ^ s3);
        p += 64;
        left -= 64;
    } while (left > 64);
    *data = p;
    *size = left;
    return hash_fold(s ^ HASH_K2, s1 ^ HASH_K3) ^ hash_fold(s2 ^ HASH_K0, s3 ^ HASH_K1);
}

/* Takes in all of a run over 16 bytes but its last 1..16 bytes. */
static inline uint64_t hash_head(const uint8_t **data, size_t *size, uint64_t s, uint64_t t)
{
    const uint8_t *p = *data;
    size_t left = *size;
    if (left > 64) {
        s = hash_long(&p, &left, s, t);
    }
    while (left > 16) {
        s = hash_fold(load_u64(p) ^ t, load_u64(p + 8) ^ s);
        p += 16;
        left -= 16;
    }
    *data = p;
    *size = left;
    return s;
}

/* Returns the hash of `size` bytes under `seed`. */
static inline uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = (const uint8_t *)data;
    size_t left = size;
    uint64_t a, b, s = seed ^ HASH_K0, t = hash_fold(seed ^ HASH_K2, HASH_K3);
    if (left > 16) {
        s = hash_head(&p, &left, s, t);
    }
    hash_tail(p, left, &a, &b);
    return hash_fold(t ^ size, hash_fold(a ^ t, b ^ s));
}

#endif
