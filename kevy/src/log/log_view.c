/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which memory of a log callers may hold (store/view.h): a segment or extent
 * becomes a view when the first value in it is asked for.
 *
 *   files    any: records are read through a mapping that nobody can write,
 *            and are there as soon as they can be found
 *   memory   sealed ones, which are made read-only with the first view; what
 *            is retired in them later is marked beside them
 *
 * A segment with a view is unmapped by it (kv_segment_unmap).
 *
 * Threads: under the writer lock, but for kv_log_is_open_at.
 */
#include "kevy/src/log/log_inside.h"

bool kv_log_is_open_at(const struct kv_log *log, const uint8_t *at)
{
    const uint8_t *base = atomic_load_explicit(&log->open_base, memory_order_relaxed);
    return base != NULL && (uintptr_t)at - (uintptr_t)base < log->segment_size;
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

/* Makes the memory of a sealed segment read-only. */
static bool memory_protect(struct kv_log *log, struct kv_segment *segment)
{
    const kevy_os *os = log->os;
    if (!segment->is_sealed || os->protect == NULL) {
        return false;
    }
    if (segment->dead_bits == NULL) {
        segment->dead_bits = (uint8_t *)kv_mem_zeroed(log->mem, kv_dead_bits_size(segment));
    }
    return segment->dead_bits != NULL &&
           os->protect(os->self, segment->base, segment->map_size) >= 0;
}

struct kv_view *kv_log_view(struct kv_log *log, const uint8_t *at)
{
    struct kv_segment *segment = segment_at(log, at);
    ASSERT(segment != NULL);
    if (segment->view == NULL && (log->files != NULL || memory_protect(log, segment))) {
        (void)kv_view_new(log->os, segment->base, segment->map_size, &segment->view);
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
