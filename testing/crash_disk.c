/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The disk of the crashing system: bytes and names, each as the process sees
 * them and as the disk has them. See crash_os.h.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>

#include "testing/crash_inside.h"
#include "testing/harness.h"

bool crash_chance(struct crash_os *crash, uint64_t one_in)
{
    return test_random(&crash->random) % one_in == 0;
}

/* ---- Files' bytes ---- */

uint8_t *crash_room_new(void)
{
    void *room = mmap(NULL, FILE_ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(room != MAP_FAILED);
    return (uint8_t *)room;
}

void crash_inode_touch(struct crash_os *crash, struct inode *inode)
{
    inode->changed = (struct crash_time){crash->wall_ms, ++crash->changes};
}

/* Returns an inode that is not used, or -1. */
static int inode_free(const struct crash_os *crash)
{
    int i = 0;
    while (i < INODES && crash->inodes[i].is_used) {
        i++;
    }
    return i < INODES ? i : -1;
}

int crash_inode_new(struct crash_os *crash)
{
    int i = inode_free(crash);
    if (i < 0) {
        crash_inodes_sweep(crash);
        i = inode_free(crash);
    }
    REQUIRE(i >= 0 && "more files than a crashing disk has room for");
    struct inode *inode = &crash->inodes[i];
    if (inode->seen == NULL) {
        inode->seen = crash_room_new();
        inode->disk = crash_room_new();
    } else {
        memset(inode->seen, 0, inode->touched);
        memset(inode->disk, 0, inode->touched);
    }
    inode->is_used = true;
    inode->is_locked = false;
    inode->map_count = 0;
    inode->seen_size = inode->disk_size = inode->touched = 0;
    memset(inode->dirty, 0, sizeof inode->dirty);
    inode->dirty_from = FILE_ROOM / PAGE;
    inode->dirty_to = 0;
    return i;
}

bool crash_page_is_dirty(const struct inode *inode, size_t page)
{
    return (inode->dirty[page / 8] >> (page % 8) & 1) != 0;
}

void crash_page_dirty(struct inode *inode, size_t page)
{
    inode->dirty[page / 8] = (uint8_t)(inode->dirty[page / 8] | 1u << (page % 8));
    inode->dirty_from = page < inode->dirty_from ? page : inode->dirty_from;
    inode->dirty_to = page + 1 > inode->dirty_to ? page + 1 : inode->dirty_to;
}

void crash_page_clean(struct inode *inode, size_t page)
{
    inode->dirty[page / 8] = (uint8_t)(inode->dirty[page / 8] & ~(1u << (page % 8)));
}

void crash_page_write_back(struct inode *inode, size_t page)
{
    memcpy(inode->disk + page * PAGE, inode->seen + page * PAGE, PAGE);
    crash_page_clean(inode, page);
}

/* A page whose fate was not decided by a flush. */
static void page_by_chance(struct crash_os *crash, struct inode *inode, size_t page)
{
    uint64_t fate = test_random(&crash->random) % 3;
    for (size_t at = page * PAGE; at < (page + 1) * PAGE; at += SECTOR) {
        if (fate == 1 || (fate == 2 && crash_chance(crash, 2))) {
            memcpy(inode->disk + at, inode->seen + at, SECTOR);
        }
    }
    crash_page_clean(inode, page);
}

void crash_inode_power_cut(struct crash_os *crash, struct inode *inode)
{
    size_t low = inode->disk_size, high = inode->seen_size;
    for (size_t page = inode->dirty_from; page < inode->dirty_to; page++) {
        if (crash_page_is_dirty(inode, page)) {
            page_by_chance(crash, inode, page);
        }
    }
    size_t size = crash_chance(crash, 2) ? low : high;
    if (crash_chance(crash, 3)) {
        size_t from = low < high ? low : high, to = low < high ? high : low;
        size = from + test_random(&crash->random) % (to - from + 1);
    }
    if (size < inode->touched) {
        memset(inode->disk + size, 0, inode->touched - size);
    }
    memcpy(inode->seen, inode->disk, inode->touched);
    if (crash_chance(crash, 2)) {
        inode->changed = inode->changed_before;
    }
    inode->seen_size = inode->disk_size = size;
    inode->is_locked = false;
    inode->dirty_from = FILE_ROOM / PAGE;
    inode->dirty_to = 0;
}

void crash_write_back_some(struct crash_os *crash)
{
    struct inode *dirty[INODES];
    size_t count = 0;
    if (!crash_chance(crash, 16)) {
        return;
    }
    for (int i = 0; i < INODES; i++) {
        if (crash->inodes[i].is_used && crash->inodes[i].dirty_from < crash->inodes[i].dirty_to) {
            dirty[count++] = &crash->inodes[i];
        }
    }
    if (count == 0) {
        return;
    }
    struct inode *inode = dirty[test_random(&crash->random) % count];
    for (size_t page = inode->dirty_from; page < inode->dirty_to; page++) {
        if (crash_page_is_dirty(inode, page) && crash_chance(crash, 2)) {
            crash_page_write_back(inode, page);
        }
    }
}

void crash_bytes_write(struct inode *inode, const void *buf, size_t size, size_t offset)
{
    REQUIRE(offset + size <= FILE_ROOM);
    if (size == 0) {
        return;
    }
    memcpy(inode->seen + offset, buf, size);
    for (size_t page = offset / PAGE; page <= (offset + size - 1) / PAGE; page++) {
        crash_page_dirty(inode, page);
    }
    if (offset + size > inode->seen_size) {
        inode->seen_size = offset + size;
    }
    if (inode->seen_size > inode->touched) {
        inode->touched = (inode->seen_size + PAGE - 1) / PAGE * PAGE;
    }
}

/* ---- Names ---- */

void crash_name_copy(char out[NAME_ROOM], const char *name)
{
    size_t size = strlen(name);
    REQUIRE(size < NAME_ROOM);
    memcpy(out, name, size + 1);
}

int crash_names_find(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->at[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void names_set(struct names *names, const char *name, int inode)
{
    int at = crash_names_find(names, name);
    if (at < 0) {
        REQUIRE(names->count < NAMES);
        at = (int)names->count++;
    }
    crash_name_copy(names->at[at].name, name);
    names->at[at].inode = inode;
}

void crash_names_remove(struct names *names, const char *name)
{
    int at = crash_names_find(names, name);
    if (at >= 0) {
        names->at[at] = names->at[--names->count];
    }
}

void crash_names_apply(struct names *names, const struct name_op *op)
{
    if (op->is_rename) {
        crash_names_remove(names, op->name);
        names_set(names, op->to, op->inode);
    } else if (op->is_removal) {
        crash_names_remove(names, op->name);
    } else {
        names_set(names, op->name, op->inode);
    }
}

void crash_names_do(struct crash_os *crash, struct name_op op)
{
    REQUIRE(crash->names.op_count < OPS);
    crash_names_apply(&crash->names.seen, &op);
    crash->names.ops[crash->names.op_count++] = op;
}

struct name_op crash_name_op(const char *name, int inode)
{
    struct name_op op = {.inode = inode};
    crash_name_copy(op.name, name);
    return op;
}

void crash_inodes_sweep(struct crash_os *crash)
{
    bool is_reached[INODES] = {false};
    const struct names *lists[] = {&crash->names.seen, &crash->names.durable};
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            is_reached[lists[list]->at[i].inode] = true;
        }
    }
    for (size_t i = 0; i < crash->names.op_count; i++) {
        is_reached[crash->names.ops[i].inode] = true;
    }
    for (int i = 0; i < HANDLES; i++) {
        if (crash->handles[i] != 0) {
            is_reached[crash->handles[i] - 1] = true;
        }
    }
    for (int i = 0; i < INODES; i++) {
        is_reached[i] = is_reached[i] || crash->inodes[i].map_count > 0;
        crash->inodes[i].is_used = crash->inodes[i].is_used && is_reached[i];
    }
}
