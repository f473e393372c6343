/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Parking over futex, and its twin over pthread conditions; see os_park.h.
 *
 * The futex call gets a relative timeout made of two longs, the layout that
 * SYS_futex means on 32-bit and 64-bit systems alike, whatever size time_t
 * has. The twin's table is the one piece of process-wide state here: a word
 * knows nothing but its address, so its sleepers must be found by that.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "kevy/src/os/os_park.h"

#include <time.h>

#if defined(__linux__) && !defined(KV_PARK_TABLE)
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef SYS_futex /* riscv32 and younger 32-bit systems: 64-bit seconds only */
#define SYS_futex SYS_futex_time64
typedef int64_t futex_long;
#else
typedef long futex_long;
#endif
#else
#include <pthread.h>
#endif

#define PARK_NS_PER_S UINT64_C(1000000000)

/* One sleep is at most this long; a longer wait is several. It keeps seconds within 32 bits. */
#define PARK_SLEEP_NS_MAX (UINT64_C(1000000) * PARK_NS_PER_S)

uint64_t kv_mono_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * PARK_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t kv_mono_after(uint64_t timeout_ns)
{
    uint64_t now = kv_mono_ns();
    return timeout_ns >= KV_FOREVER - now ? KV_FOREVER : now + timeout_ns;
}

/* Writes how long the next sleep may be; false when the deadline has passed. */
static bool park_time_left(uint64_t deadline_ns, uint64_t *left_out)
{
    uint64_t now = kv_mono_ns();
    if (now >= deadline_ns) {
        return false;
    }
    uint64_t left = deadline_ns - now;
    *left_out = left < PARK_SLEEP_NS_MAX ? left : PARK_SLEEP_NS_MAX;
    return true;
}

#if defined(__linux__) && !defined(KV_PARK_TABLE)

struct futex_timeout {
    futex_long seconds;
    futex_long nanoseconds;
};

bool kv_park_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct futex_timeout timeout, *limit = NULL;
    int saved_errno = errno;
    if (deadline_ns != KV_FOREVER) {
        uint64_t left;
        if (!park_time_left(deadline_ns, &left)) {
            return false;
        }
        timeout.seconds = (futex_long)(left / PARK_NS_PER_S);
        timeout.nanoseconds = (futex_long)(left % PARK_NS_PER_S);
        limit = &timeout;
    }
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, limit, NULL, 0);
    errno = saved_errno;
    return limit == NULL || kv_mono_ns() < deadline_ns;
}

void kv_park_wake(_Atomic uint32_t *word, uint32_t count)
{
    int saved_errno = errno;
    unsigned most = count < INT32_MAX ? count : INT32_MAX;
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
    errno = saved_errno;
}

#else

/* Words whose addresses meet in one slot wake each other early, which is allowed. */
#define PARK_SLOTS 64

static struct park_slot {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} park_slots[PARK_SLOTS] = {
#define SLOT                                                                                       \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER                                        \
    }
#define SLOT8 SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT
    SLOT8, SLOT8, SLOT8, SLOT8, SLOT8,
    SLOT8, SLOT8, SLOT8
#undef SLOT8
#undef SLOT
};

static struct park_slot *park_slot_of(_Atomic uint32_t *word)
{
    uint32_t key = (uint32_t)((uintptr_t)word >> 2) * UINT32_C(0x9e3779b1);
    return &park_slots[key >> 26];
}

/* A condition's timeout is relative on Apple systems and wall time elsewhere: these conditions
 * are static, so they have the default clock. A wall clock that is set forward ends the sleep
 * early, one set back is caught by sleeping at most a second at a time. */
static void park_sleep(struct park_slot *slot, uint64_t left)
{
    struct timespec until;
#if defined(__APPLE__)
    until.tv_sec = (time_t)(left / PARK_NS_PER_S);
    until.tv_nsec = (long)(left % PARK_NS_PER_S);
    (void)pthread_cond_timedwait_relative_np(&slot->cond, &slot->mutex, &until);
#else
    (void)clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (left < PARK_NS_PER_S ? left : PARK_NS_PER_S);
    until.tv_sec += (time_t)(ns / PARK_NS_PER_S);
    until.tv_nsec = (long)(ns % PARK_NS_PER_S);
    (void)pthread_cond_timedwait(&slot->cond, &slot->mutex, &until);
#endif
}

bool kv_park_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct park_slot *slot = park_slot_of(word);
    bool is_in_time = true;
    (void)pthread_mutex_lock(&slot->mutex);
    if (atomic_load_explicit(word, memory_order_relaxed) == expected) {
        uint64_t left = 0;
        if (deadline_ns == KV_FOREVER) {
            (void)pthread_cond_wait(&slot->cond, &slot->mutex);
        } else if (park_time_left(deadline_ns, &left)) {
            park_sleep(slot, left);
        }
        is_in_time = deadline_ns == KV_FOREVER || kv_mono_ns() < deadline_ns;
    }
    (void)pthread_mutex_unlock(&slot->mutex);
    return is_in_time;
}

void kv_park_wake(_Atomic uint32_t *word, uint32_t count)
{
    /* Several words may share the slot, so waking `count` could wake the wrong ones only. */
    struct park_slot *slot = park_slot_of(word);
    (void)count;
    (void)pthread_mutex_lock(&slot->mutex);
    (void)pthread_cond_broadcast(&slot->cond);
    (void)pthread_mutex_unlock(&slot->mutex);
}

#endif
