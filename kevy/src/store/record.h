/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The record: the bytes in which a value, or the news that it is gone, lies in
 * a segment. The record is the value: there is no other copy. In memory stores
 * and file stores it is the same; only files fill in the check.
 *
 *   offset  size
 *        0     4  check          see store/check.h; 0 in memory stores
 *        4     4  key size
 *        8     4  value size     of an extent record: the value in the extent
 *       12     1  type           enum kv_record_type
 *       13     1  flags          which fields follow
 *       14     2  zero
 *       16     8  expiry         if KV_HAS_EXPIRY: absolute wall milliseconds
 *              8  first LSN      if KV_HAS_FIRST_LSN
 *              4  namespace      if KV_HAS_NAMESPACE; absent = 0
 *              4  batch id       if KV_HAS_BATCH
 *                 key, value     (extent record: struct kv_extent_ref instead)
 *                 zeros up to a multiple of 16 (a granule)
 *
 * All numbers are little-endian. Records never change once they are published.
 * A reference names a granule: slot * 262,144 + offset / 16; offset 0 of a slot
 * is the segment header, so reference 0 names nothing.
 *
 * What does not live here: where segments lie (space.h), who writes (journal.h),
 * how damage is found (check.h, log/).
 */
#ifndef KEVY_SRC_STORE_RECORD_H
#define KEVY_SRC_STORE_RECORD_H

#include "base/bytes.h"

#define KV_GRANULE 16u
#define KV_RECORD_HEADER 16u
#define KV_SLOT_SIZE ((size_t)4 << 20)
#define KV_SLOT_SHIFT 18u /* granules of a slot: 2^18 */
#define KV_SLOT_COUNT 16384u
#define KV_SEGMENT_HEADER 64u

/* Key and value of an extent lie behind its header. */
#define KV_EXTENT_DATA KV_SEGMENT_HEADER

enum kv_record_type {
    KV_RECORD_VALUE = 1,
    KV_RECORD_TOMBSTONE = 2,
    KV_RECORD_NAMESPACES = 3,
    KV_RECORD_COMMIT = 4,
    KV_RECORD_EXTENT = 5,
    /* 6 to 10 are reserved: effect, snapshot begin, chunk, snapshot end, bytes at offset */
    KV_RECORD_SEAL = 0x81, /* from here on: no LSN of their own */
    KV_RECORD_STAMP = 0x82,
    KV_RECORD_PAD = 0x83
};

enum kv_record_flag {
    KV_HAS_EXPIRY = 1,
    KV_HAS_FIRST_LSN = 2,
    KV_HAS_NAMESPACE = 4,
    KV_HAS_BATCH = 8,
    KV_RECORD_FLAGS = 15
};

/* What an extent record holds instead of key and value, 32 bytes. */
#define KV_EXTENT_REF_SIZE 32u
struct kv_extent_ref {
    uint32_t slot;       /* the first address slot */
    uint32_t slot_count; /* adjacent slots that it takes */
    uint64_t check;      /* 64-bit hash of key and value as they lie in the extent */
    uint32_t lsn_count;  /* LSNs that the record stands for: 1 */
};

/* Bytes of the flagged fields. */
static inline size_t kv_record_fields_size(uint8_t flags)
{
    if (flags == 0) {
        return 0;
    }
    return (size_t)((flags & 3) != 0) * 8 + (size_t)((flags & 3) == 3) * 8 +
           (size_t)((flags & 12) != 0) * 4 + (size_t)((flags & 12) == 12) * 4;
}

static inline size_t kv_granules_round(size_t size)
{
    return (size + KV_GRANULE - 1) & ~(size_t)(KV_GRANULE - 1);
}

static inline uint8_t kv_record_type(const uint8_t *record)
{
    return record[12];
}

static inline uint8_t kv_record_flags(const uint8_t *record)
{
    return record[13];
}

static inline uint32_t kv_record_key_size(const uint8_t *record)
{
    return load_u32(record + 4);
}

static inline uint32_t kv_record_value_size(const uint8_t *record)
{
    return load_u32(record + 8);
}

/* Says whether it is a value without flagged fields, as nearly all are: then key and value lie
 * behind the header. */
static inline bool kv_record_is_bare(const uint8_t *record)
{
    return load_u16(record + 12) == KV_RECORD_VALUE;
}

/* Returns the expiry in absolute wall milliseconds, 0 for none. */
static inline uint64_t kv_record_expiry(const uint8_t *record)
{
    return (kv_record_flags(record) & KV_HAS_EXPIRY) != 0 ? load_u64(record + KV_RECORD_HEADER) : 0;
}

