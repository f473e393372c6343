/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The world as a look sees it: every file can be read and none can be changed.
 * Files that are asked for to be written are opened for reading, files that are
 * missing are not made, and whatever would write says that it cannot. So no
 * mistake in what stands on it can change a byte, and a folder or file system
 * that is read-only is as good as any.
 *
 * Threads: as the table behind it.
 */
#include <errno.h>

#include "kevy/src/log/log_check.h"

static const struct kv_still *still_of(void *self)
{
    return (const struct kv_still *)self;
}

/* ---- What would write ---- */

static int still_dir_make(void *self, const char *path)
{
    (void)self;
    (void)path;
    return -EROFS;
}

static int still_flush(void *self, int number)
{
    (void)self;
    (void)number;
    return -EROFS;
}

static int64_t still_file_write(void *self, int file, const void *buf, size_t size, uint64_t offset)
{
    (void)self;
    (void)file;
    (void)buf;
    (void)size;
    (void)offset;
    return -EROFS;
}

static int still_file_size_to(void *self, int file, uint64_t size)
{
    (void)self;
    (void)file;
    (void)size;
    return -EROFS;
}

static int still_file_remove(void *self, int dir, const char *name)
{
    (void)self;
    (void)dir;
    (void)name;
    return -EROFS;
}

static int still_file_rename(void *self, int dir, const char *from, const char *to)
{
    (void)to;
    return still_file_remove(self, dir, from);
}

static int still_window_open(void *self, int file, size_t size, void **out)
{
    (void)self;
    (void)file;
    (void)size;
    (void)out;
    return -EOPNOTSUPP;
}

static void still_window_close(void *self, void *window, size_t size)
{
    (void)self;
    (void)window;
    (void)size;
}

static int still_window_write(void *self, int file, void *window, uint64_t offset, const void *buf,
                              size_t size)
{
    (void)window;
    return (int)still_file_write(self, file, buf, size, offset);
}

/* ---- What reads ---- */

static int still_file_open(void *self, int dir, const char *name, unsigned mode)
{
    const kevy_os *os = still_of(self)->os;
    (void)mode;
    return os->file_open(os->self, dir, name, KEVY_OS_READ);
}

static int still_dir_open(void *self, const char *path)
{
    const kevy_os *os = still_of(self)->os;
    return os->dir_open(os->self, path);
}

static int still_dir_identity(void *self, int dir, uint64_t out[2])
{
    const kevy_os *os = still_of(self)->os;
    return os->dir_identity(os->self, dir, out);
}

static int still_dir_list(void *self, int dir, void (*each)(void *user, const char *name),
                          void *user)
{
    const kevy_os *os = still_of(self)->os;
    return os->dir_list(os->self, dir, each, user);
}

static void still_dir_close(void *self, int dir)
{
    const kevy_os *os = still_of(self)->os;
    os->dir_close(os->self, dir);
}

static int64_t still_file_size(void *self, int file)
{
    const kevy_os *os = still_of(self)->os;
    return os->file_size(os->self, file);
}

static int64_t still_file_read(void *self, int file, void *buf, size_t size, uint64_t offset)
{
    const kevy_os *os = still_of(self)->os;
    return os->file_read(os->self, file, buf, size, offset);
}

static int still_file_lock(void *self, int file)
{
    const kevy_os *os = still_of(self)->os;
    return os->file_lock(os->self, file);
}

static void still_file_close(void *self, int file)
{
    const kevy_os *os = still_of(self)->os;
    os->file_close(os->self, file);
}

static int still_map(void *self, int file, size_t size, int is_small, void **out)
{
    const kevy_os *os = still_of(self)->os;
    return os->map(os->self, file, size, is_small, out);
}

static void still_unmap(void *self, void *ptr, size_t size)
{
    const kevy_os *os = still_of(self)->os;
    os->unmap(os->self, ptr, size);
}

static uint64_t still_wall_ms(void *self)
{
    const kevy_os *os = still_of(self)->os;
    return os->wall_ms(os->self);
}

static uint64_t still_boot_ns(void *self)
{
    const kevy_os *os = still_of(self)->os;
    return os->boot_ns(os->self);
}

static int still_random(void *self, void *buf, size_t size)
{
    const kevy_os *os = still_of(self)->os;
    return os->random(os->self, buf, size);
}

void kv_still_init(struct kv_still *still, const kevy_os *os)
{
    still->os = os;
    still->table = (kevy_os){.self = still,
                             .dir_make = still_dir_make,
                             .dir_open = still_dir_open,
                             .dir_identity = still_dir_identity,
                             .dir_list = still_dir_list,
                             .dir_flush = still_flush,
                             .dir_close = still_dir_close,
                             .file_open = still_file_open,
                             .file_size = still_file_size,
                             .file_read = still_file_read,
                             .file_write = still_file_write,
                             .file_resize = still_file_size_to,
                             .file_flush = still_flush,
                             .file_lock = still_file_lock,
                             .file_close = still_file_close,
                             .file_remove = still_file_remove,
                             .file_rename = still_file_rename,
                             .map = still_map,
                             .unmap = still_unmap,
                             .window_open = still_window_open,
                             .window_close = still_window_close,
                             .window_back = still_file_size_to,
                             .window_write = still_window_write,
                             .wall_ms = still_wall_ms,
                             .boot_ns = still_boot_ns,
                             .random = still_random};
}
