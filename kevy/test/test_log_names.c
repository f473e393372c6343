/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Files that cannot be unlinked, files that cannot be made for lack of descriptors:
 * neither stops a store for longer than it lasts. And what it costs to find out which
 * files may go.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kevy/src/log/log_inside.h"
#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

static struct crash_os *crash;
static struct model model;
static kevy_os os;

/* What the calls answer instead of being made; 0: they are made. */
static int remove_answer, make_answer;

static int some_remove(void *self, int dir, const char *name)
{
    return remove_answer != 0 ? remove_answer : crash_os_table(crash)->file_remove(self, dir, name);
}

static int some_open(void *self, int dir, const char *name, unsigned mode)
{
    bool is_made = (mode & KEVY_OS_CREATE) != 0;
    return is_made && make_answer != 0 ? make_answer
                                       : crash_os_table(crash)->file_open(self, dir, name, mode);
}

static void start(bool has_windows)
{
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, has_windows);
    os = *crash_os_table(crash);
    os.file_remove = some_remove;
    os.file_open = some_open;
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
}

static void end(void)
{
    model_close(&model);
    crash_os_free(crash);
}

static void count_segment(void *user, const char *name)
{
    size_t size = strlen(name);
    *(uint64_t *)user += size > 4 && strcmp(name + size - 4, ".seg") == 0;
}

static uint64_t segment_files(void)
{
    uint64_t count = 0;
    REQUIRE_INT(os.dir_list(os.self, model.log->files->dir, count_segment, &count), 0);
    return count;
}

/* ---- Files that stay ---- */

/* Every key anew, some in a file of its own; what is dead goes, or should. */
static void turn_over(uint64_t first)
{
    for (uint64_t i = first; i < first + 240; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)(i % MODEL_KEYS), i, i % 40 == 0 ? 9000 : 2000), 0);
        if (i % 60 == 0) {
            REQUIRE_INT(kv_log_shutdown(model.log), 0);
        }
    }
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
}

static void expect_newest(uint64_t last)
{
    struct model_state state;
    CHECK(model_read(&model, &state));
    CHECK(kv_log_verify(model.log));
    for (uint64_t i = last; i > last - MODEL_KEYS; i--) {
        CHECK_INT(state.version[0][i % MODEL_KEYS], i);
    }
}

static void files_that_stay(bool has_windows)
{
    start(has_windows);
    turn_over(1);
    remove_answer = -EBUSY;
    turn_over(241);
    turn_over(481);
    CHECK(model.log->files->taken_count > 0);
    CHECK(segment_files() > model.log->segment_count + 1);
    expect_newest(720);
    remove_answer = 0;
    turn_over(721);
    CHECK_INT(model.log->files->taken_count, 0);
    expect_newest(960);
    model_close(&model);
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
    CHECK_INT(segment_files(), model.log->segment_count);
    expect_newest(960);
    end();
}

TEST(names_of_files_that_cannot_be_unlinked_are_passed_over)
{
    files_that_stay(false);
    files_that_stay(true);
}

/* The same of files that an earlier life left, and of one that a failed write made. */
TEST(names_that_an_earlier_life_left_are_passed_over)
{
    start(false);
    turn_over(1);
    remove_answer = -EIO;
    turn_over(241);
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    model_close(&model);
    crash_os_kill(crash);
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
    uint64_t files = segment_files();
    crash_os_capacity(crash, crash_os_size(crash) + 4000);
    CHECK_INT(model_put(&model, 1, 1001, 9000), KEVY_ENOSPC);
    crash_os_capacity(crash, 0);
    CHECK(segment_files() > files);
    REQUIRE_INT(model_put(&model, 1, 1001, 9000), 0);
    turn_over(1002);
    expect_newest(1241);
    remove_answer = 0;
    end();
}

/* ---- Descriptors ---- */

static void cannot_make(int answer, int status)
{
    struct model_state state;
    struct kv_log_stats stats;
    uint64_t version = 100;
    int written = 0;
    start(false);
    REQUIRE_INT(model_put(&model, 1, version, 2000), 0);
    make_answer = answer;
    CHECK_INT(model_put(&model, 2, 7, 9000), status);
    while (written == 0 && version < 200) {
        written = model_put(&model, 1, ++version, 2000);
    }
    CHECK_INT(written, status);
    CHECK_INT(model_put(&model, 1, version, 2000), status);
    REQUIRE(model_read(&model, &state));
    CHECK_INT(state.version[0][1], version - 1);
    CHECK_INT(state.version[0][2], 0);
    CHECK_INT(kv_log_sync(model.log), 0);
    kv_log_stats(model.log, &stats);
    CHECK_INT(stats.error, 0);
    make_answer = 0;
    CHECK_INT(model_put(&model, 1, version, 2000), 0);
    CHECK_INT(model_put(&model, 2, 8, 9000), 0);
    model_close(&model);
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
    REQUIRE(model_read(&model, &state));
    CHECK_INT(state.version[0][1], version);
    CHECK_INT(state.version[0][2], 8);
    end();
}

TEST(names_without_descriptors_heal)
{
    cannot_make(-EMFILE, KEVY_EFILES);
    cannot_make(-ENFILE, KEVY_EFILES);
    cannot_make(-ENOMEM, KEVY_ENOMEM);
}

TEST(names_without_descriptors_an_open_says_what_to_do)
{
    start(false);
    model_close(&model);
    make_answer = -EMFILE;
    CHECK_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), KEVY_EFILES);
    CHECK_INT(model.error.sys_errno, EMFILE);
    CHECK(strstr(model.error.text, "ulimit -n") != NULL);
    make_answer = 0;
    REQUIRE_INT(model_open(&model, &os, "store", KEVY_FSYNC_NO), 0);
    end();
}

/* ---- What may go ---- */

/* Each segment has a tombstone that an older one holds: a mark looks at each a few
 * times, however many there are. */
TEST(names_that_may_go_are_found_in_a_few_passes)
{
    start(false);
    model.log->move = NULL; /* nothing is collected */
    REQUIRE_INT(model_put(&model, 0, 1, 100), 0);
    uint64_t version = 1;
    while (model.log->segment_count < 200) {
        bool is_appended;
        struct model_change gone = {0, 2, 0, 0};
        REQUIRE_INT(model_put(&model, 2, ++version, 30), 0);
        REQUIRE_INT(model_write(&model, &gone, 1, &is_appended), 0);
        for (int i = 0; i < 16; i++) {
            REQUIRE_INT(model_put(&model, 1, ++version, 2000), 0);
        }
    }
    REQUIRE_INT(kv_log_sync(model.log), 0);
    uint64_t before = model.log->files->remove_looks, count = model.log->segment_count;
    REQUIRE_INT(kv_mark_write(model.log), 0);
    CHECK(model.log->files->remove_looks - before <= 8 * (count + 1));
    CHECK(model.log->segment_count > 150);
    REQUIRE_INT(model_put(&model, 0, ++version, 100), 0);
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
    CHECK(model.log->segment_count < 5);
    end();
}
