/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening, sharing and losing a store directory, by the public C ABI on the
 * real file system: bad paths, no permission, a directory that another process
 * has, forks, kills, and what comes back after each.
 */
#define _GNU_SOURCE /* usleep, pwrite, kill, symlink, syscall */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static KevyDb *open_dir(const char *dir)
{
    KevyDb *db = NULL;
    KevyError error;
    if (kevy_open_ex(u(dir), strlen(dir), NULL, &db, &error) < 0) {
        printf("open %s: %d %s (%s)\n", dir, error.status, error.text, error.path);
    }
    return db;
}

static void check_refused(const char *dir, size_t size, int32_t want, int32_t want_errno)
{
    KevyError error;
    KevyDb *db = (KevyDb *)&error;
    memset(&error, 0xff, sizeof error);
    CHECK_INT(kevy_open_ex(u(dir), size, NULL, &db, &error), want);
    CHECK(db == NULL);
    CHECK_INT(error.status, want);
    CHECK_INT(error.sys_errno, want_errno);
    CHECK(strlen(error.text) > 10);
    CHECK(kevy_open(u(dir), size) == NULL);
}

static void set(KevyDb *db, const char *key, const char *value)
{
    CHECK_INT(kevy_set(db, u(key), strlen(key), u(value), strlen(value), 0), 0);
}

static void check_get(KevyDb *db, const char *key, const char *want)
{
    KevyBuf buf;
    CHECK_INT(kevy_get(db, u(key), strlen(key), &buf), want != NULL);
    if (buf.ptr != NULL && want != NULL) {
        CHECK_BYTES(buf.ptr, buf.len, want, strlen(want));
    }
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
}

TEST(bad_paths_are_refused_with_a_reason)
{
    check_refused("", 0, KEVY_EPATH, 0);
    check_refused("a\0b", 3, KEVY_EPATH, 0);
    check_refused("/dev/null/store", 15, KEVY_EPATH, ENOTDIR);
    check_refused("/proc/kevy/store", 16, KEVY_EPATH, ENOENT);
    const char *file = test_path("file");
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    REQUIRE(fd >= 0);
    close(fd);
    check_refused(file, strlen(file), KEVY_EPATH, ENOTDIR);
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    check_refused(longest, sizeof longest, KEVY_EPATH, 0);
    CHECK(kevy_open(NULL, 0) == NULL);
    CHECK_INT(kevy_open_ex(u("x"), 1, NULL, NULL, NULL), KEVY_EMISUSE);
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    options.fsync = 3;
    const char *dir = test_path("store");
    CHECK(kevy_open_with(u(dir), strlen(dir), &options) == NULL);
    struct stat info;
    CHECK(stat(dir, &info) < 0);
}

