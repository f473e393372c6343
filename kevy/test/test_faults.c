/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Faults that a store of this kind has had, each as the sequence that showed
 * it: those that no other test covers. docs/faults.md lists all of them with
 * their tests.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int32_t set(KevyDb *db, const char *key, const char *value, uint64_t ttl_ms)
{
    return kevy_set(db, u(key), strlen(key), u(value), strlen(value), ttl_ms);
}

static int32_t has(KevyDb *db, const char *key)
{
    uint8_t byte;
    size_t size;
    int32_t hit = kevy_get_into(db, u(key), strlen(key), &byte, 1, &size);
    return hit > 0 ? 1 : hit;
}

/* Runs a command of words without spaces; the reply's text is yours. */
static char *say(KevyDb *db, const char *words)
{
    const uint8_t *argv[8];
    size_t sizes[8], argc = 0;
    for (const char *at = words; *at != '\0' && argc < 8; argc++) {
        argv[argc] = u(at);
        sizes[argc] = strcspn(at, " ");
        at += sizes[argc] + (at[sizes[argc]] == ' ');
    }
    KevyBuf buf;
    REQUIRE_INT(kevy_cmd(db, argc, argv, sizes, &buf), 0);
    char *text = malloc(buf.len + 1);
    REQUIRE(text != NULL);
    memcpy(text, buf.ptr, buf.len);
    text[buf.len] = '\0';
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return text;
}

static KevyDb *open_files(const kevy_os *os, const KevyOpenOptions *options)
{
    static const KevyOpenOptions usual = KEVY_OPEN_OPTIONS_INIT;
    const char *dir = test_path("store");
    struct kv_open open = {.dir = bytes_of(u(dir), strlen(dir)),
                           .options = options == NULL ? &usual : options,
                           .os = os,
                           .mem = &kv_mem_libc};
    KevyDb *db = NULL;
    REQUIRE_INT(kv_engine_open(&open, &db, NULL), 0);
    return db;
}

/* ---- 7: arguments that ended the process ---- */

TEST(fault_7_extreme_arguments_are_answered)
{
    static const char *const asked[] = {"SETBIT k 9223372036854775807 1",
                                        "SETBIT k 4294967296 1",
                                        "SETRANGE k 9223372036854775807 x",
                                        "SETRANGE k 536870912 x",
                                        "GETRANGE k -9223372036854775808 9223372036854775807",
                                        "BITCOUNT k -9223372036854775808 9223372036854775807",
                                        "SPOP s 9223372036854775807",
                                        "SRANDMEMBER s 9223372036854775807",
                                        "SRANDMEMBER s -9223372036854775808",
                                        "ZINTERCARD 18446744073709551615 k",
                                        "ZUNIONSTORE d 18446744073709551615 k",
                                        "SCAN 18446744073709551615 COUNT 9223372036854775807",
                                        "EXPIRE k 9223372036854775807",
                                        "INCRBY n 9223372036854775807"};
    KevyDb *db = kevy_open_mem();
    CHECK_INT(set(db, "k", "v", 0), 0);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char *reply = say(db, asked[i]);
        CHECK(strlen(reply) > 3 && strchr("+-:$*", reply[0]) != NULL);
        free(reply);
        CHECK_INT(has(db, "k"), 1);
    }
    kevy_close(db);
}

/* ---- 8: a scan ---- */

enum { SCANNED = 20000 };

/* Reads one page: marks its keys as seen, deletes every odd one, so that the
 * table changes under the scan. Returns the next cursor. */
static unsigned long long scan_page(KevyDb *db, unsigned long long cursor, bool *seen,
                                    unsigned *most)
{
    char command[64], doomed[32];
    unsigned found = 0, number;
    (void)snprintf(command, sizeof command, "SCAN %llu COUNT 10", cursor);
    char *reply = say(db, command), *at = strchr(reply, '\n');
    REQUIRE(at != NULL);
    at = strchr(at + 1, '\n');
    cursor = strtoull(at + 1, NULL, 10);
    while ((at = strstr(at, "\nk")) != NULL) {
        number = (unsigned)strtoul(at + 2, NULL, 10);
        REQUIRE(number < SCANNED);
        seen[number] = true;
        found++;
        at += 2;
        if (number % 2 == 1) {
            (void)snprintf(doomed, sizeof doomed, "DEL k%u", number);
            free(say(db, doomed));
        }
    }
    *most = found > *most ? found : *most;
    free(reply);
    return cursor;
}

TEST(fault_8_a_scan_is_paged_and_misses_nothing_that_stays)
{
    static bool seen[SCANNED];
    KevyDb *db = kevy_open_mem();
    char key[16];
    unsigned most = 0, pages = 0, missed = 0;
    for (unsigned i = 0; i < SCANNED; i++) {
        (void)snprintf(key, sizeof key, "k%u", i);
        CHECK_INT(set(db, key, "v", 0), 0);
    }
    unsigned long long cursor = 0;
    do {
        cursor = scan_page(db, cursor, seen, &most);
    } while (cursor != 0 && ++pages < SCANNED);
    for (unsigned i = 0; i < SCANNED; i += 2) {
        missed += !seen[i];
    }
    CHECK_INT(missed, 0);
    CHECK(pages > SCANNED / 50);
    CHECK(most < 100);
    kevy_close(db);
}

