/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Waiting: time-outs, wakes that are counted, several waiters, closing the
 * subscription and the port under sleeping threads, and an idle waiter that
 * is never woken.
 */
#include "kevy/test/bus_kit.h"

#include "kevy/src/os/os_thread.h"
#include "testing/idle.h"

enum way { WAY_FRAME, WAY_RAW, WAY_BATCH };

struct waiter {
    struct kv_sub *sub;
    enum way way;
    uint64_t timeout_ms;
    int32_t result;
    uint32_t taken; /* messages or frames */
    struct kv_thread thread;
};

static int32_t wait_once(struct waiter *self)
{
    KevyBuf buf = {NULL, 0, 0};
    uint32_t count = 1;
    int32_t result = 0;
    switch (self->way) {
    case WAY_FRAME:
        result = kv_sub_wait(self->sub, self->timeout_ms, &buf);
        break;
    case WAY_RAW:
        result = kv_sub_wait_raw(self->sub, self->timeout_ms, &buf);
        break;
    case WAY_BATCH:
        result = kv_sub_wait_batch(self->sub, self->timeout_ms, 0, 0, &buf, &count, NULL);
        break;
    }
    CHECK((result == 1) == (buf.ptr != NULL));
    self->taken += result == 1 ? count : 0;
    kit_buf_free(&buf);
    return result;
}

static void run_once(void *user)
{
    struct waiter *self = (struct waiter *)user;
    self->result = wait_once(self);
}

static void run_until_closed(void *user)
{
    struct waiter *self = (struct waiter *)user;
    do {
        self->result = wait_once(self);
    } while (self->result >= 0);
}

static void start(struct waiter *self, struct kv_sub *sub, enum way way, void (*run)(void *user))
{
    *self = (struct waiter){.sub = sub, .way = way, .result = 99};
    REQUIRE_INT(kv_thread_start(&self->thread, run, self), 0);
}

TEST(a_wait_ends_at_its_time_out)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (enum way way = WAY_FRAME; way <= WAY_BATCH; way++) {
        struct waiter self = {.sub = sub, .way = way, .timeout_ms = 30};
        uint64_t before = kv_mono_ns();
        CHECK_INT(wait_once(&self), 0);
        CHECK((kv_mono_ns() - before) / 1000000 >= 30);
    }
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(an_endless_time_out_does_not_wrap)
{
    struct bus_kit kit;
    struct waiter self;
    uint64_t timeouts[] = {0, UINT64_MAX, UINT64_MAX / 1000000, UINT64_MAX / 1000000 + 1, 1u << 31};
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 5; i++) {
        self = (struct waiter){.sub = sub, .way = WAY_RAW, .timeout_ms = timeouts[i]};
        REQUIRE_INT(kv_thread_start(&self.thread, run_once, &self), 0);
        kit_await_parked(sub, 1);
        CHECK_INT(kit_publish(&kit, "a", "x"), 1);
        kv_thread_join(&self.thread);
        CHECK_INT(self.result, 1);
    }
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(what_is_queued_is_taken_without_sleeping)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (enum way way = WAY_FRAME; way <= WAY_BATCH; way++) {
        struct waiter self = {.sub = sub, .way = way};
        CHECK_INT(kit_publish(&kit, "a", "x"), 1);
        CHECK_INT(wait_once(&self), 1);
    }
    CHECK_INT(kv_bus_wakes(kit.bus), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_raw_wait_returns_when_it_consumed_only_acknowledgements)
{
    struct bus_kit kit;
    struct kv_sub *sub = NULL;
    kit_open(&kit);
    REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
    CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
    struct waiter self = {.sub = sub, .way = WAY_RAW};
    CHECK_INT(wait_once(&self), 0);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    CHECK_INT(wait_once(&self), 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_batch_wait_sleeps_on_over_acknowledgements)
{
    struct bus_kit kit;
    struct waiter self;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    start(&self, sub, WAY_BATCH, run_once);
    kit_await_parked(sub, 1);
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), 0);
    CHECK(idle_await());
    CHECK_INT(kit_publish(&kit, "b", "x"), 1);
    kv_thread_join(&self.thread);
    CHECK_INT(self.result, 1);
    CHECK_INT(self.taken, 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(a_publisher_makes_no_wake_when_nobody_sleeps)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false), *idle = kit_sub(&kit, "b", false);
    struct waiter self;
    start(&self, idle, WAY_RAW, run_once);
    kit_await_parked(idle, 1);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    }
    CHECK_INT(kv_bus_wakes(kit.bus), 0);
    CHECK_INT(kit_publish(&kit, "b", "x"), 1);
    kv_thread_join(&self.thread);
    CHECK_INT(kv_bus_wakes(kit.bus), 1);
    kv_sub_close(sub);
    kv_sub_close(idle);
    kit_close(&kit);
}

