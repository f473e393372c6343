/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_get_shared: what a caller holds stays as it is, whatever happens to the
 * key, the segment, the file or the store, and nobody can write to the store
 * through it. Races are in test_view_race.c.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "testing/harness.h"

/* Sizes of values below, and of the segment that they are put into. */
enum { SMALL = 100, MIDDLE = 5000, LARGE = 400000 };

static void put(KevyDb *db, const char *key, int byte, size_t size)
{
    uint8_t *value = malloc(size + 1);
    REQUIRE(value != NULL);
    memset(value, byte, size);
    CHECK_INT(kevy_set(db, (const uint8_t *)key, strlen(key), value, size, 0), 0);
    free(value);
}

static KevyBuf hold(KevyDb *db, const char *key)
{
    KevyBuf view;
    CHECK_INT(kevy_get_shared(db, (const uint8_t *)key, strlen(key), &view), 1);
    return view;
}

static void let_go(KevyBuf view)
{
    kevy_buf_free_shared(view.ptr, view.len, view.cap);
}

static bool is_all(KevyBuf view, int byte, size_t size)
{
    size_t same = 0;
    while (same < view.len && view.ptr[same] == byte) {
        same++;
    }
    return view.len == size && same == size;
}

/* Writes as much as makes the active segment a sealed one, under other keys. */
static void seal(KevyDb *db)
{
    char key[16];
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof key, "fill%u", i);
        put(db, key, 'f', 50000);
    }
}

static void run(KevyDb *db, const char *name, const char *key)
{
    const uint8_t *argv[2] = {(const uint8_t *)name, (const uint8_t *)key};
    size_t sizes[2] = {strlen(name), strlen(key)};
    KevyBuf reply;
    CHECK_INT(kevy_cmd(db, key[0] == '\0' ? 1 : 2, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

static KevyDb *open_files(void)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    return db;
}

/* A pointer is in a view, not a copy, when the next call hands out the same. */
static bool is_in_place(KevyDb *db, const char *key)
{
    KevyBuf one = hold(db, key), two = hold(db, key);
    bool is_same = one.ptr == two.ptr;
    let_go(one);
    let_go(two);
    return is_same;
}

static void three_sizes(KevyDb *db, int byte)
{
    put(db, "small", byte, SMALL);
    put(db, "middle", byte, MIDDLE);
    put(db, "large", byte, LARGE);
}

static void is_stored_in_place(KevyDb *db)
{
    REQUIRE(db != NULL);
    three_sizes(db, 'a');
    seal(db);
    CHECK(is_in_place(db, "small"));
    CHECK(is_in_place(db, "middle"));
    CHECK(is_in_place(db, "large"));
    kevy_close(db);
}

TEST(sealed_records_are_held_in_place_in_memory)
{
    is_stored_in_place(kevy_open_mem());
}

TEST(sealed_records_are_held_in_place_in_files)
{
    is_stored_in_place(open_files());
}

TEST(an_empty_value_and_a_missing_key)
{
    KevyDb *db = kevy_open_mem();
    KevyBuf view = {NULL, 1, 1};
    put(db, "empty", 0, 0);
    seal(db);
    view = hold(db, "empty");
    CHECK(view.ptr != NULL && view.len == 0);
    let_go(view);
    CHECK_INT(kevy_get_shared(db, (const uint8_t *)"none", 4, &view), 0);
    CHECK(view.ptr == NULL && view.len == 0 && view.cap == 0);
    CHECK_INT(kevy_get_shared(db, NULL, 1, &view), -1);
    CHECK_INT(kevy_get_shared(db, (const uint8_t *)"none", 4, NULL), -1);
    CHECK_INT(kevy_get_shared(NULL, (const uint8_t *)"none", 4, &view), -1);
    kevy_close(db);
}

/* ---- Whatever happens to the key ---- */

struct held {
    KevyBuf small, middle, large;
};

static struct held hold_three(KevyDb *db)
{
    return (struct held){hold(db, "small"), hold(db, "middle"), hold(db, "large")};
}

static void check_three(const struct held *held, int byte)
{
    CHECK(is_all(held->small, byte, SMALL));
    CHECK(is_all(held->middle, byte, MIDDLE));
    CHECK(is_all(held->large, byte, LARGE));
}

static void let_three_go(const struct held *held)
{
    let_go(held->small);
    let_go(held->middle);
    let_go(held->large);
}

static void survives_changes(KevyDb *db)
{
    REQUIRE(db != NULL);
    three_sizes(db, 'a');
    struct held in_open = hold_three(db);
    seal(db);
    struct held first = hold_three(db);
    three_sizes(db, 'b');
    struct held second = hold_three(db);
    run(db, "DEL", "small");
    run(db, "DEL", "middle");
    run(db, "DEL", "large");
    check_three(&in_open, 'a');
    check_three(&first, 'a');
    check_three(&second, 'b');
    three_sizes(db, 'c');
    run(db, "FLUSHALL", "");
    for (unsigned i = 0; i < 10; i++) {
        seal(db); /* what is dead is collected and its memory used again */
    }
    CHECK_INT(kevy_sync(db), 0);
    check_three(&in_open, 'a');
    check_three(&first, 'a');
    check_three(&second, 'b');
    kevy_close(db);
    check_three(&in_open, 'a');
    check_three(&first, 'a');
    check_three(&second, 'b');
    let_three_go(&in_open);
    let_three_go(&first);
    let_three_go(&second);
}

TEST(views_survive_overwrite_delete_flush_and_close_in_memory)
{
    survives_changes(kevy_open_mem());
}

TEST(views_survive_overwrite_delete_flush_and_close_in_files)
{
    survives_changes(open_files());
}

/* The file that a view lies in is collected and unlinked, the store is closed
 * and opened again, which recovers it, and written to. */
TEST(views_survive_unlink_and_opening_again)
{
    KevyDb *db = open_files();
    three_sizes(db, 'a');
    seal(db);
    struct held held = hold_three(db);
    three_sizes(db, 'b');
    kevy_close(db);
    for (int round = 0; round < 3; round++) {
        db = open_files();
        CHECK(is_all(held.small, 'a', SMALL));
        for (unsigned i = 0; i < 4; i++) {
            seal(db);
        }
        three_sizes(db, 'c');
        kevy_close(db);
        check_three(&held, 'a');
    }
    let_three_go(&held);
}

/* After the last one let go, nothing is held and nothing is charged. */
TEST(the_last_holder_ends_the_mapping)
{
    KevyDb *db = kevy_open_mem();
    three_sizes(db, 'a');
    seal(db);
    KevyBuf one = hold(db, "small"), two = hold(db, "small");
    CHECK(kv_view_charged() >= SMALL);
    kevy_close(db);
    CHECK(is_all(one, 'a', SMALL));
    let_go(one);
    CHECK(is_all(two, 'a', SMALL));
    let_go(two);
    CHECK_INT(kv_view_charged(), 0);
    /* The page is gone: the kernel cannot read it. */
    int ends[2];
    REQUIRE_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], two.ptr, 1), -1);
    CHECK_INT(errno, EFAULT);
}

