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
 * replay takes for the end; the flush that covers a sealed segment cuts it to
 * what it holds, and so does closing the store.
 *
 * Then pages: a store into one that the kernel has not seen costs a fault, more
 * than the rest of a small write. So they are got ready a step at a time, and
 * in a burst for the whole segment before it is begun (log_ahead.c).
 *
 * Under the policy `always` records are written by calls, into room that was
 * filled with zeros a step before: a flush that neither lets the file grow nor
 * uses room for the first time leaves the file system's journal alone. No pages
 * are mapped for it, which each flush would have to protect again.
 *
 * Threads: under the writer lock; kv_window_make, and kv_window_end of a segment
 * that was sealed, without it by the one thread that has the segment: the one that
 * makes it ahead, the one that flushes it.
 */
#include <errno.h>

#include "kevy/src/log/log_inside.h"

enum { WINDOW_STEP = 64 << 10, WINDOW_PAGE = 4096 };

static bool is_always(const struct kv_log *log)
{
    return atomic_load_explicit(&log->files->policy, memory_order_relaxed) == KEVY_FSYNC_ALWAYS;
}

static int window_open(const struct kv_log *log, struct kv_segment *segment)
{
    void *window;
    int result = log->os->window_open(log->os->self, segment->file, segment->map_size, &window);
    segment->window = result < 0 ? NULL : (uint8_t *)window;
    return result;
}

/* Gets the pages from `from` on ready, as far as room was given or a whole step
 * beyond `end`. */
static void window_touch(const struct kv_log *log, struct kv_segment *segment, size_t from,
                         size_t end)
{
    size_t to = (end + WINDOW_STEP - 1) / WINDOW_STEP * WINDOW_STEP;
    from = from < segment->touched_size ? segment->touched_size : from;
    to = to < segment->backed_size ? to : segment->backed_size;
    if (log->os->window_touch != NULL && from < to) {
        log->os->window_touch(log->os->self, segment->file, is_always(log) ? NULL : segment->window,
                              from, to);
    }
    segment->touched_size = to;
}

/* Makes sure that the segment has a window and room below `end`. */
static int window_reach(struct kv_log *log, struct kv_segment *segment, size_t end)
{
    const kevy_os *os = log->os;
    if (segment->window == NULL) {
        int result = window_open(log, segment);
        if (result < 0) {
            return result;
        }
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
    if (result < 0 && kv_file_status(result) == KEVY_ENOSPC && least < room) {
        room = least;
        result = os->window_back(os->self, segment->file, room);
    }
    segment->backed_size = result < 0 ? segment->backed_size : room;
    if (result >= 0 && room > segment->map_size / 2 && !is_always(log)) {
        kv_ahead_want(log);
    }
    return result;
}

int kv_window_make(const struct kv_log *log, struct kv_segment *segment)
{
    int result = window_open(log, segment);
    if (result >= 0) {
        result = log->os->window_back(log->os->self, segment->file, segment->map_size);
    }
    if (result >= 0) {
        segment->backed_size = segment->map_size;
        window_touch(log, segment, 0, segment->map_size);
    }
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

static int plain_write(struct kv_log *log, struct kv_segment *segment, const void *data,
                       size_t size, size_t offset)
{
    int status = kv_file_write(log, segment->file, data, size, offset);
    log->files->is_end_dirty = status != KEVY_OK;
    if (status != KEVY_OK) {
        /* Room that was zeroed ahead would give a part the zeros at its end. */
        (void)log->os->file_resize(log->os->self, segment->file, segment->used);
        segment->backed_size = 0;
    }
    return status;
}

int kv_window_write(struct kv_log *log, struct kv_segment *segment, const void *data, size_t size,
                    size_t offset)
{
    struct kv_files *files = log->files;
    if (files->has_no_window) {
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
    if (offset + size > segment->touched_size) {
        window_touch(log, segment, offset, offset + size);
    }
    if (is_always(log)) {
        return plain_write(log, segment, data, size, offset);
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
