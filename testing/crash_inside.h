/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of the crashing system share; see crash_os.h.
 *
 * crash_disk.c has the disk: bytes, names, and what a power cut makes of them.
 * crash_os.c has the table and faults, crash_control.c and crash_copy.c what
 * tests call.
 */
#ifndef TESTING_CRASH_INSIDE_H
#define TESTING_CRASH_INSIDE_H

#include "testing/crash_os.h"

enum {
    PAGE = 4096,
    SECTOR = 512,
    INODES = 4096,
    HANDLES = 4096,
    NAMES = 2048,
    OPS = 8192,
    NAME_ROOM = 32
};

/* The room of one file; untouched memory costs nothing. */
#define FILE_ROOM ((size_t)8 << 20)

/* A moment, and a number that no other change has. */
struct crash_time {
    uint64_t ms;
    uint64_t change;
};

struct inode {
    bool is_used;
    uint8_t *seen; /* what the process sees */
    uint8_t *disk;
    size_t seen_size, disk_size;
    size_t touched; /* no byte behind it was ever written */
    bool is_locked;
    uint32_t map_count;               /* mappings and windows of the process */
    uint64_t birth;                   /* tells it from every other */
    struct crash_time changed;        /* when somebody last wrote to it */
    struct crash_time changed_before; /* the same as the disk has it */
    size_t dirty_from, dirty_to;      /* pages that may be dirty */
    uint8_t dirty[FILE_ROOM / PAGE / 8];
};

struct entry {
    char name[NAME_ROOM];
    int inode;
};

/* A change of names that was not flushed. */
struct name_op {
    bool is_removal;
    bool is_rename;
    char name[NAME_ROOM];
    char to[NAME_ROOM];
    int inode;
};

struct names {
    struct entry at[NAMES];
    size_t count;
};

struct disk {
    struct names seen, durable;
    struct name_op ops[OPS];
    size_t op_count;
};

struct crash_os {
    kevy_os table;
    struct inode inodes[INODES];
    struct disk names;
    int handles[HANDLES]; /* inode + 1, 0 free */
    uint64_t random;
    uint64_t calls;
    enum crash_fault fault;
    uint64_t fault_call, fault_count;
    uint64_t capacity;
    bool has_no_window;
    uint64_t births, changes;
    uint64_t wall_ms, boot_ns;
};

extern const kevy_os crash_table; /* without its self */

/* True once in `one_in` times. */
bool crash_chance(struct crash_os *crash, uint64_t one_in);

uint8_t *crash_room_new(void);
int crash_inode_new(struct crash_os *crash);
bool crash_page_is_dirty(const struct inode *inode, size_t page);
void crash_page_dirty(struct inode *inode, size_t page);
void crash_page_clean(struct inode *inode, size_t page);
void crash_page_write_back(struct inode *inode, size_t page);

/* Notes that somebody wrote to the file. */
void crash_inode_touch(struct crash_os *crash, struct inode *inode);

/* The process writes bytes of a file. */
void crash_bytes_write(struct inode *inode, const void *buf, size_t size, size_t offset);

/* What the disk has of the file after a power cut is what is seen from then on. */
void crash_inode_power_cut(struct crash_os *crash, struct inode *inode);

/* Now and then the kernel writes a page back by itself. */
void crash_write_back_some(struct crash_os *crash);

void crash_name_copy(char out[NAME_ROOM], const char *name);

/* Where a name is in the list, or -1. */
int crash_names_find(const struct names *names, const char *name);
void crash_names_remove(struct names *names, const char *name);
void crash_names_apply(struct names *names, const struct name_op *op);

/* Describes a name's change, and makes it: seen at once, not durable. */
struct name_op crash_name_op(const char *name, int inode);
void crash_names_do(struct crash_os *crash, struct name_op op);

/* Files that no name leads to, and that nobody has open or mapped, are gone. */
void crash_inodes_sweep(struct crash_os *crash);

#endif
