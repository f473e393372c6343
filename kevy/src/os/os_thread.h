/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Threads, locks and conditions of the engine: plain values of a few bytes
 * that need no allocation, cannot fail and are valid when zeroed.
 *
 * kv_mutex is one 32-bit word: 0 free, 1 held, 2 held while others may sleep.
 * Taking and leaving a free lock is one atomic operation each; a taken one is
 * spun on briefly, then slept on (os_park.h). On Apple systems it is
 * os_unfair_lock, which lends the waiter's priority to the holder. It is not
 * recursive and not fair; long work gives it away between its steps.
 *
 * kv_cond is a sequence word: a waiter sleeps while the word keeps the value
 * it had under the mutex. Wakes without a cause happen: always wait in a loop.
 * A signal costs a system call only when a thread waits.
 *
 * What does not live here: files (os_file.h) and anything about stores.
 */
#ifndef KEVY_SRC_OS_OS_THREAD_H
#define KEVY_SRC_OS_OS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kevy/src/os/os_park.h"

#if defined(__APPLE__)
#include <os/lock.h>
#endif

/* ---- Mutex ---- */

#if defined(__APPLE__)

struct kv_mutex {
    os_unfair_lock raw;
};

static inline void kv_mutex_lock(struct kv_mutex *mutex)
{
    os_unfair_lock_lock(&mutex->raw);
}

static inline bool kv_mutex_try(struct kv_mutex *mutex)
{
    return os_unfair_lock_trylock(&mutex->raw);
}

static inline void kv_mutex_unlock(struct kv_mutex *mutex)
{
    os_unfair_lock_unlock(&mutex->raw);
}

void kv_mutex_give(struct kv_mutex *mutex);

#else

struct kv_mutex {
    _Atomic uint32_t state;
};

#define KV_MUTEX_FREE 0u
#define KV_MUTEX_HELD 1u
#define KV_MUTEX_WAITED 2u

/* Takes a lock that was held a moment ago: spins, then sleeps. */
void kv_mutex_lock_slow(struct kv_mutex *mutex);

/* Takes the lock if nobody holds it; true when taken. */
static inline bool kv_mutex_try(struct kv_mutex *mutex)
{
    uint32_t state = KV_MUTEX_FREE;
    return atomic_compare_exchange_strong_explicit(&mutex->state, &state, KV_MUTEX_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Takes the lock. A thread that holds it already waits for ever. */
static inline void kv_mutex_lock(struct kv_mutex *mutex)
{
    if (!kv_mutex_try(mutex)) {
        kv_mutex_lock_slow(mutex);
    }
}

/* Leaves the lock. The mutex may be freed by another thread as soon as that one gets it: after
 * the exchange only its address is used. */
static inline void kv_mutex_unlock(struct kv_mutex *mutex)
{
    if (atomic_exchange_explicit(&mutex->state, KV_MUTEX_FREE, memory_order_release) ==
        KV_MUTEX_WAITED) {
        kv_park_wake(&mutex->state, 1);
    }
}

/* Leaves the lock, and if somebody sleeps for it does not return before that one
 * had time to take it: between the steps of long work, which would else get it
 * again and again. */
void kv_mutex_give(struct kv_mutex *mutex);

#endif

/* Makes a free mutex of any memory; zeroed memory is one already. */
static inline void kv_mutex_init(struct kv_mutex *mutex)
{
    *mutex = (struct kv_mutex){0};
}

/* ---- Condition ---- */

struct kv_cond {
    _Atomic uint32_t sequence;
    _Atomic uint32_t waiters;
};

/* Makes a condition of any memory; zeroed memory is one already. */
static inline void kv_cond_init(struct kv_cond *cond)
{
    *cond = (struct kv_cond){0};
}

/* Leaves the mutex, sleeps until a signal or the deadline (kv_mono_ns; KV_FOREVER: none) and
 * takes the mutex again. Returns false only when the deadline has passed. The mutex is held by
 * the caller before and after. */
bool kv_cond_wait(struct kv_cond *cond, struct kv_mutex *mutex, uint64_t deadline_ns);

/* Wakes one waiter, or all. What they wait for was changed under their mutex before. */
void kv_cond_signal(struct kv_cond *cond);
void kv_cond_broadcast(struct kv_cond *cond);

/* ---- Thread ---- */

/* A thread; stays where it is from start to join. */
struct kv_thread {
    pthread_t raw;
    void (*run)(void *user);
    void *user;
};

/* Starts a thread that calls run(user), with every signal blocked: a host's handlers never run on
 * the engine's threads. 0, or KEVY_ENOMEM when the system has no thread to give. */
int32_t kv_thread_start(struct kv_thread *thread, void (*run)(void *user), void *user);

/* Waits until the thread has ended. Once for each start, not from the thread itself. */
void kv_thread_join(struct kv_thread *thread);

/* Instead of joining it: from the thread itself, which is about to end. Nothing is waited for, and
 * the structure may go at once. */
void kv_thread_detach(struct kv_thread *thread);

/* Says whether the caller is this thread. */
bool kv_thread_is_self(const struct kv_thread *thread);

#endif
