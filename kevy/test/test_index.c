/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening by the index that a close has left: it says what a replay would have
 * found out, and whatever is wrong with it, or with the files beside it, ends
 * in a replay that says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/test/index_kit.h"
#include "testing/harness.h"

/* A store that was closed, with what it held. */
static uint64_t start(struct index_world *world)
{
    index_world_init(world);
    REQUIRE_INT(index_open(world), 0);
    CHECK_INT(world->report.index, KEVY_INDEX_NONE);
    index_fill(world, 1);
    uint64_t held = index_read(world);
    index_close(world);
    return held;
}

/* Opens, and finds what was held by the road that is expected. */
static void open_expecting(struct index_world *world, uint64_t held, uint8_t road)
{
    REQUIRE_INT(index_open(world), 0);
    CHECK_INT(world->report.index, road);
    CHECK_INT(world->report.corrupt, 0);
    CHECK_INT(world->report.dropped_bytes, 0);
    CHECK(index_read(world) == held);
}

static uint8_t *index_bytes(struct index_world *world, size_t *size)
{
    uint8_t *bytes = crash_os_file(world->crash, "index", size);
    REQUIRE(bytes != NULL && *size > 0);
    return bytes;
}

TEST(index_says_what_a_replay_finds_out)
{
    struct index_world world;
    (void)start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    REQUIRE_INT(index_open(&world), 0);
    CHECK_INT(world.report.index, KEVY_INDEX_USED);
    CHECK(world.report.replayed_commands > 100);
    CHECK(world.report.replayed_bytes > 10000);
    uint64_t notes = index_notes(&world);
    index_kill(&world);
    crash_os_restore(world.crash, closed);
    crash_os_remove(world.crash, "index");
    REQUIRE_INT(index_open(&world), 0);
    CHECK_INT(world.report.index, KEVY_INDEX_REFUSED);
    CHECK(index_notes(&world) == notes);
    index_kill(&world);
    crash_copy_free(closed);
    index_world_done(&world);
}

/* Writes, deletes, collects and expires as if nothing were different. */
TEST(index_is_a_store_to_go_on_with)
{
    struct index_world world;
    uint64_t held = start(&world);
    for (unsigned round = 0; round < 12; round++) {
        open_expecting(&world, held, KEVY_INDEX_USED);
        for (unsigned key = round; key < INDEX_KEYS; key += 3) {
            index_set(&world, key, round, 50 + key * 3);
        }
        for (unsigned key = round; key < INDEX_KEYS; key += 8) {
            index_delete(&world, key);
        }
        if (round % 3 == 1) {
            CHECK_INT(kevy_compact(world.db), 0);
        }
        if (round % 3 == 2) {
            index_fill(&world, round);
        }
        if (round == 6) {
            CHECK_INT(kevy_set_maxmemory(world.db, 1 << 20, KEVY_EVICT_ALLKEYS_LRU), 0);
        }
        held = index_read(&world);
        index_close(&world);
    }
    crash_os_pass(world.crash, 2000000);
    REQUIRE_INT(index_open(&world), 0);
    CHECK_INT(world.report.index, KEVY_INDEX_USED);
    (void)index_read(&world);
    index_close(&world);
    index_world_done(&world);
}

TEST(index_is_left_again_by_a_store_that_was_only_read)
{
    struct index_world world;
    uint64_t held = start(&world);
    for (unsigned round = 0; round < 3; round++) {
        REQUIRE_INT(index_open(&world), 0);
        CHECK_INT(world.report.index, KEVY_INDEX_USED);
        index_close(&world);
    }
    open_expecting(&world, held, KEVY_INDEX_USED);
    index_close(&world);
    index_world_done(&world);
}

TEST(index_is_not_left_by_a_small_store)
{
    struct index_world world;
    size_t size;
    index_world_init(&world);
    REQUIRE_INT(index_open(&world), 0);
    index_set(&world, 1, 1, 1000);
    index_close(&world);
    CHECK(crash_os_file(world.crash, "index", &size) == NULL);
    REQUIRE_INT(index_open(&world), 0);
    CHECK_INT(world.report.index, KEVY_INDEX_NONE);
    index_close(&world);
    index_world_done(&world);
}

/* ---- What is not believed ---- */

TEST_LIMIT(index_with_a_wrong_byte_anywhere_is_refused, 300)
{
    struct index_world world;
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    size_t size;
    (void)index_bytes(&world, &size);
    size_t step = size / test_scale(size);
    for (size_t at = 0; at < size; at += step) {
        crash_os_restore(world.crash, closed);
        index_bytes(&world, &size)[at] ^= (uint8_t)(1u << at % 8);
        REQUIRE_INT(index_open(&world), 0);
        if (!CHECK_INT(world.report.index, KEVY_INDEX_REFUSED) ||
            (at % 16 == 0 && !CHECK(index_read(&world) == held))) {
            printf("byte %zu of %zu\n", at, size);
        }
        index_kill(&world);
    }
    crash_copy_free(closed);
    index_world_done(&world);
}

