/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Segment headers and the records without an LSN of their own; see segment.h.
 * Reading is in segment_read.c.
 */
#include "kevy/src/store/segment.h"

#include "base/assert.h"

static const uint8_t segment_magic[8] = {'k', 'e', 'v', 'y', 's', 'e', 'g', '1'};

/* The header's seed: its check says "a header", not "of this store". */
#define SEGMENT_HEADER_SEED UINT64_C(0x316765737976656b)

void kv_segment_header_encode(const struct kv_segment_header *header,
                              uint8_t out[KV_SEGMENT_HEADER])
{
    memcpy(out, segment_magic, sizeof segment_magic);
    memcpy(out + 8, header->store_id, KV_STORE_ID_SIZE);
    store_u32(out + 24, (uint32_t)header->kind);
    store_u32(out + 28, header->slot);
    store_u32(out + 32, header->slot_count);
    store_u32(out + 36, header->number);
    store_u64(out + 40, header->incarnation);
    store_u64(out + 48, header->first_lsn);
    store_u64(out + 56, hash_bytes(out, 56, SEGMENT_HEADER_SEED));
}

bool kv_segment_header_decode(const uint8_t from[KV_SEGMENT_HEADER], struct kv_segment_header *out)
{
    uint32_t kind = load_u32(from + 24);
    if (memcmp(from, segment_magic, sizeof segment_magic) != 0 ||
        load_u64(from + 56) != hash_bytes(from, 56, SEGMENT_HEADER_SEED) ||
        (kind != KV_SEGMENT_LOG && kind != KV_SEGMENT_EXTENT)) {
        return false;
    }
    memcpy(out->store_id, from + 8, KV_STORE_ID_SIZE);
    out->kind = (enum kv_segment_kind)kind;
    out->slot = load_u32(from + 28);
    out->slot_count = load_u32(from + 32);
    out->number = load_u32(from + 36);
    out->incarnation = load_u64(from + 40);
    out->first_lsn = load_u64(from + 48);
    return out->slot < KV_SLOT_COUNT && out->slot_count >= 1 &&
           out->slot_count <= KV_SLOT_COUNT - out->slot;
}

/* Writes a header without check and fields of a record without a key. */
static void plain_head(enum kv_record_type type, uint8_t flags, uint32_t value_size, uint8_t *out)
{
    store_u32(out, 0);
    store_u32(out + 4, 0);
    store_u32(out + 8, value_size);
    out[12] = (uint8_t)type;
    out[13] = flags;
    store_u16(out + 14, 0);
}

static uint64_t stamp_check(const struct kv_place *place, size_t offset, const uint8_t *body)
{
    return hash_bytes(body, 16, place->segment_key ^ offset);
}

size_t kv_stamp_encode(const struct kv_place *place, size_t offset, uint64_t lsn, uint8_t *out)
{
    uint8_t *body = out + KV_RECORD_HEADER;
    memset(out, 0, KV_STAMP_SIZE);
    plain_head(KV_RECORD_STAMP, 0, 24, out);
    store_u64(body, lsn);
    store_u64(body + 8, place->incarnation);
    store_u64(body + 16, stamp_check(place, offset, body));
    kv_check_seal(place->check, place->segment_key, offset, out);
    return KV_STAMP_SIZE;
}

size_t kv_pad_encode(const struct kv_place *place, size_t offset, size_t size, uint8_t *out)
{
    ASSERT(size >= KV_RECORD_HEADER && size % KV_GRANULE == 0);
    ASSERT((offset + size) % (place->segment_size / KV_SEGMENT_HALVES) == 0);
    plain_head(KV_RECORD_PAD, 0, (uint32_t)(size - KV_RECORD_HEADER), out);
    kv_check_seal(place->check, place->segment_key, offset, out);
    return KV_RECORD_HEADER;
}

size_t kv_seal_encode(const struct kv_place *place, size_t offset, uint64_t lsn_next, uint8_t *out)
{
    memset(out, 0, KV_SEAL_SIZE);
    plain_head(KV_RECORD_SEAL, 0, 8, out);
    store_u64(out + KV_RECORD_HEADER, lsn_next);
    kv_check_seal(place->check, place->segment_key, offset, out);
    return KV_SEAL_SIZE;
}

size_t kv_commit_encode(const struct kv_place *place, size_t offset, uint32_t batch_id,
                        uint32_t count, uint8_t *out)
{
    memset(out, 0, KV_COMMIT_SIZE);
    plain_head(KV_RECORD_COMMIT, KV_HAS_BATCH, 4, out);
    store_u32(out + KV_RECORD_HEADER, batch_id);
    store_u32(out + KV_RECORD_HEADER + 4, count);
    kv_check_seal(place->check, place->segment_key, offset, out);
    return KV_COMMIT_SIZE;
}

uint32_t kv_record_lsn_count(const uint8_t *record)
{
    return kv_record_type(record) == KV_RECORD_EXTENT ? kv_record_extent(record).lsn_count : 1;
}
