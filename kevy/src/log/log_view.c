/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which memory of a log callers may hold (store/view.h): a segment or extent
 * becomes a view when the first value in it is asked for.
 *
 *   files    any: records are read through a mapping that nobody can write,
 *            and are there as soon as they can be found
 *   memory   sealed ones, and of the one that is still appended to what lies
 *            before the last stretch; they are made read-only as far as a
 *            value is asked for; what is retired there later is marked beside
 *
 * A large value in the last stretch ends it: a pad fills it up, so that the
 * value can be held. A small one is left to be copied.
 *
 * A segment with a view is unmapped by it (kv_segment_unmap).
 *
 * Threads: under the writer lock, but for kv_log_is_open_at.
 */
#include "kevy/src/log/log_inside.h"

/* How memory is made read-only: a multiple of every usual page size. */
#define VIEW_STRETCH ((size_t)16 << 10)

/* From here on a copy costs more than ending a stretch. */
#define VIEW_LARGE VIEW_STRETCH

static size_t whole_stretches(size_t size)
{
    return size & ~(VIEW_STRETCH - 1);
}

bool kv_log_is_open_at(const struct kv_log *log, struct bytes value)
{
    const uint8_t *base = atomic_load_explicit(&log->open_base, memory_order_relaxed);
    size_t used = atomic_load_explicit(&log->open_used, memory_order_relaxed);
    size_t at = (size_t)((uintptr_t)value.data - (uintptr_t)base);
    return base != NULL && at < log->segment_size && value.size < VIEW_LARGE &&
           at + value.size > whole_stretches(used);
}

static struct kv_segment *segment_at(const struct kv_log *log, const uint8_t *at)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if ((uintptr_t)at - (uintptr_t)segment->base < segment->map_size) {
            return segment;
        }
    }
    return NULL;
}

/* Fills the last stretch up with a pad, which is dead from the start. */
static void stretch_end(struct kv_log *log, struct kv_segment *segment)
{
    size_t gap = whole_stretches(segment->used + VIEW_STRETCH - 1) - segment->used;
    uint8_t *pad = segment->base + segment->used;
    if (gap != 0) {
        memset(pad, 0, KV_RECORD_HEADER);
        store_u32(pad + 8, (uint32_t)(gap - KV_RECORD_HEADER));
        pad[12] = KV_RECORD_PAD;
        pad[KV_RECORD_DEAD_AT] = 1;
        kv_segment_grow(log, segment, gap);
    }
}

/* How far the segment's memory can be made read-only, for a value that ends at
 * `end`. */
static size_t memory_reach(struct kv_log *log, struct kv_segment *segment, size_t end, size_t size)
{
    if (segment->is_sealed) {
        return segment->map_size;
    }
    if (end > whole_stretches(segment->used) && size >= VIEW_LARGE) {
        stretch_end(log, segment);
    }
    return whole_stretches(segment->used);
}

static bool memory_protect(struct kv_log *log, struct kv_segment *segment, size_t reach)
{
    const kevy_os *os = log->os;
    if (segment->dead_bits == NULL) {
        segment->dead_bits = (uint8_t *)kv_mem_zeroed(log->mem, kv_dead_bits_size(segment));
    }
    return segment->dead_bits != NULL && os->protect(os->self, segment->base, reach) >= 0;
}

struct kv_view *kv_log_view(struct kv_log *log, struct bytes value)
{
    struct kv_segment *segment = segment_at(log, value.data);
    size_t reach, end;
    ASSERT(segment != NULL);
    if (log->files == NULL && log->os->protect == NULL) {
        return NULL;
    }
    end = (size_t)(value.data - segment->base) + value.size;
    reach = log->files != NULL ? segment->map_size : memory_reach(log, segment, end, value.size);
    if (reach < end || (log->files == NULL && !memory_protect(log, segment, reach))) {
        return NULL;
    }
    if (segment->view == NULL) {
        (void)kv_view_new(log->os, segment->base, segment->map_size, &segment->view);
    }
    if (segment->view != NULL) {
        kv_view_extend(segment->view, reach);
    }
    return segment->view;
}

void kv_segment_unmap(struct kv_log *log, struct kv_segment *segment)
{
    kv_mem_free(log->mem, segment->dead_bits, kv_dead_bits_size(segment));
    if (segment->view != NULL) {
        kv_view_drop(segment->view);
    } else {
        log->os->unmap(log->os->self, segment->base, segment->map_size);
    }
}
