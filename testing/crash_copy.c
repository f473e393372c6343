/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Copies of a whole crashing disk, to go back to any number of times; see
 * crash_os.h.
 */
#include <stdlib.h>
#include <string.h>

#include "testing/crash_inside.h"
#include "testing/harness.h"

struct file_copy {
    struct inode inode;
    uint8_t *seen, *disk;
};

struct crash_copy {
    struct file_copy files[INODES];
    struct disk names;
};

static size_t inode_extent(const struct inode *inode)
{
    return inode->touched;
}

static uint8_t *bytes_copy(const uint8_t *from, size_t size)
{
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    REQUIRE(copy != NULL);
    memcpy(copy, from, size);
    return copy;
}

struct crash_copy *crash_os_copy(const struct crash_os *crash)
{
    struct crash_copy *copy = (struct crash_copy *)calloc(1, sizeof *copy);
    REQUIRE(copy != NULL);
    copy->names = crash->names;
    for (int i = 0; i < INODES; i++) {
        const struct inode *inode = &crash->inodes[i];
        copy->files[i].inode = *inode;
        if (inode->is_used) {
            copy->files[i].seen = bytes_copy(inode->seen, inode_extent(inode));
            copy->files[i].disk = bytes_copy(inode->disk, inode_extent(inode));
        }
    }
    return copy;
}

void crash_os_restore(struct crash_os *crash, const struct crash_copy *copy)
{
    crash_os_kill(crash);
    crash->names = copy->names;
    for (int i = 0; i < INODES; i++) {
        struct inode *inode = &crash->inodes[i];
        const struct file_copy *from = &copy->files[i];
        uint8_t *seen = inode->seen, *disk = inode->disk;
        if (seen != NULL) {
            memset(seen, 0, inode_extent(inode));
            memset(disk, 0, inode_extent(inode));
        }
        if (!from->inode.is_used) {
            inode->is_used = false;
            inode->seen_size = inode->disk_size = inode->touched = 0;
            continue;
        }
        if (seen == NULL) {
            seen = crash_room_new();
            disk = crash_room_new();
        }
        *inode = from->inode;
        inode->seen = seen;
        inode->disk = disk;
        memcpy(seen, from->seen, inode_extent(inode));
        memcpy(disk, from->disk, inode_extent(inode));
    }
}

void crash_copy_free(struct crash_copy *copy)
{
    for (int i = 0; i < INODES; i++) {
        free(copy->files[i].seen);
        free(copy->files[i].disk);
    }
    free(copy);
}