/* ---- 9: late expiry ---- */

static _Atomic bool is_over;

static void *overwrite(void *user)
{
    static char value[5000];
    memset(value, 'v', sizeof value - 1);
    for (unsigned i = 0; !is_over; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "busy%u", i % 50);
        (void)set(user, key, value, 0);
    }
    return NULL;
}

/* No question that is asked after the time finds the key, also while segments
 * are collected; the questions before do. */
TEST(fault_9_a_key_is_gone_at_its_time_also_during_collection)
{
    KevyDb *db = open_files(&kv_os_posix, NULL);
    pthread_t writer;
    REQUIRE_INT(pthread_create(&writer, NULL, overwrite, db), 0);
    unsigned late = 0;
    for (unsigned i = 0; i < 20; i++) {
        int32_t hit;
        double before = now_ms();
        CHECK_INT(set(db, "brief", "v", 20), 0);
        double after = now_ms();
        do {
            double asked = now_ms();
            hit = has(db, "brief");
            late += hit == 1 && asked > after + 21.5; /* the store counts whole milliseconds */
        } while (hit == 1);
        CHECK(now_ms() - before >= 19);
    }
    CHECK_INT(late, 0);
    is_over = true;
    pthread_join(writer, NULL);
    kevy_close(db);
}

/* ---- 13: the seed ---- */

TEST(fault_13_keys_are_hashed_with_a_secret_of_each_store)
{
    KevyDb *one = kevy_open_mem(), *two = kevy_open_mem();
    char key[16];
    for (unsigned i = 0; i < 500; i++) {
        (void)snprintf(key, sizeof key, "k%u", i);
        CHECK_INT(set(one, key, "v", 0) + set(two, key, "v", 0), 0);
    }
    char *first = say(one, "SCAN 0 COUNT 20"), *second = say(two, "SCAN 0 COUNT 20");
    CHECK(strcmp(first, second) != 0);
    free(first);
    free(second);
    kevy_close(one);
    kevy_close(two);
}

/* ---- 14 and 15: closing at once, and doing nothing ---- */

static void *park(void *user)
{
    KevyBuf frame;
    while (kevy_sub_wait(user, 0, &frame) == 1) {
        kevy_buf_free(frame.ptr, frame.len, frame.cap);
    }
    return NULL;
}

/* One of many tries is fast, however busy the machine: a close that waits for a
 * tick never is. */
TEST(fault_14_close_does_not_wait_for_a_tick)
{
    double fastest = 1e9;
    for (unsigned i = 0; i < 500 && fastest >= 20; i++) {
        KevyDb *db = kevy_open_mem();
        KevySub *sub = kevy_subscribe(db, u("c"), 1);
        pthread_t waiter;
        REQUIRE_INT(pthread_create(&waiter, NULL, park, sub), 0);
        usleep(2000);
        double start = now_ms();
        kevy_close(db);
        pthread_join(waiter, NULL);
        double took = now_ms() - start;
        fastest = took < fastest ? took : fastest;
        kevy_sub_close(sub);
    }
    CHECK(fastest < 20);
}

static int threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    while (tasks != NULL && readdir(tasks) != NULL) {
        count++;
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return count;
}

TEST(fault_15_a_store_in_memory_has_no_thread)
{
    int before = threads_now();
    if (before == 0) {
        SKIP("needs /proc/self/task");
    }
    KevyDb *db = kevy_open_mem();
    char key[16];
    for (unsigned i = 0; i < 50000; i++) {
        (void)snprintf(key, sizeof key, "k%u", i % 3000);
        CHECK_INT(set(db, key, "value", i % 2 ? 100000 : 0), 0);
    }
    CHECK_INT(threads_now(), before);
    kevy_close(db);
}

/* ---- 16: pauses ---- */

/* Many; hostile builds are slow with many, and grow all the more often with fewer. */
#ifdef KEVY_HOSTILE
enum { KEY_COUNT = 20000 };
#else
enum { KEY_COUNT = 100000 };
#endif

struct counted {
    size_t largest;
    size_t call_sum; /* bytes that were asked for since it was last zeroed */
};

static void *counted_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct counted *counted = self;
    if (new_size > old_size) {
        counted->call_sum += new_size;
        counted->largest = new_size > counted->largest ? new_size : counted->largest;
    }
    return kv_mem_libc.resize(kv_mem_libc.self, ptr, old_size, new_size);
}

/* What one SET asks of the allocator stays small however many keys there are:
 * nothing is rehashed or moved as a whole. */
