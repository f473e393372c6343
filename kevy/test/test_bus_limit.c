/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Bounds of a queue: what each policy does when it is full, that a reader
 * learns how many messages are missing and where, and that publishers who
 * wait for room are woken by everything that makes room or ends the wait.
 */
#include "kevy/test/bus_kit.h"

#include "kevy/src/os/os_thread.h"

/* Reads a batch of numbers and checks that it is first, first + 1, … (count of them) behind a gap
 * of `dropped`. */
static void expect_batch(struct kv_sub *sub, uint64_t first, uint32_t count, uint64_t dropped)
{
    KevyBuf buf;
    uint32_t got_count;
    uint64_t got_dropped;
    REQUIRE_INT(kv_sub_wait_batch(sub, 0, KEVY_BATCH_NOWAIT, 0, &buf, &got_count, &got_dropped), 1);
    CHECK_INT(got_count, count);
    CHECK_INT(got_dropped, dropped);
    const uint8_t *at = buf.ptr;
    for (uint32_t i = 0; i < got_count; i++) {
        CHECK_INT(kit_number(at + 4, load_u32(at)), first + i);
        at += 4 + load_u32(at);
    }
    kit_buf_free(&buf);
}

static void publish_numbers(struct bus_kit *kit, uint64_t from, uint64_t to, int64_t want)
{
    for (uint64_t i = from; i < to; i++) {
        REQUIRE_INT(kit_publish_number(kit, "a", i), want);
    }
}

TEST(drop_oldest_says_how_many_are_missing_before_the_first)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 100, 0, KEVY_SUB_DROP_OLDEST), 0);
    publish_numbers(&kit, 0, 110, 1);
    CHECK_INT(kv_sub_dropped(sub), 10);
    expect_batch(sub, 10, 100, 10);
    publish_numbers(&kit, 110, 120, 1);
    expect_batch(sub, 110, 10, 0);
    CHECK_INT(kv_sub_dropped(sub), 10);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(fail_says_where_the_new_messages_are_missing)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 100, 0, KEVY_SUB_FAIL), 0);
    publish_numbers(&kit, 0, 100, 1);
    publish_numbers(&kit, 100, 110, 0);
    CHECK_INT(kv_sub_dropped(sub), 10);
    kit_expect_raw(sub, "0");
    publish_numbers(&kit, 110, 111, 1);
    publish_numbers(&kit, 111, 113, 0);
    expect_batch(sub, 1, 99, 0);
    expect_batch(sub, 110, 1, 10);
    kit_expect_none(sub);
    publish_numbers(&kit, 113, 114, 1);
    expect_batch(sub, 113, 1, 2);
    CHECK_INT(kv_sub_dropped(sub), 12);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(gaps_add_up_when_the_entry_behind_them_is_dropped_too)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 2, 0, KEVY_SUB_FAIL), 0);
    publish_numbers(&kit, 0, 2, 1);
    publish_numbers(&kit, 2, 5, 0);
    kit_expect_raw(sub, "0");
    publish_numbers(&kit, 5, 6, 1); /* 1, gap of 3, 5 */
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_DROP_OLDEST), 0);
    publish_numbers(&kit, 6, 7, 1); /* 1 and 5 are dropped */
    expect_batch(sub, 6, 1, 5);
    CHECK_INT(kv_sub_dropped(sub), 5);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(bytes_are_bounded_and_a_message_over_the_bound_is_a_gap)
{
    static uint8_t payload[2000];
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 0, 1001, KEVY_SUB_DROP_OLDEST), 0);
    CHECK_INT(kit_publish(&kit, "a", "1"), 1);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(payload, 1001)), 0);
    CHECK_INT(kit_publish(&kit, "a", "2"), 1);
    CHECK_INT(kv_sub_dropped(sub), 1);
    expect_batch(sub, 1, 1, 0);
    expect_batch(sub, 2, 1, 1);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(payload, 1000)), 1);
    CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(payload, 999)), 1);
    CHECK_INT(kv_sub_dropped(sub), 2);
    CHECK_INT(kit_publish(&kit, "a", ""), 1);
    CHECK_INT(kv_sub_dropped(sub), 2);
    CHECK_INT(kit_publish(&kit, "a", ""), 1);
    CHECK_INT(kv_sub_dropped(sub), 3);
    CHECK(kv_bus_verify(kit.bus));
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(an_undrained_subscriber_costs_bounded_memory)
{
    static uint8_t payload[1024];
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 200000; i++) {
        REQUIRE_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(payload, sizeof payload)), 1);
    }
    CHECK(kv_bus_memory(kit.bus) < (size_t)72 << 20);
    CHECK_INT(kv_sub_dropped(sub), 200000 - ((size_t)64 << 20) / 1025);
    kv_sub_close(sub);
    CHECK(kv_bus_memory(kit.bus) < 8192);
    kit_close(&kit);
}

