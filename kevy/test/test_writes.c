/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every write command survives crash and replay. Each example of
 * write_examples.c is run on the disk that crashes (testing/crash_os.h), under
 * each flush policy, through windows and through calls:
 *
 *   killed after it                      after
 *   power cut after it, synced           after
 *   power cut after it, not synced       after under always, else before or after
 *   process dead at its n-th disk call   before or after; after if it succeeded
 *   its n-th disk call fails             an error and before, or after; likewise in
 *                                        memory; unknown once a flush has failed
 *   its n-th allocation fails            an error and before, or after; likewise in
 *                                        memory
 *
 * "before" and "after" are all keys of all databases with values and expiries;
 * nothing between is ever seen. Every store is opened twice and is sound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kevy/src/command/command.h"
#include "kevy/src/engine/engine.h"
#include "kevy/test/write_examples.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

enum { LINES_MAX = 64, LINE_SIZE = 96, CUTS = 3 };

/* All that a store holds, as sorted lines. */
struct view_of_all {
    char lines[LINES_MAX][LINE_SIZE];
    size_t count;
    uint32_t db;
};

/* One example, under one policy; `copy` is the disk where it is about to be run. */
struct trial {
    const struct write_example *example;
    struct crash_os *crash;
    struct crash_copy *copy;
    KevyDb *db;
    uint8_t policy;
    size_t allocations_left;
    uint64_t call_count;
    struct view_of_all before, after;
    const char *scene;
};

/* ---- What a store holds ---- */

static void view_key(void *user, struct bytes key, const struct kv_item *item)
{
    struct view_of_all *view = user;
    REQUIRE(view->count < LINES_MAX);
    (void)snprintf(view->lines[view->count++], LINE_SIZE, "%u %.*s: %zu bytes %016llx until %llu",
                   (unsigned)view->db, (int)key.size, (const char *)key.data, item->value.size,
                   (unsigned long long)hash_bytes(item->value.data, item->value.size, 1),
                   (unsigned long long)item->expiry_ms);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void view_take(KevyDb *db, struct view_of_all *out)
{
    const struct kv_keyspace *ks = &db->engine->keyspace;
    memset(out, 0, sizeof *out);
    for (out->db = 0; out->db < KV_DATABASE_COUNT; out->db++) {
        uint64_t cursor = 0;
        do {
            cursor = kv_keyspace_scan(ks, out->db, cursor, 100, view_key, out);
        } while (cursor != 0);
    }
    qsort(out->lines, out->count, LINE_SIZE, compare_lines);
    CHECK(kv_keyspace_verify(ks) && kv_log_verify(db->engine->log));
}

static bool views_equal(const struct view_of_all *a, const struct view_of_all *b)
{
    return a->count == b->count && memcmp(a->lines, b->lines, sizeof a->lines) == 0;
}

static void view_print(const char *name, const struct view_of_all *view)
{
    printf("      %s:\n", name);
    for (size_t i = 0; i < view->count; i++) {
        printf("        %s\n", view->lines[i]);
    }
}

/* ---- Opening and crashing ---- */

static void *scarce_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct trial *trial = self;
    bool is_growing = new_size > old_size;
    if (is_growing && trial->allocations_left == 0) {
        return NULL;
    }
    trial->allocations_left -= is_growing;
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

static void open_store(struct trial *trial)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyError error;
    kevy_mem mem = {trial, scarce_resize};
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(trial->crash),
                           .mem = &mem,
                           .segment_size = (size_t)64 << 10,
                           .is_threadless = true};
    options.fsync = trial->policy;
    trial->allocations_left = SIZE_MAX;
    REQUIRE_INT(kv_engine_open(&open, &trial->db, &error), 0);
}

/* The process ends without a word; or the machine does. */
static void end(struct trial *trial, bool is_cut)
{
    crash_os_fault(trial->crash, CRASH_DEAD, 0, 1);
    kevy_close(trial->db);
    trial->db = NULL;
    (is_cut ? crash_os_power_cut : crash_os_kill)(trial->crash);
}

