/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Get and set of single values: every lane, 16 B to 64 KiB, ten thousand keys
 * and a million, one thread. A round goes over the keys in one random order; a
 * file store starts each round of sets after it has rested, so that a round is
 * a burst and not a wait for the disk.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine/work.h"

struct values {
    const struct effort *effort;
    const struct store *store;
    size_t keys;
    size_t size;
    double goal_get;
    double goal_set;
};

/* Operations of one round. */
static size_t round_count(const struct values *values)
{
    size_t burst = ((size_t)12 << 20) / (values->size + 64);
    size_t most = values->store->is_slow ? 5000 : values->keys > 100000 ? values->keys : 100000;
    size_t count = values->store->mode == MODE_DURABLE                ? 200
                   : values->store->mode == MODE_LAZY && burst < most ? burst
                                                                      : most;
    return count;
}

static struct bench_row row_of(const struct values *values, char *name, size_t size,
                               const char *verb)
{
    static const char *const where[] = {
        [MODE_MEMORY] = "", [MODE_LAZY] = ", file", [MODE_DURABLE] = ", durable"};
    (void)snprintf(name, size, "%s %zu B, %zuk keys%s", verb, values->size, values->keys / 1000,
                   where[values->store->mode]);
    return (struct bench_row){.bench = "engine",
                              .row = name,
                              .lane = values->store->lane,
                              .unit = "ns",
                              .is_ours = values->store->is_ours};
}

static bool load(const struct values *values, void *handle, char (*keys)[KEY_SIZE], char *value)
{
    for (size_t i = 0; i < values->keys; i++) {
        memset(value, (int)i, values->size < 8 ? values->size : 8);
        if (values->store->set(handle, keys[i], KEY_SIZE, value, values->size) != 0) {
            return false;
        }
    }
    return true;
}

static void rounds(const struct values *values, void *handle, char (*keys)[KEY_SIZE], char *value)
{
    const struct store *store = values->store;
    char get_name[64], set_name[64];
    struct bench_row get = row_of(values, get_name, sizeof get_name, "get");
    struct bench_row set = row_of(values, set_name, sizeof set_name, "set");
    size_t count = round_count(values), wrong = 0, at = 0;
    get.goal = values->goal_get;
    set.goal = values->goal_set;
    for (int round = 0; round <= values->effort->rounds; round++) {
        size_t start = at;
        double begin = bench_now();
        for (size_t i = 0; i < count; i++, at = at + 1 == values->keys ? 0 : at + 1) {
            wrong +=
                store->get(handle, keys[at], KEY_SIZE, value, values->size) != (long)values->size;
        }
        double middle = bench_now();
        if (store->mode == MODE_LAZY) {
            usleep(1200000);
        }
        at = start;
        double again = bench_now();
        for (size_t i = 0; i < count; i++, at = at + 1 == values->keys ? 0 : at + 1) {
            value[0] = (char)i;
            wrong += store->set(handle, keys[at], KEY_SIZE, value, values->size) != 0;
        }
        if (round > 0) {
            bench_add(&get, (middle - begin) / (double)count);
            bench_add(&set, (bench_now() - again) / (double)count);
        }
    }
    if (wrong != 0) {
        bench_absent(store->lane, "it gave a wrong answer");
        return;
    }
    bench_print(&get);
    bench_print(&set);
}

static void measure(const char *dir, void *user)
{
    const struct values *values = user;
    char(*keys)[KEY_SIZE] = work_keys(values->keys);
    char *value = calloc(1, values->size + 8);
    void *handle = values->store->open(dir, values->store->mode);
    if (handle == NULL || keys == NULL || value == NULL) {
        bench_absent(values->store->lane, "it did not open");
        return;
    }
    if (load(values, handle, keys, value)) {
        rounds(values, handle, keys, value);
    } else {
        bench_absent(values->store->lane, "a set failed while loading");
    }
    values->store->close(handle);
}

/* The goals of performance.md for our lanes. */
static void goals(struct values *values)
{
    bool is_small = values->size <= 100;
    bool is_many = values->keys > 100000;
    values->goal_get = values->goal_set = 0;
    if (!values->store->is_ours || values->store->mode == MODE_DURABLE) {
        return;
    }
    if (values->store->mode == MODE_MEMORY && is_small) {
        values->goal_get = is_many ? 130 : 20;
        values->goal_set = is_many ? 200 : 45;
    } else if (values->store->mode == MODE_LAZY && values->size <= 1024) {
        values->goal_get = is_many ? 160 : 0;
        values->goal_set = is_many ? 260 : values->size == 16 ? 80 : values->size == 100 ? 95 : 350;
    }
}

static void every_lane(const struct effort *effort, enum store_mode mode, size_t keys, size_t size)
{
    for (size_t i = 0; i < store_lane_count; i++) {
        struct values values = {effort, store_lanes[i], keys, size, 0, 0};
        if (store_lanes[i]->mode != mode) {
            continue;
        }
        if (store_lanes[i]->open == NULL) {
            bench_absent(store_lanes[i]->lane, "not there when this was built");
            continue;
        }
        if (keys > 100000 && !store_lanes[i]->is_ours && !effort->is_full) {
            continue;
        }
        goals(&values);
        if (!work_apart(measure, &values)) {
            bench_absent(store_lanes[i]->lane, "its process failed");
        }
    }
}

void work_values(const struct effort *effort)
{
    static const size_t sizes[] = {16, 100, 1024, 65536};
    bench_heading("single values, one thread, random keys");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        every_lane(effort, MODE_MEMORY, sizes[i] > 10000 ? 2000 : 10000, sizes[i]);
        every_lane(effort, MODE_LAZY, sizes[i] > 10000 ? 2000 : 10000, sizes[i]);
    }
    every_lane(effort, MODE_MEMORY, 1000000, 100);
    every_lane(effort, MODE_LAZY, 1000000, 100);
    bench_heading("single values, durable on return");
    every_lane(effort, MODE_DURABLE, 1000, 100);
}
