/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners: the bound of the queue, missing memory, many threads, and
 * nothing to do.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/listen_kit.h"
#include "testing/harness.h"
#include "testing/idle.h"

/* ---- Bounds, memory ---- */

struct slow {
    _Atomic unsigned stage; /* 1: inside the first call; 2: go on */
    _Atomic unsigned calls;
    _Atomic uint64_t lost;
};

static void be_slow(void *user, const KevyChange *change)
{
    struct slow *slow = user;
    if (atomic_fetch_add(&slow->calls, 1) == 0) {
        atomic_store(&slow->stage, 1);
        CHECK(listen_reaches(&slow->stage, 2));
    }
    if (change->cause == KEVY_CHANGE_LOST) {
        atomic_fetch_sub(&slow->calls, 1);
        atomic_fetch_add(&slow->lost, change->lost);
    }
}

/* Waits until so many changes were told or told as lost: by a writer, or by
 * the thread of expiries. */
static bool slow_reaches(struct slow *slow, unsigned long want)
{
    for (unsigned i = 0; i < 3000 && atomic_load(&slow->calls) + atomic_load(&slow->lost) < want;
         i++) {
        listen_nap(10);
    }
    return atomic_load(&slow->calls) + atomic_load(&slow->lost) == want;
}

static void *set_first(void *user)
{
    listen_set(user, "first", 0);
    return NULL;
}

TEST_LIMIT(a_queue_that_is_full_counts_what_it_loses, 120)
{
    struct slow slow = {0};
    KevyDb *db = kevy_open_mem();
    static char key[4096];
    pthread_t thread;
    unsigned count = 6000;
    CHECK(kevy_listen(db, be_slow, &slow) > 0);
    REQUIRE_INT(pthread_create(&thread, NULL, set_first, db), 0);
    CHECK(listen_reaches(&slow.stage, 1));
    memset(key, 'k', sizeof key);
    for (unsigned i = 0; i < count; i++) {
        CHECK_INT(kevy_set(db, u(key), sizeof key, u("v"), 1, 0), 0);
    }
    atomic_store(&slow.stage, 2);
    pthread_join(thread, NULL);
    CHECK(slow_reaches(&slow, count + 1));
    CHECK(slow.lost > 1000);
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK_INT(stats.changes_lost, slow.lost);
    listen_set(db, "after", 0);
    CHECK(slow_reaches(&slow, count + 2));
    kevy_close(db);
}

static _Atomic size_t allocations_left = SIZE_MAX;

static void *failing_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    if (new_size > 0 && allocations_left != SIZE_MAX) {
        if (allocations_left == 0) {
            return NULL;
        }
        allocations_left--;
    }
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

static void count_change(void *user, const KevyChange *change)
{
    _Atomic uint64_t *count = user;
    *count += change->cause == KEVY_CHANGE_LOST ? change->lost : 1;
}

TEST(without_memory_changes_are_lost_but_counted)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    kevy_mem mem = {NULL, failing_resize};
    struct kv_open open = {.options = &options, .os = &kv_os_posix, .mem = &mem};
    _Atomic uint64_t count = 0;
    KevyDb *db;
    KevyError error;
    REQUIRE_INT(kv_engine_open(&open, &db, &error), 0);
    listen_set(db, "a key that is there", 0);
    allocations_left = 0;
    CHECK_INT(kevy_listen(db, count_change, &count), -2);
    allocations_left = SIZE_MAX;
    CHECK(kevy_listen(db, count_change, &count) > 0);
    for (size_t left = 0; left < 4; left++) {
        uint64_t before = count;
        allocations_left = left;
        listen_set(db, "a key that is there", 0);
        allocations_left = SIZE_MAX;
        CHECK_INT(count, before + 1);
    }
    kevy_close(db);
}

/* ---- Many threads ---- */

enum { TOGGLERS = 3, TOGGLED = 20 };

struct toggles {
    KevyDb *db;
    int32_t last[TOGGLERS][TOGGLED];
    uint64_t told;
    unsigned wrong;
    unsigned rounds;
    _Atomic unsigned next;
    _Atomic unsigned ready;
};

