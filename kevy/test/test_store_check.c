/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_check says what an open then does, to the byte, whatever became of the
 * files, and changes nothing. And the open after that finds a whole store.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kevy/test/relic_kit.h"
#include "kevy/test/vector_kit.h"
#include "testing/harness.h"

static struct relic_past past;

static bool matches_opened(KevyDb *db, const struct relic_state *checked,
                           const KevyCheckReport *report)
{
    KevyOpenReport opened;
    struct relic_state seen;
    uint64_t keys = 0;
    bool is_good = CHECK_INT(kevy_open_report(db, &opened), 0);
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        keys += kv_keyspace_count(&db->engine->keyspace, i);
    }
    is_good = CHECK_INT(report->records, opened.replayed_commands) && is_good;
    is_good = CHECK_INT(report->dropped_bytes, opened.dropped_bytes) && is_good;
    is_good = CHECK_INT(report->damaged_ranges, opened.quarantine_count) && is_good;
    is_good = CHECK_INT(report->damaged_ranges != 0, opened.corrupt) && is_good;
    is_good = CHECK_INT(report->keys, keys) && is_good;
    is_good = CHECK(relic_read(db, &seen) || report->damaged_values != 0) && is_good;
    return CHECK(memcmp(&seen, checked, sizeof seen) == 0) && is_good;
}

/* Large values that no open verifies stay as they are. */
static bool is_whole_now(struct crash_os *crash)
{
    struct relic_state checked;
    KevyCheckReport report;
    KevyError error;
    int32_t status = relic_check(crash, &checked, &report, &error);
    bool is_good = CHECK_INT(status, report.damaged_values != 0);
    is_good = CHECK_INT(report.torn_bytes, 0) && is_good;
    return CHECK_INT(report.damaged_ranges, 0) && is_good;
}

/* Checks, then opens; *opened is the status of that. */
static bool check_then_open(struct crash_os *crash, int *opened)
{
    struct relic_state checked;
    KevyCheckReport report;
    KevyError said, error;
    KevyDb *db;
    uint64_t before = relic_hash(crash);
    int32_t status = relic_check(crash, &checked, &report, &said);
    bool is_good = CHECK_INT(relic_hash(crash), before);
    *opened = relic_open(crash, &db, &error);
    if (*opened != 0) {
        is_good = CHECK_INT(status, *opened) && is_good;
        is_good = CHECK_STR(said.path, error.path) && is_good;
        is_good = CHECK_STR(said.text, error.text) && is_good;
        return CHECK_INT(said.offset, error.offset) && is_good;
    }
    if (status != KEVY_EPATH) { /* there was no store: now there is one */
        is_good = CHECK_INT(status, report.damaged_ranges + report.damaged_values != 0) && is_good;
        is_good = matches_opened(db, &checked, &report) && is_good;
        is_good = CHECK(!past.is_intact || report.damaged_values != 0 ||
                        relic_batches_hold(&past, &checked)) &&
                  is_good;
    }
    kevy_close(db);
    return is_whole_now(crash) && is_good;
}

TEST(check_of_undamaged_stores)
{
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct relic_state checked;
        KevyCheckReport report;
        KevyError error;
        int opened;
        struct crash_os *crash = relic_live(test_seed() + seed, false, &past);
        bool is_good = CHECK_INT(relic_check(crash, &checked, &report, &error), 0) &&
                       CHECK(memcmp(&checked, &past.now, sizeof checked) == 0) &&
                       CHECK_INT(report.torn_bytes, 0);
        if (!is_good || !check_then_open(crash, &opened)) {
            printf("seed %lu\n", (unsigned long)seed);
        }
        crash_os_free(crash);
    }
}

/* Folders of earlier builds; their values are not ours, so only the counts tell. */
static void check_vector(const struct vector *vector)
{
    struct kv_view_of of = {
        .dir = BYTES_LITERAL("store"), .os = crash_os_table(vector->crash), .mem = &kv_mem_libc};
    KevyCheckReport report = {.size = sizeof report};
    uint64_t keys = 0, before = relic_hash(vector->crash);
    int32_t status = kv_check_run(&of, &report, NULL);
    CHECK_INT(relic_hash(vector->crash), before);
    CHECK_INT(status < 0 ? status : 0, vector->status);
    for (size_t i = 0; i < MODEL_DATABASES * MODEL_KEYS; i++) {
        keys += vector->state.version[i / MODEL_KEYS][i % MODEL_KEYS] != 0;
    }
    if (status >= 0) {
        CHECK_INT(status, (int32_t)vector->corrupt);
        CHECK_INT(report.records, vector->replayed);
        CHECK_INT(report.dropped_bytes, vector->dropped);
        CHECK_INT(report.keys, keys);
    }
}

