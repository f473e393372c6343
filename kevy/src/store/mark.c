/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The mark as bytes, and back; see mark.h. Whatever the bytes are, reading them
 * gives a mark that is consistent in itself, or none.
 */
#include "kevy/src/store/mark.h"

#include "base/assert.h"

/* "kevymark": any number but one of the constants of the hash. */
#define MARK_SEED UINT64_C(0x6b72616d7976656b)
#define MARK_IDENTITY_SIZE 64u
#define MARK_MAP_AT 136u
#define MARK_SIZES_AT 208u
#define MARK_PLACES_AT 272u
#define MARK_PLACE_SIZE 16u
#define MARK_BITMAP_AT 1024u
#define MARK_CHECK_AT 4088u

static const uint8_t mark_magic[8] = {'k', 'e', 'v', 'y', 'm', 'a', 'r', 'k'};

static void identity_encode(const struct kv_identity *identity, uint8_t *out)
{
    memcpy(out, mark_magic, sizeof mark_magic);
    store_u16(out + 8, KV_MARK_MAJOR);
    store_u16(out + 10, 0);
    store_u32(out + 12, KV_GRANULE);
    store_u32(out + 16, identity->segment_size);
    store_u32(out + 20, identity->segment_size / KV_SEGMENT_HALVES);
    memcpy(out + 24, identity->store_id, KV_STORE_ID_SIZE);
    memcpy(out + 40, identity->secret, KV_SECRET_SIZE);
    store_u64(out + 56, hash_bytes(out, 56, MARK_SEED));
}

void kv_mark_super_encode(const struct kv_identity *identity, uint8_t *out)
{
    memset(out, 0, KV_MARK_BLOCK);
    identity_encode(identity, out);
}

STATIC_ASSERT(MARK_PLACES_AT + KV_MARK_PLACE_MAX * MARK_PLACE_SIZE <= MARK_BITMAP_AT,
              "the places end before the bitmap");

void kv_mark_place_add(struct kv_mark *mark, const struct kv_mark_place *place)
{
    size_t count = 0;
    while (count < KV_MARK_PLACE_MAX && mark->places[count].lsn != 0) {
        count++;
    }
    if (count < KV_MARK_PLACE_MAX) {
        mark->places[count] = *place;
        mark->compatible |= KV_MARK_PLACES;
    }
}

const struct kv_mark_place *kv_mark_place_of(const struct kv_mark *mark, uint32_t slot)
{
    for (size_t i = 0; i < KV_MARK_PLACE_MAX && mark->places[i].lsn != 0; i++) {
        if (mark->places[i].slot == slot) {
            return &mark->places[i];
        }
    }
    return NULL;
}

static void places_encode(const struct kv_mark *mark, uint8_t *out)
{
    for (size_t i = 0; i < KV_MARK_PLACE_MAX; i++, out += MARK_PLACE_SIZE) {
        store_u64(out, mark->places[i].lsn);
        store_u32(out + 8, mark->places[i].slot);
        store_u32(out + 12, mark->places[i].offset);
    }
}

/* One that no store writes is not believed, nor any behind it. */
static void places_decode(const uint8_t *from, uint32_t segment_size, struct kv_mark *out)
{
    memset(out->places, 0, sizeof out->places);
    for (size_t i = 0; (out->compatible & KV_MARK_PLACES) != 0 && i < KV_MARK_PLACE_MAX; i++) {
        struct kv_mark_place place = {
            .lsn = load_u64(from), .slot = load_u32(from + 8), .offset = load_u32(from + 12)};
        if (place.lsn == 0 || place.lsn > out->durable_lsn + 1 || place.slot >= KV_SLOT_COUNT ||
            place.offset < KV_SEGMENT_HEADER || place.offset > segment_size ||
            place.offset % KV_GRANULE != 0) {
            break;
        }
        out->places[i] = place;
        from += MARK_PLACE_SIZE;
    }
}

void kv_mark_slot_encode(const struct kv_identity *identity, const struct kv_mark *mark,
                         uint8_t *out)
{
    memset(out, 0, KV_MARK_BLOCK);
    identity_encode(identity, out);
    store_u64(out + 64, mark->sequence);
    store_u64(out + 72, mark->incompatible);
    store_u64(out + 80, mark->compatible);
    store_u64(out + 88, mark->incarnation);
    store_u64(out + 96, mark->incarnation_lsn);
    store_u64(out + 104, mark->durable_lsn);
    store_u32(out + 112, mark->durable_slot);
    store_u32(out + 116, mark->durable_offset);
    store_u64(out + 120, mark->log_end);
    store_u64(out + 128, mark->map_lsn);
    kv_namespaces_encode(&mark->map, out + MARK_MAP_AT);
    for (size_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        store_u32(out + MARK_SIZES_AT + 4 * i, mark->sizes[i]);
    }
    places_encode(mark, out + MARK_PLACES_AT);
    memcpy(out + MARK_BITMAP_AT, mark->bitmap, sizeof mark->bitmap);
    store_u64(out + MARK_CHECK_AT, hash_bytes(out, MARK_CHECK_AT, MARK_SEED));
}

uint64_t kv_mark_check(const struct kv_identity *identity, const struct kv_mark *mark)
{
    uint8_t block[KV_MARK_BLOCK];
    kv_mark_slot_encode(identity, mark, block);
    return load_u64(block + MARK_CHECK_AT);
}

static bool identity_holds(const uint8_t *block)
{
    return memcmp(block, mark_magic, sizeof mark_magic) == 0 &&
           load_u64(block + 56) == hash_bytes(block, 56, MARK_SEED);
}

static bool slot_holds(const uint8_t *block)
{
    return identity_holds(block) &&
           load_u64(block + MARK_CHECK_AT) == hash_bytes(block, MARK_CHECK_AT, MARK_SEED);
}

