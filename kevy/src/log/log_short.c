/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The short way of an append to a file log: one small value, stored behind the
 * last record while nothing stands in its way. It leaves the same bytes and the
 * same state as a unit of one record (log_append.c), for a third of the work;
 * whatever is out of the ordinary goes there.
 *
 * What lives here too: how every append notes what no flush has covered yet.
 *
 * Threads: under the writer lock. Nothing is allocated.
 */
#include "kevy/src/log/log_inside.h"

/* What is left free before a border: for the stamps of a unit, a seal or a pad. */
#define SHORT_SPARE ((size_t)3 * KV_STAMP_SIZE + KV_SEAL_SIZE)

void kv_pending_note(struct kv_log *log, size_t size)
{
    struct kv_files *files = log->files;
    if (log->move != NULL && kv_collect_is_due(log)) {
        atomic_store_explicit(&files->is_wake_due, true, memory_order_release);
        atomic_store_explicit(&files->is_crowded, kv_collect_is_overdue(log), memory_order_relaxed);
    }
    uint64_t before = atomic_load_explicit(&files->pending_size, memory_order_relaxed);
    atomic_store_explicit(&files->pending_size, before + size, memory_order_relaxed);
    if (atomic_load_explicit(&files->pending_since_ns, memory_order_relaxed) == 0) {
        atomic_store_explicit(&files->pending_since_ns, log->os->boot_ns(log->os->self) | 1,
                              memory_order_relaxed);
        atomic_store_explicit(&files->is_wake_due, true, memory_order_release);
    } else if (before < KV_PENDING_MAX && before + size >= KV_PENDING_MAX) {
        atomic_store_explicit(&files->is_wake_due, true, memory_order_release);
    }
}

/* Says whether a value of this size can be stored behind the active segment's end
 * as things are: there are a window, room and pages for it, no stamp is due, no
 * border near, and nothing has failed. */
static inline bool is_short(const struct kv_log *log, const struct kv_draft *draft, size_t size)
{
    const struct kv_files *files = log->files;
    const struct kv_segment *active = log->active;
    if (active == NULL || active->window == NULL || draft->type != KV_RECORD_VALUE ||
        draft->same_as != 0 || (draft->key.size | draft->value.size) > KEVY_SIZE_MAX ||
        size > files->scratch_size) {
        return false;
    }
    size_t at = active->used, half = log->segment_size / KV_SEGMENT_HALVES;
    size_t end = at + size + SHORT_SPARE;
    return size <= log->segment_size / KV_EXTENT_SHARE && end <= active->touched_size &&
           end <= (at < half ? half : log->segment_size) && at < files->stamp_at &&
           !files->has_no_window && !files->is_end_dirty && !kv_reserve_is_lent(log) &&
           atomic_load_explicit(&files->error, memory_order_relaxed) == KEVY_OK &&
           atomic_load_explicit(&files->policy, memory_order_relaxed) != KEVY_FSYNC_ALWAYS;
}

/* Appends it: what append_unit comes to for one small value, as nearly all are. */
static inline int append_short(struct kv_log *log, struct kv_draft *draft, size_t size)
{
    struct kv_files *files = log->files;
    struct kv_segment *active = log->active;
    uint8_t *record = files->scratch;
    size_t at = active->used;
    kv_draft_encode_sized(draft, 0, record, size);
    uint64_t hash = kv_check_hash(&files->check, record, size);
    store_u32(record, kv_check_place(hash, active->key, at));
    int result =
        log->os->window_write(log->os->self, active->file, active->window, at, record, size);
    if (result < 0) {
        files->is_end_dirty = true;
        return kv_file_status(result);
    }
    kv_log_fetch_ahead(active->window + at + size, size);
    kv_segment_grow(log, active, size);
    kv_segment_revive(log, active, size);
    kv_file_dirty(log, active);
    active->last_lsn = ++log->lsn_end;
    files->end_slot = active->slot;
    files->end_offset = active->used;
    draft->ref = kv_ref_of(active->slot, at);
    kv_pending_note(log, size);
    return KEVY_OK;
}

int kv_append_short(struct kv_log *log, struct kv_draft *draft)
{
    size_t size = kv_draft_size(draft, 0);
    return is_short(log, draft, size) ? append_short(log, draft, size) : KV_APPEND_NOT_SHORT;
}