TEST(check_of_vectors)
{
    CHECK(vectors_each(KV_SOURCE_DIR "/kevy/test/vectors", check_vector) >= 8);
}

static void agree_on_any_damage(bool is_calm)
{
    enum { DAMAGES = 20 };
    size_t refused = 0, opened = 0;
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct crash_os *crash = relic_live(test_seed() + seed, is_calm, &past);
        struct crash_copy *copy = crash_os_copy(crash);
        for (uint64_t i = 0; i < DAMAGES; i++) {
            int status;
            uint64_t random = seed * 1000 + i;
            crash_os_restore(crash, copy);
            for (uint64_t n = 1 + random % 3; n > 0; n--) {
                relic_damage(crash, &random);
            }
            if (!check_then_open(crash, &status)) {
                printf("seed %lu damage %lu\n", (unsigned long)seed, (unsigned long)i);
            }
            opened += status == 0;
            refused += status != 0;
            crash_os_kill(crash);
        }
        crash_copy_free(copy);
        crash_os_free(crash);
    }
    printf("%zu opened, %zu refused\n", opened, refused);
    CHECK(opened > 0 && refused > 0);
}

TEST_LIMIT(check_agrees_with_open_on_any_damage, 120)
{
    agree_on_any_damage(false);
}

/* And batches are there as a whole, or not at all. */
TEST_LIMIT(check_agrees_where_nothing_was_collected, 120)
{
    agree_on_any_damage(true);
}

/* ---- The lock ---- */

struct intrusion {
    struct crash_os *crash;
    int status;
};

static int32_t intrude(void *user, const KevyEntry *entry)
{
    struct intrusion *intrusion = user;
    KevyDb *db = NULL;
    KevyError error;
    (void)entry;
    intrusion->status = relic_open(intrusion->crash, &db, &error);
    kevy_close(db);
    return 1;
}

static int32_t check_with(struct crash_os *crash, const kevy_os *os, struct intrusion *intrusion,
                          KevyError *error)
{
    KevyCheckOptions options = {.user = intrusion, .entry = intrude};
    struct kv_view_of of = {.dir = BYTES_LITERAL("store"),
                            .os = os == NULL ? crash_os_table(crash) : os,
                            .mem = &kv_mem_libc,
                            .options = intrusion == NULL ? NULL : &options};
    return kv_check_run(&of, NULL, error);
}

/* A folder was copied without its lock file: while it is looked at nobody opens it. */
TEST(check_of_a_store_without_a_lock_file_keeps_others_out)
{
    size_t size = 1;
    KevyError error;
    struct crash_os *crash = relic_one_each(&past);
    struct intrusion intrusion = {crash, 0};
    crash_os_remove(crash, "lock");
    CHECK_INT(check_with(crash, NULL, &intrusion, &error), 1);
    CHECK_INT(intrusion.status, KEVY_EINUSE);
    CHECK(crash_os_file(crash, "lock", &size) != NULL && size == 0);
    crash_os_free(crash);
}

static int why_no_lock;

static int no_lock_open(void *self, int dir, const char *name, unsigned mode)
{
    struct crash_os *crash = self;
    return strcmp(name, "lock") == 0 && (mode & KEVY_OS_CREATE) != 0
               ? -why_no_lock
               : crash_os_table(crash)->file_open(self, dir, name, mode);
}

/* Where none can be made it is refused, and said what helps. Where there is no store
 * nothing is made. */
TEST(check_makes_a_lock_file_or_refuses)
{
    size_t size;
    KevyError error;
    struct crash_os *crash = relic_one_each(&past);
    kevy_os os = *crash_os_table(crash);
    REQUIRE(os.self == crash);
    os.file_open = no_lock_open;
    CHECK_INT(check_with(crash, &os, NULL, &error), 0);
    crash_os_remove(crash, "lock");
    why_no_lock = EROFS; /* nobody can open it to write */
    CHECK_INT(check_with(crash, &os, NULL, &error), 0);
    why_no_lock = EACCES;
    CHECK_INT(check_with(crash, &os, NULL, &error), KEVY_EACCESS);
    CHECK_INT(error.sys_errno, EACCES);
    CHECK(strstr(error.text, "make an empty file") != NULL);
    crash_os_free(crash);
    crash = crash_os_new(1);
    CHECK_INT(check_with(crash, NULL, NULL, &error), KEVY_EPATH);
    CHECK(crash_os_file(crash, "lock", &size) == NULL);
    crash_os_free(crash);
}
