/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Burying and reaping. See grave.h.
 *
 * Graves are in the order of their stamps, so reaping stops at the first whose
 * readers are still inside.
 */
#include "kevy/src/mem/grave.h"

#include "kevy/src/os/os_epoch.h"

void kv_graveyard_init(struct kv_graveyard *yard, void *owner)
{
    *yard = (struct kv_graveyard){owner, NULL, NULL};
}

void kv_graveyard_bury(struct kv_graveyard *yard, struct kv_grave *grave,
                       void (*free)(void *owner, struct kv_grave *grave))
{
    *grave = (struct kv_grave){NULL, kv_epoch_stamp(), free};
    if (yard->oldest == NULL) {
        yard->oldest = grave;
    } else {
        yard->newest->next = grave;
    }
    yard->newest = grave;
}

static void free_oldest(struct kv_graveyard *yard)
{
    struct kv_grave *grave = yard->oldest;
    yard->oldest = grave->next;
    grave->free(yard->owner, grave);
}

void kv_graveyard_reap_slow(struct kv_graveyard *yard)
{
    while (yard->oldest != NULL && kv_epoch_passed(yard->oldest->stamp)) {
        free_oldest(yard);
    }
}

void kv_graveyard_done(struct kv_graveyard *yard)
{
    while (yard->oldest != NULL) {
        free_oldest(yard);
    }
}