static void begin(struct trial *trial, const char *scene)
{
    trial->scene = scene;
    crash_os_restore(trial->crash, trial->copy);
    open_store(trial);
}

/* What may be found. */
enum { BEFORE = 1, AFTER = 2, EITHER = 3 };

static void seen_is(struct trial *trial, const struct view_of_all *seen, int wanted, uint64_t n)
{
    bool is_good = ((wanted & BEFORE) != 0 && views_equal(seen, &trial->before)) ||
                   ((wanted & AFTER) != 0 && views_equal(seen, &trial->after));
    if (!CHECK(is_good)) {
        printf("    %s; policy %u, %s, n = %llu; wanted %s\n", trial->example->write, trial->policy,
               trial->scene, (unsigned long long)n,
               wanted == EITHER   ? "either"
               : wanted == BEFORE ? "before"
                                  : "after");
        view_print("before", &trial->before);
        view_print("after", &trial->after);
        view_print("seen", seen);
    }
}

static void store_is(struct trial *trial, int wanted, uint64_t n)
{
    struct view_of_all seen;
    view_take(trial->db, &seen);
    seen_is(trial, &seen, wanted, n);
}

/* Crashes, and opens twice; the second finds what the first did. */
static void reopened_is(struct trial *trial, bool is_cut, int wanted, uint64_t n)
{
    struct view_of_all first, second;
    end(trial, is_cut);
    open_store(trial);
    view_take(trial->db, &first);
    seen_is(trial, &first, wanted, n);
    end(trial, is_cut);
    open_store(trial);
    view_take(trial->db, &second);
    CHECK(views_equal(&first, &second));
    end(trial, false);
}

/* ---- Scenes ---- */

static void scene_crash_after(struct trial *trial)
{
    begin(trial, "killed after it");
    uint64_t calls = crash_os_calls(trial->crash);
    CHECK(write_run(trial->db, trial->example->write));
    trial->call_count = crash_os_calls(trial->crash) - calls;
    view_take(trial->db, &trial->after);
    reopened_is(trial, false, AFTER, 0);
    for (uint64_t n = 0; n < CUTS; n++) {
        begin(trial, "synced, then a power cut");
        CHECK(write_run(trial->db, trial->example->write));
        CHECK_INT(kevy_sync(trial->db), 0);
        reopened_is(trial, true, AFTER, n);
        begin(trial, "a power cut after it");
        CHECK(write_run(trial->db, trial->example->write));
        reopened_is(trial, true, trial->policy == KEVY_FSYNC_ALWAYS ? AFTER : EITHER, n);
    }
}

static void scene_dead_within(struct trial *trial)
{
    for (uint64_t n = 0; n < trial->call_count; n++) {
        for (int turn = 0; turn < 1 + CUTS; turn++) {
            bool is_cut = turn > 0;
            begin(trial, is_cut ? "dead at a call, power cut" : "dead at a call, killed");
            crash_os_fault(trial->crash, CRASH_DEAD, n, 1);
            bool is_done = write_run(trial->db, trial->example->write);
            bool is_safe = is_done && (!is_cut || trial->policy == KEVY_FSYNC_ALWAYS);
            reopened_is(trial, is_cut, is_safe ? AFTER : EITHER, n);
        }
    }
}

static bool is_broken(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    return stats.log_error != 0;
}

/* The write was refused or done, with the disk or the memory good again: then
 * it can be repeated, or the process ends. */
static void settle(struct trial *trial, bool is_done, bool repeats, uint64_t n)
{
    bool is_unknown = is_broken(trial->db);
    int wanted = is_done ? AFTER : is_unknown ? EITHER : BEFORE;
    store_is(trial, wanted, n);
    if (is_unknown) {
        CHECK(!write_run(trial->db, trial->example->setup[0] == '\0' ? "SET s 1" : "SET t 1"));
        store_is(trial, wanted, n);
    } else if (repeats && !is_done) {
        CHECK(write_run(trial->db, trial->example->write));
        store_is(trial, AFTER, n);
        wanted = AFTER;
    }
    reopened_is(trial, false, wanted, n);
}

