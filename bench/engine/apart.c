/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the measurements stand on: keys, child processes in folders of their
 * own, the memory of the process. See work.h.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine/work.h"

char (*work_keys(size_t count))[KEY_SIZE]
{
    char(*keys)[KEY_SIZE] = malloc(count * KEY_SIZE);
    uint64_t state = 1;
    for (size_t i = 0; keys != NULL && i < count; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%08zx%08x", i, (unsigned)bench_random(&state));
        memcpy(keys[i], text, KEY_SIZE);
    }
    for (size_t i = count; keys != NULL && i > 1; i--) {
        size_t j = (size_t)(bench_random(&state) % i);
        char swap[KEY_SIZE];
        memcpy(swap, keys[i - 1], KEY_SIZE);
        memcpy(keys[i - 1], keys[j], KEY_SIZE);
        memcpy(keys[j], swap, KEY_SIZE);
    }
    return keys;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

bool work_apart(void (*body)(const char *dir, void *user), void *user)
{
    const char *base = getenv("TMPDIR");
    char dir[512];
    int status = 1;
    (void)snprintf(dir, sizeof dir, "%s/kevy-bench-XXXXXX", base == NULL ? "/tmp" : base);
    if (mkdtemp(dir) == NULL) {
        return false;
    }
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body(dir, user);
        (void)fflush(stdout);
        _exit(0);
    }
    (void)waitpid(pid, &status, 0);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status == 0;
}

double work_memory(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    double total = 0, resident = 0;
    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%lf %lf", &total, &resident) != 2) {
        resident = 0;
    }
    (void)fclose(file);
    return resident * (double)sysconf(_SC_PAGESIZE);
}
