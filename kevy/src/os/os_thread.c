/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The slow halves of os_thread.h: a contended lock, a condition's wait, the
 * start of a thread.
 *
 * A thread that has slept on a mutex takes it as WAITED, because it cannot
 * know whether others still sleep; the cost is at most one needless wake.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "kevy/src/os/os_thread.h"

#include <signal.h>

#include "base/assert.h"
#include "kevy.h"

#if !defined(__APPLE__)

/* A critical section of the engine is shorter than this; a sleep costs microseconds. */
#define MUTEX_SPIN_ROUNDS 100

void kv_mutex_lock_slow(struct kv_mutex *mutex)
{
    for (int i = 0; i < MUTEX_SPIN_ROUNDS; i++) {
        uint32_t state = atomic_load_explicit(&mutex->state, memory_order_relaxed);
        if (state == KV_MUTEX_FREE && kv_mutex_try(mutex)) {
            return;
        }
        if (state == KV_MUTEX_WAITED) {
            break;
        }
        kv_cpu_relax();
    }
    while (atomic_exchange_explicit(&mutex->state, KV_MUTEX_WAITED, memory_order_acquire) !=
           KV_MUTEX_FREE) {
        (void)kv_park_wait(&mutex->state, KV_MUTEX_WAITED, KV_FOREVER);
    }
}

/* How long the one who was woken has to come: some 30 microseconds. No yield: on
 * a busy processor that could cost a whole slice of another thread. */
#define MUTEX_GIVE_ROUNDS 1000

void kv_mutex_give(struct kv_mutex *mutex)
{
    if (atomic_exchange_explicit(&mutex->state, KV_MUTEX_FREE, memory_order_release) !=
        KV_MUTEX_WAITED) {
        return;
    }
    kv_park_wake(&mutex->state, 1);
    for (int i = 0; i < MUTEX_GIVE_ROUNDS; i++) {
        if (atomic_load_explicit(&mutex->state, memory_order_relaxed) != KV_MUTEX_FREE) {
            return;
        }
        kv_cpu_relax();
    }
}

#else

void kv_mutex_give(struct kv_mutex *mutex)
{
    kv_mutex_unlock(mutex);
}

#endif

bool kv_cond_wait(struct kv_cond *cond, struct kv_mutex *mutex, uint64_t deadline_ns)
{
    uint32_t sequence = atomic_load_explicit(&cond->sequence, memory_order_relaxed);
    atomic_fetch_add_explicit(&cond->waiters, 1, memory_order_seq_cst);
    kv_mutex_unlock(mutex);
    bool is_in_time = kv_park_wait(&cond->sequence, sequence, deadline_ns);
    atomic_fetch_sub_explicit(&cond->waiters, 1, memory_order_relaxed);
    kv_mutex_lock(mutex);
    return is_in_time;
}

/* The signaller changed the waiter's state under the mutex, so a waiter that decided to sleep
 * before that has counted itself before it left the mutex, and is seen here. */
static void cond_wake(struct kv_cond *cond, uint32_t count)
{
    atomic_fetch_add_explicit(&cond->sequence, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&cond->waiters, memory_order_seq_cst) != 0) {
        kv_park_wake(&cond->sequence, count);
    }
}

void kv_cond_signal(struct kv_cond *cond)
{
    cond_wake(cond, 1);
}

void kv_cond_broadcast(struct kv_cond *cond)
{
    cond_wake(cond, KV_PARK_ALL);
}

static void *thread_main(void *arg)
{
    struct kv_thread *thread = (struct kv_thread *)arg;
    thread->run(thread->user);
    return NULL;
}

int32_t kv_thread_start(struct kv_thread *thread, void (*run)(void *user), void *user)
{
    sigset_t all, before;
    thread->run = run;
    thread->user = user;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread->raw, NULL, thread_main, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 ? KEVY_OK : KEVY_ENOMEM;
}

void kv_thread_join(struct kv_thread *thread)
{
    int failed = pthread_join(thread->raw, NULL);
    ASSERT(failed == 0);
    (void)failed;
}

void kv_thread_detach(struct kv_thread *thread)
{
    ASSERT(kv_thread_is_self(thread));
    int failed = pthread_detach(thread->raw);
    ASSERT(failed == 0);
    (void)failed;
}

bool kv_thread_is_self(const struct kv_thread *thread)
{
    return pthread_equal(thread->raw, pthread_self()) != 0;
}
