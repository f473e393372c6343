/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Who owns a folder: processes that race for it, threads of one process that
 * open and close it again and again, and a folder that goes away under its
 * owner. That a second process is refused and a fork keeps nothing is in
 * test_api_open.c and test_log_process.c.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy.h"
#include "testing/harness.h"

enum { RACERS = 4 };

struct board {
    _Atomic unsigned ready, go;
    _Atomic unsigned owners_now, owners_most, owned, in_use, other;
    _Atomic uint64_t written[RACERS];
};

static struct board *board_new(void)
{
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(board != MAP_FAILED);
    return board;
}

static int32_t put(KevyDb *db, const char *key, uint64_t number)
{
    return kevy_set(db, (const uint8_t *)key, strlen(key), (const uint8_t *)&number, 8, 0);
}

static bool holds(KevyDb *db, const char *key, uint64_t number)
{
    uint64_t found = 0;
    size_t size;
    return kevy_get_into(db, (const uint8_t *)key, strlen(key), (uint8_t *)&found, 8, &size) == 1 &&
           found == number;
}

static KevyDb *open_at(const char *dir, int32_t *status)
{
    KevyDb *db;
    *status = kevy_open_ex((const uint8_t *)dir, strlen(dir), NULL, &db, NULL);
    return db;
}

/* ---- Processes ---- */

/* One process: opens at the same instant as the others; the one that gets the
 * folder writes, and ends by closing or, every other time, without. */
static void race_once(struct board *board, const char *dir, unsigned self)
{
    int32_t status;
    char key[16];
    atomic_fetch_add(&board->ready, 1);
    while (atomic_load(&board->go) == 0) {
    }
    KevyDb *db = open_at(dir, &status);
    if (db == NULL) {
        atomic_fetch_add(status == KEVY_EINUSE ? &board->in_use : &board->other, 1);
        _exit(0);
    }
    unsigned owners = atomic_fetch_add(&board->owners_now, 1) + 1;
    if (owners > atomic_load(&board->owners_most)) {
        atomic_store(&board->owners_most, owners);
    }
    (void)snprintf(key, sizeof key, "racer%u", self);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t next = atomic_load(&board->written[self]) + 1;
        if (put(db, key, next) == 0) {
            atomic_store(&board->written[self], next);
        }
    }
    atomic_fetch_add(&board->owned, 1);
    atomic_fetch_sub(&board->owners_now, 1);
    if (atomic_load(&board->written[self]) % 400 != 0) {
        kevy_close(db);
    }
    _exit(0);
}

