/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_salvage: of a damaged store everything that an open would keep, and more;
 * nothing that was not written, no half batch; the damaged files stay as they
 * are.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/store/mark.h"
#include "kevy/test/relic_kit.h"
#include "testing/harness.h"

static struct relic_past past;

/* ---- Without damage ---- */

TEST_LIMIT(salvage_of_undamaged_stores_is_a_copy, 60)
{
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct relic_state saved;
        KevyCheckReport report;
        KevyError error;
        struct crash_os *crash = relic_live(test_seed() + seed, false, &past);
        uint64_t before = relic_hash(crash);
        bool is_good = CHECK_INT(relic_salvage(crash, false, &saved, &report, &error), 0) &&
                       CHECK(memcmp(&saved, &past.now, sizeof saved) == 0) &&
                       CHECK_INT(report.saved_keys, report.keys);
        CHECK_INT(relic_hash(crash), before);
        if (!is_good) {
            printf("seed %lu\n", (unsigned long)seed);
        }
        crash_os_free(crash);
    }
}

/* ---- The mark ---- */

/* Both slots are damaged, the head is there: all files count. With `from` behind
 * the map in the slots, that can be guessed. */
static void salvage_without_slots(size_t from)
{
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct relic_state saved;
        KevyCheckReport report;
        KevyError error;
        size_t size;
        struct crash_os *crash = relic_live(test_seed() + seed, false, &past);
        uint8_t *mark = crash_os_file(crash, "mark", &size);
        memset(mark + 4096 + from, 0x55, 900);
        memset(mark + 8192 + from, 0x55, 900);
        bool is_good = CHECK(relic_salvage(crash, false, &saved, &report, &error) >= 0);
        if (from > 204) {
            is_good = CHECK(relic_holds(&past, &saved, &past.now)) && is_good;
        } else {
            CHECK_INT(report.damaged_marks, 2);
        }
        if (!is_good) {
            printf("seed %lu\n", (unsigned long)seed);
        }
        crash_os_free(crash);
    }
}

TEST_LIMIT(salvage_without_a_slot_of_the_mark, 60)
{
    salvage_without_slots(1024);
    salvage_without_slots(100);
}

/* Both slots hold by their checks, and tell what no store does: nothing of it is
 * believed. */
TEST(salvage_of_a_mark_of_nonsense)
{
    struct relic_state saved;
    KevyCheckReport report;
    KevyError error;
    struct kv_identity identity;
    static struct kv_mark mark;
    bool is_whole;
    size_t size;
    struct crash_os *crash = relic_one_each(&past);
    uint8_t *bytes = crash_os_file(crash, "mark", &size);
    REQUIRE_INT(kv_mark_decode(bytes, size, &identity, &mark, &is_whole), KV_MARK_OK);
    mark.durable_lsn = UINT64_MAX;
    mark.incarnation_lsn = 0;
    for (int i = 0; i < 2; i++) {
        mark.sequence++;
        kv_mark_slot_encode(&identity, &mark, bytes + kv_mark_offset(mark.sequence));
    }
    CHECK(relic_salvage(crash, false, &saved, &report, &error) >= 0);
    CHECK_INT(report.damaged_marks, 2);
    CHECK_INT(report.log_lsn_durable, 0);
    CHECK_INT(report.damaged_ranges, 0);
    CHECK(memcmp(&saved, &past.now, sizeof saved) == 0);
    crash_os_free(crash);
}

/* The whole mark is gone, and the secret with it. */
TEST_LIMIT(salvage_without_a_mark, 60)
{
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct relic_state saved;
        KevyCheckReport report;
        KevyError error;
        struct crash_os *crash = relic_live(test_seed() + seed, false, &past);
        crash_os_remove(crash, "mark");
        bool is_good =
            CHECK_INT(relic_salvage(crash, false, &saved, &report, &error), KEVY_ECORRUPT) &&
            CHECK(relic_salvage(crash, true, &saved, &report, &error) >= 0);
        if (!is_good) {
            printf("seed %lu\n", (unsigned long)seed);
        }
        crash_os_free(crash);
    }
}

/* ---- Any damage ---- */

static bool salvage_damaged(struct crash_os *crash)
{
    struct relic_state checked, saved;
    KevyCheckReport report;
    KevyError error;
    uint64_t before = relic_hash(crash);
    int32_t check = relic_check(crash, &checked, &report, &error);
    bool has_bad_value = report.damaged_values != 0;
    int32_t status = relic_salvage(crash, false, &saved, &report, &error);
    bool is_good = CHECK_INT(relic_hash(crash), before);
    if (status < 0) {
        /* The mark is gone, or is that of a newer version. */
        is_good = CHECK(check < 0) && is_good;
        (void)relic_salvage(crash, true, &saved, &report, &error);
        return is_good;
    }
    if (past.is_intact && report.damaged_marks == 0) {
        is_good = CHECK(relic_batches_hold(&past, &saved)) && is_good;
    }
    if (check >= 0 && !has_bad_value && report.damaged_values == 0) {
        is_good = CHECK(relic_holds(&past, &saved, &checked)) && is_good;
    }
    return is_good;
}

static void salvage_any_damage(bool is_calm)
{
    enum { DAMAGES = 15 };
    for (uint64_t seed = 1; seed <= test_scale(60); seed++) {
        struct crash_os *crash = relic_live(test_seed() + seed, is_calm, &past);
        struct crash_copy *copy = crash_os_copy(crash);
        for (uint64_t i = 0; i < DAMAGES; i++) {
            uint64_t random = seed * 1000 + i;
            crash_os_restore(crash, copy);
            for (uint64_t n = 1 + random % 3; n > 0; n--) {
                relic_damage(crash, &random);
            }
            if (!salvage_damaged(crash)) {
                printf("seed %lu damage %lu\n", (unsigned long)seed, (unsigned long)i);
            }
            crash_os_kill(crash);
        }
        crash_copy_free(copy);
        crash_os_free(crash);
    }
}

TEST_LIMIT(salvage_of_any_damage, 120)
{
    salvage_any_damage(false);
}

/* Where nothing was collected, what was written together is there together. */
TEST_LIMIT(salvage_keeps_batches_whole, 120)
{
    salvage_any_damage(true);
}

/* ---- One record ---- */

static uint64_t count_keys(const struct relic_state *state)
{
    uint64_t count = 0;
    for (uint32_t db = 0; db < RELIC_DATABASES; db++) {
        for (uint32_t key = 0; key < RELIC_KEYS; key++) {
            count += state->version[db][key] != 0;
        }
    }
    return count;
}

/* Where there is one record of each key, damage to a byte costs one key. */
TEST_LIMIT(salvage_loses_no_more_than_what_is_damaged, 60)
{
    struct relic_state saved;
    KevyCheckReport report;
    KevyError error;
    size_t size;
    struct crash_os *crash = relic_one_each(&past);
    struct crash_copy *copy = crash_os_copy(crash);
    (void)crash_os_file(crash, "00000.seg", &size);
    for (size_t at = 0; at < size; at += 7) {
        crash_os_restore(crash, copy);
        crash_os_file(crash, "00000.seg", &size)[at] ^= 0x10;
        int32_t status = relic_salvage(crash, false, &saved, &report, &error);
        bool is_good = CHECK(status >= 0) && CHECK(count_keys(&saved) >= RELIC_KEYS - 1) &&
                       CHECK(count_keys(&saved) == RELIC_KEYS || status == 1);
        if (!is_good) {
            printf("byte %zu\n", at);
        }
        crash_os_kill(crash);
    }
    crash_copy_free(copy);
    crash_os_free(crash);
}