TEST(a_large_message_after_a_long_rest_is_delivered)
{
    static uint8_t payload[8 << 20];
    struct bus_kit kit;
    KevyBuf buf;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(kv_bus_publish(&kit.port, kit_text("a"), bytes_of(payload, sizeof payload)), 1);
        CHECK_INT(kv_sub_next_raw(sub, &buf), 1);
        CHECK_INT(buf.len, sizeof payload);
        kit_buf_free(&buf);
    }
    CHECK_INT(kv_sub_dropped(sub), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(acknowledgements_are_never_dropped)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_DROP_OLDEST), 0);
    publish_numbers(&kit, 0, 5, 1);
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), 0);
    publish_numbers(&kit, 5, 10, 1);
    kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
    kit_expect_frame(sub, "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n9\r\n");
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(limits_check_their_arguments_and_apply_at_once)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 1, 1, -1), KEVY_EMISUSE);
    CHECK_INT(kv_sub_limit(sub, 1, 1, 3), KEVY_EMISUSE);
    publish_numbers(&kit, 0, 10, 1);
    CHECK_INT(kv_sub_limit(sub, 0, 0, KEVY_SUB_DROP_OLDEST), 0);
    CHECK_INT(kv_sub_dropped(sub), 0);
    CHECK_INT(kv_sub_limit(sub, 4, 0, KEVY_SUB_DROP_OLDEST), 0);
    CHECK_INT(kv_sub_dropped(sub), 6);
    CHECK_INT(kv_sub_limit(sub, 0, 2, KEVY_SUB_DROP_OLDEST), 0);
    expect_batch(sub, 9, 1, 9);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(one_message_by_two_ways_meets_the_bound_twice)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_add(sub, kit_text("*"), true), 0);
    kit_expect_frame(sub, "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:2\r\n");
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_FAIL), 0);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    CHECK_INT(kv_sub_dropped(sub), 1);
    kit_expect_raw(sub, "x");
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_BLOCK), 0);
    CHECK_INT(kit_publish(&kit, "a", "y"), 1);
    CHECK_INT(kv_sub_dropped(sub), 2);
    kit_expect_raw(sub, "y");
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_DROP_OLDEST), 0);
    CHECK_INT(kit_publish(&kit, "a", "z"), 2);
    CHECK_INT(kv_sub_dropped(sub), 3);
    CHECK(kv_bus_verify(kit.bus));
    kv_sub_close(sub);
    kit_close(&kit);
}

/* ---- Publishers that wait ---- */

struct blocked {
    struct bus_kit *kit;
    struct kv_port *port;
    _Atomic int64_t result;
    struct kv_thread thread;
};

static void run_blocked(void *user)
{
    struct blocked *self = (struct blocked *)user;
    atomic_store(&self->result, kv_bus_publish(self->port, kit_text("a"), kit_text("late")));
}

/* Fills a queue of one and starts a publisher that waits for it. */
static struct kv_sub *block(struct bus_kit *kit, struct blocked *self)
{
    struct kv_sub *sub = kit_sub(kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 1, 0, KEVY_SUB_BLOCK), 0);
    CHECK(kit_publish(kit, "a", "first") > 0);
    self->kit = kit;
    self->port = self->port == NULL ? &kit->port : self->port;
    atomic_store(&self->result, -1000);
    REQUIRE_INT(kv_thread_start(&self->thread, run_blocked, self), 0);
    kit_await_blocked(kit->bus, 1);
    CHECK_INT(atomic_load(&self->result), -1000);
    return sub;
}

