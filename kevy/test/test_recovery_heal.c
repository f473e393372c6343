/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An open that finds damage, and is cut off at each of its calls of the disk: what
 * it would have kept, the next open keeps. Also where the disk is full, so that
 * nothing can be moved away from the damage.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "kevy/test/log_model.h"
#include "kevy/test/relic_kit.h"
#include "testing/harness.h"

#define FIRST_SEGMENT "00000.seg"

/* Calls of an open that finds damage, at most. */
enum { CALLS_MAX = 4000 };

static struct crash_os *crash;
static struct model model;

static int open_store(void)
{
    return model_open(&model, crash_os_table(crash), "store", KEVY_FSYNC_NO);
}

/* The process ends without a word, or with the power. */
static void die(bool is_cut)
{
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    if (model.log != NULL) {
        model_close(&model);
    }
    if (is_cut) {
        crash_os_power_cut(crash);
    } else {
        crash_os_kill(crash);
    }
}

/* Turns a bit of a file, on the disk too. */
static void flip(const char *name, uint64_t at)
{
    const kevy_os *os = crash_os_table(crash);
    uint8_t byte;
    int file = os->file_open(os->self, 0, name, KEVY_OS_WRITE);
    REQUIRE(file >= 0);
    REQUIRE_INT(os->file_read(os->self, file, &byte, 1, at), 1);
    byte ^= 1;
    REQUIRE_INT(os->file_write(os->self, file, &byte, 1, at), 1);
    REQUIRE_INT(os->file_flush(os->self, file), 0);
    os->file_close(os->self, file);
}

/* Keys 0 to 19 before the mark, 20 to 23 behind it and no stamp between; the
 * segment is damaged before the mark. All of it is on the disk. */
static struct crash_copy *make_damaged(void)
{
    size_t before;
    crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(open_store(), 0);
    for (uint64_t i = 0; i < 20; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i + 1, 60), 0);
    }
    REQUIRE_INT(kv_log_shutdown(model.log), 0);
    (void)crash_os_file(crash, FIRST_SEGMENT, &before);
    for (uint64_t i = 20; i < 24; i++) {
        REQUIRE_INT(model_put(&model, (uint32_t)i, i + 1, 60), 0);
    }
    REQUIRE_INT(kv_log_sync(model.log), 0);
    die(true);
    flip(FIRST_SEGMENT, before - 300);
    return crash_os_copy(crash);
}

static bool holds_what_was_kept(void)
{
    struct model_state state;
    bool is_good = CHECK_INT(open_store(), 0) && CHECK(model_read(&model, &state)) &&
                   CHECK(kv_log_verify(model.log));
    for (uint32_t key = 20; is_good && key < 24; key++) {
        is_good = CHECK_INT(state.version[0][key], key + 1);
    }
    return is_good;
}

/* One cut; *is_last: the open had ended before it. */
static bool cut_once(const struct crash_copy *copy, uint64_t call, bool is_cut, bool *is_last)
{
    crash_os_restore(crash, copy);
    uint64_t before = crash_os_calls(crash);
    crash_os_fault(crash, CRASH_DEAD, call, 1);
    bool is_open = open_store() == 0;
    *is_last = is_open && crash_os_calls(crash) - before <= call;
    die(is_cut);
    bool is_good = holds_what_was_kept();
    if (model.log != NULL) {
        model_close(&model);
    }
    if (!is_good) {
        printf("call %lu, power cut %d\n", (unsigned long)call, is_cut);
    }
    return is_good;
}