TEST(an_idle_waiter_is_never_woken)
{
    struct bus_kit kit;
    struct waiter self;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    start(&self, sub, WAY_BATCH, run_once);
    kit_await_parked(sub, 1);
    CHECK_INT(idle_wakes(600), 0);
    CHECK_INT(kv_bus_wakes(kit.bus), 0);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    kv_thread_join(&self.thread);
    CHECK_INT(self.result, 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(each_of_several_waiters_gets_its_message)
{
    struct bus_kit kit;
    struct waiter waiters[6];
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 6; i++) {
        start(&waiters[i], sub, i % 2 == 0 ? WAY_RAW : WAY_FRAME, run_once);
    }
    kit_await_parked(sub, 6);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    }
    for (int i = 0; i < 6; i++) {
        kv_thread_join(&waiters[i].thread);
        CHECK_INT(waiters[i].result, 1);
    }
    kit_expect_none(sub);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(sub_wake_ends_the_waits_of_now)
{
    struct bus_kit kit;
    struct waiter waiters[3];
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    for (int i = 0; i < 3; i++) {
        start(&waiters[i], sub, (enum way)i, run_once);
    }
    kit_await_parked(sub, 3);
    CHECK_INT(kv_sub_wake(sub), 0);
    for (int i = 0; i < 3; i++) {
        kv_thread_join(&waiters[i].thread);
        CHECK_INT(waiters[i].result, 0);
    }
    /* It is used up: the next wait sleeps. */
    start(&waiters[0], sub, WAY_RAW, run_once);
    kit_await_parked(sub, 1);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    kv_thread_join(&waiters[0].thread);
    CHECK_INT(waiters[0].result, 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(sub_wake_without_waiters_ends_the_next_wait)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    struct waiter self = {.sub = sub, .way = WAY_BATCH};
    CHECK_INT(kv_sub_wake(sub), 0);
    CHECK_INT(kv_sub_wake(sub), 0);
    kit_expect_none(sub);
    CHECK_INT(wait_once(&self), 0);
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    CHECK_INT(wait_once(&self), 1);
    kv_sub_close(sub);
    kit_close(&kit);
}

TEST(closing_a_port_wakes_every_waiter_at_once)
{
    struct bus_kit kit;
    struct waiter waiters[6];
    struct kv_port other;
    kit_open(&kit);
    kv_port_open(&other, kit.bus);
    struct kv_sub *subs[2] = {kit_sub(&kit, "a", false), kit_sub(&kit, "*", true)};
    struct kv_sub *stays = NULL;
    REQUIRE_INT(kv_sub_open(&other, &stays), 0);
    CHECK_INT(kv_sub_add(stays, kit_text("a"), false), 0);
    for (int i = 0; i < 6; i++) {
        start(&waiters[i], subs[i % 2], (enum way)(i % 3), run_once);
    }
    kit_await_parked(subs[0], 3);
    kit_await_parked(subs[1], 3);
    kv_port_close(&kit.port);
    for (int i = 0; i < 6; i++) {
        kv_thread_join(&waiters[i].thread);
        CHECK_INT(waiters[i].result, KEVY_ECLOSED);
    }
    CHECK_INT(kv_bus_publish(&other, kit_text("a"), kit_text("x")), 1);
    CHECK_INT(kit_publish(&kit, "a", "x"), KEVY_ECLOSED);
    kit_expect_frame(stays, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    kv_sub_close(stays);
    kv_sub_close(subs[0]);
    kv_port_close(&other);
    kv_port_close(&kit.port);
    kv_bus_drop(kit.bus);
    kv_sub_close(subs[1]);
}

TEST(a_subscription_left_open_is_inert)
{
    struct bus_kit kit;
    KevyBuf buf;
    uint32_t count;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false), *late = NULL;
    CHECK_INT(kit_publish(&kit, "a", "x"), 1);
    kit_close(&kit);
    CHECK_INT(kv_sub_next(sub, &buf), KEVY_ECLOSED);
    CHECK_INT(kv_sub_next_raw(sub, &buf), KEVY_ECLOSED);
    CHECK_INT(kv_sub_wait(sub, 0, &buf), KEVY_ECLOSED);
    CHECK_INT(kv_sub_wait_raw(sub, 0, &buf), KEVY_ECLOSED);
    CHECK_INT(kv_sub_wait_batch(sub, 0, 0, 0, &buf, &count, NULL), KEVY_ECLOSED);
    CHECK_INT(kv_sub_add(sub, kit_text("b"), false), KEVY_ECLOSED);
    CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), KEVY_ECLOSED);
    CHECK_INT(kv_sub_limit(sub, 1, 1, 0), KEVY_ECLOSED);
    CHECK_INT(kv_sub_wake(sub), KEVY_ECLOSED);
    CHECK_INT(kv_sub_dropped(sub), 0);
    CHECK(buf.ptr == NULL);
    kv_sub_close(sub);
    kv_sub_close(NULL);

    kit_open(&kit);
    kv_port_close(&kit.port);
    CHECK_INT(kv_sub_open(&kit.port, &late), KEVY_ECLOSED);
    CHECK(late == NULL);
    kit_close(&kit);
}

