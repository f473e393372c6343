/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Epochs: how a thread says "I am reading" by writing only its own cache line,
 * and how whoever wants to free something learns that every reader who could
 * still see it has left.
 *
 * Each thread that ever reads has a slot of the process, found through one
 * thread-local pointer, never freed, given back when the thread ends and
 * claimed again by another (or by the same one, if a late destructor of it
 * still reads). Entering stores the current epoch in the slot, leaving stores
 * 0; entries nest. A reader stays inside only for bounded work: never across a
 * wait, a flush or a call of user code.
 *
 * Where the kernel has membarrier, entering needs no fence; elsewhere it has a
 * full one. Which it is, is fixed before the first reader enters. Under TSan,
 * which cannot see a membarrier, it is always the fence.
 *
 * Order: first unpublish, then kv_epoch_stamp, and when kv_epoch_passed says
 * so of that stamp, free. kv_epoch_wait does the three at once and waits.
 *
 * Threads: any.
 */
#ifndef KEVY_SRC_OS_OS_EPOCH_H
#define KEVY_SRC_OS_OS_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KV_EPOCH_LINE 64

struct kv_buffer;

struct kv_epoch_slot {
    _Alignas(KV_EPOCH_LINE) _Atomic uint64_t epoch; /* 0: outside */
    uint32_t depth;                                 /* entries, of the owning thread only */
    _Atomic uint32_t is_taken;
    struct kv_epoch_slot *next;
    struct kv_buffer *kept; /* mem/buffers.h's, of the owning thread only */
    uint32_t kept_count;
};

#if defined(__GLIBC__) && !defined(__ANDROID__)
#define KV_EPOCH_TLS __attribute__((tls_model("initial-exec")))
#else
#define KV_EPOCH_TLS
#endif

extern _Thread_local struct kv_epoch_slot *kv_epoch_own KV_EPOCH_TLS;
extern _Atomic uint64_t kv_epoch_now;
extern bool kv_epoch_has_barrier;

/* Does what is done once for the process. Cheap before it has a second thread; the
 * first entry does it too. */
void kv_epoch_prepare(void);

/* Gets this thread a slot. NULL without memory. */
struct kv_epoch_slot *kv_epoch_claim(void);

/* Enters. Returns the slot to leave with, or NULL without memory. */
static inline struct kv_epoch_slot *kv_epoch_enter(void)
{
    struct kv_epoch_slot *slot = kv_epoch_own;
    if (slot == NULL) {
        slot = kv_epoch_claim();
        if (slot == NULL) {
            return NULL;
        }
    }
    if (slot->depth++ == 0) {
        uint64_t now = atomic_load_explicit(&kv_epoch_now, memory_order_relaxed);
        atomic_store_explicit(&slot->epoch, now, memory_order_relaxed);
        if (kv_epoch_has_barrier) {
            atomic_signal_fence(memory_order_seq_cst);
        } else {
            atomic_thread_fence(memory_order_seq_cst);
        }
    }
    return slot;
}

static inline void kv_epoch_leave(struct kv_epoch_slot *slot)
{
    if (--slot->depth == 0) {
        atomic_store_explicit(&slot->epoch, 0, memory_order_release);
    }
}

/* Ends the epoch in which something was unpublished and returns its number. */
uint64_t kv_epoch_stamp(void);

/* Says whether every reader of the stamped epoch, and of those before, has left. */
bool kv_epoch_passed(uint64_t stamp);

/* Waits until everybody who is inside now has left. The caller must be outside. */
void kv_epoch_wait(void);

/* In a forked child, before fork returns there: the other threads are gone, and
 * with them the epochs they were in. Their slots are not used again. */
void kv_epoch_reset(void);

#endif
