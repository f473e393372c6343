/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Readers that take no lock against writers that change everything under
 * them: keys that are always there are always found, a value is always one
 * that was written whole, and nothing is freed under a reader (which the
 * sanitizer builds of this test would see).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "testing/harness.h"

#define STAYING 64u
#define COMING 2000u
#define VALUE_MAX ((size_t)20000)

struct race {
    KevyDb *db;
    _Atomic int is_going;
    _Atomic unsigned wrong;
    _Atomic unsigned long reads;
    size_t value_max;
};

static int32_t set(KevyDb *db, const char *key, const uint8_t *value, size_t size)
{
    return kevy_set(db, (const uint8_t *)key, strlen(key), value, size, 0);
}

/* A value is one byte over and over, so that a torn one shows. */
static bool is_whole(const uint8_t *value, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (value[i] != value[0]) {
            return false;
        }
    }
    return true;
}

static void *read_all(void *user)
{
    struct race *race = user;
    uint8_t *buf = malloc(VALUE_MAX);
    for (unsigned i = 0; atomic_load(&race->is_going); i++) {
        char key[16];
        size_t size;
        bool stays = i % 2 == 0;
        (void)snprintf(key, sizeof key, "%s%u", stays ? "stay" : "come",
                       i / 2 % (stays ? STAYING : COMING));
        int32_t hit =
            kevy_get_into(race->db, (const uint8_t *)key, strlen(key), buf, VALUE_MAX, &size);
        if (hit < 0 || (stays && hit != 1) || (hit == 1 && !is_whole(buf, size))) {
            atomic_fetch_add(&race->wrong, 1);
        }
        atomic_fetch_add_explicit(&race->reads, 1, memory_order_relaxed);
    }
    free(buf);
    return NULL;
}

static void run_command(KevyDb *db, const char *name, const char *key)
{
    const uint8_t *argv[2] = {(const uint8_t *)name, (const uint8_t *)key};
    size_t sizes[2] = {strlen(name), strlen(key)};
    KevyBuf reply;
    CHECK_INT(kevy_cmd(db, key[0] == '\0' ? 1 : 2, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

/* Writes, overwrites and deletes until enough was read; the table splits and
 * shrinks its chains, segments die and are freed. */
static void write_all(struct race *race, unsigned long reads_min)
{
    uint64_t state = test_seed();
    uint8_t *value = malloc(race->value_max);
    for (unsigned i = 0; atomic_load(&race->reads) < reads_min || i < 3000000 / race->value_max;
         i++) {
        char key[16];
        size_t size = (size_t)(test_random(&state) % race->value_max) + 1;
        memset(value, (int)i, size);
        (void)snprintf(key, sizeof key, "stay%u", (unsigned)(test_random(&state) % STAYING));
        CHECK_INT(set(race->db, key, value, size), 0);
        (void)snprintf(key, sizeof key, "come%u", (unsigned)(test_random(&state) % COMING));
        if (i % 3 == 0) {
            run_command(race->db, "DEL", key);
        } else {
            CHECK_INT(set(race->db, key, value, size % 100), 0);
        }
    }
    free(value);
}

static void race_on(KevyDb *db, size_t value_max)
{
    struct race race = {.db = db, .is_going = 1, .value_max = value_max};
    pthread_t readers[2];
    REQUIRE(db != NULL);
    for (unsigned i = 0; i < STAYING; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "stay%u", i);
        CHECK_INT(set(db, key, (const uint8_t *)"x", 1), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE_INT(pthread_create(&readers[i], NULL, read_all, &race), 0);
    }
    write_all(&race, 30000000 / value_max);
    atomic_store(&race.is_going, 0);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(readers[i], NULL);
    }
    CHECK_INT(race.wrong, 0);
    kevy_close(db);
}

TEST_LIMIT(readers_race_a_writer_in_memory, 120)
{
    race_on(kevy_open_mem(), 300);
}

TEST_LIMIT(readers_race_large_values_in_memory, 120)
{
    race_on(kevy_open_mem(), VALUE_MAX);
}

TEST_LIMIT(readers_race_a_writer_in_files, 120)
{
    const char *dir = test_path("store");
    race_on(kevy_open((const uint8_t *)dir, strlen(dir)), 300);
}

static void *flush_all(void *user)
{
    struct race *race = user;
    while (atomic_load(&race->is_going)) {
        run_command(race->db, "FLUSHALL", "");
    }
    return NULL;
}

/* A database that is dropped under readers: hits or misses, never a crash. */
TEST_LIMIT(readers_race_flushall, 120)
{
    struct race race = {.db = kevy_open_mem(), .is_going = 1, .value_max = 200};
    pthread_t flusher;
    uint8_t buf[200], value[200];
    size_t size;
    REQUIRE_INT(pthread_create(&flusher, NULL, flush_all, &race), 0);
    for (unsigned i = 0; i < 50000; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%u", i % 100);
        memset(value, (int)i, sizeof value);
        CHECK_INT(set(race.db, key, value, i % 200), 0);
        int32_t hit =
            kevy_get_into(race.db, (const uint8_t *)key, strlen(key), buf, sizeof buf, &size);
        CHECK(hit == 0 || (hit == 1 && is_whole(buf, size)));
    }
    atomic_store(&race.is_going, 0);
    pthread_join(flusher, NULL);
    kevy_close(race.db);
}
