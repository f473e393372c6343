/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ends of a store: kevy_destroy removes what is the store's and nothing else,
 * kevy_compact gives back what dead records take.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kevy.h"
#include "kevy/src/log/log.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static KevyDb *open_at(const char *dir)
{
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    REQUIRE(db != NULL);
    return db;
}

static void file_make(const char *dir, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    (void)fclose(file);
}

static unsigned file_count(const char *dir)
{
    unsigned count = 0;
    DIR *list = opendir(dir);
    REQUIRE(list != NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(list);
    return count;
}

static int32_t destroy(const char *dir, KevyError *error)
{
    int32_t status = kevy_destroy(u(dir), strlen(dir), error);
    CHECK_INT(error->status, status);
    return status;
}

static KevyStats stats_of(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    return stats;
}

static void fill(KevyDb *db, unsigned count, unsigned rounds)
{
    static const uint8_t value[1000] = {7};
    for (unsigned i = 0; i < count * rounds; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "k%u", i % count);
        CHECK_INT(kevy_set(db, u(key), (size_t)size, value, sizeof value, 0), 0);
    }
}

TEST(a_store_goes_and_can_be_made_anew)
{
    const char *dir = test_path("store");
    KevyError error;
    KevyDb *db = open_at(dir);
    fill(db, 200, 2);
    CHECK_INT(destroy(dir, &error), KEVY_EINUSE);
    CHECK_INT(stats_of(db).keys, 200);
    kevy_close(db);
    CHECK(file_count(dir) > 2);
    CHECK_INT(destroy(dir, &error), KEVY_OK);
    CHECK_INT(file_count(dir), 1);
    CHECK(strstr(error.text, "gone") != NULL);
    CHECK_INT(destroy(dir, &error), KEVY_OK);
    db = open_at(dir);
    CHECK_INT(stats_of(db).keys, 0);
    fill(db, 5, 1);
    kevy_close(db);
    db = open_at(dir);
    CHECK_INT(stats_of(db).keys, 5);
    kevy_close(db);
}

TEST(what_is_not_the_stores_stays)
{
    static const char *const others[] = {"notes.txt",   "0000.seg", "00000.segx", "0000G.seg",
                                         "00000-1.bad", "marks",    "lock.old",   "ABCDE.seg"};
    static const char *const ours[] = {"mark.tmp", "00fff.seg", "00001-00000040.bad", "reserve"};
    const char *dir = test_path("store");
    KevyError error;
    KevyDb *db = open_at(dir);
    kevy_close(db);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        file_make(dir, others[i]);
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        file_make(dir, ours[i]);
    }
    CHECK_INT(destroy(dir, &error), KEVY_OK);
    CHECK_INT(file_count(dir), sizeof others / sizeof *others + 1);
    CHECK(strstr(error.text, "not its") != NULL);
    CHECK(strncmp(error.path, dir, strlen(dir)) == 0 && strlen(error.path) > strlen(dir) + 1);
}

TEST(where_there_is_no_store_nothing_is_touched)
{
    const char *dir = test_path("plain");
    KevyError error;
    CHECK_INT(destroy(dir, &error), KEVY_EPATH);
    CHECK_INT(access(dir, F_OK), -1);
    REQUIRE_INT(mkdir(dir, 0700), 0);
    file_make(dir, "mine");
    CHECK_INT(destroy(dir, &error), KEVY_EPATH);
    CHECK_INT(file_count(dir), 1);
    CHECK_INT(kevy_destroy(NULL, 0, &error), KEVY_EPATH);
    CHECK_INT(kevy_destroy(u(""), 0, &error), KEVY_EPATH);
    CHECK_INT(kevy_destroy(u("a\0b"), 3, NULL), KEVY_EPATH);
}

/* A folder of a crashing system in which something is left of a store. */
static int destroy_crashing(struct crash_os *crash, KevyError *error)
{
    return kv_log_destroy(crash_os_table(crash), bytes_of("/store", 6), error);
}

static int apply_nothing(void *user, const struct kv_log_record *record)
{
    (void)user;
    (void)record;
    return 0;
}

static int open_crashing(struct crash_os *crash, struct kv_log **out, KevyError *error)
{
    static struct kv_mem mem;
    static struct kv_mutex writer;
    KevyOpenReport report;
    kv_mem_init(&mem, &kv_mem_libc);
    kv_mutex_init(&writer);
    struct kv_log_options options = {.mem = &mem,
                                     .os = crash_os_table(crash),
                                     .writer = &writer,
                                     .dir = bytes_of("/store", 6),
                                     .fsync = KEVY_FSYNC_ALWAYS,
                                     .is_threadless = true};
    return kv_log_open(out, &options, apply_nothing, NULL, &report, error);
}

