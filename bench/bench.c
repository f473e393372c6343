/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Rows and rounds. See bench.h.
 *
 * Our median of each row is kept in memory that child processes share, since
 * a lane runs in a process of its own: peers that are measured after ours print
 * their ratio to it.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define OURS_MAX 512

struct ours {
    char row[64];
    double median;
};

static struct ours *ours;

void bench_begin(void)
{
    void *shared = mmap(NULL, OURS_MAX * sizeof *ours, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ours = shared == MAP_FAILED ? NULL : shared;
}

/* Our entry of a row, or the first free one. */
static struct ours *ours_find(const char *row)
{
    for (size_t i = 0; ours != NULL && i < OURS_MAX; i++) {
        if (ours[i].row[0] == '\0' || strcmp(ours[i].row, row) == 0) {
            return &ours[i];
        }
    }
    return NULL;
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void bench_add(struct bench_row *row, double value)
{
    if (row->count < BENCH_ROUNDS_MAX) {
        row->rounds[row->count++] = value;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(struct bench_row *row)
{
    qsort(row->rounds, (size_t)row->count, sizeof row->rounds[0], compare);
    return row->count == 0 ? 0 : row->rounds[row->count / 2];
}

static void json(const struct bench_row *row, double median, double ratio)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out = path == NULL || path[0] == '\0' ? NULL : fopen(path, "a");
    if (out == NULL) {
        return;
    }
    (void)fprintf(out, "{\"bench\":\"%s\",\"row\":\"%s\",\"lane\":\"%s\",\"median\":%.6g,",
                  row->bench, row->row, row->lane, median);
    (void)fprintf(out, "\"min\":%.6g,\"max\":%.6g,\"unit\":\"%s\",", row->rounds[0],
                  row->rounds[row->count - 1], row->unit);
    (void)(ratio > 0 ? fprintf(out, "\"peer_ratio\":%.4g,", ratio)
                     : fprintf(out, "\"peer_ratio\":null,"));
    (void)(row->goal > 0 ? fprintf(out, "\"goal\":%.6g}\n", row->goal)
                         : fprintf(out, "\"goal\":null}\n"));
    (void)fclose(out);
}

double bench_print(struct bench_row *row)
{
    double median = bench_median(row), ratio = 0;
    char verdict[64] = "";
    if (row->count == 0) {
        return 0;
    }
    struct ours *entry = ours_find(row->row);
    if (row->is_ours && entry != NULL && entry->row[0] == '\0') {
        (void)snprintf(entry->row, sizeof entry->row, "%s", row->row);
        entry->median = median;
    } else if (!row->is_ours && entry != NULL && entry->median > 0) {
        ratio = median / entry->median;
        (void)snprintf(verdict, sizeof verdict, "%.2fx ours", ratio);
    }
    if (row->goal > 0) {
        bool is_met = row->at_least ? median >= row->goal : median <= row->goal;
        (void)snprintf(verdict, sizeof verdict, "goal %s %.4g: %s",
                       row->at_least ? ">=" : "<=", row->goal, is_met ? "met" : "MISSED");
    }
    int digits = median < 10 ? 2 : 1;
    printf("  %-34s %-26s %12.*f  (%.*f - %.*f) %-6s %s\n", row->row, row->lane, digits, median,
           digits, row->rounds[0], digits, row->rounds[row->count - 1], row->unit, verdict);
    (void)fflush(stdout);
    json(row, median, ratio);
    return median;
}

void bench_heading(const char *text)
{
    printf("\n%s\n", text);
}

void bench_note(const char *text)
{
    printf("  %s\n", text);
}

void bench_absent(const char *lane, const char *why)
{
    printf("  %-34s %-26s absent: %s\n", "", lane, why);
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
