/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Threads that take and hold views while others overwrite, delete and flush,
 * the collector moves what they look at, and the store is closed and opened
 * again: what is held never changes. The sanitizer builds of this test would
 * see memory that is freed or written under a holder.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "testing/harness.h"

enum { KEYS = 200, HELD = 16, HOLDERS = 3, VALUE_MAX = 400000 };

struct race {
    KevyDb *_Atomic db; /* NULL while the store is closed */
    _Atomic unsigned users;
    _Atomic bool is_going;
    _Atomic unsigned holders;
    _Atomic unsigned wrong;
    _Atomic unsigned long views;
    _Atomic unsigned long in_place;
    const char *dir;
};

/* A value is one byte over and over, so that a change anywhere shows. */
static bool is_one_byte(KevyBuf value)
{
    for (size_t i = 1; i < value.len; i++) {
        if (value.ptr[i] != value.ptr[0]) {
            return false;
        }
    }
    return true;
}

struct slot {
    KevyBuf view;
    uint8_t byte;
};

static void slot_empty(struct race *race, struct slot *slot)
{
    if (slot->view.len > 0 && (slot->view.ptr[0] != slot->byte || !is_one_byte(slot->view))) {
        atomic_fetch_add(&race->wrong, 1);
    }
    kevy_buf_free_shared(slot->view.ptr, slot->view.len, slot->view.cap);
    slot->view = (KevyBuf){NULL, 0, 0};
}

static void slot_fill(struct race *race, struct slot *slot, unsigned key_number)
{
    char key[16];
    if (atomic_load(&race->db) == NULL) {
        return; /* or the one who closes it would wait long for a moment without users */
    }
    atomic_fetch_add(&race->users, 1);
    KevyDb *db = atomic_load(&race->db);
    (void)snprintf(key, sizeof key, "k%u", key_number);
    int32_t hit =
        db == NULL ? 0 : kevy_get_shared(db, (const uint8_t *)key, strlen(key), &slot->view);
    atomic_fetch_sub(&race->users, 1);
    if (hit < 0) {
        atomic_fetch_add(&race->wrong, 1);
    }
    if (hit == 1) {
        slot->byte = slot->view.len > 0 ? slot->view.ptr[0] : 0;
        atomic_fetch_add_explicit(&race->views, 1, memory_order_relaxed);
        if (slot->view.cap == slot->view.len && slot->view.len > 0) {
            atomic_fetch_add_explicit(&race->in_place, 1, memory_order_relaxed);
        }
    }
}

static void *hold_views(void *user)
{
    struct race *race = user;
    struct slot slots[HELD] = {{{NULL, 0, 0}, 0}};
    uint64_t state = test_seed() + atomic_fetch_add(&race->holders, 1);
    while (atomic_load(&race->is_going)) {
        struct slot *slot = &slots[test_random(&state) % HELD];
        slot_empty(race, slot);
        slot_fill(race, slot, (unsigned)(test_random(&state) % KEYS));
    }
    for (unsigned i = 0; i < HELD; i++) {
        slot_empty(race, &slots[i]);
    }
    return NULL;
}

