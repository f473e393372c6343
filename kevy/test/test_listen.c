/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners: what they are told and when, and what they may do from
 * inside. Bounds and threads are in test_listen_threads.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/os/os_park.h"
#include "kevy/test/listen_kit.h"
#include "testing/harness.h"

TEST(a_change_is_told_once_and_when_it_can_be_read)
{
    KevyDb *db = kevy_open_mem();
    struct diary diary = {.db = db, .looks = true};
    listen_set(db, "before", 0);
    int64_t id = kevy_listen(db, listen_note, &diary);
    CHECK(id > 0);
    listen_set(db, "a", 0);
    listen_set(db, "a", 0);
    listen_cmd(db, "DEL", "a");
    listen_cmd(db, "DEL", "a");
    listen_cmd(db, "GET", "before");
    const uint8_t *keys[2] = {u("x"), u("y")};
    size_t sizes[2] = {1, 1};
    CHECK_INT(kevy_set_many(db, 2, keys, sizes, keys, sizes), 0);
    listen_cmd(db, "FLUSHALL", NULL);
    CHECK(listen_reaches(&diary.count, 6));
    CHECK_INT(kevy_unlisten(db, id), 0);
    CHECK_INT(kevy_unlisten(db, id), 0);
    listen_set(db, "after", 0);
    CHECK_STR(diary.text, "Sa=1 Sa=1 Da=0 Sx=1 Sy=1 C ");
    kevy_close(db);
}

TEST(a_listener_is_told_which_changes_are_not_its_own)
{
    const char *dir = test_path("store");
    KevyDb *one = kevy_open(u(dir), strlen(dir)), *two = kevy_open(u(dir), strlen(dir));
    struct diary first = {.db = one}, second = {.db = two};
    REQUIRE(one != NULL && two != NULL);
    CHECK(kevy_listen(one, listen_note, &first) > 0);
    CHECK(kevy_listen(two, listen_note, &second) > 0);
    listen_set(one, "a", 0);
    listen_set(two, "b", 0);
    CHECK(listen_reaches(&first.count, 2) && listen_reaches(&second.count, 2));
    CHECK_STR(first.text, "Sa S*b ");
    CHECK_STR(second.text, "S*a Sb ");
    kevy_close(one);
    listen_set(two, "c", 0);
    CHECK(listen_reaches(&second.count, 3));
    CHECK_STR(first.text, "Sa S*b ");
    CHECK_STR(second.text, "S*a Sb Sc ");
    kevy_close(two);
}

TEST(misuse_of_listen_is_a_number)
{
    KevyDb *db = kevy_open_mem();
    CHECK_INT(kevy_listen(NULL, listen_note, NULL), -1);
    CHECK_INT(kevy_listen(db, NULL, NULL), -1);
    CHECK_INT(kevy_unlisten(NULL, 1), -1);
    CHECK_INT(kevy_unlisten(db, 0), 0);
    CHECK_INT(kevy_unlisten(db, -5), 0);
    CHECK_INT(kevy_unlisten(db, 77), 0);
    kevy_close(db);
}

/* ---- Expiry ---- */

TEST(an_expiry_is_told_at_its_time_though_nobody_looks)
{
    KevyDb *db = kevy_open_mem();
    struct diary diary = {.db = db, .looks = true, .looks_at_ends = true};
    CHECK(kevy_listen(db, listen_note, &diary) > 0);
    listen_set(db, "late", 3600000);
    uint64_t begin = kv_mono_ns();
    listen_set(db, "soon", 30);
    CHECK(listen_reaches(&diary.count, 3));
    CHECK(kv_mono_ns() - begin >= UINT64_C(29000000));
    CHECK_STR(diary.text, "Slate Ssoon X*soon=0 ");
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK_INT(stats.keys, 1);
    CHECK_INT(stats.expired_keys, 1);
    CHECK_INT(stats.changes_told, 3);
    listen_cmd(db, "PERSIST", "late");
    kevy_close(db);
}

