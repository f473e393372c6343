/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hosts that are careless and folders that are hostile, by the public functions
 * alone: sizes past every limit, links and pipes where the store's files should
 * be, limits of the process, a child that goes on with a store of its own.
 */
/* Not _GNU_SOURCE: with it glibc makes the names of limits an enum, which no int converts to. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static int32_t open_at(const char *dir, KevyDb **out, KevyError *error)
{
    return kevy_open_ex(u(dir), strlen(dir), NULL, out, error);
}

static KevyDb *opened(const char *dir)
{
    KevyDb *db;
    KevyError error;
    if (!CHECK_INT(open_at(dir, &db, &error), 0)) {
        printf("    %s (%s)\n", error.text, error.path);
    }
    return db;
}

static int32_t put(KevyDb *db, uint64_t number, size_t size)
{
    static uint8_t value[4096];
    char key[24];
    int key_size = snprintf(key, sizeof key, "k%llu", (unsigned long long)number);
    return kevy_set(db, u(key), (size_t)key_size, value, size, 0);
}

static uint64_t keys_of(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    return stats.keys;
}

/* ---- Sizes ---- */

/* A size past the limit is refused before a byte behind the pointer is read. */
static void refuses(KevyDb *db, const uint8_t *none, size_t size)
{
    uint8_t byte;
    size_t len = 7, one = 1;
    const uint8_t *ok = u("k");
    KevyBuf out = {&byte, 1, 1};
    CHECK_INT(kevy_get(db, none, size, &out), -2);
    CHECK(out.ptr == NULL && out.len == 0 && out.cap == 0);
    CHECK_INT(kevy_get_shared(db, none, size, &out), -2);
    CHECK_INT(kevy_get_into(db, none, size, &byte, 1, &len), -2);
    CHECK_INT(len, 0);
    CHECK_INT(kevy_get_many(db, 1, &none, &size, &out), -2);
    CHECK_INT(kevy_set(db, none, size, ok, 1, 0), -2);
    CHECK_INT(kevy_set(db, ok, 1, none, size, 0), -2);
    CHECK_INT(kevy_set_many(db, 1, &none, &size, &ok, &one), -2);
    CHECK_INT(kevy_set_many(db, 1, &ok, &one, &none, &size), -2);
    CHECK_INT(kevy_set_many(db, size, &ok, &one, &ok, &one), -2);
    CHECK_INT(kevy_publish(db, none, size, ok, 1), -2);
    CHECK_INT(kevy_publish(db, ok, 1, none, size), -2);
    CHECK(kevy_subscribe(db, none, size) == NULL);
    CHECK(kevy_psubscribe(db, none, size) == NULL);
    KevySub *sub = kevy_subscribe(db, ok, 1);
    CHECK_INT(kevy_sub_add(sub, none, size, 0), -2);
    CHECK_INT(kevy_sub_remove(sub, none, size, 1), -2);
    kevy_sub_close(sub);
    const uint8_t *argv[] = {u("GET"), none};
    size_t sizes[] = {3, size};
    CHECK_INT(kevy_cmd(db, 2, argv, sizes, &out), 0);
    CHECK(out.len > 4 && memcmp(out.ptr, "-ERR", 4) == 0);
    kevy_buf_free(out.ptr, out.len, out.cap);
}

TEST(sizes_past_the_limit_are_refused_unread)
{
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(none != MAP_FAILED);
    KevyDb *db = kevy_open_mem();
    refuses(db, none, KEVY_SIZE_MAX + 1);
    refuses(db, none, SIZE_MAX / 2);
    refuses(db, none, SIZE_MAX);
    CHECK_INT(keys_of(db), 0);
    kevy_close(db);
}

/* ---- Folders ---- */

static void victim_make(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(file >= 0 && write(file, "precious", 8) == 8);
    (void)close(file);
}

static void victim_is_whole(const char *path)
{
    char text[16] = "";
    int file = open(path, O_RDONLY);
    REQUIRE(file >= 0);
    CHECK_INT(read(file, text, sizeof text), 8);
    CHECK_STR(text, "precious");
    (void)close(file);
}