static void command(KevyDb *db, const char *name, const char *key)
{
    const uint8_t *argv[2] = {(const uint8_t *)name, (const uint8_t *)key};
    size_t sizes[2] = {strlen(name), strlen(key)};
    KevyBuf reply;
    CHECK_INT(kevy_cmd(db, key[0] == '\0' ? 1 : 2, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

/* Small, middle and now and then one with an extent of its own. */
static size_t size_of_round(uint64_t *state)
{
    uint64_t kind = test_random(state) % 40;
    size_t max = kind == 0 ? VALUE_MAX : kind < 20 ? 20000 : 200;
    return (size_t)(test_random(state) % max);
}

static void write_some(KevyDb *db, uint64_t *state, uint8_t *value, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%u", (unsigned)(test_random(state) % KEYS));
        if (test_random(state) % 8 == 0) {
            command(db, "DEL", key);
            continue;
        }
        size_t size = size_of_round(state);
        memset(value, (int)test_random(state), size);
        CHECK_INT(kevy_set(db, (const uint8_t *)key, strlen(key), value, size, 0), 0);
    }
}

static KevyDb *open_store(const struct race *race)
{
    KevyDb *db = race->dir == NULL ? kevy_open_mem()
                                   : kevy_open((const uint8_t *)race->dir, strlen(race->dir));
    REQUIRE(db != NULL);
    return db;
}

/* Nobody starts a call on the handle any more; those that did have returned. */
static void close_store(struct race *race)
{
    KevyDb *db = atomic_exchange(&race->db, NULL);
    while (atomic_load(&race->users) != 0) {
    }
    kevy_close(db);
}

/* The holders have come to enough: on a busy machine they may begin late. */
static bool has_raced(const struct race *race)
{
    return atomic_load(&race->views) > 100 && atomic_load(&race->in_place) > 10;
}

static void race_on(struct race *race)
{
    pthread_t holders[HOLDERS];
    uint64_t state = test_seed();
    uint8_t *value = malloc(VALUE_MAX);
    REQUIRE(value != NULL);
    atomic_store(&race->is_going, true);
    atomic_store(&race->db, open_store(race));
    for (unsigned i = 0; i < HOLDERS; i++) {
        REQUIRE_INT(pthread_create(&holders[i], NULL, hold_views, race), 0);
    }
    for (unsigned round = 0; round < 3 || !has_raced(race); round++) {
        write_some(atomic_load(&race->db), &state, value, (unsigned)test_scale(4000));
        command(atomic_load(&race->db), "FLUSHALL", "");
        write_some(atomic_load(&race->db), &state, value, (unsigned)test_scale(2000));
        close_store(race);
        atomic_store(&race->db, open_store(race));
    }
    atomic_store(&race->is_going, false);
    for (unsigned i = 0; i < HOLDERS; i++) {
        pthread_join(holders[i], NULL);
    }
    close_store(race);
    free(value);
    CHECK_INT(atomic_load(&race->wrong), 0);
    CHECK_INT(kv_view_charged(), 0);
}

TEST_LIMIT(held_views_never_change_in_memory, 120)
{
    struct race race = {.dir = NULL};
    race_on(&race);
}

TEST_LIMIT(held_views_never_change_in_files, 120)
{
    struct race race = {.dir = test_path("store")};
    race_on(&race);
}

/* Two threads that let the same views go at the moment the store is closed. */
static void *let_all_go(void *user)
{
    KevyBuf *views = user;
    for (unsigned i = 0; i < KEYS; i++) {
        kevy_buf_free(views[i].ptr, views[i].len, views[i].cap);
    }
    return NULL;
}

TEST_LIMIT(the_last_holders_race_each_other_and_close, 60)
{
    static KevyBuf views[2][KEYS];
    static uint8_t value[40000];
    for (size_t round = 0; round < test_scale(30); round++) {
        KevyDb *db = kevy_open_mem();
        pthread_t threads[2];
        char key[16];
        for (unsigned i = 0; i < KEYS; i++) {
            (void)snprintf(key, sizeof key, "k%u", i);
            CHECK_INT(kevy_set(db, (const uint8_t *)key, strlen(key), value, sizeof value, 0), 0);
        }
        for (unsigned i = 0; i < KEYS; i++) {
            (void)snprintf(key, sizeof key, "k%u", i);
            for (unsigned side = 0; side < 2; side++) {
                CHECK_INT(kevy_get_shared(db, (const uint8_t *)key, strlen(key), &views[side][i]),
                          1);
            }
        }
        for (unsigned side = 0; side < 2; side++) {
            REQUIRE_INT(pthread_create(&threads[side], NULL, let_all_go, views[side]), 0);
        }
        kevy_close(db);
        for (unsigned side = 0; side < 2; side++) {
            pthread_join(threads[side], NULL);
        }
        CHECK_INT(kv_view_charged(), 0);
    }
}
