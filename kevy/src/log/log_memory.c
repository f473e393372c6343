/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The log of a store in memory: segments and extents are memory of our own,
 * records have no check, nothing is ever flushed, tombstones and namespace
 * maps need not be written.
 *
 * Memory is taken at the first append, not at open. A segment without a live
 * record is given back at once, one kept for the next; so is an extent.
 * Segments that are partly dead are collected in log_sweep.c.
 */
#include "kevy/src/log/log_inside.h"

static void memory_unmap(struct kv_log *log, struct kv_segment *segment)
{
    if (segment->kind == KV_SEGMENT_LOG && log->spare == NULL && segment->dead_bits == NULL) {
        log->spare = segment->base;
    } else {
        kv_segment_unmap(log, segment);
    }
    kv_mem_free(log->mem, segment, sizeof *segment);
}

static int memory_map(struct kv_log *log, struct kv_segment *segment)
{
    void *base = log->spare;
    if (segment->kind == KV_SEGMENT_LOG && base != NULL) {
        log->spare = NULL;
    } else if (log->os->map(log->os->self, -1, segment->map_size, log->segment_count == 0, &base) <
               0) {
        return KEVY_ENOMEM;
    }
    segment->base = (uint8_t *)base;
    return KEVY_OK;
}

/* Makes and enters an empty segment or extent for `size` bytes with its header. */
static int memory_segment_new(struct kv_log *log, enum kv_segment_kind kind, size_t size,
                              struct kv_segment **out)
{
    struct kv_segment *segment = (struct kv_segment *)kv_mem_zeroed(log->mem, sizeof *segment);
    if (segment == NULL) {
        return KEVY_ENOMEM;
    }
    segment->kind = kind;
    segment->map_size = size;
    segment->used = KV_SEGMENT_HEADER;
    segment->slot_count = (uint32_t)((size + KV_SLOT_SIZE - 1) / KV_SLOT_SIZE);
    int status = kv_segment_slots(log, segment->slot_count, &segment->slot);
    if (status == KEVY_OK) {
        status = memory_map(log, segment);
    }
    if (status != KEVY_OK) {
        kv_mem_free(log->mem, segment, sizeof *segment);
        return status;
    }
    kv_segment_enter(log, segment);
    *out = segment;
    return KEVY_OK;
}

static void memory_free_grave(void *owner, struct kv_grave *grave)
{
    struct kv_log *log = (struct kv_log *)owner;
    struct kv_segment *segment = kv_segment_of_grave(grave);
    kv_segment_leave(log, segment);
    memory_unmap(log, segment);
}

/* A reader without the lock may still look at it: it keeps its slots and its
 * memory until that reader has left. */
static void memory_free_dead(struct kv_log *log, struct kv_segment *segment)
{
    if (log->victim == segment) {
        log->victim = NULL;
    }
    kv_graveyard_bury(&log->yard, &segment->grave, memory_free_grave);
    kv_graveyard_reap(&log->yard);
}

static inline void memory_free_if_dead(struct kv_log *log, struct kv_segment *segment)
{
    if (segment->live == 0 && segment->is_sealed) {
        memory_free_dead(log, segment);
    }
}

/* Makes a fresh segment the active one. */
static int memory_renew(struct kv_log *log)
{
    struct kv_segment *active = log->active, *fresh;
    int status = memory_segment_new(log, KV_SEGMENT_LOG, log->segment_size, &fresh);
    if (status != KEVY_OK) {
        return status;
    }
    log->active = fresh;
    atomic_store_explicit(&log->open_base, fresh->base, memory_order_relaxed);
    if (active != NULL) {
        active->is_sealed = true;
        memory_free_if_dead(log, active);
    }
    return KEVY_OK;
}

/* Makes sure that the active segment has room for a record of `size` bytes. */
static inline int memory_room(struct kv_log *log, size_t size)
{
    const struct kv_segment *active = log->active;
    return active != NULL && active->used + size <= active->map_size ? KEVY_OK : memory_renew(log);
}

/* Takes `size` bytes of the active segment; there is room. */
static inline uint8_t *memory_take(struct kv_log *log, size_t size, uint32_t *ref)
{
    struct kv_segment *active = log->active;
    uint8_t *record = active->base + active->used;
    *ref = kv_ref_of(active->slot, active->used);
    kv_log_fetch_ahead(record + size, size);
    kv_segment_grow(log, active, size);
    kv_segment_revive(log, active, size);
    atomic_store_explicit(&log->open_used, active->used, memory_order_relaxed);
    return record;
}