TEST(cut_off_anywhere_it_can_be_done_again_and_is_never_half_a_store)
{
    unsigned step = 0;
    for (bool is_done = false; !is_done; step++) {
        struct crash_os *crash = crash_os_new(test_seed() + step);
        struct kv_log *log;
        KevyError error;
        size_t size;
        REQUIRE_INT(open_crashing(crash, &log, &error), 0);
        struct kv_draft draft = {
            .type = KV_RECORD_VALUE, .key = bytes_of("k", 1), .value = bytes_of("v", 1)};
        struct kv_journal *journal = kv_log_journal(log);
        CHECK_INT(journal->append(journal->self, &draft, 1), 0);
        kv_log_close(log);
        crash_os_fault(crash, CRASH_DEAD, step, UINT64_MAX);
        is_done = destroy_crashing(crash, &error) == KEVY_OK;
        crash_os_power_cut(crash);
        int status = open_crashing(crash, &log, &error);
        if (status == 0) {
            kv_log_close(log);
        }
        CHECK(status == 0 || status == KEVY_ECORRUPT);
        status = destroy_crashing(crash, &error);
        CHECK(status == KEVY_OK);
        CHECK(crash_os_file(crash, "mark", &size) == NULL);
        crash_os_free(crash);
    }
    CHECK(step > 5);
}

/* ---- Compacting ---- */

TEST(compacting_memory_leaves_little_dead)
{
    static const uint8_t value[5000] = {7};
    KevyDb *db = kevy_open_mem();
    for (unsigned i = 0; i < 3000; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "k%u", i < 2000 ? i : (i - 2000) * 2);
        bool is_small = i >= 2000;
        CHECK_INT(kevy_set(db, u(key), (size_t)size, value, is_small ? 5 : sizeof value, 0), 0);
    }
    KevyStats before = stats_of(db);
    CHECK(before.memory_dead > 2000000);
    CHECK_INT(kevy_compact(db), 0);
    KevyStats after = stats_of(db);
    CHECK_INT(after.memory_records, before.memory_records);
    CHECK_INT(after.keys, before.keys);
    CHECK(after.memory_dead < before.memory_dead / 4);
    CHECK_INT(kevy_compact(db), 0);
    CHECK_INT(kevy_compact(NULL), -1);
    kevy_close(db);
}

TEST(compacting_files_makes_them_smaller)
{
    const char *dir = test_path("store");
    KevyDb *db = open_at(dir);
    fill(db, 500, 6);
    CHECK_INT(kevy_compact(db), 0);
    KevyStats stats = stats_of(db);
    CHECK_INT(stats.keys, 500);
    CHECK(stats.log_size < 2 * stats.memory_records + 600000);
    CHECK_INT(kevy_shutdown(db), 0);
    CHECK_INT(kevy_compact(db), -2);
    kevy_close(db);
    db = open_at(dir);
    CHECK_INT(stats_of(db).keys, 500);
    kevy_close(db);
}

struct busy {
    KevyDb *db;
    _Atomic int is_going;
    _Atomic unsigned wrong;
};

static void *read_while(void *user)
{
    struct busy *busy = user;
    for (unsigned i = 0; atomic_load(&busy->is_going); i++) {
        uint8_t value[1000];
        char key[16];
        size_t value_size;
        int size = snprintf(key, sizeof key, "k%u", i % 500);
        if (kevy_get_into(busy->db, u(key), (size_t)size, value, sizeof value, &value_size) != 1 ||
            value_size != sizeof value || value[0] != 7) {
            atomic_fetch_add(&busy->wrong, 1);
        }
    }
    return NULL;
}

static void *compact_while(void *user)
{
    struct busy *busy = user;
    while (atomic_load(&busy->is_going)) {
        CHECK_INT(kevy_compact(busy->db), 0);
    }
    return NULL;
}

TEST_LIMIT(compacting_beside_readers_and_writers, 120)
{
    for (int is_file = 0; is_file < 2; is_file++) {
        const char *dir = test_path("store");
        struct busy busy = {.db = is_file ? open_at(dir) : kevy_open_mem(), .is_going = 1};
        pthread_t reader, compacter;
        fill(busy.db, 500, 1);
        REQUIRE_INT(pthread_create(&reader, NULL, read_while, &busy), 0);
        REQUIRE_INT(pthread_create(&compacter, NULL, compact_while, &busy), 0);
        fill(busy.db, 500, (unsigned)test_scale(20));
        atomic_store(&busy.is_going, 0);
        pthread_join(reader, NULL);
        pthread_join(compacter, NULL);
        CHECK_INT(busy.wrong, 0);
        CHECK_INT(stats_of(busy.db).keys, 500);
        kevy_close(busy.db);
    }
}
