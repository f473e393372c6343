/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What every log begins and ends with, and the small questions that may be
 * put to it; see log.h.
 */
#include "kevy/src/log/log_inside.h"
#include "kevy/src/os/os_posix.h"

int kv_log_new(struct kv_log **out, struct kv_mem *mem, const kevy_os *os, size_t segment_size)
{
    struct kv_log *log = (struct kv_log *)kv_mem_zeroed(mem, sizeof *log);
    *out = NULL;
    if (log == NULL) {
        return KEVY_ENOMEM;
    }
    log->mem = mem;
    log->os = os;
    log->forks = kv_fork_count();
    log->segment_size = segment_size;
    kv_graveyard_init(&log->yard, log);
    if (kv_space_init(&log->space, mem) != KEVY_OK) {
        kv_mem_free(mem, log, sizeof *log);
        return KEVY_ENOMEM;
    }
    *out = log;
    return KEVY_OK;
}

static void segments_unmap(struct kv_log *log)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        kv_segment_leave(log, segment);
        kv_window_close(log, segment); /* still there after a flush that failed */
        kv_segment_unmap(log, segment);
        if (log->files != NULL && segment->file >= 0) {
            log->os->file_close(log->os->self, segment->file);
        }
        kv_mem_free(log->mem, segment, sizeof *segment);
    }
    if (log->spare != NULL) {
        log->os->unmap(log->os->self, log->spare, log->segment_size);
    }
}

static void files_free(struct kv_log *log)
{
    struct kv_files *files = log->files;
    const kevy_os *os = log->os;
    if (files->mark_file >= 0) {
        os->file_close(os->self, files->mark_file);
    }
    if (files->lock_file >= 0) {
        os->file_close(os->self, files->lock_file);
    }
    if (files->dir >= 0) {
        os->dir_close(os->self, files->dir);
    }
    kv_mem_free(log->mem, files->scratch, files->scratch_size);
    kv_mem_free(log->mem, files, sizeof *files);
}

void kv_log_free(struct kv_log *log)
{
    kv_graveyard_done(&log->yard);
    segments_unmap(log);
    if (log->files != NULL) {
        files_free(log);
    }
    ASSERT(log->live_size == 0 && log->used_size == 0 && log->segment_count == 0);
    kv_mem_free(log->mem, log->segments, log->segment_capacity * sizeof(struct kv_segment *));
    kv_space_done(&log->space);
    kv_mem_free(log->mem, log, sizeof *log);
}

void kv_log_close(struct kv_log *log)
{
    if (log == NULL) {
        return;
    }
    if (log->files != NULL) {
        kv_thread_stop(log);
        if (log->active != NULL && log->active->file >= 0) {
            (void)kv_window_end(log, log->active);
        }
        if (kv_log_shutdown(log) == KEVY_OK) {
            kv_index_save(log);
        }
    }
    kv_log_free(log);
}

struct kv_journal *kv_log_journal(struct kv_log *log)
{
    return &log->journal;
}

struct kv_space *kv_log_space(struct kv_log *log)
{
    return &log->space;
}

uint64_t kv_log_seed(const struct kv_log *log)
{
    return log->seed;
}

uint64_t kv_log_live_size(const struct kv_log *log)
{
    return log->live_size;
}

uint64_t kv_log_end(const struct kv_log *log)
{
    return log->lsn_end;
}

bool kv_log_forked(const struct kv_log *log)
{
    return log->forks != kv_fork_count();
}

void kv_log_stats(struct kv_log *log, struct kv_log_stats *out)
{
    *out = (struct kv_log_stats){
        .live_size = log->live_size,
        .dead_size = log->used_size - log->live_size,
        .file_size = log->used_size,
        .segment_count = log->segment_count,
        .lsn_end = log->lsn_end,
    };
    if (log->files != NULL) {
        kv_mutex_lock(&log->files->flush_lock);
        out->lsn_durable = log->files->durable.lsn;
        out->flush_count = log->files->flush_count;
        kv_mutex_unlock(&log->files->flush_lock);
        out->error = atomic_load_explicit(&log->files->error, memory_order_relaxed);
    }
}

/* ---- Invariants ---- */

/* Says whether the records of a log segment run unbroken from header to end,
 * and their live bytes can be what the segment counts. */
static bool records_hold(const struct kv_log *log, const struct kv_segment *segment)
{
    const uint8_t *record;
    struct kv_cursor cursor = {.place = kv_file_place(log, segment),
                               .base = segment->base,
                               .limit = segment->used,
                               .offset = KV_SEGMENT_HEADER,
                               .lsn = segment->first_lsn,
                               .is_checked = true};
    size_t size = 0;
    enum kv_step step;
    while ((step = kv_cursor_next(&cursor, &record)) == KV_STEP_RECORD) {
        size += kv_record_size(record);
    }
    return cursor.lsn == segment->last_lsn + 1 && segment->live <= size &&
           (segment->is_sealed ? step == KV_STEP_SEAL : cursor.offset >= segment->used);
}

static bool segment_holds(const struct kv_log *log, const struct kv_segment *segment)
{
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        if (log->segments[segment->slot + i] != segment ||
            kv_space_slot(&log->space, segment->slot + i) != segment->base + i * KV_SLOT_SIZE) {
            return false;
        }
    }
    return segment->live <= segment->used && segment->used <= segment->map_size &&
           segment->is_sealed != (segment == log->active) &&
           (log->files == NULL || segment->kind != KV_SEGMENT_LOG || segment->is_damaged ||
            records_hold(log, segment));
}

bool kv_log_verify(struct kv_log *log)
{
    uint64_t live_size = 0, used_size = 0, count = 0;
    struct kv_segment *segment;
    bool is_good = true;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        is_good = is_good && segment_holds(log, segment);
        live_size += segment->live;
        used_size += segment->used;
        count++;
    }
    return is_good && live_size == log->live_size && used_size == log->used_size &&
           count == log->segment_count;
}
