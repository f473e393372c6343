/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What shows only in the long run: the longest get and set while a million
 * keys come in, and then are overwritten so that the log is collected, while it
 * is flushed; 4 KiB overwritten for ever, what a million keys cost in memory,
 * and how long opening them takes.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine/work.h"
#include "kevy.h"

#define MANY ((size_t)1000000)

static void print_one(const char *name, const char *lane, double value, const char *unit,
                      double goal)
{
    struct bench_row row = {
        .bench = "engine", .row = name, .lane = lane, .unit = unit, .goal = goal, .is_ours = true};
    bench_add(&row, value);
    bench_print(&row);
}

/* ---- Pauses ---- */

static int compare_times(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void print_tail(const struct store *store, const char *what, const char *work, float *times,
                       size_t count)
{
    char names[2][64];
    double values[2];
    qsort(times, count, sizeof *times, compare_times);
    values[0] = (double)times[count - 1] / 1000;
    values[1] = (double)times[count - count / 10000] / 1000;
    (void)snprintf(names[0], sizeof names[0], "longest %s, %s", what, work);
    (void)snprintf(names[1], sizeof names[1], "%s p99.99, %s", what, work);
    for (int i = 0; i < 2; i++) {
        struct bench_row row = {.bench = "engine",
                                .row = names[i],
                                .lane = store->lane,
                                .unit = "us",
                                .goal = !store->is_ours ? 0
                                        : i == 0        ? 1000
                                                        : 50,
                                .is_ours = store->is_ours};
        bench_add(&row, values[i]);
        bench_print(&row);
    }
}

/* A million sets as fast as it can, a get after each, twice: first the keys are
 * new, then all are there and the log has something to collect. */
static void pauses(const char *dir, void *user)
{
    const struct store *store = user;
    char(*keys)[KEY_SIZE] = work_keys(MANY);
    float *sets = calloc(MANY, sizeof *sets), *gets = calloc(MANY, sizeof *gets);
    void *handle = store->open(dir, store->mode);
    char value[100] = {0}, name[64];
    for (int pass = 0; handle != NULL && pass < 2; pass++) {
        for (size_t i = 0; i < MANY; i++) {
            double begin = bench_now();
            (void)store->set(handle, keys[pass == 0 ? i : i * 7919 % MANY], KEY_SIZE, value,
                             sizeof value);
            double middle = bench_now();
            (void)store->get(handle, keys[i * 7919 % (i + 1)], KEY_SIZE, value, sizeof value);
            sets[i] = (float)(middle - begin);
            gets[i] = (float)(bench_now() - middle);
        }
        (void)snprintf(name, sizeof name, "1M %s%s", pass == 0 ? "inserts" : "overwrites",
                       store->mode == MODE_MEMORY ? "" : ", file");
        print_tail(store, "set", name, sets, MANY);
        print_tail(store, "get", name, gets, MANY);
    }
    if (handle != NULL) {
        store->close(handle);
    }
}

void work_pauses(const struct effort *effort)
{
    struct store lanes[] = {store_kevy_memory, store_rust_kevy_memory, store_kevy_lazy,
                            store_rust_kevy_lazy};
    (void)effort;
    bench_heading("the longest call, flat out (file: the disk flushes meanwhile)");
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        if (lanes[i].open == NULL) {
            bench_absent(lanes[i].lane, "not there when this was built");
        } else {
            (void)work_apart(pauses, &lanes[i]);
        }
    }
}

/* ---- Hot overwrite ---- */

static double folder_size(const char *dir)
{
    DIR *folder = opendir(dir);
    double size = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[1024];
        struct stat info;
        (void)snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
            size += (double)info.st_blocks * 512;
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return size;
}

struct hot {
    const struct effort *effort;
    const struct store *store;
};

static void hot(const char *dir, void *user)
{
    const struct hot *hot = user;
    const struct store *store = hot->store;
    void *handle = store->open(dir, store->mode);
    static char value[4096];
    struct bench_row row = {.bench = "engine",
                            .row = "hot 4 KiB overwrite",
                            .lane = store->lane,
                            .unit = "ns",
                            .is_ours = store->is_ours};
    size_t count = hot->effort->is_full ? 200000 : store->is_slow ? 200 : 50000;
    for (int round = 0; handle != NULL && round < 5; round++) {
        double begin = bench_now();
        for (size_t i = 0; i < count; i++) {
            value[0] = (char)i;
            (void)store->set(handle, "hot", 3, value, sizeof value);
        }
        bench_add(&row, (bench_now() - begin) / (double)count);
    }
    bench_print(&row);
    if (store->is_ours) {
        usleep(3000000);
        print_one("disk 3 s after hot overwrite", store->lane, folder_size(dir) / 1024, "KiB",
                  16384 + 8);
    }
    if (handle != NULL) {
        store->close(handle);
    }
}

void work_hot(const struct effort *effort)
{
    const struct store *const lanes[] = {&store_kevy_lazy,      &store_rust_mmkv,
                                         &store_rust_kevy_lazy, &store_lmdb_lazy,
                                         &store_leveldb_lazy,   &store_sqlite_lazy};
    bench_heading("one key, overwritten for ever");
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        struct hot one = {effort, lanes[i]};
        if (lanes[i]->open == NULL) {
            bench_absent(lanes[i]->lane, "not there when this was built");
        } else {
            (void)work_apart(hot, &one);
        }
    }
}

/* ---- Memory and open ---- */

static void fill(const char *dir, size_t size)
{
    char(*keys)[KEY_SIZE] = work_keys(MANY);
    static char value[100];
    double before = work_memory();
    KevyDb *db = dir == NULL ? kevy_open_mem() : kevy_open((const uint8_t *)dir, strlen(dir));
    for (size_t i = 0; db != NULL && i < MANY; i++) {
        (void)kevy_set(db, (const uint8_t *)keys[i], KEY_SIZE, (const uint8_t *)value, size, 0);
    }
    if (dir == NULL) {
        char name[64];
        (void)snprintf(name, sizeof name, "memory beyond key + value, %zu B", size);
        print_one(name, "kevy, memory",
                  (work_memory() - before) / (double)MANY - (double)(KEY_SIZE + size), "B",
                  size == 16 ? 28 : 40);
        kevy_close(db);
    }
}

static void memory_small(const char *dir, void *user)
{
    (void)dir;
    (void)user;
    fill(NULL, 16);
}

static void memory_large(const char *dir, void *user)
{
    (void)dir;
    (void)user;
    fill(NULL, 100);
}

static void reopen(const char *dir, const char *name, double goal)
{
    double begin = bench_now();
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    double opened = bench_now();
    if (db != NULL) {
        print_one(name, "kevy, file, everysec", (opened - begin) / 1e6, "ms", goal);
        kevy_close(db);
    }
}

/* A child fills the store and is killed; then it is opened, closed and opened
 * again. */
static void replay(const char *dir, void *user)
{
    (void)user;
    pid_t pid = fork();
    if (pid == 0) {
        fill(dir, 100);
        (void)raise(SIGKILL);
    }
    (void)waitpid(pid, NULL, 0);
    reopen(dir, "open 1M keys after a kill", 100);
    reopen(dir, "open 1M keys after a clean close", 10);
}

void work_replay(const struct effort *effort)
{
    (void)effort;
    bench_heading("a million keys: memory, and opening them again");
    (void)work_apart(memory_small, NULL);
    (void)work_apart(memory_large, NULL);
    (void)work_apart(replay, NULL);
}