/* A valid block of a newer format: its version stands where ours stands. */
static bool is_newer_version(const uint8_t *block)
{
    return memcmp(block, mark_magic, sizeof mark_magic) == 0 && load_u16(block + 8) > KV_MARK_MAJOR;
}

static bool identity_decode(const uint8_t *block, struct kv_identity *out)
{
    uint32_t size = load_u32(block + 16);
    out->segment_size = size;
    memcpy(out->store_id, block + 24, KV_STORE_ID_SIZE);
    memcpy(out->secret, block + 40, KV_SECRET_SIZE);
    return load_u32(block + 12) == KV_GRANULE && size >= KV_SEGMENT_SIZE_MIN &&
           size <= KV_SLOT_SIZE && (size & (size - 1)) == 0 &&
           load_u32(block + 20) == size / KV_SEGMENT_HALVES;
}

static bool slot_decode(const uint8_t *block, const struct kv_identity *identity,
                        struct kv_mark *out)
{
    out->sequence = load_u64(block + 64);
    out->incompatible = load_u64(block + 72);
    /* What is not known here would be lost when the mark is written again. */
    out->compatible = load_u64(block + 80) & KV_MARK_COMPATIBLE;
    out->incarnation = load_u64(block + 88);
    out->incarnation_lsn = load_u64(block + 96);
    out->durable_lsn = load_u64(block + 104);
    out->durable_slot = load_u32(block + 112);
    out->durable_offset = load_u32(block + 116);
    out->log_end = load_u64(block + 120);
    out->map_lsn = load_u64(block + 128);
    for (size_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        out->sizes[i] = load_u32(block + MARK_SIZES_AT + 4 * i);
    }
    places_decode(block + MARK_PLACES_AT, identity->segment_size, out);
    memcpy(out->bitmap, block + MARK_BITMAP_AT, sizeof out->bitmap);
    bool has_place = out->durable_slot != KV_MARK_NO_SLOT;
    return kv_namespaces_decode(bytes_of(block + MARK_MAP_AT, KV_NAMESPACES_SIZE), &out->map) &&
           out->map_lsn <= out->durable_lsn && out->log_end <= out->durable_lsn &&
           out->incarnation_lsn == out->log_end + 1 &&
           (!has_place ||
            (out->durable_slot < KV_SLOT_COUNT && out->durable_offset >= KV_SEGMENT_HEADER &&
             out->durable_offset <= identity->segment_size &&
             out->durable_offset % KV_GRANULE == 0 && kv_mark_bit(out, out->durable_slot)));
}

/* Returns the valid slot with the highest sequence number, NULL: none. */
static const uint8_t *slot_newest(const uint8_t *file, size_t size)
{
    const uint8_t *best = NULL;
    for (size_t at = KV_MARK_BLOCK; at + KV_MARK_BLOCK <= size && at < KV_MARK_SIZE;
         at += KV_MARK_BLOCK) {
        const uint8_t *block = file + at;
        if (slot_holds(block) && kv_mark_offset(load_u64(block + 64)) == at &&
            (best == NULL || load_u64(block + 64) > load_u64(best + 64))) {
            best = block;
        }
    }
    return best;
}

static bool any_block_is_newer(const uint8_t *file, size_t size)
{
    for (size_t at = 0; at + KV_MARK_BLOCK <= size && at < KV_MARK_SIZE; at += KV_MARK_BLOCK) {
        if (is_newer_version(file + at)) {
            return true;
        }
    }
    return false;
}

enum kv_mark_found kv_mark_decode(const uint8_t *file, size_t size, struct kv_identity *identity,
                                  struct kv_mark *mark, bool *is_whole)
{
    const uint8_t *best = slot_newest(file, size);
    if (best == NULL || is_newer_version(best)) {
        return any_block_is_newer(file, size) ? KV_MARK_NEWER : KV_MARK_DAMAGED;
    }
    if (!identity_decode(best, identity) || !slot_decode(best, identity, mark)) {
        return KV_MARK_DAMAGED;
    }
    if ((mark->incompatible & ~KV_MARK_KNOWN) != 0) {
        return KV_MARK_NEWER;
    }
    *is_whole = memcmp(file, best, MARK_IDENTITY_SIZE) == 0 && identity_holds(file) &&
                size >= KV_MARK_SIZE && slot_holds(file + KV_MARK_BLOCK) &&
                slot_holds(file + 2 * KV_MARK_BLOCK);
    return KV_MARK_OK;
}

bool kv_mark_identity_decode(const uint8_t *file, size_t size, struct kv_identity *out)
{
    for (size_t at = 0; at + MARK_IDENTITY_SIZE <= size && at < KV_MARK_SIZE; at += KV_MARK_BLOCK) {
        if (identity_holds(file + at) && load_u16(file + at + 8) == KV_MARK_MAJOR &&
            identity_decode(file + at, out)) {
            return true;
        }
    }
    return false;
}

bool kv_mark_map_guess(const uint8_t *file, size_t size, struct kv_namespaces *out,
                       uint64_t *lsn_out)
{
    struct kv_namespaces map;
    bool is_found = false;
    for (size_t at = KV_MARK_BLOCK; at + KV_MARK_BLOCK <= size && at < KV_MARK_SIZE;
         at += KV_MARK_BLOCK) {
        const uint8_t *block = file + at;
        uint64_t lsn = load_u64(block + 128);
        if (kv_namespaces_decode(bytes_of(block + MARK_MAP_AT, KV_NAMESPACES_SIZE), &map) &&
            (!is_found || lsn > *lsn_out)) {
            *out = map;
            *lsn_out = lsn;
            is_found = true;
        }
    }
    return is_found;
}
