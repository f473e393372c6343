/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing a record, and the fields of one that are rarely read; the byte table
 * is in record.h.
 */
#include "kevy/src/store/record.h"

#include "base/assert.h"

STATIC_ASSERT(KV_SLOT_SIZE == (size_t)KV_GRANULE << KV_SLOT_SHIFT, "a slot in granules");

static uint8_t *fields_encode(const struct kv_draft *draft, uint8_t flags, uint32_t batch_id,
                              uint8_t *out)
{
    if ((flags & KV_HAS_EXPIRY) != 0) {
        store_u64(out, draft->expiry_ms);
        out += 8;
    }
    if ((flags & KV_HAS_FIRST_LSN) != 0) {
        store_u64(out, draft->first_lsn);
        out += 8;
    }
    if ((flags & KV_HAS_NAMESPACE) != 0) {
        store_u32(out, draft->namespace_id);
        out += 4;
    }
    if ((flags & KV_HAS_BATCH) != 0) {
        store_u32(out, batch_id);
        out += 4;
    }
    return out;
}

/* Writes header and fields; returns where the body begins. */
static inline uint8_t *head_encode(const struct kv_draft *draft, enum kv_record_type type,
                                   uint32_t batch_id, uint8_t *out)
{
    uint8_t flags = kv_draft_flags(draft, batch_id);
    store_u64(out, (uint64_t)draft->key.size << 32);
    store_u64(out + 8, (uint32_t)draft->value.size | (uint64_t)type << 32 | (uint64_t)flags << 40);
    out += KV_RECORD_HEADER;
    return flags == 0 ? out : fields_encode(draft, flags, batch_id, out);
}

void kv_draft_encode_sized(const struct kv_draft *draft, uint32_t batch_id, uint8_t *out,
                           size_t size)
{
    uint8_t *end = out + size;
    ASSERT(size == kv_draft_size(draft, batch_id));
    /* The zeros first: what fills up lies in the last granule. */
    memset(end - KV_GRANULE, 0, KV_GRANULE);
    out = head_encode(draft, draft->type, batch_id, out);
    out = kv_bytes_put(kv_bytes_put(out, draft->key), draft->value);
    ASSERT(out <= end && (size_t)(end - out) < KV_GRANULE);
    (void)end;
}

void kv_draft_encode(const struct kv_draft *draft, uint32_t batch_id, uint8_t *out)
{
    kv_draft_encode_sized(draft, batch_id, out, kv_draft_size(draft, batch_id));
}

size_t kv_extent_record_size(const struct kv_draft *draft, uint32_t batch_id)
{
    return kv_granules_round(KV_RECORD_HEADER +
                             kv_record_fields_size(kv_draft_flags(draft, batch_id)) +
                             KV_EXTENT_REF_SIZE);
}

void kv_extent_record_encode(const struct kv_draft *draft, const struct kv_extent_ref *place,
                             uint32_t batch_id, uint8_t *out)
{
    uint8_t *end = out + kv_extent_record_size(draft, batch_id);
    out = head_encode(draft, KV_RECORD_EXTENT, batch_id, out);
    memset(out, 0, (size_t)(end - out));
    store_u32(out, place->slot);
    store_u32(out + 4, place->slot_count);
    store_u64(out + 8, place->check);
    store_u32(out + 16, place->lsn_count);
}

uint64_t kv_record_first_lsn(const uint8_t *record)
{
    uint8_t flags = kv_record_flags(record);
    return (flags & KV_HAS_FIRST_LSN) == 0
               ? 0
               : load_u64(record + KV_RECORD_HEADER + kv_record_fields_size(flags & KV_HAS_EXPIRY));
}

uint32_t kv_record_namespace(const uint8_t *record)
{
    uint8_t flags = kv_record_flags(record), before = KV_HAS_EXPIRY | KV_HAS_FIRST_LSN;
    return (flags & KV_HAS_NAMESPACE) == 0
               ? 0
               : load_u32(record + KV_RECORD_HEADER + kv_record_fields_size(flags & before));
}

uint32_t kv_record_batch(const uint8_t *record)
{
    uint8_t flags = kv_record_flags(record);
    return (flags & KV_HAS_BATCH) == 0
               ? 0
               : load_u32(record + KV_RECORD_HEADER +
                          kv_record_fields_size(flags & (KV_RECORD_FLAGS ^ KV_HAS_BATCH)));
}

struct kv_extent_ref kv_record_extent(const uint8_t *record)
{
    const uint8_t *body = kv_record_body(record);
    ASSERT(kv_record_type(record) == KV_RECORD_EXTENT);
    return (struct kv_extent_ref){
        .slot = load_u32(body),
        .slot_count = load_u32(body + 4),
        .check = load_u64(body + 8),
        .lsn_count = load_u32(body + 16),
    };
}