TEST(closing_a_subscription_waits_for_its_waiters)
{
    for (int round = 0; round < 200; round++) {
        struct bus_kit kit;
        struct waiter waiters[3];
        kit_open(&kit);
        struct kv_sub *sub = kit_sub(&kit, "a", false);
        for (int i = 0; i < 3; i++) {
            start(&waiters[i], sub, (enum way)i, run_once);
        }
        kit_await_parked(sub, 3);
        if (round % 2 == 0) {
            kit_publish(&kit, "a", "x");
        }
        kv_sub_close(sub);
        int closed = 0;
        for (int i = 0; i < 3; i++) {
            kv_thread_join(&waiters[i].thread);
            closed += waiters[i].result == KEVY_ECLOSED;
            CHECK(waiters[i].result == 1 || waiters[i].result == KEVY_ECLOSED);
        }
        CHECK(closed >= 2);
        kit_close(&kit);
    }
}

TEST(waiters_take_every_message_of_a_flood)
{
    struct bus_kit kit;
    struct waiter waiters[3];
    uint32_t taken = 0;
    kit_open(&kit);
    struct kv_sub *sub = kit_sub(&kit, "a", false);
    CHECK_INT(kv_sub_limit(sub, 50, 0, KEVY_SUB_BLOCK), 0);
    for (int i = 0; i < 3; i++) {
        start(&waiters[i], sub, (enum way)i, run_until_closed);
    }
    for (int i = 0; i < 20000; i++) {
        REQUIRE_INT(kit_publish(&kit, "a", "x"), 1);
    }
    kit_await_parked(sub, 3);
    kit_expect_none(sub);
    kv_port_close(&kit.port);
    for (int i = 0; i < 3; i++) {
        kv_thread_join(&waiters[i].thread);
        taken += waiters[i].taken;
    }
    CHECK_INT(taken, 20000);
    CHECK_INT(kv_sub_dropped(sub), 0);
    kv_sub_close(sub);
    kit_close(&kit);
}
