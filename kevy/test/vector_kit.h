/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Folders that earlier builds wrote, good and damaged: kevy/test/vectors. What
 * the tests share that read them.
 *
 * A vector is a text file, kevy/test/vectors/NAME.txt:
 *
 *   # a comment
 *   file NAME SIZE            then lines "OFFSET: hex bytes"; the rest is zero
 *   open STATUS               what opening gives (kevy_status)
 *   report REPLAYED CORRUPT DROPPED
 *   key DB KEY VERSION        what the key holds; all others hold nothing
 *   index ROAD                KEVY_INDEX_… of an open by the engine, which knows
 *                             what is in the index; it too must find these keys
 */
#ifndef KEVY_TEST_VECTOR_KIT_H
#define KEVY_TEST_VECTOR_KIT_H

#include "kevy/test/log_model.h"
#include "testing/crash_os.h"

struct vector {
    struct crash_os *crash;
    int file; /* the file that is being filled, -1 none */
    int status;
    unsigned long replayed, corrupt, dropped;
    struct model_state state;
    int road; /* -1: not told */
};

/* Runs `judge` with each vector of the folder, kevy/test/vectors, on a disk of its
 * own; returns how many. */
unsigned vectors_each(const char *folder, void (*judge)(const struct vector *vector));

#endif