TEST_LIMIT(index_of_any_other_size_is_refused, 300)
{
    struct index_world world;
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    size_t size;
    (void)index_bytes(&world, &size);
    size_t step = size / test_scale(size);
    for (size_t cut = 0; cut < size; cut += step + cut / 64) {
        crash_os_restore(world.crash, closed);
        crash_os_truncate(world.crash, "index", cut);
        open_expecting(&world, held, KEVY_INDEX_REFUSED);
        index_kill(&world);
    }
    crash_os_restore(world.crash, closed);
    const kevy_os *os = crash_os_table(world.crash);
    int file = os->file_open(os->self, 0, "index", KEVY_OS_WRITE);
    CHECK_INT(os->file_write(os->self, file, "", 1, size), 1);
    os->file_close(os->self, file);
    open_expecting(&world, held, KEVY_INDEX_REFUSED);
    index_kill(&world);
    crash_copy_free(closed);
    index_world_done(&world);
}

/* Puts the bytes of another index in its place. */
static void index_put_back(struct index_world *world, const uint8_t *bytes, size_t size)
{
    const kevy_os *os = crash_os_table(world->crash);
    int file = os->file_open(os->self, 0, "index", KEVY_OS_WRITE | KEVY_OS_CREATE);
    REQUIRE(file >= 0);
    CHECK_INT(os->file_write(os->self, file, bytes, size, 0), size);
    CHECK_INT(os->file_resize(os->self, file, size), 0);
    os->file_close(os->self, file);
}

TEST(index_of_an_older_close_is_never_believed)
{
    struct index_world world;
    uint64_t held = start(&world);
    size_t size;

    /* What is dead goes at an open; from now on the segments are the same. */
    open_expecting(&world, held, KEVY_INDEX_USED);
    index_close(&world);
    const uint8_t *bytes = index_bytes(&world, &size);
    uint8_t *older = (uint8_t *)malloc(size);
    REQUIRE(older != NULL);
    memcpy(older, bytes, size);

    /* Nothing was written in between: the log is the same, the mark is not. */
    open_expecting(&world, held, KEVY_INDEX_USED);
    index_close(&world);
    index_put_back(&world, older, size);
    open_expecting(&world, held, KEVY_INDEX_REFUSED);

    /* Written to, and closed. */
    index_set(&world, 1, 77, 500);
    index_delete(&world, 2);
    held = index_read(&world);
    index_close(&world);
    index_put_back(&world, older, size);
    open_expecting(&world, held, KEVY_INDEX_REFUSED);

    /* Written to, and killed: that mark tells of no index. */
    index_set(&world, 4, 78, 500);
    held = index_read(&world);
    index_kill(&world);
    index_put_back(&world, older, size);
    open_expecting(&world, held, KEVY_INDEX_NONE);
    index_close(&world);
    free(older);
    index_world_done(&world);
}

/* The name of some file of the log that has records. */
static void segment_name(struct index_world *world, unsigned slot, char out[16])
{
    size_t size;
    (void)snprintf(out, 16, "%05x.seg", slot);
    if (crash_os_file(world->crash, out, &size) == NULL) {
        out[0] = '\0';
    }
}

/* Whoever wrote to a file since: it is read, and good if it is as it was. */
TEST(index_believes_a_file_that_was_touched_only_after_reading_it)
{
    struct index_world world;
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    unsigned touched = 0;
    for (unsigned slot = 0; slot < 64; slot++) {
        char name[16];
        size_t size;
        crash_os_restore(world.crash, closed);
        segment_name(&world, slot, name);
        if (name[0] == '\0') {
            continue;
        }
        touched++;
        open_expecting(&world, held, KEVY_INDEX_USED);
        index_kill(&world);
        crash_os_restore(world.crash, closed);
        uint8_t *bytes = crash_os_file(world.crash, name, &size);
        bytes[size / 2] ^= 1;
        REQUIRE_INT(index_open(&world), 0);
        CHECK(world.report.index == KEVY_INDEX_REFUSED || world.report.corrupt == 0);
        index_kill(&world);
    }
    CHECK(touched > 3);
    crash_copy_free(closed);
    index_world_done(&world);
}

