/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory of the bus: which calls allocate nothing, that nothing piles up, and
 * that every allocation may fail: the call says so, has changed nothing, and
 * all is freed in the end.
 */
#include <stdio.h>

#include "kevy/test/bus_kit.h"

static uint8_t large[3000];

TEST(a_publish_that_nobody_receives_allocates_nothing)
{
    struct bus_kit kit;
    struct kit_mem mem = {0};
    kevy_mem table = kit_mem_table(&mem);
    kit_open_over(&kit, &table, &kv_mem_buffers);
    uint64_t calls = atomic_load(&mem.calls);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(large, sizeof large)), 0);
    CHECK_INT(atomic_load(&mem.calls), calls);
    struct kv_sub *sub = kit_sub(&kit, "other", false);
    CHECK_INT(kv_sub_add(sub, kit_text("zz*"), true), 0);
    calls = atomic_load(&mem.calls);
    for (int i = 0; i < 2000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        CHECK_INT(kit_publish(&kit, name, "x"), 0);
        CHECK_INT(kv_bus_publish(&kit.port, kit_text(name), bytes_of(large, sizeof large)), 0);
    }
    CHECK_INT(atomic_load(&mem.calls), calls);
    kv_sub_close(sub);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}

TEST(a_steady_stream_of_small_messages_allocates_next_to_nothing)
{
#ifdef KEVY_HOSTILE
    SKIP("a hostile pool holds one message a slab");
#endif
    struct bus_kit kit;
    struct kit_mem mem = {0};
    kevy_mem table = kit_mem_table(&mem);
    kit_open_over(&kit, &table, &kv_mem_buffers);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 20000; i++) {
        REQUIRE_INT(kit_publish(&kit, "a", "a message of a usual length"), 1);
        if (i % 10 == 9) {
            for (int j = 0; j < 10; j++) {
                kit_expect_raw(sub, "a message of a usual length");
            }
        }
    }
    CHECK(atomic_load(&mem.calls) < 10);
    kv_sub_close(sub);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}

/* Blocks go to the reader and come back; slabs and queues stay. */
TEST(a_steady_stream_that_is_read_in_batches_allocates_next_to_nothing)
{
#ifdef KEVY_HOSTILE
    SKIP("a hostile pool holds one message a slab");
#endif
    struct bus_kit kit;
    struct kit_mem mem = {0};
    kevy_mem table = kit_mem_table(&mem);
    kit_open_over(&kit, &table, &kv_mem_buffers);
    struct kv_sub *sub = kit_sub(&kit, "a", false), *other = kit_sub(&kit, "a", false);
    uint64_t calls = 0;
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 700; j++) {
            REQUIRE_INT(kit_publish(&kit, "a", "a message of a usual length"), 2);
        }
        for (int k = 0; k < 2; k++) {
            KevyBuf buf;
            uint32_t count = 0;
            REQUIRE_INT(kv_sub_wait_batch(k == 0 ? sub : other, 0, 0, 0, &buf, &count, NULL), 1);
            REQUIRE_INT(count, 700);
            kit_buf_free(&buf);
        }
        calls = i == 0 ? atomic_load(&mem.calls) : calls;
    }
    CHECK_INT(atomic_load(&mem.calls), calls);
    CHECK(kv_bus_verify(kit.bus));
    kv_sub_close(sub);
    kv_sub_close(other);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}

TEST(subscribing_again_and_again_leaves_nothing_behind)
{
    struct bus_kit kit;
    struct kit_mem mem = {0};
    KevyBuf buf;
    kevy_mem table = kit_mem_table(&mem);
    kit_open_over(&kit, &table, &kv_mem_buffers);
    struct kv_sub *sub = kit_sub(&kit, "stays", false);
    int64_t used = 0;
    for (int i = 0; i < 10000; i++) {
        REQUIRE_INT(kv_sub_add(sub, kit_text("a"), i % 2 == 0), 0);
        REQUIRE_INT(kit_publish(&kit, "a", "first"), 1);
        REQUIRE_INT(kv_sub_remove(sub, kit_text("a"), i % 2 == 0), 0);
        REQUIRE_INT(kit_publish(&kit, "a", "never"), 0);
        for (int j = 0; j < 3; j++) {
            REQUIRE_INT(kv_sub_next(sub, &buf), 1);
            kit_buf_free(&buf);
        }
        kit_expect_none(sub);
        if (i == 10) {
            used = atomic_load(&mem.used);
        }
        REQUIRE(i < 10 || atomic_load(&mem.used) == used);
    }
    CHECK_INT(kv_bus_numsub(kit.bus, kit_text("a")), 0);
    CHECK_INT(kv_bus_numpat(kit.bus), 0);
    kv_sub_close(sub);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}

/* ---- Allocations that fail ---- */

struct story {
    struct kit_mem mem;
    struct kv_mem bufs;
    struct kv_bus *bus;
    struct kv_port port;
    struct kv_sub *subs[2];
    uint64_t failures;
    int64_t received; /* messages read */
    int64_t queued;   /* deliveries that publishes reported */
};

/* Notes an outcome: a failure must be the one that was ordered. */
static bool story_ok(struct story *story, int64_t result)
{
    if (result == KEVY_ENOMEM) {
        CHECK(kv_bus_verify(story->bus));
        story->failures++;
        return false;
    }
    CHECK(result >= 0);
    return true;
}

