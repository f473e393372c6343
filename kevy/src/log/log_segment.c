/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which segment has which slots, and how many bytes of each are live. Not
 * here: what stands behind a segment, memory (log_memory.c) or a file
 * (log_file.c).
 */
#include "kevy/src/log/log_inside.h"

int kv_segment_reserve(struct kv_log *log, uint32_t count)
{
    if (count <= log->segment_capacity) {
        return KEVY_OK;
    }
    int status = kv_space_reserve(&log->space, count);
    if (status != KEVY_OK) {
        return status;
    }
    size_t old_size = log->segment_capacity * sizeof *log->segments;
    size_t new_size = log->space.capacity * sizeof *log->segments;
    struct kv_segment **grown =
        (struct kv_segment **)kv_mem_resize(log->mem, log->segments, old_size, new_size);
    if (grown == NULL) {
        return KEVY_ENOMEM;
    }
    memset((uint8_t *)grown + old_size, 0, new_size - old_size);
    log->segments = grown;
    log->segment_capacity = log->space.capacity;
    return KEVY_OK;
}

static bool slot_is_free(const struct kv_log *log, uint32_t slot)
{
    return (slot >= log->segment_capacity || log->segments[slot] == NULL) &&
           (log->files == NULL ||
            (!kv_ahead_holds(&log->files->ahead, slot) && !kv_slot_is_taken(log->files, slot)));
}

void kv_slot_take(struct kv_log *log, uint32_t slot)
{
    struct kv_files *files = log->files;
    files->taken_count += !kv_slot_is_taken(files, slot);
    files->taken[slot / 8] = (uint8_t)(files->taken[slot / 8] | 1u << (slot % 8));
}

int kv_segment_slots(struct kv_log *log, uint32_t count, uint32_t *out)
{
    uint32_t first = log->slot_hint, run = 0;
    for (uint32_t slot = first; slot < KV_SLOT_COUNT && run < count; slot++) {
        if (slot_is_free(log, slot)) {
            run++;
        } else {
            first = slot + 1;
            run = 0;
        }
    }
    if (run < count) {
        return KEVY_ELIMIT;
    }
    *out = first;
    return kv_segment_reserve(log, first + count);
}

void kv_segment_enter(struct kv_log *log, struct kv_segment *segment)
{
    ASSERT(segment->slot + segment->slot_count <= log->segment_capacity);
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        ASSERT(log->segments[segment->slot + i] == NULL);
        log->segments[segment->slot + i] = segment;
        kv_space_set(&log->space, segment->slot + i, segment->base + i * KV_SLOT_SIZE);
    }
    if (log->slot_hint == segment->slot) {
        log->slot_hint += segment->slot_count;
    }
    log->segment_count++;
    log->used_size += segment->used;
    log->live_size += segment->live;
}

void kv_segment_leave(struct kv_log *log, struct kv_segment *segment)
{
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        ASSERT(log->segments[segment->slot + i] == segment);
        log->segments[segment->slot + i] = NULL;
        kv_space_set(&log->space, segment->slot + i, NULL);
    }
    if (segment->slot < log->slot_hint) {
        log->slot_hint = segment->slot;
    }
    if (log->victim == segment) {
        log->victim = NULL;
    }
    log->segment_count--;
    log->used_size -= segment->used;
    log->live_size -= segment->live;
}

void kv_segment_revive(struct kv_log *log, struct kv_segment *segment, size_t size)
{
    segment->live += size;
    log->live_size += size;
    ASSERT(segment->live <= segment->used);
}

void kv_segment_kill(struct kv_log *log, struct kv_segment *segment, size_t size)
{
    ASSERT(segment->live >= size);
    segment->live -= size;
    log->live_size -= size;
}

void kv_segment_grow(struct kv_log *log, struct kv_segment *segment, size_t size)
{
    segment->used += size;
    log->used_size += size;
}

void kv_segment_shrink(struct kv_log *log, struct kv_segment *segment, size_t size)
{
    ASSERT(segment->used - segment->live >= size);
    segment->used -= size;
    log->used_size -= size;
}

struct kv_segment *kv_segment_after(const struct kv_log *log, uint32_t *slot)
{
    while (*slot < log->segment_capacity) {
        struct kv_segment *segment = log->segments[*slot];
        *slot += segment == NULL ? 1 : segment->slot_count;
        if (segment != NULL) {
            return segment;
        }
    }
    return NULL;
}
