/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A journal that keeps records in plain memory and can be told to fail: for
 * tests of the keyspace, which must not see the difference.
 *
 * Appends fill one slot after another of its own address space. Nothing is
 * ever reused, so a test may look at a record after it was retired.
 */
#ifndef KEVY_TEST_FAKE_JOURNAL_H
#define KEVY_TEST_FAKE_JOURNAL_H

#include "kevy/src/store/journal.h"
#include "kevy/src/store/space.h"

struct fake_journal {
    struct kv_journal table;
    struct kv_mem mem;
    struct kv_space space;
    uint8_t *slots[64];
    uint32_t slot_count;
    size_t used;        /* of the last slot */
    size_t appends;     /* calls that succeeded */
    size_t records;     /* drafts appended */
    size_t retired;     /* records retired */
    int fail_with;      /* status of the next appends, 0: none */
    bool keeps_nothing; /* tombstones get ref 0, as in a memory log */
};

void fake_journal_init(struct fake_journal *journal);
void fake_journal_done(struct fake_journal *journal);

#endif
