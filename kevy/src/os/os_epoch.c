/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Epoch slots: claiming, giving back, and the slow side. See os_epoch.h.
 *
 * Slots are in pages of their own, on a list that only grows. The list, the
 * epoch and the choice of fence are the process's, not a store's: a thread has
 * one slot whatever stores it reads.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall, MAP_ANONYMOUS */
#endif
#include "kevy/src/os/os_epoch.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/assert.h"

#define SLOTS_PAGE 4096u
#define SLOTS_PER_PAGE (SLOTS_PAGE / sizeof(struct kv_epoch_slot))
#define SPINS 200u

/* The two commands of membarrier(2) that are used, as linux/membarrier.h has
 * them; the header is missing on old systems. */
#define BARRIER_PRIVATE (1 << 3)
#define BARRIER_REGISTER (1 << 4)

_Thread_local struct kv_epoch_slot *kv_epoch_own KV_EPOCH_TLS;
_Atomic uint64_t kv_epoch_now = 1;
bool kv_epoch_has_barrier;

static struct kv_epoch_slot *_Atomic epoch_slots;
static pthread_key_t epoch_key;
static bool epoch_has_key;
static pthread_once_t epoch_once = PTHREAD_ONCE_INIT;

static int barrier(int command)
{
#if defined(__SANITIZE_THREAD__) || !defined(__linux__) || !defined(SYS_membarrier)
    (void)command;
    return -1;
#else
    return (int)syscall(SYS_membarrier, command, 0, 0);
#endif
}

static void slot_release(void *user)
{
    struct kv_epoch_slot *slot = user;
    kv_epoch_own = NULL;
    if (slot->depth == 0) {
        atomic_store_explicit(&slot->is_taken, 0, memory_order_release);
    }
}

/* Registering waits for every processor if there is another thread by then. */
static void epoch_begin(void)
{
    kv_epoch_has_barrier = barrier(BARRIER_REGISTER) == 0;
    epoch_has_key = pthread_key_create(&epoch_key, slot_release) == 0;
}

void kv_epoch_prepare(void)
{
    (void)pthread_once(&epoch_once, epoch_begin);
}

static struct kv_epoch_slot *slot_reuse(void)
{
    struct kv_epoch_slot *slot = atomic_load_explicit(&epoch_slots, memory_order_acquire);
    for (; slot != NULL; slot = slot->next) {
        uint32_t is_taken = 0;
        if (atomic_load_explicit(&slot->is_taken, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&slot->is_taken, &is_taken, 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            return slot;
        }
    }
    return NULL;
}

/* The leak check of a host that was built with one does not look for pointers in pages that are
 * not malloc's, and so would miss what slots keep. */
#if defined(__ELF__)
__attribute__((weak)) void __lsan_register_root_region(const void *page, size_t size);
#endif

static void slots_tell(const void *page)
{
#if defined(__ELF__)
    if (__lsan_register_root_region != NULL) {
        __lsan_register_root_region(page, SLOTS_PAGE);
    }
#else
    (void)page;
#endif
}

/* Adds a page of free slots in front of the list. */
static bool slots_add(void)
{
    void *page = mmap(NULL, SLOTS_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return false;
    }
    slots_tell(page);
    struct kv_epoch_slot *slots = page;
    for (size_t i = 0; i + 1 < SLOTS_PER_PAGE; i++) {
        slots[i].next = &slots[i + 1];
    }
    struct kv_epoch_slot *head = atomic_load_explicit(&epoch_slots, memory_order_relaxed);
    do {
        slots[SLOTS_PER_PAGE - 1].next = head;
    } while (!atomic_compare_exchange_weak_explicit(&epoch_slots, &head, slots,
                                                    memory_order_release, memory_order_relaxed));
    return true;
}

struct kv_epoch_slot *kv_epoch_claim(void)
{
    kv_epoch_prepare();
    struct kv_epoch_slot *slot = slot_reuse();
    while (slot == NULL) {
        if (!slots_add()) {
            return NULL;
        }
        slot = slot_reuse();
    }
    ASSERT(slot->depth == 0);
    /* Without a key the slot stays taken when the thread ends: a small leak, no fault. */
    if (epoch_has_key) {
        (void)pthread_setspecific(epoch_key, slot);
    }
    kv_epoch_own = slot;
    return slot;
}

/* Makes what was stored before visible to every reader that enters later, and
 * every slot of a reader that is inside visible to us. */
static void fence_heavy(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (kv_epoch_has_barrier) {
        int failed = barrier(BARRIER_PRIVATE);
        ASSERT(failed == 0);
        (void)failed;
    }
}

uint64_t kv_epoch_stamp(void)
{
    (void)pthread_once(&epoch_once, epoch_begin);
    uint64_t stamp = atomic_fetch_add_explicit(&kv_epoch_now, 1, memory_order_acq_rel);
    fence_heavy();
    return stamp;
}

static bool has_left(struct kv_epoch_slot *slot, uint64_t stamp)
{
    uint64_t epoch = atomic_load_explicit(&slot->epoch, memory_order_acquire);
    return epoch == 0 || epoch > stamp;
}

bool kv_epoch_passed(uint64_t stamp)
{
    struct kv_epoch_slot *slot = atomic_load_explicit(&epoch_slots, memory_order_acquire);
    for (; slot != NULL; slot = slot->next) {
        if (!has_left(slot, stamp)) {
            return false;
        }
    }
    return true;
}

/* Spins, then yields, then sleeps: readers are inside for microseconds. */
static void relax(unsigned round)
{
    if (round < SPINS) {
        return;
    }
    if (round < 2 * SPINS) {
        (void)sched_yield();
        return;
    }
    struct timespec nap = {0, 50000};
    (void)nanosleep(&nap, NULL);
}

void kv_epoch_wait(void)
{
    ASSERT(kv_epoch_own == NULL || kv_epoch_own->depth == 0);
    uint64_t stamp = kv_epoch_stamp();
    struct kv_epoch_slot *slot = atomic_load_explicit(&epoch_slots, memory_order_acquire);
    for (; slot != NULL; slot = slot->next) {
        for (unsigned round = 0; !has_left(slot, stamp); round++) {
            relax(round);
        }
    }
}

void kv_epoch_reset(void)
{
    struct kv_epoch_slot *slot = atomic_load_explicit(&epoch_slots, memory_order_acquire);
    for (; slot != NULL; slot = slot->next) {
        if (slot != kv_epoch_own) {
            atomic_store_explicit(&slot->epoch, 0, memory_order_relaxed);
        }
    }
}