/* Whoever may write to the folder must not be able to make the store write to
 * another file. */
TEST(links_in_the_folder_are_not_followed)
{
    static const char *const names[] = {"lock", "mark", "mark.tmp", "00000.seg"};
    const char *victim = test_path("victim");
    victim_make(victim);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        KevyDb *db;
        KevyError error;
        char dir[600], path[700];
        (void)snprintf(dir, sizeof dir, "%s/%zu", test_dir(), i);
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        REQUIRE(mkdir(dir, 0700) == 0 && symlink(victim, path) == 0);
        CHECK(open_at(dir, &db, &error) < 0);
        CHECK(db == NULL && error.status < 0 && error.text[0] != '\0');
        victim_is_whole(victim);
        CHECK(kevy_destroy(u(dir), strlen(dir), &error) <= 0);
        victim_is_whole(victim);
    }
}

/* None of them is waited for, or taken for a file. */
TEST(pipes_and_folders_are_no_files)
{
    static const char *const names[] = {"mark", "mark.tmp", "00000.seg"};
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        KevyDb *db;
        KevyError error;
        char dir[600], path[700];
        (void)snprintf(dir, sizeof dir, "%s/%zu", test_dir(), i);
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i / 2]);
        REQUIRE(mkdir(dir, 0700) == 0);
        REQUIRE((i % 2 == 0 ? mkdir(path, 0700) : mkfifo(path, 0600)) == 0);
        CHECK(open_at(dir, &db, &error) < 0);
        CHECK(db == NULL && error.path[0] != '\0');
    }
}

/* The folder stays the store's wherever the process goes. */
TEST(a_relative_path_is_that_of_the_open)
{
    REQUIRE(chdir(test_dir()) == 0);
    KevyDb *db = opened("here");
    REQUIRE(mkdir("elsewhere", 0700) == 0 && chdir("elsewhere") == 0);
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_INT(put(db, i, 3000), 0);
    }
    CHECK_INT(kevy_compact(db), 0);
    kevy_close(db);
    REQUIRE(access("here", F_OK) != 0 && chdir("..") == 0);
    db = opened("here/");
    CHECK_INT(keys_of(db), 3000);
    kevy_close(db);
}

/* As somebody who is not root. */
TEST(what_one_may_not_do_is_said)
{
    KevyDb *db;
    KevyError error;
    const char *closed = test_path("closed"), *only_read = test_path("read");
    REQUIRE(mkdir(closed, 0000) == 0 && mkdir(only_read, 0555) == 0);
    REQUIRE(chmod(test_dir(), 0755) == 0);
    if (getuid() == 0) {
        REQUIRE(setgid(65534) == 0 && setuid(65534) == 0);
    }
    CHECK_INT(open_at(closed, &db, &error), KEVY_EACCESS);
    CHECK_INT(open_at(only_read, &db, &error), KEVY_EACCESS);
    CHECK_INT(open_at(test_path("read/deep/er"), &db, &error), KEVY_EACCESS);
    CHECK_INT(open_at(test_path("closed/deep/er"), &db, &error), KEVY_EACCESS);
}

/* ---- Limits of the process ---- */

static void limit(int resource, rlim_t value)
{
    struct rlimit now;
    REQUIRE(getrlimit(resource, &now) == 0);
    now.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
    REQUIRE(setrlimit(resource, &now) == 0);
}

/* Writes until it fails, and on: what fails leaves nothing, what is read stays,
 * and with room again it goes on. Returns the number of keys. */
static uint64_t write_until_it_fails(KevyDb *db)
{
    uint64_t done = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        int32_t status = put(db, i, 4000);
        CHECK(status == 0 || status == -2);
        done += status == 0;
    }
    CHECK(done > 0 && done < 4000);
    CHECK_INT(keys_of(db), done);
    return done;
}

static void heals(KevyDb *db, uint64_t done)
{
    CHECK_INT(put(db, 100000, 4000), 0);
    CHECK_INT(kevy_sync(db), 0);
    kevy_close(db);
    db = opened(test_path("store"));
    CHECK_INT(keys_of(db), done + 1);
    kevy_close(db);
}

