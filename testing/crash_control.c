/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What tests do to the crashing system: begin, end, crash, look into it; see
 * crash_os.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "testing/crash_inside.h"
#include "testing/harness.h"

uint64_t crash_os_size(const struct crash_os *crash)
{
    uint64_t size = 0;
    for (size_t i = 0; i < crash->names.seen.count; i++) {
        size += crash->inodes[crash->names.seen.at[i].inode].seen_size;
    }
    return size;
}

struct crash_os *crash_os_new(uint64_t seed)
{
    struct crash_os *crash = (struct crash_os *)calloc(1, sizeof *crash);
    REQUIRE(crash != NULL);
    crash->table = crash_table;
    crash->table.self = crash;
    crash->random = seed;
    crash->wall_ms = 1700000000000;
    crash->boot_ns = 1000000000;
    return crash;
}

void crash_os_free(struct crash_os *crash)
{
    for (int i = 0; i < INODES; i++) {
        if (crash->inodes[i].seen != NULL) {
            (void)munmap(crash->inodes[i].seen, FILE_ROOM);
            (void)munmap(crash->inodes[i].disk, FILE_ROOM);
        }
    }
    free(crash);
}

const kevy_os *crash_os_table(struct crash_os *crash)
{
    return &crash->table;
}

void crash_os_fault(struct crash_os *crash, enum crash_fault fault, uint64_t call, uint64_t count)
{
    crash->fault = fault;
    crash->fault_call = crash->calls + call;
    crash->fault_count = count;
}

uint64_t crash_os_calls(const struct crash_os *crash)
{
    return crash->calls;
}

void crash_os_kill(struct crash_os *crash)
{
    crash->fault = CRASH_NONE;
    memset(crash->handles, 0, sizeof crash->handles);
    for (int i = 0; i < INODES; i++) {
        crash->inodes[i].is_locked = false;
        crash->inodes[i].map_count = 0;
    }
    crash_inodes_sweep(crash);
}

void crash_os_power_cut(struct crash_os *crash)
{
    struct disk *names = &crash->names;
    crash_os_kill(crash);
    for (size_t i = 0; i < names->op_count; i++) {
        if (crash_chance(crash, 2)) {
            crash_names_apply(&names->durable, &names->ops[i]);
        }
    }
    names->op_count = 0;
    names->seen = names->durable;
    crash_inodes_sweep(crash);
    for (int i = 0; i < INODES; i++) {
        if (crash->inodes[i].is_used) {
            crash_inode_power_cut(crash, &crash->inodes[i]);
        }
    }
}

void crash_os_windows(struct crash_os *crash, bool has_windows)
{
    crash->has_no_window = !has_windows;
}

void crash_os_capacity(struct crash_os *crash, uint64_t size)
{
    crash->capacity = size;
}

void crash_os_pass(struct crash_os *crash, uint64_t ms)
{
    crash->wall_ms += ms;
    crash->boot_ns += ms * 1000000u;
}

void crash_os_set_wall(struct crash_os *crash, uint64_t ms)
{
    crash->wall_ms = ms;
}

static struct inode *inode_named(struct crash_os *crash, const char *name)
{
    int at = crash_names_find(&crash->names.seen, name);
    return at < 0 ? NULL : &crash->inodes[crash->names.seen.at[at].inode];
}

uint8_t *crash_os_file(struct crash_os *crash, const char *name, size_t *size)
{
    struct inode *inode = inode_named(crash, name);
    *size = inode == NULL ? 0 : inode->seen_size;
    if (inode != NULL) {
        crash_inode_touch(crash, inode);
    }
    return inode == NULL ? NULL : inode->seen;
}

void crash_os_truncate(struct crash_os *crash, const char *name, size_t size)
{
    struct inode *inode = inode_named(crash, name);
    REQUIRE(inode != NULL && size <= inode->seen_size);
    crash_inode_touch(crash, inode);
    memset(inode->seen + size, 0, inode->seen_size - size);
    inode->seen_size = size;
}

void crash_os_remove(struct crash_os *crash, const char *name)
{
    crash_names_remove(&crash->names.seen, name);
    crash_names_remove(&crash->names.durable, name);
}