TEST(index_hides_no_damage_of_the_log)
{
    struct index_world world;
    (void)start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    for (size_t at = 100; at < 60000; at += 4000) {
        size_t size;
        uint8_t *bytes = crash_os_file(world.crash, "00000.seg", &size);
        REQUIRE(bytes != NULL);
        if (at >= size) {
            break;
        }
        bytes[at] ^= 0x20;
        REQUIRE_INT(index_open(&world), 0);
        CHECK_INT(world.report.index, KEVY_INDEX_REFUSED);
        CHECK_INT(world.report.corrupt, 1);
        index_kill(&world);
        crash_os_restore(world.crash, closed);
    }
    crash_copy_free(closed);
    index_world_done(&world);
}

/* ---- Failures ---- */

/* A store that has failed dies, in turn by a kill and by a power cut, and still
 * holds what it held. */
static void die_and_hold(struct index_world *world, uint64_t turn, uint64_t held)
{
    if (turn % 2 == 0) {
        crash_os_kill(world->crash);
    } else {
        crash_os_power_cut(world->crash);
    }
    REQUIRE_INT(index_open(world), 0);
    CHECK(index_read(world) == held);
    index_kill(world);
}

/* Each call of a close and of the open behind it fails once, in each way. */
TEST_LIMIT(index_survives_every_call_that_fails, 300)
{
    static const enum crash_fault faults[] = {CRASH_EIO, CRASH_NOSPC, CRASH_SHORT, CRASH_DEAD};
    struct index_world world;
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    for (size_t fault = 0; fault < 4; fault++) {
        bool was_reached = true;
        for (uint64_t call = 0; was_reached; call++) {
            crash_os_restore(world.crash, closed);
            REQUIRE_INT(index_open(&world), 0);
            uint64_t first = crash_os_calls(world.crash);
            crash_os_fault(world.crash, faults[fault], call, 1);
            index_close(&world);
            was_reached = crash_os_calls(world.crash) - first > call;
            die_and_hold(&world, call, held);
        }
    }
    crash_copy_free(closed);
    index_world_done(&world);
}

TEST_LIMIT(index_load_survives_every_call_that_fails, 300)
{
    static const enum crash_fault faults[] = {CRASH_EIO, CRASH_NOSPC, CRASH_SHORT, CRASH_DEAD};
    struct index_world world;
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    for (size_t fault = 0; fault < 4; fault++) {
        bool was_reached = true;
        for (uint64_t call = 0; was_reached; call++) {
            crash_os_restore(world.crash, closed);
            uint64_t first = crash_os_calls(world.crash);
            crash_os_fault(world.crash, faults[fault], call, 1);
            int status = index_open(&world);
            was_reached = crash_os_calls(world.crash) - first > call;
            if (status == 0) {
                if (faults[fault] != CRASH_DEAD) {
                    crash_os_fault(world.crash, CRASH_NONE, 0, 0);
                    CHECK(index_read(&world) == held);
                }
                index_kill(&world);
            }
            die_and_hold(&world, call, held);
        }
    }
    crash_copy_free(closed);
    index_world_done(&world);
}

/* Memory that fails at one allocation. */
struct poor {
    uint64_t count;
    uint64_t fails_at;
};

static void *poor_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct poor *poor = (struct poor *)self;
    if (new_size > old_size && poor->count++ == poor->fails_at) {
        return NULL;
    }
    return kv_mem_libc.resize(kv_mem_libc.self, ptr, old_size, new_size);
}

TEST_LIMIT(index_survives_every_allocation_that_fails, 300)
{
    struct index_world world;
    struct poor poor = {0, UINT64_MAX};
    kevy_mem mem = {.self = &poor, .resize = poor_resize};
    uint64_t held = start(&world);
    struct crash_copy *closed = crash_os_copy(world.crash);
    world.mem = &mem;
    bool was_reached = true;
    for (uint64_t at = 0; was_reached; at++) {
        crash_os_restore(world.crash, closed);
        poor = (struct poor){0, at};
        int status = index_open(&world);
        was_reached = poor.count > at;
        CHECK(status == 0 || status == KEVY_ENOMEM);
        poor.fails_at = UINT64_MAX;
        if (status == 0) {
            CHECK(index_read(&world) == held);
            poor = (struct poor){0, at / 2};
            index_close(&world);
            poor.fails_at = UINT64_MAX;
        } else {
            crash_os_kill(world.crash);
        }
        REQUIRE_INT(index_open(&world), 0);
        CHECK(index_read(&world) == held);
        index_kill(&world);
    }
    crash_copy_free(closed);
    index_world_done(&world);
}

TEST(index_goes_with_the_store)
{
    struct index_world world;
    (void)start(&world);
    size_t size;
    KevyError error;
    (void)index_bytes(&world, &size);
    CHECK_INT(kv_log_destroy(crash_os_table(world.crash), BYTES_LITERAL("store"), &error), 0);
    CHECK(crash_os_file(world.crash, "index", &size) == NULL);
    index_world_done(&world);
}
