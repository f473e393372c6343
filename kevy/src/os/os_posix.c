/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * POSIX as a kevy_os table: each function one system call or nearly so, its
 * errno returned negative. A call that a signal interrupted is made again here.
 *
 * Portability: Linux, Android, macOS and iOS. On Apple systems a flush is
 * F_FULLFSYNC, since fsync there leaves the bytes in the drive's cache.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "kevy/src/os/os_posix.h"
#include "kevy/src/os/os_window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

/* A result of a call that sets errno. */
static int posix_result(int result)
{
    return result < 0 ? -errno : result;
}

static int posix_dir_make(void *self, const char *path)
{
    (void)self;
    return posix_result(mkdir(path, 0777));
}

static int posix_dir_open(void *self, const char *path)
{
    (void)self;
    int fd;
    do {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return posix_result(fd);
}

static int posix_dir_identity(void *self, int dir, uint64_t out[2])
{
    (void)self;
    struct stat info;
    if (fstat(dir, &info) != 0) {
        return -errno;
    }
    out[0] = (uint64_t)info.st_dev;
    out[1] = (uint64_t)info.st_ino;
    return info.st_nlink == 0 ? -ENOENT : 0;
}

static int posix_dir_list(void *self, int dir, void (*each)(void *user, const char *name),
                          void *user)
{
    (void)self;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        int error = -errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return error;
    }
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            each(user, entry->d_name);
        }
        errno = 0;
    }
    int error = -errno;
    (void)closedir(stream);
    return error;
}

static int posix_file_flush(void *self, int file)
{
    (void)self;
    int result;
    do {
#if defined(__APPLE__)
        result = fcntl(file, F_FULLFSYNC);
        if (result < 0 && (errno == ENOTSUP || errno == EINVAL)) {
            result = fsync(file);
        }
#else
        result = fdatasync(file);
#endif
    } while (result < 0 && errno == EINTR);
    return posix_result(result);
}

static int posix_dir_flush(void *self, int dir)
{
    (void)self;
    int result;
    do {
        result = fsync(dir);
    } while (result < 0 && errno == EINTR);
    return posix_result(result);
}

static void posix_close(void *self, int fd)
{
    (void)self;
    (void)close(fd);
}

static void posix_file_close(void *self, int file)
{
    /* A child on its way to exec, or to its fork handlers, may have the descriptor too: the lock
     * ends here all the same. */
    if (kv_fork_unwatch(file)) {
        (void)flock(file, LOCK_UN);
    }
    posix_close(self, file);
}

/* Nothing is written, and nobody waited for, behind a name that somebody has made
 * a link, a pipe or a device. */
static int posix_file_open(void *self, int dir, const char *name, unsigned mode)
{
    (void)self;
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    flags |= (mode & KEVY_OS_WRITE) != 0 ? O_RDWR : O_RDONLY;
    if (dir != AT_FDCWD) {
        flags |= O_NOFOLLOW;
    }
    if ((mode & KEVY_OS_CREATE) != 0) {
        flags |= O_CREAT;
    }
    if ((mode & KEVY_OS_EXCLUSIVE) != 0) {
        flags |= O_EXCL;
    }
    int fd;
    do {
        fd = openat(dir, name, flags, 0666);
    } while (fd < 0 && errno == EINTR);
    return posix_result(fd);
}

static int64_t posix_file_size(void *self, int file)
{
    (void)self;
    struct stat info;
    return fstat(file, &info) != 0 ? -errno : (int64_t)info.st_size;
}

