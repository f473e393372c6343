/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Several threads on one store: readers beside each other, and commits that
 * are durable on return, which share a flush.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine/work.h"

#define CROWD_KEYS ((size_t)10000)
#define CROWD_MAX 32

struct crowd {
    const struct effort *effort;
    const struct store *store;
    bool is_reading;
    void *handle;
    char (*keys)[KEY_SIZE];
    _Atomic int is_going;
    _Atomic unsigned long done;
};

static void *member(void *user)
{
    struct crowd *crowd = user;
    char value[100] = {0};
    unsigned long count = 0;
    size_t at = (size_t)(uintptr_t)&value % CROWD_KEYS;
    while (atomic_load_explicit(&crowd->is_going, memory_order_relaxed)) {
        at = at + 1 == CROWD_KEYS ? 0 : at + 1;
        if (crowd->is_reading) {
            (void)crowd->store->get(crowd->handle, crowd->keys[at], KEY_SIZE, value, sizeof value);
        } else {
            (void)crowd->store->set(crowd->handle, crowd->keys[at], KEY_SIZE, value, sizeof value);
        }
        count++;
    }
    atomic_fetch_add(&crowd->done, count);
    return NULL;
}

/* Operations a second of `count` threads together. */
static double run_threads(struct crowd *crowd, int count, unsigned milliseconds)
{
    pthread_t threads[CROWD_MAX];
    atomic_store(&crowd->is_going, 1);
    atomic_store(&crowd->done, 0);
    double begin = bench_now();
    for (int i = 0; i < count; i++) {
        (void)pthread_create(&threads[i], NULL, member, crowd);
    }
    usleep(milliseconds * 1000);
    atomic_store(&crowd->is_going, 0);
    for (int i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return (double)atomic_load(&crowd->done) * 1e9 / (bench_now() - begin);
}

static bool crowd_open(struct crowd *crowd, const char *dir)
{
    char value[100] = {0};
    crowd->keys = work_keys(CROWD_KEYS);
    crowd->handle = crowd->store->open(dir, crowd->store->mode);
    if (crowd->keys == NULL || crowd->handle == NULL) {
        bench_absent(crowd->store->lane, "it did not open");
        return false;
    }
    for (size_t i = 0; crowd->is_reading && i < CROWD_KEYS; i++) {
        (void)crowd->store->set(crowd->handle, crowd->keys[i], KEY_SIZE, value, sizeof value);
    }
    return true;
}

static void readers(const char *dir, void *user)
{
    struct crowd crowd = *(struct crowd *)user;
    struct bench_row row = {.bench = "engine",
                            .row = "2 reader threads against 1",
                            .lane = crowd.store->lane,
                            .unit = "x",
                            .goal = 1.8,
                            .at_least = true,
                            .is_ours = true};
    if (!crowd_open(&crowd, dir)) {
        return;
    }
    for (int round = 0; round < crowd.effort->rounds; round++) {
        double one = run_threads(&crowd, 1, 200);
        bench_add(&row, run_threads(&crowd, 2, 200) / one);
    }
    bench_print(&row);
    crowd.store->close(crowd.handle);
}

static void commits(const char *dir, void *user)
{
    static const int counts[] = {1, 8, 32};
    struct crowd crowd = *(struct crowd *)user;
    if (!crowd_open(&crowd, dir)) {
        return;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "commits, %d threads", counts[i]);
        struct bench_row row = {.bench = "engine",
                                .row = name,
                                .lane = crowd.store->lane,
                                .unit = "1/s",
                                .goal = counts[i] == 1    ? 6000
                                        : counts[i] == 32 ? 80000
                                                          : 0,
                                .at_least = true,
                                .is_ours = true};
        for (int round = 0; round < crowd.effort->rounds; round++) {
            bench_add(&row, run_threads(&crowd, counts[i], 500));
        }
        bench_print(&row);
    }
    crowd.store->close(crowd.handle);
}

void work_threads(const struct effort *effort)
{
    struct crowd memory = {.effort = effort, .store = &store_kevy_memory, .is_reading = true};
    struct crowd file = {.effort = effort, .store = &store_kevy_lazy, .is_reading = true};
    bench_heading("readers beside each other");
    (void)work_apart(readers, &memory);
    (void)work_apart(readers, &file);
}

void work_durable(const struct effort *effort)
{
    struct crowd crowd = {.effort = effort, .store = &store_kevy_durable};
    bench_heading("group commit (the goals are for a disk that flushes in 130 us)");
    (void)work_apart(commits, &crowd);
}
