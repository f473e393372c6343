/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Views: how a caller outside the engine holds a value where it lies, without
 * a copy, for as long as it likes.
 *
 * What can be held is a stretch of read-only memory, a whole segment or extent:
 *
 *   struct kv_view   base | ........ value ........ |      one for each segment
 *                              ^ a KevyBuf of kevy_get_shared   that is looked at
 *
 * It is unmapped when its segment has gone and the last holder has let go,
 * whoever that is: so closing the store, collecting, unlinking and opening
 * again change nothing under a holder. A pointer alone says what is held: all
 * views of the process are in one register by address, which outlives every
 * store. A buffer that no view contains is plain memory.
 *
 * What holders keep alive is bounded: a view that somebody holds is charged
 * with its whole size, and no more than KV_VIEW_CHARGE_MAX is charged in the
 * process. The charge stays, so that holding again costs one addition, until
 * room is needed for another.
 *
 * Not here: which memory may be viewed (log/log_view.c), what callers see of
 * it (engine/api_value.c).
 *
 * Threads: any, but new and drop come from the store's writer, once each.
 */
#ifndef KEVY_SRC_STORE_VIEW_H
#define KEVY_SRC_STORE_VIEW_H

#include <stdatomic.h>

#include "base/list.h"
#include "kevy/os.h"
#include "kevy/src/mem/grave.h"
#include "kevy/src/store/record.h"

/* Bytes of segments that holders may keep in memory. */
#define KV_VIEW_CHARGE_MAX ((size_t)64 << 20)

/* The register: chains of links by the slot-sized stretch of address space. */
#define KV_VIEW_BUCKETS 4096u

struct kv_view_link {
    struct kv_view_link *_Atomic next;
    struct kv_view *view;
};

/* What `state` counts: holders, and in the two lowest bits whether the segment
 * is still there and whether the view is charged. */
#define KV_VIEW_CHARGED ((size_t)1)
#define KV_VIEW_ATTACHED ((size_t)2)
#define KV_VIEW_HOLDER ((size_t)4)

struct kv_view {
    const uint8_t *base;
    size_t size;
    _Atomic size_t reach; /* bytes from base on that may be held; only grows */
    _Atomic size_t state;
    const kevy_os *os;
    unsigned forks;      /* of the process that made it */
    struct list charged; /* in the list of those that are */
    struct kv_grave grave;
    size_t link_count;
    struct kv_view_link links[];
};

extern struct kv_view_link *_Atomic kv_view_register[KV_VIEW_BUCKETS];

/* The chain for views that reach into this stretch of address space. */
static inline struct kv_view_link *_Atomic *kv_view_chain(uintptr_t at)
{
    return &kv_view_register[at / KV_SLOT_SIZE % KV_VIEW_BUCKETS];
}

/* Registers memory that `os` mapped, and that from now on is the view's.
 * Attached, and reaching nowhere; end that with kv_view_drop. 0 or KEVY_ENOMEM.
 * `os` must outlive every holder. */
int kv_view_new(const kevy_os *os, const uint8_t *base, size_t size, struct kv_view **out);

/* The memory is read-only as far as `reach`: so far values may be held. */
static inline void kv_view_extend(struct kv_view *view, size_t reach)
{
    atomic_store_explicit(&view->reach, reach, memory_order_release);
}

/* The segment is gone, every reader of it has left: unmaps when nobody holds. */
void kv_view_drop(struct kv_view *view);

/* The slow sides of the two below. */
bool kv_view_charge(struct kv_view *view);
bool kv_view_release_at(const void *ptr);

static inline bool kv_view_reaches(const struct kv_view *view, struct bytes value)
{
    return (size_t)(value.data - view->base) + value.size <=
           atomic_load_explicit(&view->reach, memory_order_acquire);
}

/* Finds the view that `ptr` lies in, or NULL. Inside an epoch. */
static inline struct kv_view *kv_view_find(const void *ptr)
{
    uintptr_t at = (uintptr_t)ptr;
    struct kv_view_link *link = atomic_load_explicit(kv_view_chain(at), memory_order_acquire);
    while (link != NULL && at - (uintptr_t)link->view->base >= link->view->size) {
        link = atomic_load_explicit(&link->next, memory_order_acquire);
    }
    return link == NULL ? NULL : link->view;
}

/* Holds an attached view that was found in this epoch. False: too much is held. */
static inline bool kv_view_hold(struct kv_view *view)
{
    size_t before = atomic_fetch_add_explicit(&view->state, KV_VIEW_HOLDER, memory_order_relaxed);
    return (before & KV_VIEW_CHARGED) != 0 || kv_view_charge(view);
}

/* Lets go of what is held at `ptr`. False: nothing is, it lies in no view. */
static inline bool kv_view_release(const void *ptr)
{
    return atomic_load_explicit(kv_view_chain((uintptr_t)ptr), memory_order_relaxed) != NULL &&
           kv_view_release_at(ptr);
}

/* In a forked child: forgets what the parent holds; its views are left alone. */
void kv_view_reset(void);

/* Bytes that are charged now; for tests and statistics. */
size_t kv_view_charged(void);

#endif
