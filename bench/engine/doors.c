/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The other ways to our values: an owned buffer, a view, many keys in one call.
 * Each key is written and then sealed under other values, so that views are
 * views.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/engine/work.h"
#include "kevy.h"

enum { MANY_IN_ONE = 64, LOOKUPS = 100000 };

struct door {
    const char *verb;
    double goal;
    /* Asks for the keys from `at` on; how many it asked for. */
    size_t (*ask)(KevyDb *db, char (*keys)[KEY_SIZE], size_t count, size_t at);
};

static size_t ask_owned(KevyDb *db, char (*keys)[KEY_SIZE], size_t count, size_t at)
{
    KevyBuf buf;
    (void)count;
    if (kevy_get(db, (const uint8_t *)keys[at], KEY_SIZE, &buf) != 1) {
        abort();
    }
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return 1;
}

static size_t ask_view(KevyDb *db, char (*keys)[KEY_SIZE], size_t count, size_t at)
{
    KevyBuf buf;
    (void)count;
    if (kevy_get_shared(db, (const uint8_t *)keys[at], KEY_SIZE, &buf) != 1) {
        abort();
    }
    kevy_buf_free_shared(buf.ptr, buf.len, buf.cap);
    return 1;
}

static size_t ask_many(KevyDb *db, char (*keys)[KEY_SIZE], size_t count, size_t at)
{
    const uint8_t *names[MANY_IN_ONE];
    size_t sizes[MANY_IN_ONE];
    KevyBuf buf;
    for (size_t i = 0; i < MANY_IN_ONE; i++) {
        names[i] = (const uint8_t *)keys[(at + i) % count];
        sizes[i] = KEY_SIZE;
    }
    if (kevy_get_many(db, MANY_IN_ONE, names, sizes, &buf) != MANY_IN_ONE) {
        abort();
    }
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return MANY_IN_ONE;
}

static void fill_and_seal(KevyDb *db, char (*keys)[KEY_SIZE], size_t count, size_t size)
{
    char *value = calloc(1, 60000 + size);
    for (size_t i = 0; i < count; i++) {
        (void)kevy_set(db, (const uint8_t *)keys[i], KEY_SIZE, (const uint8_t *)value, size, 0);
    }
    for (uint8_t i = 0; i < 80; i++) {
        (void)kevy_set(db, &i, 1, (const uint8_t *)value, 60000, 0);
    }
    free(value);
}

static void door_row(const struct effort *effort, const struct door *door, size_t count,
                     size_t size)
{
    char name[64];
    char(*keys)[KEY_SIZE] = work_keys(count);
    KevyDb *db = kevy_open_mem();
    struct bench_row row = {.bench = "engine",
                            .row = name,
                            .lane = "kevy, memory",
                            .unit = "ns",
                            .goal = door->goal,
                            .is_ours = true};
    (void)snprintf(name, sizeof name, "%s %zu B, %zuk keys", door->verb, size,
                   (count + 999) / 1000);
    fill_and_seal(db, keys, count, size);
    size_t at = 0;
    for (int round = 0; round <= effort->rounds; round++) {
        size_t asked = 0;
        double begin = bench_now();
        while (asked < LOOKUPS) {
            size_t step = door->ask(db, keys, count, at);
            asked += step;
            at = at + step < count ? at + step : 0;
        }
        if (round > 0) {
            bench_add(&row, (bench_now() - begin) / (double)asked);
        }
    }
    bench_print(&row);
    kevy_close(db);
    free(keys);
}

void work_doors(const struct effort *effort)
{
    static const struct door owned = {"owned get", 35, ask_owned};
    static const struct door view = {"view", 30, ask_view};
    static const struct door many = {"get_many, a key,", 45, ask_many};
    bench_heading("other ways to a value");
    door_row(effort, &owned, 10000, 16);
    door_row(effort, &owned, 10000, 100);
    door_row(effort, &view, 10000, 16);
    door_row(effort, &view, 10000, 1024);
    door_row(effort, &view, 400, 65536);
    door_row(effort, &view, 100, 400000);
    door_row(effort, &many, 10000, 100);
    door_row(effort, &many, 1000000, 100);
}
