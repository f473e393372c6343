/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ns per get and set in C; README.md says of what. timing DIR: the durable
 * store goes into DIR, which the caller removes. Writes one JSON line.
 */
#define _POSIX_C_SOURCE 200809L
#include <kevy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 10000
#define OPERATIONS 200000
#define ROUNDS 5
#define KEY_SIZE 16
#define VALUE_SIZE 100

static uint8_t keys[KEYS][KEY_SIZE + 1];
static uint32_t order[OPERATIONS];
static uint8_t value[VALUE_SIZE], room[128];

static void prepare(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf((char *)keys[i], sizeof keys[i], "key:%012u", i);
    }
    uint32_t x = 1;
    for (size_t i = 0; i < OPERATIONS; i++) {
        x = (x * 1103515245u + 12345u) & 0x7fffffffu;
        order[i] = (x >> 8) % KEYS;
    }
}

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        (void)fprintf(stderr, "timing: %s\n", what);
        exit(1);
    }
}

static void set_one(KevyDb *db, const uint8_t *key)
{
    expect(kevy_set(db, key, KEY_SIZE, value, sizeof value, 0) == 0, "a set failed");
}

static void get_one(KevyDb *db, const uint8_t *key)
{
    size_t size;
    expect(kevy_get_into(db, key, KEY_SIZE, room, sizeof room, &size) == 1, "a get failed");
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int less(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(KevyDb *db, void (*operation)(KevyDb *, const uint8_t *))
{
    double rounds[ROUNDS + 1];
    for (size_t round = 0; round <= ROUNDS; round++) {
        double start = now_ns();
        for (size_t i = 0; i < OPERATIONS; i++) {
            operation(db, keys[order[i]]);
        }
        rounds[round] = (now_ns() - start) / OPERATIONS;
    }
    qsort(rounds + 1, ROUNDS, sizeof rounds[0], less);
    return rounds[1 + ROUNDS / 2];
}

static void store_time(KevyDb *db, const char *name, const char *end)
{
    expect(db != NULL, "a store could not be opened");
    for (size_t i = 0; i < KEYS; i++) {
        set_one(db, keys[i]);
    }
    double set = median(db, set_one);
    double get = median(db, get_one);
    kevy_close(db);
    printf("\"%s\":{\"get\":%.1f,\"set\":%.1f}%s", name, get, set, end);
}

int main(int argc, char **argv)
{
    expect(argc == 2, "usage: timing DIR");
    prepare();
    printf("{\"step\":\"timing\",\"language\":\"C\",");
    store_time(kevy_open_mem(), "memory", ",");
    store_time(kevy_open((const uint8_t *)argv[1], strlen(argv[1])), "file", "}\n");
    return 0;
}