static void story_publish(struct story *story, struct bytes channel, struct bytes payload)
{
    int64_t result = kv_bus_publish(&story->port, channel, payload);
    if (story_ok(story, result)) {
        story->queued += result;
    }
}

static void story_read(struct story *story, struct kv_sub *sub)
{
    KevyBuf buf;
    uint32_t count = 1;
    int32_t result;
    int failures = 0;
    do {
        bool is_single = count % 2 == 1;
        result = is_single ? kv_sub_next_raw(sub, &buf)
                           : kv_sub_wait_batch(sub, 0, 3, 0, &buf, &count, NULL);
        CHECK((result == 1) == (buf.ptr != NULL));
        if (result == 1) {
            story->received += is_single ? 1 : count;
            kv_mem_free(&story->bufs, buf.ptr, buf.cap);
        }
        failures += story_ok(story, result) ? 0 : 1;
        count++;
    } while (result != 0 && failures < 3);
}

static void story_run(struct story *story)
{
    for (int i = 0; i < 2; i++) {
        if (!story_ok(story, kv_sub_open(&story->port, &story->subs[i]))) {
            CHECK(story->subs[i] == NULL);
            continue;
        }
        for (int j = 0; j < 40; j++) {
            uint8_t name[2] = {(uint8_t)('a' + j), '*'};
            uint64_t before = kv_bus_numsub(story->bus, bytes_of(name, 1));
            if (!story_ok(story, kv_sub_add(story->subs[i], bytes_of(name, 1), false))) {
                CHECK_INT(kv_bus_numsub(story->bus, bytes_of(name, 1)), before);
            }
            if (j < 3) {
                (void)story_ok(story, kv_sub_add(story->subs[i], bytes_of(name, 2), true));
            }
        }
    }
    for (int j = 0; j < 40; j++) {
        uint8_t name = (uint8_t)('a' + j);
        story_publish(story, bytes_of(&name, 1), bytes_of(large, (size_t)(j * j)));
        story_publish(story, bytes_of(&name, 1), bytes_of(large, sizeof large));
    }
    for (int i = 0; i < 2; i++) {
        struct kv_names names;
        struct kv_sub *sub = story->subs[i];
        (void)story_ok(story, kv_bus_channels(story->bus, NULL, &names));
        kv_names_done(story->bus, &names);
        if (sub != NULL) {
            (void)story_ok(story, kv_sub_remove(sub, kit_text("a"), false));
            story_read(story, sub);
        }
    }
}

/* Runs the story with allocation number `fail_at` failing; true if any was left to fail. */
static bool story_tell(uint64_t fail_at, bool fails_on)
{
    struct story story = {.mem = {.fail_at = fail_at, .fails_on = fails_on}};
    kevy_mem table = kit_mem_table(&story.mem);
    kv_mem_init(&story.bufs, &table);
    story.bus = kv_bus_new(&table, &story.bufs, test_seed());
    if (story.bus == NULL) {
        CHECK_INT(fail_at, 1);
        return true;
    }
    kv_port_open(&story.port, story.bus);
    story_run(&story);
    CHECK(kv_bus_verify(story.bus));
    bool has_failed = atomic_load(&story.mem.calls) >= fail_at;
    CHECK(fails_on || story.failures <= 1);
    CHECK(fails_on || story.received == story.queued);
    kv_sub_close(story.subs[0]);
    kv_port_close(&story.port);
    kv_bus_drop(story.bus);
    kv_sub_close(story.subs[1]);
    CHECK_INT(atomic_load(&story.mem.used), 0);
    CHECK_INT(atomic_load(&story.bufs.used), 0);
    return has_failed;
}

TEST(any_one_allocation_may_fail)
{
    uint64_t n = 1;
    while (story_tell(n, false)) {
        n++;
    }
    CHECK(n > 100);
}

TEST(memory_may_run_out_for_good_at_any_point)
{
    uint64_t n = 1;
    while (story_tell(n, true)) {
        n++;
    }
    CHECK(n > 100);
}

TEST(a_failed_publish_reaches_nobody_and_a_failed_read_loses_nothing)
{
    struct kit_mem mem = {0};
    kevy_mem table = kit_mem_table(&mem);
    struct kv_mem bufs;
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count;
    kv_mem_init(&bufs, &table);
    kit_open_over(&kit, &table, &bufs);
    struct kv_sub *sub = NULL;
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    CHECK_INT(kit_publish(&kit, "a", "kept"), 1);
    atomic_store(&mem.fails_on, true);
    atomic_store(&mem.fail_at, 1);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(large, sizeof large)), KEVY_ENOMEM);
    CHECK_INT(kv_sub_next(sub, &buf), KEVY_ENOMEM);
    CHECK_INT(kv_sub_next_raw(sub, &buf), KEVY_ENOMEM);
    CHECK_INT(kv_sub_wait(sub, 0, &buf), KEVY_ENOMEM);
    CHECK_INT(kv_sub_wait_batch(sub, 0, 0, 0, &buf, &count, NULL), KEVY_ENOMEM);
    CHECK(buf.ptr == NULL && count == 0);
    atomic_store(&mem.fail_at, 0);
    CHECK_INT(kv_sub_next_raw(sub, &buf), 1);
    CHECK_BYTES(buf.ptr, buf.len, "kept", 4);
    kv_mem_free(&bufs, buf.ptr, buf.cap);
    CHECK_INT(kv_sub_next(sub, &buf), 0);
    kv_sub_close(sub);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}
