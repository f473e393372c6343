/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What publish and subscribe cost, through the public ABI of a store in
 * memory: a publish to nobody, to one and to eight queues; reading queued
 * messages in batches; messages to a reader on another thread; the time from a
 * publish to the return of a sleeping reader; wake-ups while nothing happens.
 *
 * Each row is the median of its rounds with the smallest and the largest.
 * A goal that is missed is printed as missed. With BENCH_OUT=file each row is
 * also appended there as one line of JSON. Run it by `make bench-bus`.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kevy.h"

#define ROUNDS 11
#define SUBS_MAX 8
#define BURST 1000
#define BURSTS 200
#define WAKES 500

struct row {
    const char *name;
    const char *unit;
    double goal; /* 0: none */
    double rounds[ROUNDS];
    int count;
};

static const uint8_t payload[64] = "sixty-four bytes";

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row_print(struct row *row)
{
    char goal[64] = "";
    qsort(row->rounds, (size_t)row->count, sizeof row->rounds[0], compare);
    double median = row->rounds[row->count / 2];
    double min = row->rounds[0], max = row->rounds[row->count - 1];
    if (row->goal > 0) {
        const char *word = median <= row->goal ? "met" : "MISSED";
        (void)snprintf(goal, sizeof goal, "<= %g %s: %s", row->goal, row->unit, word);
    }
    printf("%-46s %9.1f %-4s (%.1f-%.1f)  %s\n", row->name, median, row->unit, min, max, goal);
    const char *path = getenv("BENCH_OUT");
    FILE *out = path == NULL ? NULL : fopen(path, "a");
    if (out != NULL) {
        (void)fprintf(out,
                      "{\"bench\": \"bus\", \"row\": \"%s\", \"lane\": \"C\", \"median\": %.2f, "
                      "\"min\": %.2f, \"max\": %.2f, \"unit\": \"%s\", \"peer_ratio\": null, "
                      "\"goal\": %.1f}\n",
                      row->name, median, min, max, row->unit, row->goal);
        (void)fclose(out);
    }
}

static void row_add(struct row *row, double value)
{
    row->rounds[row->count++] = value;
}

static void must(int is_true, const char *what)
{
    if (!is_true) {
        (void)fprintf(stderr, "bus_bench: %s failed\n", what);
        exit(1);
    }
}

static uint32_t drain(KevySub *sub)
{
    KevyBuf buf;
    uint32_t count, all = 0;
    while (kevy_sub_wait_batch(sub, 0, KEVY_BATCH_NOWAIT, 0, &buf, &count, NULL) == 1) {
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
        all += count;
    }
    return all;
}

/* Publishes bursts to `receivers` queues; one row gets the publishing, the other the reading. */
static void bench_publish(KevyDb *db, int receivers, struct row *publish_row, struct row *drain_row)
{
    KevySub *subs[SUBS_MAX];
    for (int i = 0; i < receivers; i++) {
        subs[i] = kevy_subscribe(db, (const uint8_t *)"events", 6);
        must(subs[i] != NULL, "subscribe");
    }
    for (int round = 0; round < ROUNDS; round++) {
        double publishing = 0, reading = 0;
        uint64_t read = 0;
        for (int burst = 0; burst < BURSTS; burst++) {
            double start = now_ns();
            for (int i = 0; i < BURST; i++) {
                (void)kevy_publish(db, (const uint8_t *)"events", 6, payload, sizeof payload);
            }
            double middle = now_ns();
            for (int i = 0; i < receivers; i++) {
                read += drain(subs[i]);
            }
            publishing += middle - start;
            reading += now_ns() - middle;
        }
        must(read == (uint64_t)receivers * BURST * BURSTS, "reading all");
        row_add(publish_row, publishing / BURST / BURSTS);
        if (drain_row != NULL) {
            row_add(drain_row, reading / (read > 0 ? (double)read : 1));
        }
    }
    for (int i = 0; i < receivers; i++) {
        kevy_sub_close(subs[i]);
    }
}

/* ---- Readers on another thread ---- */

struct reader {
    KevySub *sub;
    _Atomic uint64_t count;
    _Atomic double woken_at;
    pthread_t thread;
};