/* ---- Nobody writes through it ---- */

/* Whether a child that writes a byte there is killed by it. */
static bool faults(uint8_t *at)
{
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        (void)dup2(quiet, 2);
        *(volatile uint8_t *)at = 'x';
        _exit(0);
    }
    int status = 0;
    REQUIRE_INT(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void cannot_be_written(KevyDb *db)
{
    REQUIRE(db != NULL);
    three_sizes(db, 'a');
    seal(db);
    struct held held = hold_three(db);
    CHECK(faults(held.small.ptr));
    CHECK(faults(held.middle.ptr + MIDDLE - 1));
    CHECK(faults(held.large.ptr + LARGE / 2));
    let_three_go(&held);
    kevy_close(db);
}

TEST(fault_5_a_write_through_a_view_faults_in_memory)
{
    cannot_be_written(kevy_open_mem());
}

TEST(fault_5_a_write_through_a_view_faults_in_files)
{
    cannot_be_written(open_files());
}

/* What is not sealed yet comes as a copy: writing to that changes no store. */
TEST(fault_5_a_copy_of_an_open_record_is_no_alias)
{
    KevyDb *db = kevy_open_mem();
    put(db, "k", 'a', SMALL);
    KevyBuf copy = hold(db, "k");
    memset(copy.ptr, 'x', copy.len);
    KevyBuf again = hold(db, "k");
    CHECK(is_all(again, 'a', SMALL));
    let_go(copy);
    let_go(again);
    kevy_close(db);
}

/* ---- While the memory is still appended to ---- */

TEST(large_values_and_earlier_ones_are_held_in_place_at_once)
{
    KevyDb *db = kevy_open_mem();
    put(db, "small", 'a', SMALL);
    CHECK(!is_in_place(db, "small"));
    put(db, "large", 'b', 64000);
    CHECK(is_in_place(db, "large"));
    CHECK(is_in_place(db, "small"));
    KevyBuf small = hold(db, "small"), large = hold(db, "large");
    CHECK(faults(small.ptr));
    CHECK(faults(large.ptr + 63999));
    put(db, "small", 'c', SMALL);
    put(db, "large", 'd', 64000);
    CHECK(is_all(small, 'a', SMALL) && is_all(large, 'b', 64000));
    let_go(small);
    let_go(large);
    small = hold(db, "small");
    CHECK(is_all(small, 'c', SMALL));
    let_go(small);
    kevy_close(db);
    CHECK_INT(kv_view_charged(), 0);
}

/* Each value is looked at as soon as it is there: the pads that this costs are
 * collected like all that is dead, and nothing else is. */
TEST(holding_each_new_value_costs_bounded_memory)
{
    KevyDb *db = kevy_open_mem();
    KevyStats stats = {.size = sizeof stats};
    char key[16];
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i % 50);
        put(db, key, i, 17000);
        KevyBuf view = hold(db, key);
        CHECK(is_all(view, i % 256, 17000));
        let_go(view);
        put(db, "tiny", i, 10);
    }
    for (int i = 2950; i < 3000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i % 50);
        KevyBuf view = hold(db, key);
        CHECK(is_all(view, i % 256, 17000));
        let_go(view);
    }
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK(stats.memory_used < (uint64_t)32 << 20);
    kevy_close(db);
}