static int memory_append_extent(struct kv_log *log, struct kv_draft *draft)
{
    size_t size = draft->key.size + draft->value.size;
    int status = memory_room(log, kv_extent_record_size(draft, 0));
    struct kv_segment *extent;
    if (status == KEVY_OK) {
        status = memory_segment_new(log, KV_SEGMENT_EXTENT, KV_EXTENT_DATA + size, &extent);
    }
    if (status != KEVY_OK) {
        return status;
    }
    kv_bytes_put(kv_bytes_put(extent->base + KV_EXTENT_DATA, draft->key), draft->value);
    extent->is_sealed = true;
    extent->name_count = 1;
    kv_segment_grow(log, extent, size);
    kv_segment_revive(log, extent, size);
    struct kv_extent_ref place = {
        .slot = extent->slot, .slot_count = extent->slot_count, .check = 0, .lsn_count = 1};
    uint8_t *record = memory_take(log, kv_extent_record_size(draft, 0), &draft->ref);
    kv_extent_record_encode(draft, &place, 0, record);
    return KEVY_OK;
}

/* Another record for the extent that `draft->same_as` names. */
static int memory_append_again(struct kv_log *log, struct kv_draft *draft)
{
    size_t size = kv_extent_record_size(draft, 0);
    struct kv_extent_ref place = kv_record_extent(kv_space_record(&log->space, draft->same_as));
    int status = memory_room(log, size);
    if (status == KEVY_OK) {
        kv_extent_record_encode(draft, &place, 0, memory_take(log, size, &draft->ref));
        log->segments[place.slot]->name_count++;
    }
    return status;
}

static inline int memory_append_one(struct kv_log *log, struct kv_draft *draft)
{
    draft->ref = 0;
    if (draft->type != KV_RECORD_VALUE) {
        return KEVY_OK;
    }
    if (draft->same_as != 0) {
        return memory_append_again(log, draft);
    }
    size_t size = kv_draft_size(draft, 0);
    if (size > log->segment_size / KV_EXTENT_SHARE) {
        return memory_append_extent(log, draft);
    }
    int status = memory_room(log, size);
    if (status == KEVY_OK) {
        kv_draft_encode_sized(draft, 0, memory_take(log, size, &draft->ref), size);
    }
    return status;
}

uint8_t *kv_memory_take(struct kv_log *log, size_t size, uint32_t *ref)
{
    return memory_room(log, size) == KEVY_OK ? memory_take(log, size, ref) : NULL;
}

static inline void memory_kill(struct kv_log *log, struct kv_segment *segment, size_t offset)
{
    uint8_t *record = segment->base + offset;
    ASSERT(!kv_memory_is_dead(segment, offset));
    if (segment->dead_bits == NULL) {
        record[KV_RECORD_DEAD_AT] = 1;
    } else {
        size_t granule = offset / KV_GRANULE;
        segment->dead_bits[granule / 8] |= (uint8_t)(1u << (granule % 8));
    }
    kv_segment_kill(log, segment, kv_record_size(record));
    memory_free_if_dead(log, segment);
}

void kv_memory_kill(struct kv_log *log, uint32_t ref)
{
    memory_kill(log, kv_segment_of(log, ref), kv_ref_offset(ref));
}

static void memory_retire(void *self, uint32_t ref)
{
    struct kv_log *log = (struct kv_log *)self;
    struct kv_segment *segment = kv_segment_of(log, ref);
    const uint8_t *record = segment->base + kv_ref_offset(ref);
    if (kv_record_type(record) == KV_RECORD_EXTENT) {
        struct kv_segment *extent = log->segments[kv_record_extent(record).slot];
        ASSERT(extent->name_count > 0);
        if (--extent->name_count == 0) {
            kv_segment_kill(log, extent, extent->live);
            memory_free_if_dead(log, extent);
        }
    }
    memory_kill(log, segment, kv_ref_offset(ref));
}

static int memory_append_all(struct kv_log *log, struct kv_draft *drafts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status = memory_append_one(log, &drafts[i]);
        if (status != KEVY_OK) {
            while (i-- > 0) {
                if (drafts[i].ref != 0) {
                    memory_retire(log, drafts[i].ref);
                }
            }
            return status;
        }
    }
    return KEVY_OK;
}

static int memory_append(void *self, struct kv_draft *drafts, size_t count)
{
    struct kv_log *log = (struct kv_log *)self;
    uint64_t live_size = log->live_size;
    kv_graveyard_reap(&log->yard);
    int status =
        count == 1 ? memory_append_one(log, drafts) : memory_append_all(log, drafts, count);
    if (status == KEVY_OK) {
        log->lsn_end += count;
        kv_memory_sweep(log, (size_t)(log->live_size - live_size));
    }
    return status;
}

int kv_log_open_memory(struct kv_log **out, struct kv_mem *mem, const kevy_os *os)
{
    int status = kv_log_new(out, mem, os, KV_SLOT_SIZE);
    if (status != KEVY_OK) {
        return status;
    }
    (*out)->journal = (struct kv_journal){*out, memory_append, memory_retire};
    if (os->random(os->self, &(*out)->seed, sizeof(*out)->seed) < 0) {
        kv_log_free(*out);
        return KEVY_EIO;
    }
    return KEVY_OK;
}

void kv_log_collect_with(struct kv_log *log, kv_log_move_fn *move, void *user)
{
    log->move = move;
    log->move_user = user;
}