TEST(keys_that_were_there_before_the_listener_expire_too)
{
    KevyDb *db = kevy_open_mem();
    struct diary diary = {.db = db};
    listen_set(db, "k", 20);
    int64_t id = kevy_listen(db, listen_note, &diary);
    CHECK(listen_reaches(&diary.count, 1));
    CHECK_INT(kevy_unlisten(db, id), 0);
    listen_set(db, "l", 20);
    listen_nap(60);
    CHECK(kevy_listen(db, listen_note, &diary) > 0);
    CHECK(listen_reaches(&diary.count, 2));
    CHECK_STR(diary.text, "X*k X*l ");
    kevy_close(db);
}

/* Hostile builds are slow with many. */
#ifdef KEVY_HOSTILE
enum { CROWD = 20000 };
#else
enum { CROWD = 100000 };
#endif

/* Each of many keys, all within one second. */
struct crowd {
    unsigned char told[CROWD];
    _Atomic unsigned expired;
    unsigned wrong;
};

static void note_crowd(void *user, const KevyChange *change)
{
    struct crowd *crowd = user;
    char text[16];
    (void)snprintf(text, sizeof text, "%.*s", (int)change->key_len, (const char *)change->key);
    if (change->cause == KEVY_CHANGE_EXPIRE) {
        unsigned long key = strtoul(text, NULL, 10);
        crowd->wrong += key >= sizeof crowd->told || crowd->told[key]++ != 0;
        atomic_fetch_add(&crowd->expired, 1);
    } else if (change->cause != KEVY_CHANGE_SET) {
        crowd->wrong++;
    }
}

TEST_LIMIT(a_crowd_of_keys_expires_in_a_second_each_once, 120)
{
    unsigned count = (unsigned)test_scale(CROWD);
    struct crowd *crowd = calloc(1, sizeof *crowd);
    KevyDb *db = kevy_open_mem();
    REQUIRE(crowd != NULL && db != NULL);
    CHECK(kevy_listen(db, note_crowd, crowd) > 0);
    for (unsigned i = 0; i < count; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%u", i);
        listen_set(db, key, 500 + i % 1000);
    }
    CHECK(listen_reaches(&crowd->expired, count));
    CHECK_INT(crowd->expired, count);
    CHECK_INT(crowd->wrong, 0);
    kevy_close(db);
    free(crowd);
}

TEST(what_expired_in_a_file_stays_gone)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    struct diary diary = {.db = db};
    REQUIRE(db != NULL);
    CHECK(kevy_listen(db, listen_note, &diary) > 0);
    listen_set(db, "k", 0);
    listen_set(db, "k", 20);
    CHECK(listen_reaches(&diary.count, 3));
    kevy_close(db);
    CHECK_STR(diary.text, "Sk Sk X*k ");
    db = kevy_open(u(dir), strlen(dir));
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK_INT(stats.keys, 0);
    kevy_close(db);
}

/* ---- From inside ---- */

struct inside {
    KevyDb *db;
    KevyDb *other;
    int64_t id;
    int64_t late_id;
    struct diary diary;
    _Atomic unsigned calls;
    _Atomic unsigned ended; /* first calls that have returned */
    enum { INSIDE_WRITE, INSIDE_UNLISTEN, INSIDE_LISTEN, INSIDE_CLOSE } deed;
};

static void act(void *user, const KevyChange *change)
{
    struct inside *inside = user;
    (void)change;
    unsigned call = atomic_fetch_add(&inside->calls, 1);
    if (call != 0) {
        return;
    }
    switch (inside->deed) {
    case INSIDE_WRITE:
        listen_set(inside->db, "written inside", 0);
        listen_cmd(inside->db, "DEL", "written inside");
        CHECK_INT(kevy_publish(inside->db, u("c"), 1, u("m"), 1), 0);
        CHECK_INT(kevy_sync(inside->db), 0);
        CHECK_INT(atomic_load(&inside->calls), 1);
        break;
    case INSIDE_UNLISTEN:
        CHECK_INT(kevy_unlisten(inside->db, inside->id), 0);
        CHECK_INT(kevy_unlisten(inside->db, inside->id), 0);
        break;
    case INSIDE_LISTEN:
        inside->late_id = kevy_listen(inside->db, listen_note, &inside->diary);
        CHECK(inside->late_id > 0);
        listen_set(inside->db, "second", 0);
        break;
    case INSIDE_CLOSE:
        if (inside->other != NULL) {
            kevy_close(inside->other);
            CHECK_INT(kevy_sync(inside->other), -1);
        }
        kevy_close(inside->db);
        CHECK_INT(kevy_set(inside->db, u("x"), 1, u("x"), 1, 0), -1);
        CHECK_INT(kevy_listen(inside->db, listen_note, &inside->diary), -1);
        break;
    }
    atomic_fetch_add(&inside->ended, 1);
}

