/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bus under several threads: order per publisher and subscriber, changes
 * of names in the middle of a stream, closing while others publish and wait,
 * and a free-for-all whose structures must be sound at the end.
 */
#include <stdio.h>

#include "kevy/src/os/os_thread.h"
#include "kevy/test/bus_kit.h"

#define PUBLISHERS 2

struct publisher {
    struct bus_kit *kit;
    uint64_t number; /* of the publisher */
    uint64_t count;
    _Atomic uint64_t done;
    _Atomic bool stops;
    struct kv_thread thread;
};

/* Publishes "publisher * 1,000,000 + i" for i from 1 on. */
static void run_publisher(void *user)
{
    struct publisher *self = (struct publisher *)user;
    for (uint64_t i = 1; i <= self->count && !atomic_load(&self->stops); i++) {
        int64_t result = kit_publish_number(self->kit, "a", self->number * 1000000 + i);
        if (result < 0) {
            CHECK_INT(result, KEVY_ECLOSED);
            break;
        }
        atomic_store(&self->done, i);
    }
}

static void start_publishers(struct bus_kit *kit, struct publisher *publishers, uint64_t count)
{
    for (uint64_t i = 0; i < PUBLISHERS; i++) {
        publishers[i] = (struct publisher){.kit = kit, .number = i, .count = count};
        REQUIRE_INT(kv_thread_start(&publishers[i].thread, run_publisher, &publishers[i]), 0);
    }
}

static void join_publishers(struct publisher *publishers)
{
    for (int i = 0; i < PUBLISHERS; i++) {
        kv_thread_join(&publishers[i].thread);
    }
}

/* What one lane has seen of each publisher: the first and the last number, without holes. */
struct lane {
    uint64_t first[PUBLISHERS];
    uint64_t last[PUBLISHERS];
    uint64_t count;
    uint64_t order; /* a hash of everything in the order it came */
};

static void lane_see(struct lane *lane, uint64_t number)
{
    uint64_t publisher = number / 1000000, i = number % 1000000;
    REQUIRE(publisher < PUBLISHERS);
    if (lane->last[publisher] == 0) {
        lane->first[publisher] = i;
    } else {
        REQUIRE_INT(i, lane->last[publisher] + 1);
    }
    lane->last[publisher] = i;
    lane->count++;
    lane->order = lane->order * UINT64_C(0x9e3779b97f4a7c15) + number;
}

static void lane_see_batch(struct lane *lane, const KevyBuf *buf, uint32_t count)
{
    const uint8_t *at = buf->ptr;
    for (uint32_t i = 0; i < count; i++) {
        lane_see(lane, kit_number(at + 4, load_u32(at)));
        at += 4 + load_u32(at);
    }
}

static void await_done(struct publisher *publishers, uint64_t count)
{
    for (int i = 0; i < PUBLISHERS; i++) {
        while (atomic_load(&publishers[i].done) < count) {
            kit_sleep_ms(0);
        }
    }
}