TEST(without_descriptors_writes_fail_and_heal)
{
    KevyDb *db = opened(test_path("store")), *other;
    KevyError error;
    int held[64], count = 0;
    CHECK_INT(put(db, 0, 10), 0);
    limit(RLIMIT_NOFILE, 60);
    while (count < 64 && (held[count] = open("/dev/null", O_RDONLY)) >= 0) {
        count++;
    }
    REQUIRE(count < 64);
    CHECK(open_at(test_path("other"), &other, &error) < 0);
    CHECK(other == NULL && error.sys_errno != 0);
    uint64_t done = write_until_it_fails(db);
    while (count > 0) {
        (void)close(held[--count]);
    }
    heals(db, done);
}

/* Without a SIGXFSZ, of which the host need not know. */
static void pass_the_limit_of_a_file(uint8_t fsync)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyDb *db, *other;
    KevyError error;
    options.fsync = fsync;
    REQUIRE_INT(
        kevy_open_ex(u(test_path("store")), strlen(test_path("store")), &options, &db, &error), 0);
    limit(RLIMIT_FSIZE, (rlim_t)1 << 20);
    uint64_t done = write_until_it_fails(db);
    limit(RLIMIT_FSIZE, 100);
    CHECK(open_at(test_path("other"), &other, &error) < 0);
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    other = opened(test_path("other"));
    kevy_close(other);
    heals(db, done);
}

TEST(past_the_limit_of_a_file_writes_fail_and_heal)
{
    pass_the_limit_of_a_file(KEVY_FSYNC_EVERYSEC);
}

TEST(past_the_limit_of_a_file_writes_fail_and_heal_under_always)
{
    pass_the_limit_of_a_file(KEVY_FSYNC_ALWAYS);
}

/* ---- Fork ---- */

struct busy {
    KevyDb *db;
    _Atomic bool stops;
};

static void *be_inside(void *user)
{
    struct busy *busy = user;
    for (uint64_t i = 0; !busy->stops; i++) {
        CHECK_INT(put(busy->db, i % 100, 100), 0);
        uint8_t value[100];
        size_t size;
        CHECK(kevy_get_into(busy->db, u("k1"), 2, value, sizeof value, &size) >= 0);
    }
    return NULL;
}

/* In the child: the parent's handle is none, a store of its own is whole. */
static void child(const struct busy *busy, const char *dir)
{
    int bad = 0;
    KevyBuf out;
    KevyDb *db;
    KevyError error;
    bad += put(busy->db, 1, 1) != -1;
    bad += kevy_get(busy->db, u("k1"), 2, &out) != -1;
    kevy_close(busy->db);
    bad += open_at(test_path("store"), &db, &error) != KEVY_EINUSE;
    bad += open_at(dir, &db, &error) != 0;
    for (uint64_t i = 0; bad == 0 && i < 50; i++) {
        bad += put(db, i, 2000) != 0;
    }
    bad += bad == 0 && kevy_compact(db) != 0;
    kevy_close(db);
    _exit(bad == 0 ? 0 : 1);
}

TEST_LIMIT(a_child_of_a_busy_process_has_stores_of_its_own, 120)
{
#if defined(__SANITIZE_THREAD__)
    SKIP("this sanitizer allows no thread in such a child");
#endif
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    struct busy busy = {opened(test_path("store")), false};
    for (size_t i = 0; i < THREADS; i++) {
        REQUIRE_INT(pthread_create(&threads[i], NULL, be_inside, &busy), 0);
    }
    const char *dir = test_path("child");
    for (size_t i = 0; i < test_scale(15); i++) {
        int status = -1;
        pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            child(&busy, dir);
        }
        REQUIRE(waitpid(pid, &status, 0) == pid);
        if (!CHECK_INT(status, 0)) {
            break;
        }
        (void)usleep(500);
    }
    busy.stops = true;
    for (size_t i = 0; i < THREADS; i++) {
        REQUIRE_INT(pthread_join(threads[i], NULL), 0);
    }
    kevy_close(busy.db);
}