static void *read_batches(void *user)
{
    struct reader *self = user;
    KevyBuf buf;
    uint32_t count;
    while (kevy_sub_wait_batch(self->sub, 0, 0, 0, &buf, &count, NULL) == 1) {
        atomic_store(&self->woken_at, now_ns());
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
        atomic_fetch_add(&self->count, count);
    }
    return NULL;
}

static void rest_us(long us)
{
    struct timespec left = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static void reader_start(struct reader *reader, KevyDb *db)
{
    reader->sub = kevy_subscribe(db, (const uint8_t *)"events", 6);
    must(reader->sub != NULL, "subscribe");
    must(pthread_create(&reader->thread, NULL, read_batches, reader) == 0, "a thread");
}

/* Ends the reader at its next wait, which returns 0. */
static void reader_stop(struct reader *reader)
{
    must(kevy_sub_wake(reader->sub) == 0, "wake");
    pthread_join(reader->thread, NULL);
    kevy_sub_close(reader->sub);
}

static void bench_stream(KevyDb *db, struct row *row)
{
    struct reader reader = {0};
    reader_start(&reader, db);
    must(kevy_sub_limit(reader.sub, 0, 0, KEVY_SUB_BLOCK) == 0, "limit");
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t target = atomic_load(&reader.count) + BURST * BURSTS;
        double start = now_ns();
        for (int i = 0; i < BURST * BURSTS; i++) {
            (void)kevy_publish(db, (const uint8_t *)"events", 6, payload, sizeof payload);
        }
        while (atomic_load(&reader.count) < target) {
            rest_us(20);
        }
        row_add(row, (now_ns() - start) / BURST / BURSTS);
    }
    reader_stop(&reader);
}

static void bench_wake(KevyDb *db, struct row *row)
{
    struct reader reader = {0};
    reader_start(&reader, db);
    for (int round = 0; round < ROUNDS; round++) {
        double times[WAKES];
        for (int i = 0; i < WAKES; i++) {
            uint64_t target = atomic_load(&reader.count) + 1;
            rest_us(200);
            double start = now_ns();
            (void)kevy_publish(db, (const uint8_t *)"events", 6, payload, sizeof payload);
            while (atomic_load(&reader.count) < target) {
            }
            times[i] = atomic_load(&reader.woken_at) - start;
        }
        qsort(times, WAKES, sizeof times[0], compare);
        row_add(row, times[WAKES / 2] / 1000);
    }
    reader_stop(&reader);
}

static void bench_idle(KevyDb *db, struct row *row)
{
    struct rusage before, after;
    struct reader reader = {0};
    reader_start(&reader, db);
    rest_us(100000);
    getrusage(RUSAGE_SELF, &before);
    rest_us(2000000);
    getrusage(RUSAGE_SELF, &after);
    /* One switch is this thread's own rest. */
    long switches = after.ru_nvcsw - before.ru_nvcsw - 1;
    row_add(row, switches > 0 ? (double)switches / 2 : 0);
    reader_stop(&reader);
}

int main(void)
{
    struct row rows[] = {
        {"publish, nothing subscribed, 64 B", "ns", 15, {0}, 0},
        {"publish, others subscribed elsewhere, 64 B", "ns", 15, {0}, 0},
        {"publish, 1 subscriber, 64 B", "ns", 40, {0}, 0},
        {"publish, 8 subscribers, 64 B", "ns", 200, {0}, 0},
        {"batched drain, per message, 64 B", "ns", 0, {0}, 0},
        {"parked poller, batched drain, per message, 64 B", "ns", 40, {0}, 0},
        {"wake latency", "us", 0, {0}, 0},
        {"idle wake-ups", "/s", 0, {0}, 0},
    };
    struct row unused = {"", "", 0, {0}, 0};
    KevyDb *db = kevy_open_mem();
    must(db != NULL, "open");
    bench_publish(db, 0, &rows[0], NULL);
    KevySub *other = kevy_subscribe(db, (const uint8_t *)"other", 5);
    must(other != NULL, "subscribe");
    bench_publish(db, 0, &rows[1], NULL);
    kevy_sub_close(other);
    bench_publish(db, 1, &rows[2], &rows[4]);
    bench_publish(db, 8, &rows[3], &unused);
    bench_stream(db, &rows[5]);
    bench_wake(db, &rows[6]);
    bench_idle(db, &rows[7]);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        row_print(&rows[i]);
    }
    kevy_close(db);
    return 0;
}