/* ---- The bound, and freeing ---- */

/* Views of more segments than may be held: the rest are copies, all are right,
 * and once they are let go there is room again. */
TEST(more_than_the_bound_is_copied)
{
    enum { COUNT = 30, SIZE = 3 << 20 };
    KevyDb *db = kevy_open_mem();
    KevyBuf views[COUNT];
    char key[16];
    for (int round = 0; round < 2; round++) {
        unsigned in_place = 0;
        for (int i = 0; i < COUNT; i++) {
            (void)snprintf(key, sizeof key, "k%d", i);
            if (round == 0) {
                put(db, key, i, SIZE);
            }
            views[i] = hold(db, key);
            in_place += kv_view_find(views[i].ptr) != NULL;
        }
        CHECK_INT(in_place, ((size_t)64 << 20) / SIZE);
        CHECK(kv_view_charged() <= (size_t)64 << 20);
        for (int i = 0; i < COUNT; i++) {
            CHECK(is_all(views[i], i, SIZE));
            let_go(views[i]);
        }
    }
    kevy_close(db);
    CHECK_INT(kv_view_charged(), 0);
}

/* Either function frees either kind, and what is said of size and capacity
 * changes nothing. */
TEST(either_free_frees_either_kind)
{
    KevyDb *db = kevy_open_mem();
    KevyBuf copy;
    three_sizes(db, 'a');
    seal(db);
    static const size_t hostile[] = {0, 1, SIZE_MAX, (size_t)1 << 40};
    for (unsigned i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        KevyBuf view = hold(db, "middle"), other = hold(db, "middle");
        kevy_buf_free(view.ptr, hostile[i], hostile[i]);
        kevy_buf_free_shared(other.ptr, hostile[i], hostile[i]);
        for (int shared = 0; shared < 2; shared++) {
            CHECK_INT(kevy_get(db, (const uint8_t *)"middle", 6, &copy), 1);
            (shared ? kevy_buf_free_shared : kevy_buf_free)(copy.ptr, hostile[i], hostile[i]);
        }
    }
    kevy_buf_free_shared(NULL, 0, 0);
    kevy_buf_free(NULL, 5, 5);
    CHECK(is_in_place(db, "middle"));
    kevy_close(db);
}

/* In a forked child the parent's views can be read and freed. */
TEST(a_forked_child_may_free_what_it_inherits)
{
    KevyDb *db = open_files();
    three_sizes(db, 'a');
    seal(db);
    struct held held = hold_three(db);
    kevy_close(db);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        bool is_right = is_all(held.large, 'a', LARGE);
        let_three_go(&held);
        KevyDb *own = kevy_open_mem();
        three_sizes(own, 'b');
        seal(own);
        is_right = is_right && is_in_place(own, "middle");
        kevy_close(own);
        _exit(is_right ? 0 : 1);
    }
    int status = -1;
    REQUIRE_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    check_three(&held, 'a');
    let_three_go(&held);
    CHECK_INT(kv_view_charged(), 0);
}