static int64_t posix_file_read(void *self, int file, void *buf, size_t size, uint64_t offset)
{
    (void)self;
    ssize_t count;
    do {
        count = pread(file, buf, size, (off_t)offset);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

static int64_t posix_file_write(void *self, int file, const void *buf, size_t size, uint64_t offset)
{
    (void)self;
    ssize_t count;
    if (offset >= kv_posix_size_limit()) {
        return -EFBIG;
    }
    do {
        count = pwrite(file, buf, size, (off_t)offset);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

static int posix_file_resize(void *self, int file, uint64_t size)
{
    (void)self;
    int result;
    if (!kv_posix_can_be_of_size(file, size)) {
        return -EFBIG;
    }
    do {
        result = ftruncate(file, (off_t)size);
    } while (result < 0 && errno == EINTR);
    return posix_result(result);
}

static int posix_file_lock(void *self, int file)
{
    (void)self;
    /* Before it is locked: a fork between the two would leave the lock to the child. */
    int result = kv_fork_watch(file);
    if (result < 0) {
        return result;
    }
    do {
        result = flock(file, LOCK_EX | LOCK_NB);
    } while (result < 0 && errno == EINTR);
    if (result < 0) {
        result = -errno;
        (void)kv_fork_unwatch(file);
    }
    return result;
}

static int posix_file_remove(void *self, int dir, const char *name)
{
    (void)self;
    return posix_result(unlinkat(dir, name, 0));
}

static int posix_file_rename(void *self, int dir, const char *from, const char *to)
{
    (void)self;
    return posix_result(renameat(dir, from, dir, to));
}

static int posix_map(void *self, int file, size_t size, int is_small, void **out)
{
    (void)self;
    int protection = file < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
#if defined(MAP_NORESERVE)
    flags |= MAP_NORESERVE;
#endif
    void *ptr = mmap(NULL, size, protection, flags, file, 0);
    if (ptr == MAP_FAILED) {
        return -errno;
    }
#if defined(MADV_NOHUGEPAGE)
    if (is_small) {
        (void)madvise(ptr, size, MADV_NOHUGEPAGE);
    }
#else
    (void)is_small;
#endif
    *out = ptr;
    return 0;
}

static void posix_unmap(void *self, void *ptr, size_t size)
{
    (void)self;
    (void)munmap(ptr, size);
}

static int posix_protect(void *self, void *ptr, size_t size)
{
    (void)self;
    return posix_result(mprotect(ptr, size, PROT_READ));
}

static uint64_t posix_wall_ms(void *self)
{
    (void)self;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static uint64_t posix_boot_ns(void *self)
{
    (void)self;
    struct timespec now;
#if defined(CLOCK_BOOTTIME)
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
#else
    /* On Apple systems this one goes on while the machine sleeps. */
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int random_from_device(void *self, void *buf, size_t size)
{
    int fd = posix_file_open(self, AT_FDCWD, "/dev/urandom", KEVY_OS_READ);
    if (fd < 0) {
        return fd;
    }
    size_t done = 0;
    ssize_t count = 1;
    while (done < size && count > 0) {
        do {
            count = read(fd, (uint8_t *)buf + done, size - done);
        } while (count < 0 && errno == EINTR);
        done += count > 0 ? (size_t)count : 0;
    }
    (void)close(fd);
    return done == size ? 0 : -EIO;
}

/* The system call needs no device file, which a bare chroot may not have. */
static int posix_random(void *self, void *buf, size_t size)
{
#if defined(__APPLE__) || defined(__GLIBC__)
    if (size <= 256 && getentropy(buf, size) == 0) {
        return 0;
    }
#endif
    return random_from_device(self, buf, size);
}

void kv_memory_is_large(void *ptr, size_t size)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)ptr + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)ptr + size) / page * page;
    if (begin < end) {
        (void)madvise((uint8_t *)ptr + (begin - (uintptr_t)ptr), end - begin, MADV_HUGEPAGE);
    }
#else
    (void)ptr;
    (void)size;
#endif
}

static uint64_t nanoseconds_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* The time of the state cannot be set by a call, only by a change. */
static int posix_file_stamp(void *self, int file, uint64_t out[3])
{
    (void)self;
    struct stat info;
    if (fstat(file, &info) != 0) {
        return -errno;
    }
    out[0] = (uint64_t)info.st_ino;
#if defined(__APPLE__)
    out[1] = nanoseconds_of(&info.st_mtimespec);
    out[2] = nanoseconds_of(&info.st_ctimespec);
#else
    out[1] = nanoseconds_of(&info.st_mtim);
    out[2] = nanoseconds_of(&info.st_ctim);
#endif
    return 0;
}

const kevy_os kv_os_posix = {
    .dir_make = posix_dir_make,
    .dir_open = posix_dir_open,
    .dir_identity = posix_dir_identity,
    .dir_list = posix_dir_list,
    .dir_flush = posix_dir_flush,
    .dir_close = posix_close,
    .file_open = posix_file_open,
    .file_size = posix_file_size,
    .file_read = posix_file_read,
    .file_write = posix_file_write,
    .file_resize = posix_file_resize,
    .file_flush = posix_file_flush,
    .file_lock = posix_file_lock,
    .file_close = posix_file_close,
    .file_remove = posix_file_remove,
    .file_rename = posix_file_rename,
    .map = posix_map,
    .unmap = posix_unmap,
    .protect = posix_protect,
    .window_open = kv_posix_window_open,
    .window_close = posix_unmap,
    .window_back = kv_posix_window_back,
    .window_touch = kv_posix_window_touch,
    .window_write = kv_posix_window_write,
    .wall_ms = posix_wall_ms,
    .boot_ns = posix_boot_ns,
    .random = posix_random,
    .file_stamp = posix_file_stamp,
};
