/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Room in files, by POSIX: how large one may become, and windows, the second
 * mappings through which segments are written. What windows promise is said in
 * kevy/os.h; the rest of the table is in os_posix.c.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "kevy/src/os/os_window.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/uio.h>
#include <sys/vfs.h>
#endif

/* Linux has this since 5.14, and refuses it before; Debian 12's headers know it. */
#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23
#endif

uint64_t kv_posix_size_limit(void)
{
    struct rlimit limit;
    bool is_none = getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
    return is_none ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

bool kv_posix_can_be_of_size(int file, uint64_t size)
{
    struct stat info;
    return size <= kv_posix_size_limit() ||
           (fstat(file, &info) == 0 && (uint64_t)info.st_size >= size);
}

/* File systems on which room that was allocated stays ours: there a store into
 * a mapping of it cannot raise SIGBUS on a full disk. Others may copy on write. */
static bool can_publish(int file)
{
#if defined(__linux__)
    struct statfs info;
    enum { EXT4 = 0xef53, TMPFS = 0x01021994 };
    return fstatfs(file, &info) == 0 && (info.f_type == EXT4 || info.f_type == TMPFS);
#else
    (void)file;
    return false;
#endif
}

int kv_posix_window_open(void *self, int file, size_t size, void **out)
{
    (void)self;
    if (!can_publish(file)) {
        return -EOPNOTSUPP;
    }
    void *window = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (window == MAP_FAILED) {
        return -errno;
    }
#if defined(MADV_DONTFORK)
    (void)madvise(window, size, MADV_DONTFORK);
#endif
    *out = window;
    return 0;
}

int kv_posix_window_back(void *self, int file, uint64_t size)
{
    (void)self;
#if defined(__linux__)
    int result;
    if (!kv_posix_can_be_of_size(file, size)) {
        return -EFBIG;
    }
    do {
        result = fallocate(file, 0, 0, (off_t)size);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
#else
    (void)file;
    (void)size;
    return -EOPNOTSUPP;
#endif
}

#if defined(__linux__) && (!defined(__ANDROID_API__) || __ANDROID_API__ >= 24)
/* Writing zeros is cheaper than a fault for each page: the kernel then takes
 * memory in large pieces, the larger the longer the write is. Mapped pieces below
 * the size of a huge page are dear to dirty again after a flush, so it is either
 * short writes or whole ones. */
enum { TOUCH_SHORT = 64 << 10, TOUCH_WHOLE = 2 << 20, TOUCH_LONG = 4 << 20, ZEROS = 16 << 10 };

static int64_t zeros_write(int file, uint64_t from, size_t size)
{
    static const uint8_t zeros[ZEROS];
    struct iovec parts[TOUCH_LONG / ZEROS];
    int count = 0;
    if (from >= kv_posix_size_limit()) {
        return -EFBIG;
    }
    for (size_t done = 0; done < size; done += parts[count++].iov_len) {
        parts[count] = (struct iovec){(void *)(uintptr_t)zeros,
                                      size - done < sizeof zeros ? size - done : sizeof zeros};
    }
    return pwritev(file, parts, count, (off_t)from);
}

void kv_posix_window_touch(void *self, int file, void *window, uint64_t from, uint64_t to)
{
    (void)self;
    bool is_whole =
        window != NULL && (uintptr_t)window % TOUCH_WHOLE == 0 && to - from >= TOUCH_WHOLE;
    size_t most = is_whole ? TOUCH_LONG : TOUCH_SHORT;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = from;
    while (at < to) {
        size_t size = to - at < most ? (size_t)(to - at) : most;
        int64_t count = zeros_write(file, at, size);
        if (count <= 0) {
            break;
        }
        at += (uint64_t)count;
    }
#if defined(MADV_POPULATE_WRITE)
    from -= from % page;
    if (window != NULL) {
        (void)madvise((uint8_t *)window + from, (size_t)(at - from), MADV_POPULATE_WRITE);
    }
#else
    (void)page;
#endif
}
#else
void kv_posix_window_touch(void *self, int file, void *window, uint64_t from, uint64_t to)
{
    (void)self;
    (void)file;
    (void)window;
    (void)from;
    (void)to;
}
#endif

int kv_posix_window_write(void *self, int file, void *window, uint64_t offset, const void *buf,
                          size_t size)
{
    (void)self;
    (void)file;
    memcpy((uint8_t *)window + offset, buf, size);
    return 0;
}
