/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The reserve: a file that holds nothing but room. When the disk is full, its
 * room is given back for what makes room itself: tombstones, namespace maps
 * and the moves of collection. So a full store can be emptied. Its last part is
 * for namespace maps alone: FLUSHALL goes on where single deletes have used up
 * the rest.
 *
 * It is made again once there is room for it. Until then no other write is let
 * into room that it gave: the disk counts as full. It may be missing, or be of
 * any size; nobody reads it.
 *
 * Threads: under the writer lock.
 */
#include <errno.h>

#include "kevy/src/log/log_inside.h"

/* Its size: an eighth of the live bytes, within these bounds, and the last part. */
#define RESERVE_SHARE_MIN 32u
#define RESERVE_SEGMENTS_MAX 2u
#define RESERVE_SHARE_LAST 64u

static size_t last_part(const struct kv_log *log)
{
    return log->segment_size / RESERVE_SHARE_LAST;
}

static size_t reserve_least(const struct kv_log *log)
{
    return log->segment_size / RESERVE_SHARE_MIN + last_part(log);
}

static size_t reserve_target(const struct kv_log *log)
{
    uint64_t least = reserve_least(log);
    uint64_t most = (uint64_t)log->segment_size * RESERVE_SEGMENTS_MAX;
    uint64_t size = log->live_size / 8 + last_part(log);
    return (size_t)(size < least ? least : size > most ? most : size);
}

/* Takes room by writing it, where the file system cannot set it aside. */
static bool reserve_fill(struct kv_log *log, int file, size_t size)
{
    if (kv_scratch_reserve(log, size) != KEVY_OK) {
        return false;
    }
    memset(log->files->scratch, 0, size);
    return kv_file_write(log, file, log->files->scratch, size, 0) == KEVY_OK;
}

void kv_reserve_make(struct kv_log *log)
{
    const kevy_os *os = log->os;
    struct kv_files *files = log->files;
    size_t size = reserve_target(log), least = reserve_least(log);
    bool is_lent = kv_reserve_is_lent(log);
    if (!is_lent && files->reserve_size >= size / 2) {
        return;
    }
    int file = os->file_open(os->self, files->dir, "reserve", KEVY_OS_WRITE | KEVY_OS_CREATE);
    if (file < 0) {
        return;
    }
    int result = os->window_back(os->self, file, size);
    bool is_least = result < 0 && files->reserve_size < least &&
                    (result == -EOPNOTSUPP ? reserve_fill(log, file, least)
                                           : os->window_back(os->self, file, least) == 0);
    if (result == 0 || is_least) {
        files->reserve_size = is_least ? least : size;
    } else {
        (void)os->file_resize(os->self, file, files->reserve_size);
    }
    os->file_close(os->self, file);
    atomic_store_explicit(&files->is_reserve_lent, is_lent && files->reserve_size < least,
                          memory_order_relaxed);
}

bool kv_reserve_use(struct kv_log *log, bool is_last)
{
    const kevy_os *os = log->os;
    struct kv_files *files = log->files;
    size_t left = is_last ? 0 : last_part(log);
    int file = files->reserve_size > left
                   ? os->file_open(os->self, files->dir, "reserve", KEVY_OS_WRITE)
                   : -1;
    if (file < 0) {
        return false;
    }
    bool is_used = os->file_resize(os->self, file, left) == 0;
    os->file_close(os->self, file);
    files->reserve_size = left;
    atomic_store_explicit(&files->is_reserve_lent, true, memory_order_relaxed);
    atomic_store_explicit(&files->is_wake_due, true, memory_order_relaxed);
    return is_used;
}

void kv_reserve_step_on(struct kv_log *log)
{
    uint8_t body[KV_NAMESPACES_SIZE];
    struct kv_draft same = {.type = KV_RECORD_NAMESPACES, .value = bytes_of(body, sizeof body)};
    if (kv_reserve_is_lent(log)) {
        kv_namespaces_encode(&log->files->map, body);
        (void)kv_append(log, &same, 1);
    }
}

void kv_reserve_find(struct kv_log *log)
{
    const kevy_os *os = log->os;
    int file = os->file_open(os->self, log->files->dir, "reserve", KEVY_OS_READ);
    if (file >= 0) {
        int64_t size = os->file_size(os->self, file);
        log->files->reserve_size = size < 0 ? 0 : (size_t)size;
        os->file_close(os->self, file);
    }
}
