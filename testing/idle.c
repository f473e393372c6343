/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading /proc/self/task; see idle.h. A thread that was woken has gone to
 * sleep again since, which the kernel counts as a voluntary switch.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "testing/idle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define HAS_BUSY_RUNTIME true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_BUSY_RUNTIME true
#endif
#endif
#ifndef HAS_BUSY_RUNTIME
#define HAS_BUSY_RUNTIME false
#endif

enum { LOOK_MS = 10, LOOKS_MAX = 3000, TRIES = 20 };

/* What one look found. */
struct look {
    bool is_known;
    bool all_sleep;
    long switches;
};

static void rest(unsigned ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static long own_id(void)
{
#if defined(__linux__)
    return (long)syscall(SYS_gettid);
#else
    return 0;
#endif
}

static void look_at(long thread, struct look *look)
{
    char path[64], line[256], state = 'S';
    long switches = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "State: %c", &state);
        (void)sscanf(line, "voluntary_ctxt_switches: %ld", &switches);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    look->all_sleep = look->all_sleep && state == 'S';
    look->switches += switches;
}

static struct look look_around(void)
{
    struct look look = {false, true, 0};
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        long thread = strtol(entry->d_name, NULL, 10);
        look.is_known = look.is_known || thread != 0;
        if (thread != 0 && thread != own_id()) {
            look_at(thread, &look);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return look;
}

bool idle_await(void)
{
    struct look before = {false, false, 0}, now = look_around();
    for (unsigned i = 0; i < LOOKS_MAX; i++) {
        if (!now.is_known) {
            rest(50);
            return true;
        }
        if (before.all_sleep && now.all_sleep && before.switches == now.switches) {
            return true;
        }
        rest(LOOK_MS);
        before = now;
        now = look_around();
    }
    return false;
}

long idle_wakes(unsigned ms)
{
    long fewest = -1;
    if (HAS_BUSY_RUNTIME || !look_around().is_known) {
        rest(ms);
        return 0;
    }
    for (unsigned i = 0; i < TRIES && fewest != 0; i++) {
        struct look before = look_around();
        rest(ms);
        struct look after = look_around();
        long wakes = after.switches - before.switches + !after.all_sleep;
        fewest = fewest < 0 || wakes < fewest ? wakes : fewest;
    }
    return fewest;
}