TEST_LIMIT(fault_16_no_set_pays_for_the_whole_table, 60)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    struct counted counted = {0, 0};
    kevy_mem mem = {&counted, counted_resize};
    struct kv_open open = {.options = &options, .os = &kv_os_posix, .mem = &mem};
    KevyDb *db;
    size_t most = 0, count = test_scale(KEY_COUNT);
    REQUIRE_INT(kv_engine_open(&open, &db, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "key:%zu", i);
        counted.call_sum = 0;
        CHECK_INT(kevy_set(db, u(key), strlen(key), u("v"), 1, 0), 0);
        most = counted.call_sum > most ? counted.call_sum : most;
    }
    CHECK(most > 0 && most <= (size_t)64 << 10);
    CHECK(counted.largest <= (size_t)32 << 10);
    kevy_close(db);
}

/* A disk whose flushes take as long as the test likes. */
static struct {
    kevy_os os;
    _Atomic bool is_slow;
    _Atomic unsigned waiting;
} disk;

static _Thread_local unsigned opened; /* files, slowly, by this thread */

static int slow_flush(void *self, int file)
{
    atomic_fetch_add(&disk.waiting, 1);
    while (disk.is_slow) {
        usleep(500);
    }
    return kv_os_posix.file_flush(self, file);
}

static int slow_open(void *self, int dir, const char *name, unsigned mode)
{
    if (disk.is_slow) {
        opened++;
        usleep(30000);
    }
    return kv_os_posix.file_open(self, dir, name, mode);
}

TEST(fault_16_nobody_waits_for_a_flush_under_everysec)
{
    disk.os = kv_os_posix;
    disk.os.file_flush = slow_flush;
    KevyDb *db = open_files(&disk.os, NULL);
    CHECK_INT(set(db, "k", "v", 0), 0);
    disk.waiting = 0;
    disk.is_slow = true;
    for (unsigned i = 0; i < 30000 && disk.waiting == 0; i++) {
        usleep(1000);
    }
    REQUIRE(disk.waiting > 0);
    /* A flush is under way and will not end before these have returned. */
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_INT(has(db, "k"), 1);
        CHECK_INT(set(db, "k", "w", 0), 0);
    }
    disk.is_slow = false;
    kevy_close(db);
}

/* ---- 17: readers and writers side by side ---- */

/* With the writer's lock taken, and by somebody who does not give it back,
 * values are read all the same: readers wait for nobody. */
static void *read_beside(void *user)
{
    KevyDb *db = user;
    KevyBuf view;
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_INT(has(db, "k"), 1);
        CHECK_INT(has(db, "none"), 0);
        CHECK_INT(kevy_get_shared(db, u("k"), 1, &view), 1);
        kevy_buf_free_shared(view.ptr, view.len, view.cap);
    }
    return NULL;
}

TEST(fault_17_readers_take_no_lock)
{
    KevyDb *db = kevy_open_mem();
    pthread_t readers[2];
    CHECK_INT(set(db, "k", "v", 0), 0);
    kv_mutex_lock(&db->engine->writer);
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE_INT(pthread_create(&readers[i], NULL, read_beside, db), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(readers[i], NULL);
    }
    kv_mutex_unlock(&db->engine->writer);
    kevy_close(db);
}

TEST(fault_17_shards_and_rewrite_options_are_hints)
{
    KevyOpenOptions options = {KEVY_FSYNC_EVERYSEC, UINT32_MAX, UINT32_MAX, 1, 1, 1};
    KevyDb *db = open_files(&kv_os_posix, &options);
    CHECK_INT(set(db, "k", "v", 0), 0);
    kevy_close(db);
    options.shards = 0;
    db = open_files(&kv_os_posix, &options);
    CHECK_INT(has(db, "k"), 1);
    kevy_close(db);
}

/* ---- 19: memory for each key ---- */

TEST(fault_19_a_key_costs_little_more_than_itself)
{
    enum { KEY = 16, VALUE = 16, EXTRA_MAX = 64 };
    size_t count = test_scale(KEY_COUNT);
    KevyDb *db = kevy_open_mem();
    KevyStats stats = {.size = sizeof stats};
    for (size_t i = 0; i < count; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "key:%012zu", i);
        CHECK_INT(kevy_set(db, u(key), KEY, u(key), VALUE, 0), 0);
    }
    CHECK_INT(kevy_stats(db, &stats), 0);
    CHECK_INT(stats.keys, count);
    CHECK(stats.memory_used < count * (KEY + VALUE + EXTRA_MAX));
    kevy_close(db);
}

/* ---- 20: what the report says of time ---- */

TEST(fault_20_the_report_tells_the_whole_time)
{
    KevyOpenReport report;
    disk.os = kv_os_posix;
    disk.os.file_open = slow_open;
    kevy_close(open_files(&disk.os, NULL));
    disk.is_slow = true;
    double start = now_ms();
    KevyDb *db = open_files(&disk.os, NULL);
    double took = now_ms() - start;
    disk.is_slow = false;
    CHECK_INT(kevy_open_report(db, &report), 0);
    CHECK(opened > 0 && report.elapsed_ms >= opened * 30u);
    CHECK((double)report.elapsed_ms <= took + 1);
    kevy_close(db);
}