TEST_LIMIT(heal_cut_off_at_any_call_keeps_what_was_kept, 120)
{
    struct crash_copy *copy = make_damaged();
    bool is_good = true;
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        bool is_last = false;
        for (uint64_t call = 0; is_good && !is_last && call < CALLS_MAX; call++) {
            is_good = cut_once(copy, call, is_cut != 0, &is_last);
        }
        CHECK(is_last || !is_good);
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* Lives in which the disk is full from some call of the open on. Returns how many
 * of them found the damage again. */
static size_t lives_without_room(uint64_t call)
{
    size_t count = 0;
    for (uint64_t life = 0; life < 3; life++) {
        crash_os_fault(crash, CRASH_NOSPC, call, 1000);
        bool is_open = open_store() == 0;
        crash_os_fault(crash, CRASH_NONE, 0, 0);
        if (is_open) {
            count += model.report.corrupt;
            REQUIRE_INT(model_put(&model, 1, 100 + life, 60), 0);
            REQUIRE_INT(kv_log_sync(model.log), 0);
        }
        die(life % 2 == 1);
    }
    return count;
}

/* What could not be moved away stays where it is through any number of lives, in
 * which the mark moves on. */
TEST(heal_without_room_loses_nothing_more)
{
    struct crash_copy *copy = make_damaged();
    bool is_good = true;
    size_t most = 0;
    for (uint64_t call = 0; is_good && call < 60; call++) {
        crash_os_restore(crash, copy);
        size_t count = lives_without_room(call);
        most = count > most ? count : most;
        is_good = holds_what_was_kept();
        if (model.log != NULL) {
            model_close(&model);
        }
        is_good = is_good && holds_what_was_kept() && CHECK_INT(model.report.corrupt, 0);
        if (model.log != NULL) {
            model_close(&model);
        }
        if (!is_good) {
            printf("call %lu\n", (unsigned long)call);
        }
    }
    CHECK(most >= 2);
    crash_copy_free(copy);
    crash_os_free(crash);
}

/* ---- Stores with a past ---- */

static struct relic_past past;

/* What an open finds; false: it fails. A damaged large value is none that was
 * written, and an open does not notice. */
static bool relic_found(struct relic_state *out)
{
    KevyDb *db;
    if (relic_open(crash, &db, NULL) != 0) {
        return false;
    }
    (void)relic_read(db, out);
    bool is_good = CHECK(kv_log_verify(db->engine->log));
    kevy_close(db);
    return is_good;
}

/* Writes every file again as it is and flushes it, so that a power cut leaves it. */
static void make_durable(void)
{
    static uint8_t bytes[1 << 20];
    const kevy_os *os = crash_os_table(crash);
    struct relic_names names;
    relic_list(crash, &names);
    for (size_t i = 0; i < names.count; i++) {
        int file = os->file_open(os->self, 0, names.at[i], KEVY_OS_WRITE);
        REQUIRE(file >= 0);
        int64_t size = os->file_size(os->self, file);
        REQUIRE(size >= 0 && size <= (int64_t)sizeof bytes);
        REQUIRE_INT(os->file_read(os->self, file, bytes, (size_t)size, 0), size);
        REQUIRE_INT(os->file_write(os->self, file, bytes, (size_t)size, 0), size);
        REQUIRE_INT(os->file_flush(os->self, file), 0);
        os->file_close(os->self, file);
    }
    REQUIRE_INT(os->dir_flush(os->self, 0), 0);
}

static bool relic_cut_once(const struct crash_copy *copy, const struct relic_state *wanted,
                           uint64_t call, bool is_cut, bool *is_last)
{
    struct relic_state seen;
    KevyDb *db = NULL;
    crash_os_restore(crash, copy);
    uint64_t before = crash_os_calls(crash);
    crash_os_fault(crash, CRASH_DEAD, call, 1);
    *is_last = relic_open(crash, &db, NULL) == 0 && crash_os_calls(crash) - before <= call;
    crash_os_fault(crash, CRASH_DEAD, 0, 1);
    kevy_close(db);
    if (is_cut) {
        crash_os_power_cut(crash);
    } else {
        crash_os_kill(crash);
    }
    return CHECK(relic_found(&seen)) && CHECK(memcmp(&seen, wanted, sizeof seen) == 0);
}

/* Damages a store, and cuts an open off at each call. A file that was removed is
 * back after a power cut: such damage is only for kills. */
static bool relic_heal(uint64_t seed, bool is_cut, size_t *count)
{
    struct relic_state wanted;
    struct relic_names before, after;
    uint64_t random = seed;
    bool is_good = true;
    crash = relic_live(seed, false, &past);
    relic_list(crash, &before);
    relic_damage(crash, &random);
    relic_list(crash, &after);
    make_durable();
    struct crash_copy *copy = crash_os_copy(crash);
    bool is_last = (is_cut && before.count != after.count) || !relic_found(&wanted);
    *count += !is_last;
    for (uint64_t call = 0; is_good && !is_last && call < CALLS_MAX; call++) {
        is_good = relic_cut_once(copy, &wanted, call, is_cut, &is_last);
        if (!is_good) {
            printf("seed %lu, call %lu\n", (unsigned long)seed, (unsigned long)call);
        }
    }
    crash_copy_free(copy);
    crash_os_free(crash);
    return is_good;
}

static void relics_heal(bool is_cut)
{
    size_t count = 0;
    bool is_good = true;
    for (uint64_t seed = 1; is_good && seed <= test_scale(40); seed++) {
        is_good = relic_heal(test_seed() + seed, is_cut, &count);
    }
    CHECK(count > 0);
}

/* Whatever was damaged: what an open keeps does not depend on whether it is the
 * first, or one before it was killed, or lost power. */
TEST_LIMIT(heal_killed_at_any_call_of_any_store_keeps_the_same, 300)
{
    relics_heal(false);
}

TEST_LIMIT(heal_without_power_at_any_call_of_any_store_keeps_the_same, 300)
{
    relics_heal(true);
}
