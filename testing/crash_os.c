/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The crashing system as a kevy_os table, and its faults; see crash_os.h. What
 * tests do to it is in crash_control.c. Only what a store needs: one level of folders matters, so a
 * folder is a set of names and every path leads to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "testing/crash_inside.h"
#include "testing/harness.h"

static struct crash_os *crash_of(void *self)
{
    return (struct crash_os *)self;
}

/* ---- Faults ---- */

/* Counts a call; returns what it is to do. `concerns` has a bit for each fault
 * that means this kind of call. */
static enum crash_fault step(struct crash_os *crash, unsigned concerns)
{
    uint64_t call = crash->calls++;
    crash_write_back_some(crash);
    if (crash->fault == CRASH_NONE || call < crash->fault_call || crash->fault_count == 0) {
        return CRASH_NONE;
    }
    if (crash->fault == CRASH_DEAD) {
        return CRASH_DEAD;
    }
    if ((concerns >> crash->fault & 1) == 0) {
        return CRASH_NONE;
    }
    crash->fault_count--;
    return crash->fault;
}

#define ON(fault) (1u << (fault))

static int step_error(struct crash_os *crash, unsigned concerns)
{
    switch (step(crash, concerns)) {
    case CRASH_DEAD:
    case CRASH_EIO:
        return -EIO;
    case CRASH_NOSPC:
        return -ENOSPC;
    case CRASH_NONE:
    case CRASH_SHORT:
        return 0;
    }
    return 0;
}

/* ---- The table ---- */

static int crash_dir_make(void *self, const char *path)
{
    (void)path;
    return step_error(crash_of(self), ON(CRASH_EIO)) == 0 ? -EEXIST : -EIO;
}

static int crash_dir_open(void *self, const char *path)
{
    (void)path;
    return step_error(crash_of(self), ON(CRASH_EIO));
}

static int crash_dir_identity(void *self, int dir, uint64_t out[2])
{
    (void)dir;
    out[0] = (uint64_t)(uintptr_t)self;
    out[1] = 1;
    return 0;
}

static int crash_dir_list(void *self, int dir, void (*each)(void *user, const char *name),
                          void *user)
{
    struct crash_os *crash = crash_of(self);
    (void)dir;
    int error = step_error(crash, ON(CRASH_EIO));
    for (size_t i = 0; error == 0 && i < crash->names.seen.count; i++) {
        each(user, crash->names.seen.at[i].name);
    }
    return error;
}

static int crash_dir_flush(void *self, int dir)
{
    struct crash_os *crash = crash_of(self);
    (void)dir;
    int error = step_error(crash, ON(CRASH_EIO));
    if (error == 0) {
        crash->names.durable = crash->names.seen;
        crash->names.op_count = 0;
    }
    return error;
}

static void crash_dir_close(void *self, int dir)
{
    (void)self;
    (void)dir;
}

static int crash_file_open(void *self, int dir, const char *name, unsigned mode)
{
    struct crash_os *crash = crash_of(self);
    (void)dir;
    bool is_making = (mode & (KEVY_OS_CREATE | KEVY_OS_EXCLUSIVE)) != 0;
    int error = step_error(crash, ON(CRASH_EIO) | (is_making ? ON(CRASH_NOSPC) : 0));
    if (error != 0) {
        return error;
    }
    int at = crash_names_find(&crash->names.seen, name);
    if (at >= 0 && (mode & KEVY_OS_EXCLUSIVE) != 0) {
        return -EEXIST;
    }
    if (at < 0 && !is_making) {
        return -ENOENT;
    }
    int inode = at >= 0 ? crash->names.seen.at[at].inode : crash_inode_new(crash);
    if (at < 0) {
        crash_names_do(crash, crash_name_op(name, inode));
    }
    for (int i = 0; i < HANDLES; i++) {
        if (crash->handles[i] == 0) {
            crash->handles[i] = inode + 1;
            return i;
        }
    }
    return -EMFILE;
}

static struct inode *inode_of(struct crash_os *crash, int file)
{
    REQUIRE(file >= 0 && file < HANDLES && crash->handles[file] != 0);
    return &crash->inodes[crash->handles[file] - 1];
}

static int64_t crash_file_size(void *self, int file)
{
    struct crash_os *crash = crash_of(self);
    int error = step_error(crash, ON(CRASH_EIO));
    return error != 0 ? error : (int64_t)inode_of(crash, file)->seen_size;
}

static int64_t crash_file_read(void *self, int file, void *buf, size_t size, uint64_t offset)
{
    struct crash_os *crash = crash_of(self);
    const struct inode *inode = inode_of(crash, file);
    int error = step_error(crash, ON(CRASH_EIO));
    if (error != 0 || offset >= inode->seen_size) {
        return error;
    }
    size_t left = inode->seen_size - (size_t)offset;
    size = size < left ? size : left;
    memcpy(buf, inode->seen + offset, size);
    return (int64_t)size;
}

