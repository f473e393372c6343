/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of log/ share: the log itself and its segments.
 *
 * A segment is 64 bytes of header and records behind it, in one address slot;
 * an extent is a header and one large key with its value (or one large batch
 * of records), in k adjacent slots. Both are a struct kv_segment, found by any
 * of their slots.
 *
 *   segments[slot] -> kv_segment: base | header | record record … seal |
 *                                      0        64                   used
 *
 * `live` counts the bytes of records that are the newest of their key; a
 * sealed segment without any is dead. An extent lives as long as the record
 * that names it.
 *
 * Threads: all of it under the writer lock, unless a field says otherwise.
 */
#ifndef KEVY_SRC_LOG_LOG_INSIDE_H
#define KEVY_SRC_LOG_LOG_INSIDE_H

#include "kevy/src/log/log.h"

/* Record bytes from which on a key and its value get an extent, and units that
 * fit at most: a sixteenth of a segment. */
#define KV_EXTENT_SHARE 16u

enum kv_segment_kind { KV_SEGMENT_LOG = 1, KV_SEGMENT_EXTENT = 2 };

struct kv_segment {
    uint8_t *base; /* read-only memory in file logs */
    size_t map_size;
    size_t used; /* bytes from the header on */
    size_t live;
    uint32_t slot;
    uint32_t slot_count;
    enum kv_segment_kind kind;
    bool is_sealed;
};

struct kv_log {
    struct kv_journal journal;
    struct kv_mem *mem;
    const kevy_os *os;
    struct kv_space space;
    uint64_t seed;
    unsigned forks;      /* kv_fork_count at open */
    size_t segment_size; /* at most; a power of two */

    struct kv_segment **segments; /* by slot, capacity as the space's; NULL: free */
    uint32_t segment_capacity;
    uint32_t slot_hint; /* no slot below it is free */
    struct kv_segment *active;
    uint64_t lsn_end;

    uint64_t live_size; /* sums over all segments */
    uint64_t used_size;
    uint64_t segment_count;

    void *spare; /* memory logs: one mapping of a segment that may be used again */
    kv_log_move_fn *move;
    void *move_user;
};

/* ---- Segments and slots (log_segment.c) ---- */

/* Finds `count` adjacent free slots and makes room in the arrays for them.
 * *out is the first. 0, KEVY_ENOMEM, KEVY_ELIMIT. */
int kv_segment_slots(struct kv_log *log, uint32_t count, uint32_t *out);

/* Enters a segment whose slots were found and whose fields are set. */
void kv_segment_enter(struct kv_log *log, struct kv_segment *segment);

/* Takes it out again; its slots are free and its memory is the caller's. */
void kv_segment_leave(struct kv_log *log, struct kv_segment *segment);

static inline struct kv_segment *kv_segment_of(const struct kv_log *log, uint32_t ref)
{
    ASSERT(kv_ref_slot(ref) < log->segment_capacity);
    return log->segments[kv_ref_slot(ref)];
}

/* Adds to, or takes from, the live bytes of the segment that `ref` lies in. */
void kv_segment_revive(struct kv_log *log, struct kv_segment *segment, size_t size);
void kv_segment_kill(struct kv_log *log, struct kv_segment *segment, size_t size);

/* Notes that `size` more bytes of the segment hold something. */
void kv_segment_grow(struct kv_log *log, struct kv_segment *segment, size_t size);

/* ---- Opening (log_open.c, log_memory.c) ---- */

/* What both kinds of log begin and end with. */
int kv_log_new(struct kv_log **out, struct kv_mem *mem, const kevy_os *os, size_t segment_size);
void kv_log_free(struct kv_log *log);

#endif