/* The bytes behind header and fields: key and value, or the extent reference. */
static inline const uint8_t *kv_record_body(const uint8_t *record)
{
    return record + KV_RECORD_HEADER + kv_record_fields_size(kv_record_flags(record));
}

uint64_t kv_record_first_lsn(const uint8_t *record); /* 0 absent */
uint32_t kv_record_namespace(const uint8_t *record); /* 0 absent */
uint32_t kv_record_batch(const uint8_t *record);     /* 0 absent */
struct kv_extent_ref kv_record_extent(const uint8_t *record);

/* Bytes that the record takes in its segment, a multiple of KV_GRANULE. */
static inline size_t kv_record_size(const uint8_t *record)
{
    size_t head = KV_RECORD_HEADER + kv_record_fields_size(kv_record_flags(record));
    size_t body = kv_record_type(record) == KV_RECORD_EXTENT
                      ? KV_EXTENT_REF_SIZE
                      : (size_t)kv_record_key_size(record) + kv_record_value_size(record);
    return kv_granules_round(head + body);
}

/* A record still to be written, as its writer describes it. Everything it
 * points at is borrowed until kv_journal's append returns. */
struct kv_draft {
    enum kv_record_type type; /* VALUE, TOMBSTONE or NAMESPACES; the journal makes EXTENTs of
                                 large values by itself */
    uint32_t namespace_id;
    uint64_t expiry_ms; /* absolute wall milliseconds, 0 none */
    uint64_t first_lsn; /* 0 but for a record that is moved */
    struct bytes key;
    struct bytes value;
    uint32_t same_as; /* 0, or an EXTENT record's ref: its extent holds this key and value, and
                         the new record is to name the same one */
    uint32_t ref;     /* out: where the record lies */
};

/* Copies bytes, which may be none at NULL, and returns the end of the copy.
 * Keys are mostly short: two overlapping words copy 4 to 7 and 8 to 16 bytes. */
static inline uint8_t *kv_bytes_put(uint8_t *out, struct bytes from)
{
    if (from.size - 8 <= 8) {
        uint64_t first, last;
        memcpy(&first, from.data, sizeof first);
        memcpy(&last, from.data + from.size - sizeof last, sizeof last);
        memcpy(out, &first, sizeof first);
        memcpy(out + from.size - sizeof last, &last, sizeof last);
    } else if (from.size - 4 < 4) {
        uint32_t first, last;
        memcpy(&first, from.data, sizeof first);
        memcpy(&last, from.data + from.size - sizeof last, sizeof last);
        memcpy(out, &first, sizeof first);
        memcpy(out + from.size - sizeof last, &last, sizeof last);
    } else if (from.size > 0) {
        memcpy(out, from.data, from.size);
    }
    return out + from.size;
}

/* The flags that the draft has as a record. */
static inline uint8_t kv_draft_flags(const struct kv_draft *draft, uint32_t batch_id)
{
    return (uint8_t)((draft->expiry_ms != 0 ? KV_HAS_EXPIRY : 0) |
                     (draft->first_lsn != 0 ? KV_HAS_FIRST_LSN : 0) |
                     (draft->namespace_id != 0 ? KV_HAS_NAMESPACE : 0) |
                     (batch_id != 0 ? KV_HAS_BATCH : 0));
}

/* Bytes that the draft takes as a record in a segment (not as an extent). */
static inline size_t kv_draft_size(const struct kv_draft *draft, uint32_t batch_id)
{
    return kv_granules_round(KV_RECORD_HEADER +
                             kv_record_fields_size(kv_draft_flags(draft, batch_id)) +
                             draft->key.size + draft->value.size);
}

/* Writes the draft as a record with a zero check to `out`, kv_draft_size bytes. */
void kv_draft_encode(const struct kv_draft *draft, uint32_t batch_id, uint8_t *out);

/* The same where that size is known. */
void kv_draft_encode_sized(const struct kv_draft *draft, uint32_t batch_id, uint8_t *out,
                           size_t size);

/* The same for the EXTENT record of a draft whose key and value lie in `place`. */
size_t kv_extent_record_size(const struct kv_draft *draft, uint32_t batch_id);
void kv_extent_record_encode(const struct kv_draft *draft, const struct kv_extent_ref *place,
                             uint32_t batch_id, uint8_t *out);

#endif
