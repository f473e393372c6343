/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The mark: the file that says up to where a log is durable and which segments
 * are part of it. 12 KiB: a superblock that never changes, then two slots that
 * are written in turn.
 *
 * The superblock, and the first 64 bytes of each slot:
 *
 *   offset  size
 *        0     8  magic "kevymark"
 *        8     2  major version, 1        10     2  minor version, 0
 *       12     4  granule, 16
 *       16     4  segment size            20     4  ring size (half of that)
 *       24    16  store id                40    16  secret
 *       56     8  check: hash of the 56 bytes before it
 *
 * A slot goes on:
 *
 *       64     8  sequence number; slot = number modulo 2
 *       72     8  incompatible features   80     8  compatible features
 *       88     8  incarnation             96     8  its first LSN
 *      104     8  durable mark: LSN      112     4  slot (all ones: none)   116  4  offset
 *      120     8  log end: the last LSN of the incarnation before
 *      128     8  LSN of the namespace map
 *      136    68  namespace map, see namespaces.h
 *      208    64  head buckets of the tables of database 0 to 15, about
 *      272   736  46 places in damaged segments: LSN (8; 0: no more of them),
 *                 slot (4), offset (4)
 *     1024  2048  bitmap: bit i of byte s/8 (i = s modulo 8) = slot s is live
 *     4088     8  check: hash of the 4,088 bytes before it
 *
 * All else is zero. A valid slot with the highest sequence number counts; the
 * other one may be torn. Any intact copy of the first 64 bytes repairs the rest.
 *
 * What does not live here: when a mark may be written (log/log_mark.c).
 */
#ifndef KEVY_SRC_STORE_MARK_H
#define KEVY_SRC_STORE_MARK_H

#include "kevy/src/store/namespaces.h"
#include "kevy/src/store/segment.h"

#define KV_MARK_BLOCK ((size_t)4096)
#define KV_MARK_SIZE (3 * KV_MARK_BLOCK)
#define KV_MARK_MAJOR 1u
#define KV_MARK_NO_SLOT UINT32_MAX

/* Incompatible features that this version knows. */
#define KV_MARK_KNOWN UINT64_C(0)

/* Compatible features: an index may lie beside this mark, which names it; the
 * mark tells how large the tables are; it tells places in damaged segments. */
#define KV_MARK_INDEX UINT64_C(1)
#define KV_MARK_SIZES UINT64_C(2)
#define KV_MARK_PLACES UINT64_C(4)
#define KV_MARK_COMPATIBLE (KV_MARK_INDEX | KV_MARK_SIZES | KV_MARK_PLACES)

/* A place in a damaged segment at which reading goes on behind the damage, since
 * an earlier mark lay there: the record with this LSN begins there. */
struct kv_mark_place {
    uint64_t lsn; /* 0: none, nor behind it */
    uint32_t slot;
    uint32_t offset;
};

#define KV_MARK_PLACE_MAX 46u

/* What never changes in the life of a store. */
struct kv_identity {
    uint32_t segment_size;
    uint8_t store_id[KV_STORE_ID_SIZE];
    uint8_t secret[KV_SECRET_SIZE];
};

struct kv_mark {
    uint64_t sequence;
    uint64_t incompatible;
    uint64_t compatible;
    uint64_t incarnation;
    uint64_t incarnation_lsn; /* its first */
    uint64_t durable_lsn;
    uint32_t durable_slot; /* where the record after durable_lsn would begin */
    uint32_t durable_offset;
    uint64_t log_end;
    uint64_t map_lsn;
    struct kv_namespaces map;
    uint32_t sizes[KV_NAMESPACE_DATABASES]; /* where KV_MARK_SIZES says so */
    struct kv_mark_place places[KV_MARK_PLACE_MAX];
    uint8_t bitmap[KV_SLOT_COUNT / 8];
};

static inline bool kv_mark_bit(const struct kv_mark *mark, uint32_t slot)
{
    return (mark->bitmap[slot / 8] >> (slot % 8) & 1) != 0;
}

static inline void kv_mark_bit_set(struct kv_mark *mark, uint32_t slot)
{
    mark->bitmap[slot / 8] = (uint8_t)(mark->bitmap[slot / 8] | 1u << (slot % 8));
}

/* Adds a place, if there is room for one more. */
void kv_mark_place_add(struct kv_mark *mark, const struct kv_mark_place *place);

/* Returns the place that the mark tells of a slot, or NULL. */
const struct kv_mark_place *kv_mark_place_of(const struct kv_mark *mark, uint32_t slot);

/* Writes a superblock, or a slot, of KV_MARK_BLOCK bytes. */
void kv_mark_super_encode(const struct kv_identity *identity, uint8_t *out);
void kv_mark_slot_encode(const struct kv_identity *identity, const struct kv_mark *mark,
                         uint8_t *out);

/* The check at the end of the slot that kv_mark_slot_encode writes. */
uint64_t kv_mark_check(const struct kv_identity *identity, const struct kv_mark *mark);

/* Where in the file the mark with this sequence number goes. */
static inline uint64_t kv_mark_offset(uint64_t sequence)
{
    return KV_MARK_BLOCK * (1 + sequence % 2);
}

enum kv_mark_found {
    KV_MARK_OK,
    KV_MARK_NEWER,  /* a newer major version, or a feature that we do not know */
    KV_MARK_DAMAGED /* no valid slot, or nonsense in a valid one */
};

/* Reads a file of `size` bytes. *is_whole says whether superblock and both
 * slots are intact and agree. */
enum kv_mark_found kv_mark_decode(const uint8_t *file, size_t size, struct kv_identity *identity,
                                  struct kv_mark *mark, bool *is_whole);

/* Finds what never changes in any intact copy, also where no slot is valid. */
bool kv_mark_identity_decode(const uint8_t *file, size_t size, struct kv_identity *out);

/* Where no slot is valid: finds what has the form of a namespace map in one, the
 * newer if both have it, with its LSN. It may be anything: nothing proves it. */
bool kv_mark_map_guess(const uint8_t *file, size_t size, struct kv_namespaces *out,
                       uint64_t *lsn_out);

#endif
