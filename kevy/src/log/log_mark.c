/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing the mark: up to where the log is durable, and which segments are part
 * of it. What it no longer tells of is removed on its word (log_remove.c).
 *
 * A mark tells only what was durable before its own write began. It is also
 * what makes a flush whole that left out segments which nobody needs any more
 * (log_flush.c): then the durable point moves with it, before any other mark is
 * written, so that no mark ever tells less than the one before.
 *
 * Threads: any, not under the writer lock; one mark at a time (mark_lock).
 */
#include "kevy/src/log/log_inside.h"

void kv_mark_fill(const struct kv_log *log, const struct kv_point *point, struct kv_mark *out)
{
    const struct kv_files *files = log->files;
    struct kv_segment *segment;
    memset(out, 0, sizeof *out);
    out->sequence = files->mark_sequence + 1;
    out->incarnation = files->incarnation;
    out->incarnation_lsn = files->incarnation_lsn;
    out->durable_lsn = point->lsn;
    out->durable_slot = point->slot;
    out->durable_offset = point->slot == KV_MARK_NO_SLOT ? 0 : (uint32_t)point->offset;
    out->log_end = files->log_end;
    out->map_lsn = point->map_lsn;
    out->map = point->map;
    if (files->image != NULL && files->image->sizes != NULL) {
        files->image->sizes(files->image_user, out->sizes);
        out->compatible |= KV_MARK_SIZES;
    }
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        bool is_set =
            segment->is_flushed && !segment->is_leaving && segment->first_lsn <= point->lsn;
        for (uint32_t i = 0; is_set && i < segment->slot_count; i++) {
            kv_mark_bit_set(out, segment->slot + i);
        }
        if (is_set && segment->resume_lsn != 0) {
            kv_mark_place_add(out, &(struct kv_mark_place){segment->resume_lsn, segment->slot,
                                                           (uint32_t)segment->resume_offset});
        }
    }
}

int kv_mark_put(const struct kv_log *log, const struct kv_mark *mark)
{
    uint8_t block[KV_MARK_BLOCK];
    kv_mark_slot_encode(&log->files->identity, mark, block);
    int status = kv_file_write(log, log->files->mark_file, block, sizeof block,
                               kv_mark_offset(mark->sequence));
    if (status == KEVY_OK) {
        int result = log->os->file_flush(log->os->self, log->files->mark_file);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    return status;
}

/* The disk or memory is full, the old mark still holds: tries again in a while. */
static void mark_later(struct kv_log *log)
{
    kv_remove_give_up(log);
    kv_mutex_lock(&log->files->flush_lock);
    log->files->unmarked_since_ns = log->os->boot_ns(log->os->self) | 1;
    kv_mutex_unlock(&log->files->flush_lock);
}

/* Under mark_lock: a mark that tells `point`, and the removal of what it lets
 * go; *count: how many. Where that is none and nothing is new, only if it must. */
static int mark_tell(struct kv_log *log, const struct kv_point *point, bool must, size_t *count)
{
    struct kv_files *files = log->files;
    struct kv_mark mark;
    kv_mutex_lock(log->writer);
    *count = kv_remove_choose(log, point);
    kv_mark_fill(log, point, &mark);
    kv_mutex_unlock(log->writer);
    if (*count == 0 && !must && point->lsn == files->marked_lsn) {
        return KEVY_OK;
    }
    int status = kv_mark_put(log, &mark);
    if (status == KEVY_ENOSPC || status == KEVY_ENOMEM) {
        mark_later(log);
        return status;
    }
    if (status == KEVY_OK) {
        files->mark_sequence = mark.sequence;
        files->marked_lsn = point->lsn;
        atomic_store_explicit(&files->has_no_skip, false, memory_order_relaxed);
        if (must) {
            kv_flush_reach(log, point);
        }
        status = *count == 0 ? KEVY_OK : kv_remove_run(log);
    }
    if (status != KEVY_OK) {
        kv_log_break(log, status);
    }
    return status;
}

static int mark_once(struct kv_log *log, size_t *count)
{
    struct kv_files *files = log->files;
    kv_mutex_lock(&files->flush_lock);
    struct kv_point point = files->durable;
    files->unmarked_since_ns = 0;
    kv_mutex_unlock(&files->flush_lock);
    return mark_tell(log, &point, false, count);
}

int kv_mark_write(struct kv_log *log)
{
    struct kv_files *files = log->files;
    size_t count = 1;
    kv_mutex_lock(&files->mark_lock);
    int status = atomic_load_explicit(&files->error, memory_order_acquire);
    while (status == KEVY_OK && count != 0) {
        status = mark_once(log, &count);
    }
    kv_mutex_unlock(&files->mark_lock);
    return status;
}

int kv_mark_write_at(struct kv_log *log, const struct kv_point *point)
{
    size_t count;
    kv_mutex_lock(&log->files->mark_lock);
    int status = atomic_load_explicit(&log->files->error, memory_order_acquire);
    if (status == KEVY_OK) {
        status = mark_tell(log, point, true, &count);
    }
    kv_mutex_unlock(&log->files->mark_lock);
    return status;
}