static void race_processes(struct board *board, const char *dir)
{
    pid_t children[RACERS];
    board->ready = board->go = board->owned = board->in_use = 0;
    fflush(stdout);
    for (unsigned i = 0; i < RACERS; i++) {
        children[i] = fork();
        REQUIRE(children[i] >= 0);
        if (children[i] == 0) {
            race_once(board, dir, i);
        }
    }
    while (atomic_load(&board->ready) < RACERS) {
        usleep(100);
    }
    atomic_store(&board->go, 1);
    for (unsigned i = 0; i < RACERS; i++) {
        int status = -1;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    CHECK(board->owned >= 1);
    CHECK_INT(board->owned + board->in_use, RACERS);
}

TEST_LIMIT(of_processes_that_race_one_owns_and_the_others_hear_so, 120)
{
    const char *dir = test_path("store");
    struct board *board = board_new();
    int32_t status;
    char key[16];
    for (size_t round = 0; round < test_scale(15); round++) {
        race_processes(board, dir);
    }
    CHECK_INT(board->owners_most, 1);
    CHECK_INT(board->other, 0);
    KevyDb *db = open_at(dir, &status);
    REQUIRE(db != NULL);
    for (unsigned i = 0; i < RACERS; i++) {
        (void)snprintf(key, sizeof key, "racer%u", i);
        CHECK(board->written[i] == 0 || holds(db, key, board->written[i]));
    }
    kevy_close(db);
}

/* A stopped owner owns on; a killed one does not. */
TEST(a_stopped_owner_owns_and_a_killed_one_does_not)
{
    const char *dir = test_path("store");
    struct board *board = board_new();
    int32_t status;
    fflush(stdout);
    pid_t owner = fork();
    REQUIRE(owner >= 0);
    if (owner == 0) {
        KevyDb *own = open_at(dir, &status);
        (void)(own != NULL && put(own, "k", 1) == 0);
        atomic_store(&board->ready, 1);
        for (;;) {
            (void)pause();
        }
    }
    while (atomic_load(&board->ready) == 0) {
        usleep(100);
    }
    REQUIRE_INT(kill(owner, SIGSTOP), 0);
    CHECK(open_at(dir, &status) == NULL);
    CHECK_INT(status, KEVY_EINUSE);
    REQUIRE_INT(kill(owner, SIGKILL), 0);
    REQUIRE(waitpid(owner, NULL, 0) == owner);
    KevyDb *db = open_at(dir, &status);
    REQUIRE(db != NULL);
    CHECK(holds(db, "k", 1));
    kevy_close(db);
}

/* ---- Handles of one process ---- */

struct opener {
    const char *dir;
    unsigned self;
    unsigned count;
    _Atomic unsigned *wrong;
};

/* Opens, writes, closes: each write is seen by the next open, whoever else
 * has the store open at that moment. */
static void *open_again_and_again(void *user)
{
    struct opener *opener = user;
    char key[16];
    (void)snprintf(key, sizeof key, "thread%u", opener->self);
    for (unsigned i = 1; i <= opener->count; i++) {
        int32_t status;
        KevyDb *db = open_at(opener->dir, &status);
        if (db == NULL || (i > 1 && !holds(db, key, i - 1)) || put(db, key, i) != 0) {
            atomic_fetch_add(opener->wrong, 1);
        }
        kevy_close(db);
    }
    return NULL;
}

TEST_LIMIT(threads_that_open_and_close_share_one_store, 120)
{
    struct opener openers[RACERS];
    pthread_t threads[RACERS];
    _Atomic unsigned wrong = 0;
    const char *dir = test_path("store"), *alias = test_path("alias");
    REQUIRE_INT(symlink(dir, alias), 0);
    kevy_close(kevy_open((const uint8_t *)dir, strlen(dir)));
    for (unsigned i = 0; i < RACERS; i++) {
        openers[i] = (struct opener){i % 2 == 0 ? dir : alias, i, (unsigned)test_scale(40), &wrong};
        REQUIRE_INT(pthread_create(&threads[i], NULL, open_again_and_again, &openers[i]), 0);
    }
    for (unsigned i = 0; i < RACERS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT(wrong, 0);
}

static int open_in_use(const char *dir)
{
    int32_t status;
    return open_at(dir, &status) == NULL && status == KEVY_EINUSE ? 0 : 1;
}

/* Closing a handle late, or any other descriptor of the lock's file, takes the
 * folder from nobody. */
TEST(a_late_close_touches_nobody_else)
{
    const char *dir = test_path("store");
    int32_t status;
    KevyDb *stale = open_at(dir, &status), *live = open_at(dir, &status);
    REQUIRE(stale != NULL && live != NULL);
    DIR *folder = opendir(dir);
    REQUIRE(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
        CHECK(file < 0 || close(file) == 0);
    }
    closedir(folder);
    kevy_close(stale);
    CHECK_INT(put(live, "k", 7), 0);
    fflush(stdout);
    pid_t other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        _exit(open_in_use(dir));
    }
    CHECK(waitpid(other, &status, 0) == other);
    kevy_close(live);
    live = open_at(dir, &status);
    CHECK(live != NULL && holds(live, "k", 7));
    kevy_close(live);
}

/* ---- The folder goes away ---- */

static void remove_all(const char *dir)
{
    DIR *folder = opendir(dir);
    REQUIRE(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    REQUIRE_INT(rmdir(dir), 0);
}

static void check_removed(uint8_t fsync)
{
    const char *dir = test_path(fsync == KEVY_FSYNC_ALWAYS ? "always" : "everysec");
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    int32_t status = 0;
    options.fsync = fsync;
    KevyDb *db = kevy_open_with((const uint8_t *)dir, strlen(dir), &options);
    REQUIRE(db != NULL);
    CHECK_INT(put(db, "k", 1), 0);
    CHECK_INT(kevy_sync(db), 0);
    remove_all(dir);
    for (unsigned i = 0; i < 3000 && status == 0; i++) {
        status = put(db, "k", 2);
        usleep(status == 0 ? 10000 : 0);
    }
    CHECK_INT(status, -2);
    CHECK_INT(kevy_sync(db), -2);
    CHECK(holds(db, "k", 1) || holds(db, "k", 2));
    kevy_close(db);
    /* What is opened there next is another store, empty and whole. */
    db = open_at(dir, &status);
    REQUIRE(db != NULL);
    CHECK(!holds(db, "k", 1) && !holds(db, "k", 2));
    CHECK_INT(put(db, "k", 3), 0);
    kevy_close(db);
}

TEST(removed_while_open_is_said)
{
    check_removed(KEVY_FSYNC_EVERYSEC);
    check_removed(KEVY_FSYNC_ALWAYS);
}

/* Renamed while it is open, and opened by a relative path: it stays the same
 * store, and no path is stored in it. */
TEST(a_folder_may_be_renamed_and_the_process_move)
{
    int32_t status;
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(before >= 0);
    REQUIRE_INT(chdir(test_dir()), 0);
    KevyDb *db = open_at("store", &status);
    REQUIRE(db != NULL);
    CHECK_INT(put(db, "k", 1), 0);
    REQUIRE_INT(chdir("/"), 0);
    REQUIRE_INT(rename(test_path("store"), test_path("moved")), 0);
    for (uint64_t i = 2; i < 40000; i++) {
        CHECK_INT(put(db, "k", i), 0);
    }
    CHECK_INT(kevy_sync(db), 0);
    kevy_close(db);
    db = open_at(test_path("moved"), &status);
    CHECK(db != NULL && holds(db, "k", 39999));
    kevy_close(db);
    REQUIRE_INT(fchdir(before), 0);
    close(before);
}
