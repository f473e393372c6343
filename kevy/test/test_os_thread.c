/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Threads, locks, conditions and parking. The same tests run over the futex
 * call here, and over the table of conditions in test_os_thread_table.c.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "kevy/src/os/os_thread.h"

#include <errno.h>
#include <signal.h>

#include "kevy.h"
#include "testing/harness.h"

#define THREADS 4

struct shared {
    struct kv_mutex mutex;
    struct kv_cond cond;
    _Atomic uint32_t word;
    _Atomic uint32_t arrived;
    uint64_t count;
    uint32_t turn;
};

struct worker {
    struct shared *shared;
    uint32_t number;
    uint32_t rounds;
    struct kv_thread thread;
};

static void start_workers(struct worker *workers, struct shared *shared, uint32_t rounds,
                          void (*run)(void *user))
{
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = shared, .number = i, .rounds = rounds};
        REQUIRE_INT(kv_thread_start(&workers[i].thread, run, &workers[i]), KEVY_OK);
    }
}

static void join_workers(struct worker *workers)
{
    for (int i = 0; i < THREADS; i++) {
        kv_thread_join(&workers[i].thread);
    }
}

static void run_add(void *user)
{
    struct worker *self = (struct worker *)user;
    for (uint32_t i = 0; i < self->rounds; i++) {
        kv_mutex_lock(&self->shared->mutex);
        self->shared->count++;
        kv_mutex_unlock(&self->shared->mutex);
    }
}

TEST(a_mutex_lets_one_in)
{
    struct shared shared = {0};
    struct worker workers[THREADS];
    start_workers(workers, &shared, 50000, run_add);
    join_workers(workers);
    CHECK_INT(shared.count, THREADS * 50000);
}

TEST(try_takes_a_free_mutex_only)
{
    struct kv_mutex mutex;
    kv_mutex_init(&mutex);
    CHECK(kv_mutex_try(&mutex));
    CHECK(!kv_mutex_try(&mutex));
    kv_mutex_unlock(&mutex);
    CHECK(kv_mutex_try(&mutex));
    kv_mutex_unlock(&mutex);
}

static void run_hold(void *user)
{
    struct worker *self = (struct worker *)user;
    atomic_fetch_add(&self->shared->arrived, 1);
    kv_mutex_lock(&self->shared->mutex);
    self->shared->count++;
    kv_mutex_unlock(&self->shared->mutex);
}

TEST(threads_that_sleep_on_a_mutex_all_get_it)
{
    for (int round = 0; round < 50; round++) {
        struct shared shared = {0};
        struct worker workers[THREADS];
        kv_mutex_lock(&shared.mutex);
        start_workers(workers, &shared, 1, run_hold);
        while (atomic_load(&shared.arrived) < THREADS) {
            (void)kv_park_wait(&shared.word, 0, kv_mono_after(100000));
        }
        (void)kv_park_wait(&shared.word, 0, kv_mono_after(2000000));
        CHECK_INT(shared.count, 0);
        kv_mutex_unlock(&shared.mutex);
        join_workers(workers);
        CHECK_INT(shared.count, THREADS);
    }
}

static void run_in_turn(void *user)
{
    struct worker *self = (struct worker *)user;
    struct shared *shared = self->shared;
    for (uint32_t i = 0; i < self->rounds; i++) {
        kv_mutex_lock(&shared->mutex);
        while (shared->turn != self->number) {
            CHECK(kv_cond_wait(&shared->cond, &shared->mutex, KV_FOREVER));
        }
        shared->turn = (shared->turn + 1) % THREADS;
        shared->count++;
        kv_cond_broadcast(&shared->cond);
        kv_mutex_unlock(&shared->mutex);
    }
}

TEST(a_condition_passes_a_turn_round)
{
    struct shared shared = {0};
    struct worker workers[THREADS];
    start_workers(workers, &shared, 2000, run_in_turn);
    join_workers(workers);
    CHECK_INT(shared.count, THREADS * 2000);
    CHECK_INT(atomic_load(&shared.cond.waiters), 0);
}

