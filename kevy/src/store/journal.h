/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The journal: where the keyspace sends what changes, as a table of functions.
 * log/ implements it for files and for memory; tests put in liars.
 *
 * The writer lock is held during each call.
 */
#ifndef KEVY_SRC_STORE_JOURNAL_H
#define KEVY_SRC_STORE_JOURNAL_H

#include "kevy/src/store/record.h"

struct kv_journal {
    void *self;

    /* Appends `count` drafts as one unit: all of them are in the kernel (or in
     * memory) on return, or none is and nothing is visible, now or after any
     * crash. More than one is a batch. Sets each draft's ref; a tombstone's is
     * 0 in memory stores, which write none. Returns 0 or a kevy_status < 0. */
    int (*append)(void *self, struct kv_draft *drafts, size_t count);

    /* The record at `ref` is no longer the newest of its key: its bytes are
     * dead as soon as the latest append is. */
    void (*retire)(void *self, uint32_t ref);
};

#endif