/* A key is set and deleted in turn, so that is how it must be told. */
static void check_toggle(void *user, const KevyChange *change)
{
    struct toggles *toggles = user;
    if (change->cause == KEVY_CHANGE_LOST) {
        toggles->wrong++;
        return;
    }
    int32_t *last = &toggles->last[change->key[0] - 'a'][change->key[1] - 'A'];
    toggles->wrong += *last == change->cause;
    *last = change->cause;
    toggles->told++;
}

static void *toggle(void *user)
{
    struct toggles *toggles = user;
    uint8_t key[2] = {(uint8_t)('a' + atomic_fetch_add(&toggles->next, 1)), 0};
    const uint8_t *argv[2] = {u("DEL"), key};
    size_t sizes[2] = {3, 2};
    for (unsigned i = 0; i < toggles->rounds; i++) {
        KevyBuf reply;
        key[1] = (uint8_t)('A' + i % TOGGLED);
        CHECK_INT(kevy_set(toggles->db, key, 2, key, 2, 0), 0);
        CHECK_INT(kevy_cmd(toggles->db, 2, argv, sizes, &reply), 0);
        kevy_buf_free(reply.ptr, reply.len, reply.cap);
    }
    return NULL;
}

static void *come_and_go(void *user)
{
    struct toggles *toggles = user;
    _Atomic uint64_t count = 0;
    while (atomic_load(&toggles->ready) == 0) {
        int64_t id = kevy_listen(toggles->db, count_change, &count);
        CHECK(id > 0);
        CHECK_INT(kevy_unlisten(toggles->db, id), 0);
    }
    return NULL;
}

TEST_LIMIT(the_order_of_a_key_is_kept_among_threads, 120)
{
    struct toggles toggles = {.db = kevy_open_mem(), .rounds = (unsigned)test_scale(20000)};
    pthread_t threads[TOGGLERS], visitor;
    CHECK(kevy_listen(toggles.db, check_toggle, &toggles) > 0);
    for (int i = 0; i < TOGGLERS; i++) {
        REQUIRE_INT(pthread_create(&threads[i], NULL, toggle, &toggles), 0);
    }
    REQUIRE_INT(pthread_create(&visitor, NULL, come_and_go, &toggles), 0);
    for (int i = 0; i < TOGGLERS; i++) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&toggles.ready, 1);
    pthread_join(visitor, NULL);
    kevy_close(toggles.db);
    CHECK_INT(toggles.wrong, 0);
    CHECK(toggles.told > 0 && toggles.told <= TOGGLERS * 2ull * toggles.rounds);
}

static void *close_it(void *user)
{
    listen_nap(1);
    kevy_close(user);
    return NULL;
}

TEST_LIMIT(closing_beside_writers_and_expiries, 120)
{
    for (unsigned round = 0; round < test_scale(60); round++) {
        const char *dir = test_path("store");
        KevyDb *one = kevy_open(u(dir), strlen(dir)), *two = kevy_open(u(dir), strlen(dir));
        _Atomic uint64_t counts[2] = {0, 0};
        pthread_t thread;
        REQUIRE(one != NULL && two != NULL);
        CHECK(kevy_listen(one, count_change, &counts[0]) > 0);
        CHECK(kevy_listen(two, count_change, &counts[1]) > 0);
        REQUIRE_INT(pthread_create(&thread, NULL, close_it, two), 0);
        for (unsigned i = 0; i < 200; i++) {
            char key[16];
            (void)snprintf(key, sizeof key, "%u", i);
            listen_set(one, key, 1 + i % 3);
        }
        pthread_join(thread, NULL);
        uint64_t heard = counts[1];
        listen_set(one, "last", 0);
        CHECK_INT(counts[1], heard);
        for (unsigned i = 0; i < 3000 && counts[0] <= 200; i++) {
            listen_nap(10); /* the thread of expiries may be telling them */
        }
        kevy_close(one);
        CHECK(counts[0] > 200);
    }
}

/* ---- Idle ---- */

TEST(a_listener_that_waits_for_nothing_wakes_nobody)
{
    KevyDb *db = kevy_open_mem();
    struct diary diary = {.db = db};
    CHECK(kevy_listen(db, listen_note, &diary) > 0);
    listen_set(db, "k", 3600000);
    CHECK(idle_await());
    CHECK_INT(idle_wakes(300), 0);
    kevy_close(db);
}
