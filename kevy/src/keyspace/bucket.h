/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bucket: one cache line of the hash table, and matching tags in it.
 *
 *    tags[0]         tags of entries 0 to 7, a byte each, entry 0 lowest
 *    tags[1]         tags of entries 8 to 11, then a u32: bits 0-11 the kind of
 *                    each entry (0 string, 1 collection), bits 12-31 the number
 *                    of the overflow bucket that continues this one, 0 none
 *    refs[12]        references of the entries
 *
 * A tag is 8 bits of the hash that choose no bucket, never 0; 0 is an empty
 * entry. Entries are packed: those in use come first. Only the last bucket of
 * a chain has empty entries.
 *
 * Words are atomics: a reader without the lock loads tags with acquire and then
 * references; a writer stores the reference first.
 */
#ifndef KEVY_SRC_KEYSPACE_BUCKET_H
#define KEVY_SRC_KEYSPACE_BUCKET_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define KV_BUCKET_ENTRIES 12u
#define KV_BUCKET_MASK 0xfffu
#define KV_LINK_SHIFT 44u /* of the link in tags[1] */
#define KV_LINK_MAX ((1u << 20) - 1)

struct kv_bucket {
    _Atomic uint64_t tags[2];
    _Atomic uint32_t refs[KV_BUCKET_ENTRIES];
};

STATIC_ASSERT(sizeof(struct kv_bucket) == 64, "a bucket is a cache line");

/* The two tag words as they were read at one moment. */
struct kv_tags {
    uint64_t word[2];
};

static inline struct kv_tags kv_bucket_tags(const struct kv_bucket *bucket)
{
    return (struct kv_tags){{atomic_load_explicit(&bucket->tags[0], memory_order_acquire),
                             atomic_load_explicit(&bucket->tags[1], memory_order_acquire)}};
}

static inline uint32_t kv_bucket_ref(const struct kv_bucket *bucket, unsigned entry)
{
    return atomic_load_explicit(&bucket->refs[entry], memory_order_acquire);
}

static inline uint8_t kv_tag_of(uint64_t hash)
{
    uint8_t tag = (uint8_t)(hash >> 56);
    return tag == 0 ? 1 : tag;
}

static inline uint32_t kv_tags_link(struct kv_tags tags)
{
    return (uint32_t)(tags.word[1] >> KV_LINK_SHIFT);
}

static inline uint8_t kv_tags_get(struct kv_tags tags, unsigned entry)
{
    return (uint8_t)(tags.word[entry / 8] >> (entry % 8 * 8));
}

/* Bit i of the result: byte i of `word` equals `byte`. */
static inline unsigned kv_word_match(uint64_t word, uint8_t byte)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t x = word ^ (byte * UINT64_C(0x0101010101010101));
    uint64_t zero = ~(((x & low7) + low7) | x | low7);
    return (unsigned)(((zero >> 7) * UINT64_C(0x0102040810204080)) >> 56);
}

/* Bit i of the result: entry i has this tag. */
static inline unsigned kv_tags_match(struct kv_tags tags, uint8_t tag)
{
#if defined(__SSE2__)
    __m128i words = _mm_set_epi64x((long long)tags.word[1], (long long)tags.word[0]);
    __m128i equal = _mm_cmpeq_epi8(words, _mm_set1_epi8((char)tag));
    return (unsigned)_mm_movemask_epi8(equal) & KV_BUCKET_MASK;
#else
    return (kv_word_match(tags.word[0], tag) | (kv_word_match(tags.word[1], tag) << 8)) &
           KV_BUCKET_MASK;
#endif
}

/* The number of entries in use, which come first. */
static inline unsigned kv_tags_count(struct kv_tags tags)
{
    return (unsigned)__builtin_ctz(kv_tags_match(tags, 0) | (1u << KV_BUCKET_ENTRIES));
}

static inline void kv_bucket_set_tag(struct kv_bucket *bucket, unsigned entry, uint8_t tag)
{
    uint64_t word = atomic_load_explicit(&bucket->tags[entry / 8], memory_order_relaxed);
    unsigned shift = entry % 8 * 8;
    word = (word & ~(UINT64_C(0xff) << shift)) | ((uint64_t)tag << shift);
    atomic_store_explicit(&bucket->tags[entry / 8], word, memory_order_release);
}

static inline void kv_bucket_set_ref(struct kv_bucket *bucket, unsigned entry, uint32_t ref)
{
    atomic_store_explicit(&bucket->refs[entry], ref, memory_order_release);
}

static inline void kv_bucket_set_link(struct kv_bucket *bucket, uint32_t link)
{
    uint64_t word = atomic_load_explicit(&bucket->tags[1], memory_order_relaxed);
    word = (word & ((UINT64_C(1) << KV_LINK_SHIFT) - 1)) | ((uint64_t)link << KV_LINK_SHIFT);
    atomic_store_explicit(&bucket->tags[1], word, memory_order_release);
}

/* Empties a bucket that no reader can see yet, or under a moved `changes`. */
static inline void kv_bucket_clear(struct kv_bucket *bucket)
{
    atomic_store_explicit(&bucket->tags[0], 0, memory_order_release);
    atomic_store_explicit(&bucket->tags[1], 0, memory_order_release);
}

#endif