static int64_t crash_file_write(void *self, int file, const void *buf, size_t size, uint64_t offset)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    crash_inode_touch(crash, inode);
    enum crash_fault fault = step(crash, ON(CRASH_EIO) | ON(CRASH_NOSPC) | ON(CRASH_SHORT));
    if (fault == CRASH_DEAD || fault == CRASH_EIO) {
        if (size > 0 && crash_chance(crash, 2)) {
            crash_bytes_write(inode, buf, test_random(&crash->random) % size, (size_t)offset);
        }
        return -EIO;
    }
    if (fault != CRASH_NONE) {
        size = size == 0 ? 0 : test_random(&crash->random) % size;
    }
    if (crash->capacity != 0 && offset + size > inode->seen_size) {
        uint64_t used = crash_os_size(crash) - inode->seen_size;
        uint64_t room = crash->capacity > used ? crash->capacity - used : 0;
        if (offset + size > room) {
            size = offset >= room ? 0 : (size_t)(room - offset);
            fault = size == 0 ? CRASH_NOSPC : fault;
        }
    }
    if (fault == CRASH_NOSPC && (size == 0 || crash_chance(crash, 2))) {
        crash_bytes_write(inode, buf, size, (size_t)offset);
        return -ENOSPC;
    }
    crash_bytes_write(inode, buf, size, (size_t)offset);
    return (int64_t)size;
}

static int crash_file_resize(void *self, int file, uint64_t size)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    int error = step_error(crash, ON(CRASH_EIO));
    if (error != 0) {
        return error;
    }
    REQUIRE(size <= FILE_ROOM);
    crash_inode_touch(crash, inode);
    if (size < inode->seen_size) {
        memset(inode->seen + size, 0, inode->seen_size - (size_t)size);
        for (size_t page = (size_t)size / PAGE; page * PAGE < inode->seen_size; page++) {
            crash_page_dirty(inode, page);
        }
    }
    inode->seen_size = (size_t)size;
    return 0;
}

static int crash_file_flush(void *self, int file)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    int error = step_error(crash, ON(CRASH_EIO));
    for (size_t page = inode->dirty_from; page < inode->dirty_to; page++) {
        if (!crash_page_is_dirty(inode, page)) {
            continue;
        }
        if (error == 0) {
            crash_page_write_back(inode, page);
        } else if (crash_chance(crash, 2)) {
            /* The kernel gives the page up: clean, but not on the disk. */
            crash_page_clean(inode, page);
        }
    }
    if (error == 0) {
        inode->disk_size = inode->seen_size;
        if (crash_chance(crash, 2)) {
            /* A flush need not bring the times to the disk. */
            inode->changed_before = inode->changed;
        }
        inode->dirty_from = FILE_ROOM / PAGE;
        inode->dirty_to = 0;
    }
    return error;
}

static int crash_file_lock(void *self, int file)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    if (inode->is_locked) {
        return -EWOULDBLOCK;
    }
    inode->is_locked = true;
    return 0;
}

static void crash_file_close(void *self, int file)
{
    struct crash_os *crash = crash_of(self);
    int lock = crash_names_find(&crash->names.seen, "lock");
    int inode = crash->handles[file] - 1;
    if (lock >= 0 && inode == crash->names.seen.at[lock].inode) {
        crash->inodes[inode].is_locked = false;
    }
    crash->handles[file] = 0;
}

static int crash_file_remove(void *self, int dir, const char *name)
{
    struct crash_os *crash = crash_of(self);
    (void)dir;
    int error = step_error(crash, ON(CRASH_EIO));
    int at = crash_names_find(&crash->names.seen, name);
    if (error != 0 || at < 0) {
        return error != 0 ? error : -ENOENT;
    }
    struct name_op op = crash_name_op(name, crash->names.seen.at[at].inode);
    op.is_removal = true;
    crash_names_do(crash, op);
    return 0;
}

static int crash_file_rename(void *self, int dir, const char *from, const char *to)
{
    struct crash_os *crash = crash_of(self);
    (void)dir;
    int error = step_error(crash, ON(CRASH_EIO) | ON(CRASH_NOSPC));
    int at = crash_names_find(&crash->names.seen, from);
    if (error != 0 || at < 0) {
        return error != 0 ? error : -ENOENT;
    }
    struct name_op op = crash_name_op(from, crash->names.seen.at[at].inode);
    op.is_rename = true;
    crash_name_copy(op.to, to);
    crash_names_do(crash, op);
    return 0;
}

static int crash_map(void *self, int file, size_t size, int is_small, void **out)
{
    struct crash_os *crash = crash_of(self);
    (void)is_small;
    REQUIRE(file >= 0 && size <= FILE_ROOM);
    inode_of(crash, file)->map_count++;
    *out = inode_of(crash, file)->seen;
    return 0;
}