static void run_take_one(void *user)
{
    struct worker *self = (struct worker *)user;
    struct shared *shared = self->shared;
    kv_mutex_lock(&shared->mutex);
    while (shared->count == 0) {
        CHECK(kv_cond_wait(&shared->cond, &shared->mutex, KV_FOREVER));
    }
    shared->count--;
    kv_mutex_unlock(&shared->mutex);
}

TEST(each_signal_lets_one_waiter_go)
{
    struct shared shared = {0};
    struct worker workers[THREADS];
    start_workers(workers, &shared, 1, run_take_one);
    for (int i = 0; i < THREADS; i++) {
        kv_mutex_lock(&shared.mutex);
        shared.count++;
        kv_mutex_unlock(&shared.mutex);
        kv_cond_signal(&shared.cond);
    }
    join_workers(workers);
    CHECK_INT(shared.count, 0);
}

TEST(a_wait_ends_at_its_deadline_and_not_before)
{
    struct shared shared = {0};
    uint64_t before = kv_mono_ns();
    kv_mutex_lock(&shared.mutex);
    while (kv_cond_wait(&shared.cond, &shared.mutex, before + 30000000)) {
    }
    CHECK(!kv_mutex_try(&shared.mutex));
    kv_mutex_unlock(&shared.mutex);
    CHECK(kv_mono_ns() - before >= 30000000);
    CHECK(!kv_park_wait(&shared.word, 0, before));
    CHECK(!kv_park_wait(&shared.word, 0, 0));
}

TEST(parking_returns_at_once_when_the_word_has_changed)
{
    _Atomic uint32_t word = 7;
    CHECK(kv_park_wait(&word, 6, KV_FOREVER));
    CHECK(kv_park_wait(&word, 8, kv_mono_after(UINT64_C(60000000000))));
    kv_park_wake(&word, 1);
    kv_park_wake(&word, KV_PARK_ALL);
}

TEST(far_deadlines_do_not_wrap)
{
    CHECK(kv_mono_after(0) <= kv_mono_ns());
    CHECK(kv_mono_after(UINT64_MAX) == KV_FOREVER);
    CHECK(kv_mono_after(UINT64_MAX - 1) == KV_FOREVER);
    CHECK(kv_mono_after(UINT64_MAX / 2) > UINT64_MAX / 2);
}

static void run_park(void *user)
{
    struct worker *self = (struct worker *)user;
    struct shared *shared = self->shared;
    uint64_t deadline = self->number % 2 == 0 ? KV_FOREVER : UINT64_MAX / 2;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->word) == 0) {
        (void)kv_park_wait(&shared->word, 0, deadline);
    }
}

TEST(a_wake_reaches_every_parked_thread)
{
    for (int round = 0; round < 50; round++) {
        struct shared shared = {0};
        struct worker workers[THREADS];
        start_workers(workers, &shared, 1, run_park);
        while (atomic_load(&shared.arrived) < THREADS) {
            kv_cpu_relax();
        }
        atomic_store(&shared.word, 1);
        kv_park_wake(&shared.word, KV_PARK_ALL);
        join_workers(workers);
        CHECK_INT(atomic_load(&shared.arrived), THREADS);
    }
}

struct looker {
    struct kv_thread thread;
    bool blocks_signals;
};

static void run_look(void *user)
{
    struct looker *self = (struct looker *)user;
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    self->blocks_signals =
        sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGUSR1) == 1;
}

TEST(a_thread_blocks_signals_and_its_starter_does_not)
{
    struct looker looker = {0};
    sigset_t blocked;
    REQUIRE_INT(kv_thread_start(&looker.thread, run_look, &looker), KEVY_OK);
    CHECK(!kv_thread_is_self(&looker.thread));
    kv_thread_join(&looker.thread);
    CHECK(looker.blocks_signals);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    CHECK_INT(sigismember(&blocked, SIGTERM), 0);
    _Atomic uint32_t word = 0;
    errno = 1234;
    (void)kv_park_wait(&word, 1, KV_FOREVER);
    kv_park_wake(&word, 1);
    CHECK_INT(errno, 1234);
}
