/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Graves: things that nobody can reach any more but that a reader may still be
 * looking at. Each is freed when every reader of its time has left
 * (os_epoch.h).
 *
 *   bury   the thing was unpublished before; its epoch is stamped
 *   reap   frees those whose readers have left; one load when there are none
 *   done   frees all, when no reader can be inside any more
 *
 * A grave is a member of the thing that it frees, so burying needs no memory.
 *
 * Threads: one at a time, under the lock of whoever owns the yard.
 */
#ifndef KEVY_SRC_MEM_GRAVE_H
#define KEVY_SRC_MEM_GRAVE_H

#include <stddef.h>
#include <stdint.h>

struct kv_grave {
    struct kv_grave *next;
    uint64_t stamp;
    void (*free)(void *owner, struct kv_grave *grave);
};

struct kv_graveyard {
    void *owner; /* handed to every free */
    struct kv_grave *oldest;
    struct kv_grave *newest;
};

void kv_graveyard_init(struct kv_graveyard *yard, void *owner);

/* Frees the thing later. Costs a stamp: about a microsecond. */
void kv_graveyard_bury(struct kv_graveyard *yard, struct kv_grave *grave,
                       void (*free)(void *owner, struct kv_grave *grave));

void kv_graveyard_reap_slow(struct kv_graveyard *yard);

static inline void kv_graveyard_reap(struct kv_graveyard *yard)
{
    if (yard->oldest != NULL) {
        kv_graveyard_reap_slow(yard);
    }
}

void kv_graveyard_done(struct kv_graveyard *yard);

#endif