TEST(a_stream_that_is_joined_and_left_is_contiguous)
{
    for (int round = 0; round < 30; round++) {
        struct bus_kit kit;
        struct publisher publishers[PUBLISHERS];
        struct lane lane = {0};
        struct kv_sub *sub = NULL;
        KevyBuf buf;
        uint32_t count;
        kit_open(&kit);
        REQUIRE_INT(kv_sub_open(&kit.port, &sub), 0);
        start_publishers(&kit, publishers, 1000);
        await_done(publishers, (uint64_t)round * 10);
        CHECK_INT(kv_sub_add(sub, kit_text("a"), false), 0);
        await_done(publishers, 300 + (uint64_t)round * 10);
        CHECK_INT(kv_sub_remove(sub, kit_text("a"), false), 0);
        join_publishers(publishers);
        kit_expect_frame(sub, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
        if (round % 2 == 0) {
            while (kv_sub_wait_batch(sub, 0, KEVY_BATCH_NOWAIT, 500, &buf, &count, NULL) == 1) {
                lane_see_batch(&lane, &buf, count);
                kit_buf_free(&buf);
            }
        } else {
            const char prefix[] = "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$";
            while (kv_sub_next(sub, &buf) == 1 && buf.ptr[sizeof "*3\r\n$" - 1] == '7') {
                size_t at = sizeof prefix;
                REQUIRE(memcmp(buf.ptr, prefix, sizeof prefix - 1) == 0);
                while (buf.ptr[at - 1] != '\n') {
                    at++;
                }
                lane_see(&lane, kit_number(buf.ptr + at, buf.len - at - 2));
                kit_buf_free(&buf);
            }
            CHECK_BYTES(buf.ptr, buf.len, "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n", 33);
            kit_buf_free(&buf);
        }
        kit_expect_none(sub);
        kv_sub_close(sub);
        kit_close(&kit);
    }
}

struct reader {
    struct kv_sub *sub;
    struct lane lane;
    uint64_t dropped;
    bool is_lossy;
    struct kv_thread thread;
};

static void run_reader(void *user)
{
    struct reader *self = (struct reader *)user;
    KevyBuf buf;
    uint32_t count;
    uint64_t dropped;
    while (kv_sub_wait_batch(self->sub, 0, 0, 0, &buf, &count, &dropped) == 1) {
        if (self->is_lossy) {
            self->lane.count += count;
        } else {
            lane_see_batch(&self->lane, &buf, count);
        }
        self->dropped += dropped;
        kit_buf_free(&buf);
    }
}

TEST(every_subscriber_sees_all_in_one_order)
{
    struct bus_kit kit;
    struct publisher publishers[PUBLISHERS];
    struct reader readers[4];
    kit_open(&kit);
    for (int i = 0; i < 4; i++) {
        readers[i] = (struct reader){.sub = kit_sub(&kit, i % 2 == 0 ? "a" : "*", i % 2 == 1)};
        int32_t policy = i < 2 ? KEVY_SUB_BLOCK : KEVY_SUB_DROP_OLDEST;
        CHECK_INT(kv_sub_limit(readers[i].sub, i < 2 ? 20 : 20000, 0, policy), 0);
        REQUIRE_INT(kv_thread_start(&readers[i].thread, run_reader, &readers[i]), 0);
    }
    start_publishers(&kit, publishers, 5000);
    join_publishers(publishers);
    for (int i = 0; i < 4; i++) {
        kit_await_parked(readers[i].sub, 1);
        CHECK_INT(kv_sub_wake(readers[i].sub), 0);
        kv_thread_join(&readers[i].thread);
        CHECK_INT(readers[i].lane.count, 5000 * PUBLISHERS);
        CHECK(readers[i].lane.order == readers[0].lane.order);
        kv_sub_close(readers[i].sub);
    }
    kit_close(&kit);
}

TEST(what_a_slow_reader_misses_is_counted)
{
    struct bus_kit kit;
    struct publisher publishers[PUBLISHERS];
    kit_open(&kit);
    struct reader reader = {.sub = kit_sub(&kit, "a", false), .is_lossy = true};
    CHECK_INT(kv_sub_limit(reader.sub, 3, 0, KEVY_SUB_DROP_OLDEST), 0);
    REQUIRE_INT(kv_thread_start(&reader.thread, run_reader, &reader), 0);
    start_publishers(&kit, publishers, 20000);
    join_publishers(publishers);
    kit_await_parked(reader.sub, 1);
    CHECK_INT(kv_sub_wake(reader.sub), 0);
    kv_thread_join(&reader.thread);
    CHECK_INT(reader.dropped, kv_sub_dropped(reader.sub));
    CHECK_INT(reader.lane.count + reader.dropped, 20000 * PUBLISHERS);
    kv_sub_close(reader.sub);
    kit_close(&kit);
}

TEST(stopping_and_closing_race_a_flood)
{
    struct bus_kit kit;
    struct publisher publishers[PUBLISHERS];
    kit_open(&kit);
    start_publishers(&kit, publishers, 999999);
    for (int round = 0; round < 1000; round++) {
        struct kv_port port;
        struct reader reader = {.is_lossy = true};
        kv_port_open(&port, kit.bus);
        REQUIRE_INT(kv_sub_open(&port, &reader.sub), 0);
        CHECK_INT(kv_sub_add(reader.sub, kit_text("a"), false), 0);
        CHECK_INT(kv_sub_limit(reader.sub, 2, 0, round % 3), 0);
        REQUIRE_INT(kv_thread_start(&reader.thread, run_reader, &reader), 0);
        if (round % 2 == 0) {
            CHECK_INT(kv_sub_wake(reader.sub), 0);
            CHECK(kv_sub_wake(reader.sub) == 0);
        } else {
            kv_port_close(&port);
        }
        kv_thread_join(&reader.thread);
        kv_sub_close(reader.sub);
        kv_port_close(&port);
    }
    kv_port_close(&kit.port);
    join_publishers(publishers);
    kit_close(&kit);
}

/* ---- A handler changes who listens ---- */

TEST(receivers_are_those_of_the_moment_of_the_publish)
{
    struct bus_kit kit;
    kit_open(&kit);
    struct kv_sub *a = kit_sub(&kit, "x", false), *b = kit_sub(&kit, "x", false);
    struct kv_sub *c = kit_sub(&kit, "x", false), *d = kit_sub(&kit, "x", false);
    struct kv_sub *e = kit_sub(&kit, "x", false), *f = NULL;
    CHECK_INT(kit_publish(&kit, "x", "1"), 5);
    kit_expect_raw(a, "1");
    kv_sub_close(a);
    kit_expect_raw(b, "1");
    CHECK_INT(kit_publish(&kit, "x", "from the handler of b"), 4);
    kit_expect_raw(c, "1");
    kv_sub_close(d);
    kit_expect_raw(e, "1");
    f = kit_sub(&kit, "x", false);
    kit_expect_none(f);
    CHECK_INT(kit_publish(&kit, "x", "2"), 4);
    kit_expect_raw(f, "2");
    kit_expect_none(f);
    struct kv_sub *old[] = {b, c, e};
    for (int i = 0; i < 3; i++) {
        kit_expect_raw(old[i], "from the handler of b");
        kit_expect_raw(old[i], "2");
        kit_expect_none(old[i]);
        kv_sub_close(old[i]);
    }
    kv_sub_close(f);
    kit_close(&kit);
}

/* ---- Everything at once ---- */

struct rioter {
    struct bus_kit *kit;
    struct kv_sub **shared; /* two subs that all may use */
    uint64_t random;
    struct kv_thread thread;
};

static void riot_step(struct rioter *self, struct kv_sub *own)
{
    char name[8];
    KevyBuf buf = {NULL, 0, 0};
    uint32_t count;
    uint64_t dice = test_random(&self->random);
    struct kv_sub *sub = dice & 64 ? own : self->shared[(dice >> 7) & 1];
    bool is_pattern = (dice >> 8) % 4 == 0;
    (void)snprintf(name, sizeof name, is_pattern ? "%u*" : "%u", (unsigned)((dice >> 16) % 40));
    struct bytes payload = bytes_of(name, (size_t)((dice >> 24) % 3));
    switch (dice % 10) {
    case 0:
        (void)kv_sub_add(sub, kit_text(name), is_pattern);
        break;
    case 1:
        (void)kv_sub_remove(sub, kit_text(name), is_pattern);
        break;
    case 2:
        (void)kv_sub_limit(sub, (uint32_t)(dice >> 32) % 30, 0, (dice >> 40) % 2 == 0 ? 0 : 2);
        break;
    case 3:
        CHECK(kv_sub_next(sub, &buf) >= 0);
        break;
    case 4:
        CHECK(kv_sub_wait_batch(sub, 1, 1, 100, &buf, &count, NULL) >= 0);
        break;
    case 5:
        (void)kv_sub_wake(sub);
        break;
    default:
        CHECK(kv_bus_publish(&self->kit->port, kit_text(name), payload) >= 0);
        break;
    }
    kit_buf_free(&buf);
}

static void run_rioter(void *user)
{
    struct rioter *self = (struct rioter *)user;
    for (int i = 0; i < 40; i++) {
        struct kv_sub *own = NULL;
        REQUIRE_INT(kv_sub_open(&self->kit->port, &own), 0);
        for (int j = 0; j < 100; j++) {
            riot_step(self, own);
        }
        kv_sub_close(own);
    }
}

TEST_LIMIT(a_free_for_all_leaves_a_sound_bus, 60)
{
    struct bus_kit kit;
    struct rioter rioters[4];
    struct kit_mem mem = {0};
    kevy_mem table = kit_mem_table(&mem);
    kit_open_over(&kit, &table, &kv_mem_buffers);
    struct kv_sub *shared[2] = {kit_sub(&kit, "0", false), kit_sub(&kit, "1*", true)};
    for (uint64_t i = 0; i < 4; i++) {
        rioters[i] = (struct rioter){.kit = &kit, .shared = shared, .random = test_seed() * 4 + i};
        REQUIRE_INT(kv_thread_start(&rioters[i].thread, run_rioter, &rioters[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        kv_thread_join(&rioters[i].thread);
    }
    CHECK(kv_bus_verify(kit.bus));
    kv_sub_close(shared[0]);
    kv_sub_close(shared[1]);
    kit_close(&kit);
    CHECK_INT(atomic_load(&mem.used), 0);
}
