/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The segment: its header, the records that carry no LSN of their own (stamp,
 * pad, seal, commit), and a cursor that reads a segment record by record and
 * trusts nothing.
 *
 * Header, 64 bytes:
 *
 *   offset  size
 *        0     8  magic "kevyseg1"
 *        8    16  store id
 *       24     4  kind: 1 log, 2 extent
 *       28     4  slot
 *       32     4  slot count
 *       36     4  segment number in this incarnation
 *       40     8  incarnation
 *       48     8  LSN of the first record behind it; of an extent: of the
 *                 record that first named it
 *       56     8  check: hash of the 56 bytes before it
 *
 * Values of the records that this room makes (key size 0, little-endian):
 *
 *   STAMP   u64 LSN of the next record, u64 incarnation, u64 check (the hash
 *           of those 16 bytes seeded with the segment's key xor the offset)
 *   PAD     nothing that is read; fills up to a multiple of half a segment
 *   SEAL    u64 last LSN of the segment + 1
 *   COMMIT  u32 how many records the batch has, itself not counted
 *
 * What does not live here: files (log/), the address of a slot (space.h).
 */
#ifndef KEVY_SRC_STORE_SEGMENT_H
#define KEVY_SRC_STORE_SEGMENT_H

#include "kevy/src/store/check.h"

#define KV_STORE_ID_SIZE 16u
#define KV_SEGMENT_SIZE_MIN ((size_t)64 << 10)

#define KV_STAMP_SIZE 48u
#define KV_SEAL_SIZE 32u
#define KV_COMMIT_SIZE 32u

/* A segment's half, which no record straddles, and how far stamps lie apart. */
#define KV_SEGMENT_HALVES 2u
#define KV_SEGMENT_STAMPS 64u

enum kv_segment_kind { KV_SEGMENT_LOG = 1, KV_SEGMENT_EXTENT = 2 };

struct kv_segment_header {
    uint8_t store_id[KV_STORE_ID_SIZE];
    enum kv_segment_kind kind;
    uint32_t slot;
    uint32_t slot_count;
    uint32_t number;
    uint64_t incarnation;
    uint64_t first_lsn;
};

void kv_segment_header_encode(const struct kv_segment_header *header,
                              uint8_t out[KV_SEGMENT_HEADER]);

/* False when the bytes are no header. */
bool kv_segment_header_decode(const uint8_t from[KV_SEGMENT_HEADER], struct kv_segment_header *out);

/* Where records lie in a segment, and what their checks mix in. */
struct kv_place {
    const struct kv_check *check;
    uint64_t segment_key;
    uint64_t incarnation;
    size_t segment_size; /* at most; a power of two */
};

/* Each writes one record, check included, for `offset`, and returns its size
 * (of the pad: the size of its header; the rest need not be written). */
size_t kv_stamp_encode(const struct kv_place *place, size_t offset, uint64_t lsn, uint8_t *out);
size_t kv_pad_encode(const struct kv_place *place, size_t offset, size_t size, uint8_t *out);
size_t kv_seal_encode(const struct kv_place *place, size_t offset, uint64_t lsn_next, uint8_t *out);
size_t kv_commit_encode(const struct kv_place *place, size_t offset, uint32_t batch_id,
                        uint32_t count, uint8_t *out);

/* ---- Reading ---- */

/* Walks the records of a segment. */
struct kv_cursor {
    struct kv_place place;
    const uint8_t *base;
    size_t limit;    /* bytes that may be read */
    size_t offset;   /* of the next record */
    uint64_t lsn;    /* of the next record that has one */
    bool is_checked; /* false: the bytes were checked before */
};

enum kv_step {
    KV_STEP_RECORD, /* *out is a record with an LSN; the cursor stands behind it */
    KV_STEP_SEAL,   /* the end of the segment; the cursor stands before the seal */
    KV_STEP_END     /* no valid record here: the end, or damage */
};

/* Reads on. A record with an LSN has lsn == cursor->lsn - its LSN count. */
enum kv_step kv_cursor_next(struct kv_cursor *cursor, const uint8_t **out);

/* How many LSNs a record stands for: 1, or what an EXTENT of a batch says. */
uint32_t kv_record_lsn_count(const uint8_t *record);

/* Returns the size of the record at `offset`, or 0 when what lies there has no
 * valid form or does not end before the limit; checks are not looked at. */
size_t kv_record_form(const struct kv_place *place, const uint8_t *base, size_t limit,
                      size_t offset);

/* Says whether what lies under the cursor, which has the form of a stamp, is one
 * of this segment and place. */
bool kv_cursor_has_stamp(const struct kv_cursor *cursor);

/* A batch in an extent is records one behind the other, up to `end`. Returns the
 * one at *offset, and moves *offset behind it. NULL: none lies there that ends in
 * time and has the form of a value, tombstone or namespace map. */
const uint8_t *kv_batch_next(const uint8_t *base, size_t *offset, size_t end);

/* Looks for the first valid stamp at or after `offset`: true, and the cursor
 * stands on it with the LSN that it tells. */
bool kv_cursor_resume(struct kv_cursor *cursor, size_t offset);

#endif
