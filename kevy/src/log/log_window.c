/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The window of the active segment: its bytes are stored into a mapping of the
 * file instead of being written by a system call, where the file system makes
 * that safe (kevy/os.h). The page they lie in is the kernel's either way, so a
 * kill loses nothing; a flush takes them to the disk either way.
 *
 * Room comes first: bytes are stored only where the file was given room on the
 * disk, so that a full disk is a status here and never a signal. Room grows
 * from one step to the whole segment, by doubling; on a disk that is nearly full
 * by no more than is needed. It ends in zeros, which
 * replay takes for the end; a segment that is sealed or closed is cut to what
 * it holds.
 *
 * Under the policy `always` there is no window: a flush of room that was never
 * written costs several times as much as one of a file that grows.
 *
 * Threads: under the writer lock.
 */
#include <errno.h>

#include "kevy/src/log/log_inside.h"

enum { WINDOW_STEP = 64 << 10, WINDOW_PAGE = 4096 };

/* Makes sure that the segment has a window and room below `end`. */
static int window_reach(struct kv_log *log, struct kv_segment *segment, size_t end)
{
    const kevy_os *os = log->os;
    if (segment->window == NULL) {
        void *window;
        int result = os->window_open(os->self, segment->file, segment->map_size, &window);
        if (result < 0) {
            return result;
        }
        segment->window = (uint8_t *)window;
    }
    size_t room = segment->backed_size == 0 ? WINDOW_STEP : segment->backed_size;
    while (room < end) {
        room *= 2;
    }
    room = room < segment->map_size ? room : segment->map_size;
    if (room <= segment->backed_size) {
        return 0;
    }
    int result = os->window_back(os->self, segment->file, room);
    size_t least = (end + WINDOW_PAGE - 1) & ~((size_t)WINDOW_PAGE - 1);
    if (result == -ENOSPC && least < room) {
        room = least;
        result = os->window_back(os->self, segment->file, room);
    }
    segment->backed_size = result < 0 ? segment->backed_size : room;
    return result;
}

static int plain_write(struct kv_log *log, struct kv_segment *segment, const void *data,
                       size_t size, size_t offset)
{
    int status = kv_file_write(log, segment->file, data, size, offset);
    log->files->is_end_dirty = status != KEVY_OK;
    return status;
}

int kv_window_write(struct kv_log *log, struct kv_segment *segment, const void *data, size_t size,
                    size_t offset)
{
    struct kv_files *files = log->files;
    bool is_always =
        atomic_load_explicit(&files->policy, memory_order_relaxed) == KEVY_FSYNC_ALWAYS;
    if (is_always || files->has_no_window) {
        return plain_write(log, segment, data, size, offset);
    }
    if (segment->window == NULL || offset + size > segment->backed_size) {
        int result = window_reach(log, segment, offset + size);
        if (result == -EOPNOTSUPP || result == -ENOSYS || result == -ENOMEM) {
            files->has_no_window = true;
            return plain_write(log, segment, data, size, offset);
        }
        if (result < 0) {
            return kv_file_status(result);
        }
    }
    int result =
        log->os->window_write(log->os->self, segment->file, segment->window, offset, data, size);
    files->is_end_dirty = result < 0;
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

int kv_window_end(struct kv_log *log, struct kv_segment *segment)
{
    kv_window_close(log, segment);
    if (segment->backed_size <= segment->used) {
        return KEVY_OK;
    }
    int result = log->os->file_resize(log->os->self, segment->file, segment->used);
    segment->backed_size = result < 0 ? segment->backed_size : 0;
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

void kv_window_close(struct kv_log *log, struct kv_segment *segment)
{
    if (segment->window != NULL) {
        log->os->window_close(log->os->self, segment->window, segment->map_size);
        segment->window = NULL;
    }
}
