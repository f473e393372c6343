/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The reserve: a file that holds nothing but room. When the disk is full, its
 * room is given back for what makes room itself: tombstones, namespace maps
 * and the moves of collection. So a full store can be emptied.
 *
 * It is made again once there is room for it. It may be missing, or be of any
 * size; nobody reads it.
 *
 * Threads: under the writer lock.
 */
#include "kevy/src/log/log_inside.h"

/* Its size: an eighth of the live bytes, within these shares of a segment. */
#define RESERVE_SHARE_MIN 32u
#define RESERVE_SEGMENTS_MAX 2u

static size_t reserve_target(const struct kv_log *log)
{
    uint64_t least = log->segment_size / RESERVE_SHARE_MIN;
    uint64_t most = (uint64_t)log->segment_size * RESERVE_SEGMENTS_MAX;
    uint64_t size = log->live_size / 8;
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
    size_t size = reserve_target(log), least = log->segment_size / RESERVE_SHARE_MIN;
    if (files->reserve_size >= size / 2) {
        return;
    }
    int file = os->file_open(os->self, files->dir, "reserve", KEVY_OS_WRITE | KEVY_OS_CREATE);
    if (file < 0) {
        return;
    }
    if (os->window_back(os->self, file, size) == 0) {
        files->reserve_size = size;
    } else if (files->reserve_size == 0 && reserve_fill(log, file, least)) {
        files->reserve_size = least;
    } else if (files->reserve_size == 0) {
        (void)os->file_resize(os->self, file, 0);
    }
    os->file_close(os->self, file);
}

bool kv_reserve_use(struct kv_log *log)
{
    const kevy_os *os = log->os;
    struct kv_files *files = log->files;
    int file = files->reserve_size != 0
                   ? os->file_open(os->self, files->dir, "reserve", KEVY_OS_WRITE)
                   : -1;
    if (file < 0) {
        return false;
    }
    bool is_used = os->file_resize(os->self, file, 0) == 0;
    os->file_close(os->self, file);
    files->reserve_size = 0;
    return is_used;
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