static void crash_unmap(void *self, void *ptr, size_t size)
{
    struct crash_os *crash = crash_of(self);
    (void)size;
    for (int i = 0; i < INODES; i++) {
        if (crash->inodes[i].seen == ptr && crash->inodes[i].map_count > 0) {
            crash->inodes[i].map_count--;
        }
    }
}

static int crash_window_open(void *self, int file, size_t size, void **out)
{
    struct crash_os *crash = crash_of(self);
    REQUIRE(size <= FILE_ROOM);
    if (crash->has_no_window) {
        return -EOPNOTSUPP;
    }
    inode_of(crash, file)->map_count++;
    *out = inode_of(crash, file)->seen;
    return 0;
}

static int crash_window_back(void *self, int file, uint64_t size)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    int error = step_error(crash, ON(CRASH_EIO) | ON(CRASH_NOSPC));
    if (error == 0 && crash->capacity != 0 && size > inode->seen_size &&
        crash_os_size(crash) - inode->seen_size + size > crash->capacity) {
        error = -ENOSPC;
    }
    if (error == 0 && size > inode->seen_size) {
        REQUIRE(size <= FILE_ROOM);
        crash_inode_touch(crash, inode);
        inode->seen_size = (size_t)size;
    }
    return error;
}

/* Zeros are written over what must be zeros. */
static void crash_window_touch(void *self, int file, void *window, uint64_t from, uint64_t to)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    REQUIRE((window == NULL || window == inode->seen) && from <= to && to <= inode->seen_size);
    bool is_zero = true;
    for (uint64_t at = from; at < to; at++) {
        is_zero = is_zero && inode->seen[at] == 0;
    }
    REQUIRE(is_zero);
    if (step(crash, 0) != CRASH_DEAD && from < to) {
        for (uint64_t page = from / PAGE; page <= (to - 1) / PAGE; page++) {
            crash_page_dirty(inode, (size_t)page);
        }
        if (inode->seen_size > inode->touched) {
            inode->touched = (inode->seen_size + PAGE - 1) / PAGE * PAGE;
        }
    }
}

/* A store cannot fail, but the process can end in the middle of it. */
static int crash_window_write(void *self, int file, void *window, uint64_t offset, const void *buf,
                              size_t size)
{
    struct crash_os *crash = crash_of(self);
    struct inode *inode = inode_of(crash, file);
    REQUIRE(window == inode->seen && offset + size <= inode->seen_size);
    crash_inode_touch(crash, inode);
    if (step(crash, 0) == CRASH_DEAD) {
        if (size > 0 && crash_chance(crash, 2)) {
            crash_bytes_write(inode, buf, test_random(&crash->random) % size, (size_t)offset);
        }
        return -EIO;
    }
    crash_bytes_write(inode, buf, size, (size_t)offset);
    return 0;
}

static uint64_t crash_wall_ms(void *self)
{
    return crash_of(self)->wall_ms;
}

static uint64_t crash_boot_ns(void *self)
{
    return crash_of(self)->boot_ns;
}

static int crash_random(void *self, void *buf, size_t size)
{
    struct crash_os *crash = crash_of(self);
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)buf)[i] = (uint8_t)(test_random(&crash->random) >> 32);
    }
    return 0;
}

static int crash_file_stamp(void *self, int file, uint64_t out[3])
{
    struct crash_os *crash = crash_of(self);
    const struct inode *inode = inode_of(crash, file);
    int error = step_error(crash, ON(CRASH_EIO));
    out[0] = inode->birth;
    out[1] = out[2] = inode->changed.ms * 1000000 + inode->changed.change % 1000000;
    return error;
}

const kevy_os crash_table = {
    .dir_make = crash_dir_make,
    .dir_open = crash_dir_open,
    .dir_identity = crash_dir_identity,
    .dir_list = crash_dir_list,
    .dir_flush = crash_dir_flush,
    .dir_close = crash_dir_close,
    .file_open = crash_file_open,
    .file_size = crash_file_size,
    .file_read = crash_file_read,
    .file_write = crash_file_write,
    .file_resize = crash_file_resize,
    .file_flush = crash_file_flush,
    .file_lock = crash_file_lock,
    .file_close = crash_file_close,
    .file_remove = crash_file_remove,
    .file_rename = crash_file_rename,
    .map = crash_map,
    .unmap = crash_unmap,
    .window_open = crash_window_open,
    .window_close = crash_unmap,
    .window_back = crash_window_back,
    .window_touch = crash_window_touch,
    .window_write = crash_window_write,
    .wall_ms = crash_wall_ms,
    .boot_ns = crash_boot_ns,
    .random = crash_random,
    .file_stamp = crash_file_stamp,
};