/* Runs `body` in a child; returns its exit code. */
static int in_child(int (*body)(const char *dir), const char *dir)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        _exit(body(dir));
    }
    REQUIRE(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int open_as_nobody(const char *dir)
{
    KevyDb *db;
    KevyError error;
    if (setgid(65534) < 0 || setuid(65534) < 0) {
        return 100;
    }
    int32_t status = kevy_open_ex(u(dir), strlen(dir), NULL, &db, &error);
    return status == KEVY_EACCESS && error.sys_errno == EACCES && error.path[0] != '\0' ? 0 : 1;
}

TEST(no_permission_is_said_and_touches_nothing)
{
    if (geteuid() != 0) {
        SKIP("needs root, to become somebody else");
    }
    const char *dir = test_path("store");
    KevyDb *db = open_dir(dir);
    REQUIRE(db != NULL);
    set(db, "k", "v");
    kevy_close(db);
    REQUIRE_INT(chmod(test_dir(), 0755), 0);
    REQUIRE_INT(chmod(dir, 0700), 0);
    CHECK_INT(in_child(open_as_nobody, dir), 0);
    char below[600];
    (void)snprintf(below, sizeof below, "%s/new", test_dir());
    CHECK_INT(in_child(open_as_nobody, below), 0);
    db = open_dir(dir);
    REQUIRE(db != NULL);
    check_get(db, "k", "v");
    kevy_close(db);
}

static int open_in_use(const char *dir)
{
    KevyDb *db;
    KevyError error;
    return kevy_open_ex(u(dir), strlen(dir), NULL, &db, &error) == KEVY_EINUSE ? 0 : 1;
}

TEST(another_process_is_told_that_it_is_in_use)
{
    const char *dir = test_path("store");
    KevyDb *db = open_dir(dir);
    REQUIRE(db != NULL);
    set(db, "k", "v");
    /* A child that never had the store, by a program of its own. */
    CHECK_INT(in_child(open_in_use, dir), 0);
    set(db, "k", "w");
    kevy_close(db);
    db = open_dir(dir);
    check_get(db, "k", "w");
    kevy_close(db);
}

TEST(one_process_shares_the_store_by_whatever_path)
{
    const char *dir = test_path("store"), *alias = test_path("alias");
    KevyDb *a = open_dir(dir);
    REQUIRE_INT(symlink(dir, alias), 0);
    KevyDb *b = open_dir(alias);
    REQUIRE(a != NULL && b != NULL && a != b);
    set(a, "k", "from a");
    check_get(b, "k", "from a");
    CHECK_INT(kevy_shutdown(a), 0);
    CHECK_INT(kevy_set(a, u("k"), 1, u("x"), 1, 0), -2);
    set(b, "k", "from b");
    check_get(a, "k", "from b");
    kevy_close(a);
    check_get(b, "k", "from b");
    kevy_close(b);
    a = open_dir(dir);
    check_get(a, "k", "from b");
    kevy_close(a);
}

TEST(everything_comes_back_after_close)
{
    const char *dir = test_path("a/b/c");
    KevyDb *db = open_dir(dir);
    KevyOpenReport report;
    REQUIRE(db != NULL);
    CHECK_INT(kevy_open_report(db, &report), 0);
    CHECK_INT(report.replayed_commands, 0);
    for (unsigned i = 0; i < 500; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "k%u", i);
        set(db, name, name);
    }
    set(db, "", "empty key");
    set(db, "empty", "");
    CHECK_INT(kevy_set(db, u("ttl"), 3, u("v"), 1, 3600000), 0);
    CHECK_INT(kevy_set(db, u("gone"), 4, u("v"), 1, 1), 0);
    kevy_close(db);
    usleep(5000);
    db = open_dir(dir);
    REQUIRE(db != NULL);
    CHECK_INT(kevy_open_report(db, &report), 0);
    CHECK_INT(report.corrupt, 0);
    CHECK_INT(report.dropped_bytes, 0);
    check_get(db, "k0", "k0");
    check_get(db, "k499", "k499");
    check_get(db, "", "empty key");
    check_get(db, "empty", "");
    check_get(db, "ttl", "v");
    check_get(db, "gone", NULL);
    kevy_close(db);
}

static KevyDb *open_and_fill(const char *dir, const char *value)
{
    KevyDb *db = open_dir(dir);
    REQUIRE(db != NULL);
    set(db, "who", value);
    CHECK_INT(kevy_sync(db), 0);
    return db;
}

/* Neither store may take the other's files for its own, or for nobody's. */
TEST(the_mark_of_another_store_is_refused_and_nothing_is_lost)
{
    char one[256], other[256], mark[300], away[300];
    (void)snprintf(one, sizeof one, "%s", test_path("one"));
    (void)snprintf(other, sizeof other, "%s", test_path("other"));
    kevy_close(open_and_fill(one, "one"));
    kevy_close(open_dir(other)); /* empty: its mark names no segment */
    (void)snprintf(mark, sizeof mark, "%s/mark", one);
    (void)snprintf(away, sizeof away, "%s/away", one);
    CHECK_INT(rename(mark, away), 0);
    char theirs[300];
    (void)snprintf(theirs, sizeof theirs, "%s/mark", other);
    CHECK_INT(rename(theirs, mark), 0);
    check_refused(one, strlen(one), KEVY_ECORRUPT, 0);
    CHECK_INT(rename(mark, theirs), 0);
    CHECK_INT(rename(away, mark), 0);
    KevyDb *db = open_dir(one);
    REQUIRE(db != NULL);
    check_get(db, "who", "one");
    kevy_close(db);
    kevy_close(open_and_fill(other, "other"));
    CHECK_INT(rename(mark, away), 0);
    CHECK_INT(rename(theirs, mark), 0);
    check_refused(one, strlen(one), KEVY_ECORRUPT, 0);
    CHECK_INT(rename(away, mark), 0);
    db = open_dir(one);
    REQUIRE(db != NULL);
    check_get(db, "who", "one");
    kevy_close(db);
}

/* ---- Kills ---- */