TEST(a_callback_may_write_and_is_told_after_it_returned)
{
    struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_WRITE};
    CHECK(kevy_listen(inside.db, act, &inside) > 0);
    listen_set(inside.db, "first", 0);
    CHECK(listen_reaches(&inside.calls, 3));
    kevy_close(inside.db);
    CHECK_INT(inside.calls, 3);
}

TEST(a_callback_may_end_itself)
{
    struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_UNLISTEN};
    struct diary diary = {.db = inside.db};
    inside.id = kevy_listen(inside.db, act, &inside);
    CHECK(kevy_listen(inside.db, listen_note, &diary) > 0);
    listen_set(inside.db, "a", 0);
    listen_set(inside.db, "b", 0);
    CHECK(listen_reaches(&diary.count, 2));
    CHECK_INT(inside.calls, 1);
    CHECK_STR(diary.text, "Sa Sb ");
    kevy_close(inside.db);
}

TEST(a_listener_made_inside_hears_of_what_comes_after)
{
    struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_LISTEN};
    inside.diary.db = inside.db;
    CHECK(kevy_listen(inside.db, act, &inside) > 0);
    listen_set(inside.db, "first", 0);
    CHECK(listen_reaches(&inside.diary.count, 1));
    CHECK_STR(inside.diary.text, "Ssecond ");
    kevy_close(inside.db);
}

TEST(a_callback_may_close_its_own_handle)
{
    struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_CLOSE};
    CHECK(kevy_listen(inside.db, act, &inside) > 0);
    CHECK_INT(kevy_set(inside.db, u("k"), 1, u("v"), 1, 0), 0);
    CHECK(listen_reaches(&inside.ended, 1));
    CHECK_INT(inside.calls, 1);
}

TEST(a_callback_may_close_the_handle_of_any_kind_of_write)
{
    for (int kind = 0; kind < 3; kind++) {
        struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_CLOSE};
        const uint8_t *keys[2] = {u("a"), u("b")};
        size_t sizes[2] = {1, 1};
        CHECK(kevy_listen(inside.db, act, &inside) > 0);
        if (kind == 0) {
            CHECK_INT(kevy_set_many(inside.db, 2, keys, sizes, keys, sizes), 0);
        } else if (kind == 1) {
            listen_cmd(inside.db, "INCR", "n");
        } else {
            listen_set(inside.db, "k", 3600000);
        }
        CHECK(listen_reaches(&inside.ended, 1));
    }
}

TEST(the_thread_of_expiries_may_close_the_store_that_it_serves)
{
    for (int i = 0; i < 20; i++) {
        struct inside inside = {.db = kevy_open_mem(), .deed = INSIDE_CLOSE};
        listen_set(inside.db, "k", 1);
        listen_nap(3);
        CHECK(kevy_listen(inside.db, act, &inside) > 0);
        CHECK(listen_reaches(&inside.ended, 1));
        listen_nap(2);
        CHECK_INT(inside.calls, 1);
    }
}

TEST(all_handles_of_a_directory_may_be_closed_from_inside)
{
    for (int i = 0; i < 4; i++) {
        const char *dir = test_path("store");
        struct inside inside = {.db = kevy_open(u(dir), strlen(dir)),
                                .other = kevy_open(u(dir), strlen(dir)),
                                .deed = INSIDE_CLOSE};
        REQUIRE(inside.db != NULL && inside.other != NULL);
        CHECK(kevy_listen(inside.other, act, &inside) > 0);
        CHECK_INT(kevy_set(inside.db, u("k"), 1, u("v"), 1, 0), 0);
        /* The thread of expiries may be the one that tells it. */
        CHECK(listen_reaches(&inside.ended, 1));
        CHECK_INT(inside.calls, 1);
    }
    const char *dir = test_path("store");
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    CHECK(db != NULL);
    kevy_close(db);
}