TEST(block_waits_until_the_queue_is_drained)
{
    struct bus_kit kit;
    struct blocked blocked = {0};
    kit_open(&kit);
    struct kv_sub *other = kit_sub(&kit, "a", false);
    struct kv_sub *sub = block(&kit, &blocked);
    kit_expect_raw(other, "first");
    kit_expect_none(other);
    kit_expect_raw(sub, "first");
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 2);
    kit_expect_raw(sub, "late");
    kit_expect_raw(other, "late");
    CHECK_INT(kv_sub_dropped(sub), 0);
    kv_sub_close(sub);
    kv_sub_close(other);
    kit_close(&kit);
}

static void run_flood(void *user)
{
    struct bus_kit *kit = user;
    for (int i = 0; i < 65; i++) {
        CHECK_INT(kit_publish(kit, "a", "x"), 1);
    }
}

TEST(a_blocked_publisher_gets_in_with_the_first_room)
{
    struct bus_kit kit;
    struct kv_thread thread;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 64, 0, KEVY_SUB_BLOCK), 0);
    REQUIRE_INT(kv_thread_start(&thread, run_flood, &kit), 0);
    kit_await_blocked(kit.bus, 1);
    kit_expect_raw(sub, "x");
    kv_thread_join(&thread);
    for (int i = 0; i < 64; i++) {
        kit_expect_raw(sub, "x");
    }
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_batch_wakes_a_blocked_publisher_once)
{
    struct bus_kit kit;
    struct kv_thread thread;
    KevyBuf buf;
    uint32_t count;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 64, 0, KEVY_SUB_BLOCK), 0);
    REQUIRE_INT(kv_thread_start(&thread, run_flood, &kit), 0);
    kit_await_blocked(kit.bus, 1);
    uint64_t wakes = kv_bus_wakes(kit.bus);
    CHECK_INT(kv_sub_wait_batch(sub, 0, 0, 0, &buf, &count, NULL), 1);
    CHECK(count == 64 || count == 65);
    kit_buf_free(&buf);
    kv_thread_join(&thread);
    CHECK_INT(kv_bus_wakes(kit.bus), wakes + 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(block_ends_with_the_subscription)
{
    struct bus_kit kit;
    struct blocked blocked = {0};
    kit_open(&kit);
    struct kv_sub *sub = block(&kit, &blocked);
    kv_sub_close(sub);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 0);
    kit_close(&kit);
}

TEST(block_ends_with_an_unsubscribe)
{
    struct bus_kit kit;
    struct blocked blocked = {0};
    kit_open(&kit);
    struct kv_sub *sub = block(&kit, &blocked);
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), 0);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(block_ends_with_another_limit_or_policy)
{
    struct bus_kit kit;
    struct blocked blocked = {0};
    kit_open(&kit);
    struct kv_sub *sub = block(&kit, &blocked);
    CHECK_INT(kv_sub_limit(sub, 2, 0, KEVY_SUB_BLOCK), 0);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 1);
    kv_sub_close(sub);
    sub = block(&kit, &blocked);
    CHECK_INT(kv_sub_limit(sub, 0, 0, KEVY_SUB_FAIL), 0);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(block_ends_when_either_port_closes)
{
    struct bus_kit kit;
    struct blocked blocked = {0};
    struct kv_port port;
    kit_open(&kit);
    kv_port_open(&port, kit.bus);
    blocked.port = &port;
    struct kv_sub *sub = block(&kit, &blocked);
    kv_port_close(&port);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), KEVY_ECLOSED);
    kit_expect_raw(sub, "first");
    kit_expect_none(sub);
    kv_sub_close(sub);

    kv_port_open(&port, kit.bus);
    sub = block(&kit, &blocked);
    kv_port_close(&kit.port);
    kv_thread_join(&blocked.thread);
    CHECK_INT(atomic_load(&blocked.result), 0);
    kv_sub_close(sub);
    kv_port_close(&port);
    kit_close(&kit);
}

TEST(a_message_over_the_bound_does_not_block)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 0, 4, KEVY_SUB_BLOCK), 0);
    CHECK_INT(kit_publish(&kit, "a", "1"), 1);
    CHECK_INT(kit_publish(&kit, "a", "4444"), 0);
    CHECK_INT(kit_publish(&kit, "a", "2"), 1);
    expect_batch(sub, 1, 1, 0);
    expect_batch(sub, 2, 1, 1);
    kv_sub_close(sub);
    kit_close(&kit);
}
