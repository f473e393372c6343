/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The journal that lies. See fake_journal.h.
 *
 * Memory that runs out here is the test's own trouble: it ends the test.
 */
#include "kevy/test/fake_journal.h"

#include <stdlib.h>

#include "kevy.h"

static uint8_t *room_for(struct fake_journal *journal, size_t size, uint32_t *ref)
{
    if (journal->slot_count == 0 || journal->used + size > KV_SLOT_SIZE) {
        uint32_t slot = journal->slot_count++;
        journal->slots[slot] = calloc(1, KV_SLOT_SIZE);
        if (kv_space_reserve(&journal->space, slot + 1) < 0) {
            abort();
        }
        kv_space_set(&journal->space, slot, journal->slots[slot]);
        journal->used = KV_SEGMENT_HEADER;
    }
    uint32_t slot = journal->slot_count - 1;
    *ref = kv_ref_of(slot, journal->used);
    journal->used += size;
    return journal->slots[slot] + journal->used - size;
}

static int fake_append(void *self, struct kv_draft *drafts, size_t count)
{
    struct fake_journal *journal = self;
    if (journal->fail_with != 0) {
        return journal->fail_with;
    }
    for (size_t i = 0; i < count; i++) {
        if (drafts[i].type == KV_RECORD_TOMBSTONE && journal->keeps_nothing) {
            drafts[i].ref = 0;
            continue;
        }
        uint8_t *out = room_for(journal, kv_draft_size(&drafts[i], 0), &drafts[i].ref);
        kv_draft_encode(&drafts[i], 0, out);
    }
    journal->appends++;
    journal->records += count;
    return 0;
}

static void fake_retire(void *self, uint32_t ref)
{
    struct fake_journal *journal = self;
    (void)ref;
    journal->retired++;
}

void fake_journal_init(struct fake_journal *journal)
{
    memset(journal, 0, sizeof *journal);
    kv_mem_init(&journal->mem, &kv_mem_libc);
    if (kv_space_init(&journal->space, &journal->mem) < 0) {
        abort();
    }
    journal->table = (struct kv_journal){journal, fake_append, fake_retire};
}

void fake_journal_done(struct fake_journal *journal)
{
    for (uint32_t i = 0; i < journal->slot_count; i++) {
        free(journal->slots[i]);
    }
    kv_space_done(&journal->space);
}