static void scene_call_fails(struct trial *trial, enum crash_fault fault, const char *name)
{
    for (uint64_t n = 0; n < trial->call_count; n++) {
        for (int repeats = 0; repeats < 2; repeats++) {
            begin(trial, name);
            crash_os_fault(trial->crash, fault, n, 1);
            bool is_done = write_run(trial->db, trial->example->write);
            crash_os_fault(trial->crash, CRASH_NONE, 0, 0);
            settle(trial, is_done, repeats != 0, n);
        }
    }
}

static void scene_memory_fails(struct trial *trial)
{
    bool is_enough = false;
    size_t n = 0;
    for (; !is_enough && n < 200; n++) {
        for (int repeats = 0; repeats < 2; repeats++) {
            begin(trial, "an allocation fails");
            trial->allocations_left = n;
            bool is_done = write_run(trial->db, trial->example->write);
            is_enough = trial->allocations_left != 0;
            trial->allocations_left = SIZE_MAX;
            CHECK(is_done || !is_enough);
            settle(trial, is_done, repeats != 0, n);
        }
    }
    CHECK(n < 200);
}

/* ---- Examples ---- */

static void trial_run(const struct write_example *example, uint8_t policy, bool has_windows)
{
    struct trial *trial = (struct trial *)calloc(1, sizeof *trial);
    REQUIRE(trial != NULL);
    trial->example = example;
    trial->policy = policy;
    trial->crash = crash_os_new(test_seed() + (uint64_t)(example - write_examples));
    crash_os_windows(trial->crash, has_windows);
    open_store(trial);
    CHECK(write_run(trial->db, example->setup));
    CHECK_INT(kevy_sync(trial->db), 0);
    view_take(trial->db, &trial->before);
    end(trial, false);
    trial->copy = crash_os_copy(trial->crash);
    scene_crash_after(trial);
    if (!CHECK(!views_equal(&trial->before, &trial->after))) {
        printf("    an example that changes nothing: %s\n", example->write);
    }
    scene_dead_within(trial);
    scene_call_fails(trial, CRASH_EIO, "a call fails");
    scene_call_fails(trial, CRASH_NOSPC, "the disk is full");
    scene_call_fails(trial, CRASH_SHORT, "a short write");
    scene_memory_fails(trial);
    crash_copy_free(trial->copy);
    crash_os_free(trial->crash);
    free(trial);
}

/* Of one thread there is little to learn for the sanitizer of threads, slowly. */
#if defined(__SANITIZE_THREAD__)
#define EXAMPLE_STEP 40
#else
#define EXAMPLE_STEP 1
#endif

/* Under a sanitizer windows and calls take turns. */
static void all_examples(uint8_t policy)
{
    bool is_patient = test_scale(2) == 2;
    for (size_t i = policy % EXAMPLE_STEP; i < write_example_count(); i += EXAMPLE_STEP) {
        for (size_t way = 0; way < 2; way++) {
            if (is_patient || (i + policy) % 2 == way) {
                trial_run(&write_examples[i], policy, way != 0);
            }
        }
    }
}

TEST_LIMIT(writes_survive_under_everysec, 300)
{
    all_examples(KEVY_FSYNC_EVERYSEC);
}

TEST_LIMIT(writes_survive_under_always, 300)
{
    all_examples(KEVY_FSYNC_ALWAYS);
}

TEST_LIMIT(writes_survive_under_no, 300)
{
    all_examples(KEVY_FSYNC_NO);
}

TEST(every_write_command_has_an_example)
{
    for (size_t i = 0; i < kv_command_count(); i++) {
        bool is_found = (kv_commands[i].flags & KV_WRITE) == 0;
        for (size_t j = 0; j < write_example_count() && !is_found; j++) {
            is_found = write_is_of(write_examples[j].write, kv_commands[i].name);
        }
        if (!CHECK(is_found)) {
            printf("    %s changes keys and has no example in write_examples.c\n",
                   kv_commands[i].name);
        }
    }
}
