/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The register of views, its charges, and the end of a view. See view.h.
 *
 * The register is read without a lock inside an epoch and changed under
 * views_lock; a view that was taken out is buried (mem/grave.h), since a
 * reader may stand on its links. Its memory is unmapped after it was taken out
 * and not before: so no address is ever found in two views.
 */
#include "kevy/src/store/view.h"

#include "base/assert.h"
#include "kevy.h"
#include "kevy/src/mem/mem.h"
#include "kevy/src/os/os_epoch.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/src/os/os_thread.h"

struct kv_view_link *_Atomic kv_view_register[KV_VIEW_BUCKETS];

static struct kv_mutex views_lock;
static struct kv_graveyard views_yard;
static struct list views_charged = {&views_charged, &views_charged};
static size_t views_charge;

/* The stretch of address space that a byte lies in. */
static size_t stretch_of(const uint8_t *at)
{
    return (size_t)((uintptr_t)at / KV_SLOT_SIZE);
}

static size_t view_bytes(size_t link_count)
{
    return sizeof(struct kv_view) + link_count * sizeof(struct kv_view_link);
}

static struct kv_view_link *_Atomic *chain_of(const struct kv_view *view, size_t link)
{
    return kv_view_chain((uintptr_t)view->base + link * KV_SLOT_SIZE);
}

/* ---- In and out of the register ---- */

static void view_enter(struct kv_view *view)
{
    for (size_t i = 0; i < view->link_count; i++) {
        struct kv_view_link *_Atomic *head = chain_of(view, i);
        view->links[i].view = view;
        atomic_init(&view->links[i].next, atomic_load_explicit(head, memory_order_relaxed));
        atomic_store_explicit(head, &view->links[i], memory_order_release);
    }
}

static void view_leave(struct kv_view *view)
{
    for (size_t i = 0; i < view->link_count; i++) {
        struct kv_view_link *_Atomic *at = chain_of(view, i);
        struct kv_view_link *link;
        while ((link = atomic_load_explicit(at, memory_order_relaxed)) != &view->links[i]) {
            ASSERT(link != NULL);
            at = &link->next;
        }
        atomic_store_explicit(at, atomic_load_explicit(&link->next, memory_order_relaxed),
                              memory_order_release);
    }
}

int kv_view_new(const kevy_os *os, const uint8_t *base, size_t size, struct kv_view **out)
{
    ASSERT(size > 0);
    size_t link_count = stretch_of(base + size - 1) - stretch_of(base) + 1;
    if (link_count > KV_VIEW_BUCKETS) {
        return KEVY_ENOMEM;
    }
    struct kv_view *view = kv_mem_zeroed(&kv_mem_buffers, view_bytes(link_count));
    if (view == NULL) {
        return KEVY_ENOMEM;
    }
    view->base = base;
    view->size = size;
    view->os = os;
    view->forks = kv_fork_count();
    view->link_count = link_count;
    list_init(&view->charged);
    atomic_init(&view->state, KV_VIEW_ATTACHED);
    kv_mutex_lock(&views_lock);
    view_enter(view);
    kv_graveyard_reap(&views_yard);
    kv_mutex_unlock(&views_lock);
    *out = view;
    return KEVY_OK;
}

/* ---- Charges ---- */

static void discharge(struct kv_view *view)
{
    if (!list_is_empty(&view->charged)) {
        list_remove(&view->charged);
        views_charge -= view->size;
    }
}

/* Takes the charge from views that nobody holds until `size` more fit. */
static void charges_sweep(size_t size)
{
    struct list *next;
    for (struct list *at = views_charged.next;
         at != &views_charged && views_charge + size > KV_VIEW_CHARGE_MAX; at = next) {
        struct kv_view *view = LIST_OWNER(at, struct kv_view, charged);
        size_t idle = KV_VIEW_ATTACHED | KV_VIEW_CHARGED;
        next = at->next;
        if (atomic_compare_exchange_strong_explicit(&view->state, &idle, KV_VIEW_ATTACHED,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            discharge(view);
        }
    }
}

static bool is_charged(struct kv_view *view)
{
    if ((atomic_load_explicit(&view->state, memory_order_relaxed) & KV_VIEW_CHARGED) != 0) {
        return true;
    }
    if (views_charge + view->size > KV_VIEW_CHARGE_MAX) {
        charges_sweep(view->size);
    }
    if (views_charge + view->size > KV_VIEW_CHARGE_MAX) {
        return false;
    }
    views_charge += view->size;
    list_add(&views_charged, &view->charged);
    atomic_fetch_or_explicit(&view->state, KV_VIEW_CHARGED, memory_order_relaxed);
    return true;
}

bool kv_view_charge(struct kv_view *view)
{
    kv_mutex_lock(&views_lock);
    bool holds = is_charged(view);
    kv_mutex_unlock(&views_lock);
    if (!holds) {
        /* The segment is attached as long as this epoch lasts: never the end. */
        atomic_fetch_sub_explicit(&view->state, KV_VIEW_HOLDER, memory_order_relaxed);
    }
    return holds;
}

size_t kv_view_charged(void)
{
    kv_mutex_lock(&views_lock);
    size_t charge = views_charge;
    kv_mutex_unlock(&views_lock);
    return charge;
}

/* ---- The end ---- */

static void view_free(void *owner, struct kv_grave *grave)
{
    struct kv_view *view =
        (struct kv_view *)(void *)((char *)grave - offsetof(struct kv_view, grave));
    (void)owner;
    kv_mem_free(&kv_mem_buffers, view, view_bytes(view->link_count));
}

/* No segment and no holder. */
static void view_end(struct kv_view *view)
{
    const kevy_os *os = view->os;
    const uint8_t *base = view->base;
    size_t size = view->size;
    kv_mutex_lock(&views_lock);
    view_leave(view);
    discharge(view);
    kv_graveyard_bury(&views_yard, &view->grave, view_free);
    kv_graveyard_reap(&views_yard);
    kv_mutex_unlock(&views_lock);
    os->unmap(os->self, (void *)(uintptr_t)base, size);
}

/* Takes a part of the state away, and ends the view when nothing is left. */
static void view_less(struct kv_view *view, size_t part)
{
    size_t left = atomic_fetch_sub_explicit(&view->state, part, memory_order_acq_rel) - part;
    if ((left & ~KV_VIEW_CHARGED) == 0) {
        view_end(view);
    }
}

void kv_view_drop(struct kv_view *view)
{
    view_less(view, KV_VIEW_ATTACHED);
}

/* A thread that has no epoch to be in looks under the lock. */
static struct kv_view *view_find_slow(const void *ptr)
{
    kv_mutex_lock(&views_lock);
    struct kv_view *view = kv_view_find(ptr);
    kv_mutex_unlock(&views_lock);
    return view;
}

bool kv_view_release_at(const void *ptr)
{
    struct kv_epoch_slot *slot = kv_epoch_enter();
    struct kv_view *view = slot == NULL ? view_find_slow(ptr) : kv_view_find(ptr);
    if (slot != NULL) {
        kv_epoch_leave(slot);
    }
    if (view != NULL && view->forks == kv_fork_count()) {
        view_less(view, KV_VIEW_HOLDER);
    }
    return view != NULL;
}

void kv_view_reset(void)
{
    kv_mutex_init(&views_lock);
    list_init(&views_charged);
    views_charge = 0;
    views_yard = (struct kv_graveyard){NULL, NULL, NULL};
}
