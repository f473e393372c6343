/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A system that crashes: files and folders in memory behind a kevy_os table,
 * with a disk that is another thing than what the process sees.
 *
 * What a file_write wrote is seen at once, but lies in dirty pages; only
 * file_flush brings it to the disk. Names likewise, by dir_flush. A power cut
 * decides by chance, page by page and name by name, what of the rest had
 * reached the disk:
 *   - a dirty page is dropped, kept, or torn: each sector of 512 bytes old or new
 *   - a size that was not flushed is the old, the new, or one between
 *   - creations, removals and renames that were not flushed go either way,
 *     each by itself
 *   - now and then a page is written back early, so that a disk can also hold
 *     what a later write replaced
 * A kill loses nothing of that; it only ends the process.
 *
 * Time stands still until the test moves it. One thread at a time, unless a
 * test brings its own lock.
 */
#ifndef TESTING_CRASH_OS_H
#define TESTING_CRASH_OS_H

#include <stdbool.h>

#include "kevy/os.h"

struct crash_os;

/* What the n-th call, and those after it, do. */
enum crash_fault {
    CRASH_NONE,
    CRASH_DEAD,  /* nothing works any more: the process is to be cut off here */
    CRASH_NOSPC, /* writes and creations fail with ENOSPC, after a part of the bytes */
    CRASH_EIO,   /* the call fails with EIO; a flush loses what it should have flushed */
    CRASH_SHORT  /* a write takes only a part */
};

/* An empty disk. The seed decides everything that is left to chance. */
struct crash_os *crash_os_new(uint64_t seed);
void crash_os_free(struct crash_os *crash);

/* The table. Borrowed until crash_os_free. */
const kevy_os *crash_os_table(struct crash_os *crash);

/* From the call with this number on (0 is the next one), for `count` calls that
 * the fault concerns, does what the fault says. */
void crash_os_fault(struct crash_os *crash, enum crash_fault fault, uint64_t call, uint64_t count);

/* How many calls that touch the disk were made so far. */
uint64_t crash_os_calls(const struct crash_os *crash);

/* The process is gone, its files are closed. Faults end. */
void crash_os_kill(struct crash_os *crash);

/* The machine has lost power and is back: as a kill, and what was not durable
 * goes by chance. */
void crash_os_power_cut(struct crash_os *crash);

/* Whether files can be published through windows; at the start they can. */
void crash_os_windows(struct crash_os *crash, bool has_windows);

/* How many bytes the disk holds at most, 0: no limit. */
void crash_os_capacity(struct crash_os *crash, uint64_t size);

/* Moves both clocks forward; sets the wall clock. */
void crash_os_pass(struct crash_os *crash, uint64_t ms);
void crash_os_set_wall(struct crash_os *crash, uint64_t ms);

/* Direct looks at, and damage to, what the process would see: the bytes of a
 * file in a folder (NULL if it is not there), its size. Whoever looks may
 * write, so the file counts as changed. */
uint8_t *crash_os_file(struct crash_os *crash, const char *name, size_t *size);
void crash_os_truncate(struct crash_os *crash, const char *name, size_t size);
void crash_os_remove(struct crash_os *crash, const char *name);

/* A copy of everything as it is, to be restored any number of times. */
struct crash_copy;
struct crash_copy *crash_os_copy(const struct crash_os *crash);
void crash_os_restore(struct crash_os *crash, const struct crash_copy *copy);
void crash_copy_free(struct crash_copy *copy);

/* Bytes of all files by size. */
uint64_t crash_os_size(const struct crash_os *crash);

#endif
