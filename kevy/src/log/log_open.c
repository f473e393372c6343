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
    if (kv_space_init(&log->space, mem) != KEVY_OK) {
        kv_mem_free(mem, log, sizeof *log);
        return KEVY_ENOMEM;
    }
    *out = log;
    return KEVY_OK;
}

static void segments_unmap(struct kv_log *log)
{
    for (uint32_t slot = 0; slot < log->segment_capacity; slot++) {
        struct kv_segment *segment = log->segments[slot];
        if (segment != NULL) {
            kv_segment_leave(log, segment);
            log->os->unmap(log->os->self, segment->base, segment->map_size);
            kv_mem_free(log->mem, segment, sizeof *segment);
        }
    }
    if (log->spare != NULL) {
        log->os->unmap(log->os->self, log->spare, log->segment_size);
    }
}

void kv_log_free(struct kv_log *log)
{
    segments_unmap(log);
    ASSERT(log->live_size == 0 && log->used_size == 0 && log->segment_count == 0);
    kv_mem_free(log->mem, log->segments, log->segment_capacity * sizeof(struct kv_segment *));
    kv_space_done(&log->space);
    kv_mem_free(log->mem, log, sizeof *log);
}

void kv_log_close(struct kv_log *log)
{
    if (log != NULL) {
        kv_log_free(log);
    }
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
}

int kv_log_commit(struct kv_log *log, uint64_t lsn)
{
    (void)log;
    (void)lsn;
    return KEVY_OK;
}

int kv_log_sync(struct kv_log *log)
{
    (void)log;
    return KEVY_OK;
}

void kv_log_set_policy(struct kv_log *log, uint8_t fsync)
{
    (void)log;
    (void)fsync;
}

int kv_log_shutdown(struct kv_log *log)
{
    (void)log;
    return KEVY_OK;
}
