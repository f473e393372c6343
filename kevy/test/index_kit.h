/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A store with some of everything on a crashing disk, for the tests of the
 * index: small and large values, batches, expiries, deletes, a database that
 * was flushed and one that was swapped. Reading it gives one number, so that
 * two lives of it are compared at a glance.
 */
#ifndef KEVY_TEST_INDEX_KIT_H
#define KEVY_TEST_INDEX_KIT_H

#include "kevy/src/engine/engine.h"
#include "testing/crash_os.h"

enum { INDEX_KEYS = 160 };

struct index_world {
    struct crash_os *crash;
    const kevy_mem *mem; /* libc's, unless the test changes it */
    KevyDb *db;
    KevyOpenReport report;
    KevyError error;
};

void index_world_init(struct index_world *world);
void index_world_done(struct index_world *world);

/* Opens the store with small segments and no thread; a status. */
int index_open(struct index_world *world);

/* Closes it, and lets time pass so that files are told apart by their times. */
void index_close(struct index_world *world);

/* The process ends without a word. */
void index_kill(struct index_world *world);

/* Fills an open store; `salt` makes the values. */
void index_fill(struct index_world *world, unsigned salt);

void index_set(struct index_world *world, unsigned key, unsigned salt, size_t size);
void index_delete(struct index_world *world, unsigned key);

/* The keys of database 0 and 1, their values and expiries as one number; writes
 * nothing. Checks the invariants of keyspace and log too. */
uint64_t index_read(struct index_world *world);

/* What log and keyspace have noted about every segment, as one number. */
uint64_t index_notes(const struct index_world *world);

#endif
