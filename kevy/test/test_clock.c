/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store's clock when the wall clock is set: what is left alone, what is
 * followed and when, and that a key which is there, or gone, is so after a
 * reopen too. The clocks are those of the crashing system, which stand still.
 */
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

#define HOUR_MS UINT64_C(3600000)

static uint64_t wall(struct crash_os *crash)
{
    const kevy_os *os = crash_os_table(crash);
    return os->wall_ms(os->self);
}

static void step(struct crash_os *crash, int64_t ms)
{
    crash_os_set_wall(crash, wall(crash) + (uint64_t)ms);
}

TEST(it_passes_with_the_other_clock)
{
    struct crash_os *crash = crash_os_new(1);
    struct kv_clock clock;
    kv_clock_init(&clock, crash_os_table(crash));
    uint64_t start = wall(crash);
    CHECK_INT(kv_clock_now_ms(&clock), start);
    for (uint64_t passed = 37; passed < 2000; passed += 37) {
        crash_os_pass(crash, 37);
        CHECK_INT(kv_clock_now_ms(&clock), start + passed);
        CHECK_INT(kv_clock_now_us(&clock), (start + passed) * 1000);
    }
    crash_os_free(crash);
}

static void follows(int64_t ms, bool is_step)
{
    struct crash_os *crash = crash_os_new(1);
    struct kv_clock clock;
    kv_clock_init(&clock, crash_os_table(crash));
    uint64_t start = wall(crash);
    step(crash, ms);
    CHECK_INT(kv_clock_now_ms(&clock), start);
    crash_os_pass(crash, 99);
    CHECK_INT(kv_clock_now_ms(&clock), start + 99);
    crash_os_pass(crash, 1);
    CHECK_INT(kv_clock_now_ms(&clock), start + 100 + (uint64_t)(is_step ? ms : 0));
    crash_os_pass(crash, 500);
    CHECK_INT(kv_clock_now_ms(&clock), start + 600 + (uint64_t)(is_step ? ms : 0));
    crash_os_free(crash);
}

TEST(a_step_is_followed_and_a_slip_is_not)
{
    follows(999, false);
    follows(-999, false);
    follows(1000, true);
    follows(-1000, true);
    follows((int64_t)(30 * 24 * HOUR_MS), true);
    follows(-(int64_t)(30 * 24 * HOUR_MS), true);
}

/* Slips add up to a step. */
TEST(slips_add_up)
{
    struct crash_os *crash = crash_os_new(1);
    struct kv_clock clock;
    kv_clock_init(&clock, crash_os_table(crash));
    for (int i = 0; i < 20; i++) {
        step(crash, 300);
        crash_os_pass(crash, 100);
        uint64_t now = kv_clock_now_ms(&clock);
        CHECK(now <= wall(crash) && wall(crash) - now < KV_CLOCK_STEP_MS);
    }
    crash_os_free(crash);
}

/* ---- A store ---- */

static KevyDb *open_store(struct crash_os *crash)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyDb *db = NULL;
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(crash),
                           .mem = &kv_mem_libc,
                           .segment_size = (size_t)64 << 10,
                           .is_threadless = true};
    REQUIRE_INT(kv_engine_open(&open, &db, NULL), 0);
    return db;
}

static bool has(KevyDb *db, const char *key)
{
    uint8_t byte;
    size_t size;
    return kevy_get_into(db, (const uint8_t *)key, strlen(key), &byte, 1, &size) > 0;
}

static void put(KevyDb *db, const char *key, uint64_t ttl_ms)
{
    CHECK_INT(kevy_set(db, (const uint8_t *)key, strlen(key), (const uint8_t *)"v", 1, ttl_ms), 0);
}

static void steps_by(int64_t ms, bool short_lives, bool long_lives)
{
    struct crash_os *crash = crash_os_new(1);
    KevyDb *db = open_store(crash);
    put(db, "short", 10000);
    put(db, "long", 3 * HOUR_MS);
    put(db, "ever", 0);
    step(crash, ms);
    crash_os_pass(crash, 200);
    for (int opens = 0; opens < 3; opens++) {
        CHECK_INT(has(db, "short"), short_lives);
        CHECK_INT(has(db, "long"), long_lives);
        CHECK(has(db, "ever"));
        kevy_close(db);
        db = open_store(crash);
    }
    put(db, "new", 5000);
    crash_os_pass(crash, 4999);
    CHECK(has(db, "new"));
    crash_os_pass(crash, 1);
    CHECK(!has(db, "new"));
    kevy_close(db);
    crash_os_free(crash);
}

TEST(expiries_are_kept_in_wall_time)
{
    steps_by(0, true, true);
    steps_by(900, true, true);
    steps_by((int64_t)HOUR_MS, false, true);
    steps_by((int64_t)(4 * HOUR_MS), false, false);
    steps_by(-(int64_t)HOUR_MS, true, true);
}
