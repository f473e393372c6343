/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy/os.h: the world outside of a store as one table of functions: folders,
 * files, mapping, publishing, flushing, clocks, randomness. Production fills
 * it with the real system (kv_os_posix), tests with a disk that tears, loses
 * and refuses, and with a clock they set.
 *
 * Results: >= 0 done, < 0 a negative errno. A folder or file is a number >= 0
 * that only the table understands. Names are plain file names inside a folder
 * that was opened before: a folder that is renamed while it is open stays the
 * same folder. Any thread may call any function; a file is closed once, after
 * every other call on it has returned.
 *
 * What a table must promise:
 *   - bytes that file_write took are seen at once by file_read and by every
 *     mapping of the file, and outlive the process;
 *   - they outlive the machine once a later file_flush of the file returned 0;
 *   - a file's name, or its absence, outlives the machine once a later
 *     dir_flush of its folder returned 0. Before that it may go either way.
 */
#ifndef KEVY_OS_H
#define KEVY_OS_H

#include <stddef.h>
#include <stdint.h>

/* How file_open opens: for reading, or for reading and writing, and then
 * whether it makes the file if it is missing, or only if it is missing. */
#define KEVY_OS_READ 0u
#define KEVY_OS_WRITE 1u
#define KEVY_OS_CREATE 2u
#define KEVY_OS_EXCLUSIVE 4u

typedef struct kevy_os {
    void *self;

    /* ---- Folders ---- */

    /* Makes one folder. -EEXIST if something of that name is there. */
    int (*dir_make)(void *self, const char *path);

    /* Opens the folder `path`: its number, or -ENOENT, -ENOTDIR, … */
    int (*dir_open)(void *self, const char *path);

    /* Writes two numbers that tell this open folder from every other; -ENOENT
     * when it has been removed. */
    int (*dir_identity)(void *self, int dir, uint64_t out[2]);

    /* Calls each(user, name) for everything in the folder but . and .. */
    int (*dir_list)(void *self, int dir, void (*each)(void *user, const char *name), void *user);

    /* Makes the names in the folder, and their absence, durable. */
    int (*dir_flush)(void *self, int dir);
    void (*dir_close)(void *self, int dir);

    /* ---- Files ---- */

    /* Opens `name` in the folder, mode as above: its number. The descriptor is
     * not inherited by programs that the process starts. */
    int (*file_open)(void *self, int dir, const char *name, unsigned mode);
    int64_t (*file_size)(void *self, int file);

    /* Read or write up to `size` bytes at `offset`: how many were. Fewer than
     * asked, 0 included, is no error by itself. */
    int64_t (*file_read)(void *self, int file, void *buf, size_t size, uint64_t offset);
    int64_t (*file_write)(void *self, int file, const void *buf, size_t size, uint64_t offset);
    int (*file_resize)(void *self, int file, uint64_t size);

    /* Makes the file's bytes and size durable. An error here may have lost
     * any byte that was not durable before. */
    int (*file_flush)(void *self, int file);

    /* Takes the file for this open alone: -EWOULDBLOCK if another open holds
     * it, in this process or another. Ends when the file is closed, the
     * process dies, or, in a forked child, at once for the child. */
    int (*file_lock)(void *self, int file);
    void (*file_close)(void *self, int file);
    int (*file_remove)(void *self, int dir, const char *name);

    /* Gives `from` the name `to`, over whatever has it, in one step. */
    int (*file_rename)(void *self, int dir, const char *from, const char *to);

    /* ---- Memory ---- */

    /* Maps `size` bytes of the file, read-only and shared, from its start; the
     * file may be shorter and grow later. Or, with file -1, zeroed memory of
     * our own, of which only what is touched takes room; is_small says that
     * most of it will stay untouched. Stays valid when the file is closed or
     * removed. */
    int (*map)(void *self, int file, size_t size, int is_small, void **out);
    void (*unmap)(void *self, void *ptr, size_t size);

    /* Makes zeroed memory that map gave read-only until it is unmapped. May be
     * NULL: then stores in memory hand out copies and never views. */
    int (*protect)(void *self, void *ptr, size_t size);

    /* ---- Publishing ---- */

    /* A window is a second mapping of a file, for storing bytes without a
     * system call. window_open maps `size` bytes; -EOPNOTSUPP where a store
     * into a mapping could fail for lack of room, or might not be kept: then
     * the file is written by file_write. Opened and closed by one thread at a
     * time. */
    int (*window_open)(void *self, int file, size_t size, void **out);
    void (*window_close)(void *self, void *window, size_t size);

    /* Gives every byte of the file below `size` room on the disk; the file
     * grows to that, new bytes are zero. -ENOSPC; then the file may have
     * grown. */
    int (*window_back)(void *self, int file, uint64_t size);

    /* Gets the window's pages from one offset to another ready, so that storing
     * into them does not wait for the kernel page by page: room that was backed
     * and holds zeros, before and after. Without a window, NULL, only the file is
     * written. May do a part of it or nothing. May be NULL. */
    void (*window_touch)(void *self, int file, void *window, uint64_t from, uint64_t to);

    /* Stores bytes through the window, all of them in room that was backed, as
     * if by file_write. Fails only in tests. */
    int (*window_write)(void *self, int file, void *window, uint64_t offset, const void *buf,
                        size_t size);

    /* ---- Clocks and chance ---- */

    /* The wall clock, in milliseconds since 1970, and a clock that only goes
     * forward and counts the time the machine sleeps, in nanoseconds. */
    uint64_t (*wall_ms)(void *self);
    uint64_t (*boot_ns)(void *self);

    /* Fills the buffer with bytes that nobody can guess. */
    int (*random)(void *self, void *buf, size_t size);

    /* ---- Trust ---- */

    /* Writes three numbers that are the same for as long as nobody writes to
     * the file: which file it is, and when its bytes and its state last
     * changed, in nanoseconds of the wall clock. May be NULL: then a store
     * that is opened reads all of its log. */
    int (*file_stamp)(void *self, int file, uint64_t out[3]);
} kevy_os;

#endif