static int write_until_killed(const char *dir)
{
    KevyDb *db = open_dir(dir);
    char path[600];
    (void)snprintf(path, sizeof path, "%s.acked", dir);
    int acked = open(path, O_CREAT | O_WRONLY, 0600);
    if (db == NULL || acked < 0) {
        return 1;
    }
    for (uint32_t i = 0;; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "k%u", i % 1000);
        if (kevy_set(db, u(name), strlen(name), (const uint8_t *)&i, sizeof i, 0) < 0) {
            return 2;
        }
        if (pwrite(acked, &i, sizeof i, 0) != sizeof i) {
            return 3;
        }
    }
}

/* Waits until the child of this round has written something, half a minute at most. */
static void wait_for_writes(const char *path)
{
    struct stat info;
    for (unsigned i = 0; i < 30000 && (stat(path, &info) < 0 || info.st_size == 0); i++) {
        usleep(1000);
    }
}

/* Every write that returned before a SIGKILL is there, round after round. */
TEST_LIMIT(a_kill_loses_nothing, 120)
{
    const char *dir = test_path("store");
    char path[600];
    uint64_t state = test_seed();
    (void)snprintf(path, sizeof path, "%s.acked", dir);
    for (unsigned round = 0; round < 10; round++) {
        fflush(stdout);
        pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            _exit(write_until_killed(dir));
        }
        wait_for_writes(path);
        usleep((useconds_t)(test_random(&state) % 30000));
        REQUIRE_INT(kill(pid, SIGKILL), 0);
        int status = 0;
        REQUIRE(waitpid(pid, &status, 0) == pid);
        REQUIRE(WIFSIGNALED(status));
        uint32_t last = 0;
        int acked = open(path, O_RDONLY);
        REQUIRE(acked >= 0 && read(acked, &last, sizeof last) == sizeof last);
        close(acked);
        unlink(path);
        KevyDb *db = open_dir(dir);
        REQUIRE(db != NULL);
        for (uint32_t i = last < 999 ? 0 : last - 999; i <= last; i++) {
            char name[16];
            uint32_t value = 0;
            size_t size = 0;
            (void)snprintf(name, sizeof name, "k%u", i % 1000);
            CHECK_INT(
                kevy_get_into(db, u(name), strlen(name), (uint8_t *)&value, sizeof value, &size),
                1);
            /* The write after the last acknowledged one may be there too. */
            CHECK(value == i || value == last + 1);
        }
        kevy_close(db);
    }
}

/* ---- Forks ---- */

/* A child as posix_spawn makes it, before its exec: no fork handler has run in it, and it has every
 * descriptor of its parent. */
static pid_t child_without_handlers(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    while (pid == 0) {
        (void)syscall(SYS_ppoll, 0L, 0L, 0L, 0L, 0L);
    }
    return pid;
}

TEST(a_close_frees_the_folder_beside_a_child_on_its_way_to_exec)
{
    const char *dir = test_path("store");
    int status = 0;
    KevyDb *db = open_dir(dir);
    REQUIRE(db != NULL);
    set(db, "k", "v");
    pid_t pid = child_without_handlers();
    REQUIRE(pid > 0);
    CHECK_INT(in_child(open_in_use, dir), 0);
    kevy_close(db);
    db = open_dir(dir);
    REQUIRE(db != NULL);
    check_get(db, "k", "v");
    kevy_close(db);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

static KevyDb *inherited;

static int use_inherited(const char *dir)
{
    KevyBuf buf;
    (void)dir;
    bool is_refused = kevy_set(inherited, u("k"), 1, u("child"), 5, 0) == -1 &&
                      kevy_get(inherited, u("k"), 1, &buf) == -1 && kevy_sync(inherited) == -1 &&
                      kevy_subscribe(inherited, u("c"), 1) == NULL;
    kevy_close(inherited);
    return is_refused ? 0 : 1;
}

/* Lives until the parent ends it. */
static void outlive_the_store(void)
{
    for (;;) {
        (void)pause();
    }
}

TEST(a_forked_child_neither_uses_nor_keeps_the_store)
{
    const char *dir = test_path("store");
    inherited = open_dir(dir);
    REQUIRE(inherited != NULL);
    set(inherited, "k", "parent");
    CHECK_INT(in_child(use_inherited, dir), 0);
    check_get(inherited, "k", "parent");
    fflush(stdout);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        outlive_the_store();
    }
    kevy_close(inherited);
    /* The child still lives, and does not hold the lock. */
    CHECK_INT(in_child(open_in_use, dir), 1);
    int status = 0;
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}
