/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which records of a file log are live: counting them in when they become the
 * newest of their key, and out when they no longer are.
 *
 * An extent of one value is live as long as a newest record names it, an
 * extent of a batch as long as one of its records is a newest one; the record
 * that names a batch's extent lives and dies with it. An extent with tombstones
 * cannot go before the segment that names it (log_remove.c).
 *
 * Threads: under the writer lock.
 */
#include "kevy/src/log/log_inside.h"

/* From now on the next append, at the latest, superseded something here. */
static void segment_wound(struct kv_log *log, struct kv_segment *segment, size_t size)
{
    kv_segment_kill(log, segment, size);
    segment->death_lsn = log->lsn_end;
}

void kv_revive(struct kv_log *log, uint32_t ref)
{
    const uint8_t *record = kv_space_record(&log->space, ref);
    kv_segment_revive(log, kv_segment_of(log, ref), kv_record_size(record));
    if (kv_record_type(record) == KV_RECORD_EXTENT) {
        struct kv_segment *extent = log->segments[kv_record_extent(record).slot];
        if (extent->name_count++ == 0) {
            kv_segment_revive(log, extent, extent->used - KV_EXTENT_DATA);
        }
    }
}

void kv_tombstone_note(struct kv_segment *segment, const uint8_t *record, uint64_t lsn)
{
    uint64_t first_lsn = kv_record_first_lsn(record);
    lsn = first_lsn != 0 ? first_lsn : lsn;
    segment->tombstone_size += kv_record_size(record);
    if (lsn > segment->tombstone_lsn) {
        segment->tombstone_lsn = lsn;
    }
}

void kv_batch_begin(struct kv_log *log, struct kv_segment *extent, uint32_t entry)
{
    struct kv_segment *segment = kv_segment_of(log, entry);
    extent->named_in = segment;
    if (extent->tombstone_lsn > segment->tombstone_lsn) {
        segment->tombstone_lsn = extent->tombstone_lsn;
    }
    if (extent->live != 0) {
        extent->named_by = entry;
        kv_segment_revive(log, segment, kv_record_size(kv_space_record(&log->space, entry)));
    }
}

/* The last of a batch's records is dead: so is the one that names them. */
static void batch_end(struct kv_log *log, struct kv_segment *extent)
{
    const uint8_t *entry = kv_space_record(&log->space, extent->named_by);
    segment_wound(log, kv_segment_of(log, extent->named_by), kv_record_size(entry));
    extent->named_by = 0;
}

void kv_retire(void *self, uint32_t ref)
{
    struct kv_log *log = (struct kv_log *)self;
    struct kv_segment *segment = kv_segment_of(log, ref);
    const uint8_t *record = kv_space_record(&log->space, ref);
    segment_wound(log, segment, kv_record_size(record));
    if (kv_record_type(record) == KV_RECORD_EXTENT) {
        struct kv_segment *extent = log->segments[kv_record_extent(record).slot];
        ASSERT(extent->name_count > 0);
        if (--extent->name_count == 0) {
            segment_wound(log, extent, extent->live);
        }
    } else if (segment->named_by != 0 && segment->live == 0) {
        batch_end(log, segment);
    }
}
