/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Publish and subscribe through the public ABI: misuse, several handles,
 * closing and forking under sleeping threads, and that nothing polls: no
 * system call for a publish that wakes nobody, no wake-up while idle.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "kevy/test/bus_kit.h"
#include "testing/harness.h"
#include "testing/idle.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static int64_t publish(KevyDb *db, const char *channel, const char *payload)
{
    return kevy_publish(db, u(channel), strlen(channel), u(payload), strlen(payload));
}

static KevySub *subscribe(KevyDb *db, const char *channel)
{
    KevyBuf buf;
    KevySub *sub = kevy_subscribe(db, u(channel), strlen(channel));
    REQUIRE(sub != NULL);
    REQUIRE_INT(kevy_sub_next(sub, &buf), 1);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    return sub;
}

static void expect_raw(KevySub *sub, const char *payload)
{
    KevyBuf buf;
    if (CHECK_INT(kevy_sub_next_raw(sub, &buf), 1)) {
        CHECK_BYTES(buf.ptr, buf.len, payload, strlen(payload));
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    }
}

TEST(misuse_is_negative_and_zeroes_what_it_would_fill)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = subscribe(db, "a");
    KevyBuf buf = {(uint8_t *)&buf, 1, 1};
    uint32_t count = 7;
    uint64_t dropped = 7;
    CHECK(kevy_subscribe(NULL, u("a"), 1) == NULL);
    CHECK(kevy_subscribe(db, NULL, 1) == NULL);
    CHECK(kevy_psubscribe(NULL, u("a"), 1) == NULL);
    CHECK_INT(kevy_publish(NULL, u("a"), 1, u("x"), 1), -1);
    CHECK_INT(kevy_publish(db, NULL, 1, u("x"), 1), -1);
    CHECK_INT(kevy_publish(db, u("a"), 1, NULL, 1), -1);
    CHECK_INT(kevy_publish(db, u("a"), 1, u("x"), KEVY_SIZE_MAX + 1), -2);
    CHECK_INT(kevy_sub_next(NULL, &buf), -1);
    CHECK(buf.ptr == NULL && buf.len == 0 && buf.cap == 0);
    CHECK_INT(kevy_sub_next(sub, NULL), -1);
    CHECK_INT(kevy_sub_wait_raw(sub, 1, NULL), -1);
    CHECK_INT(kevy_sub_wait_batch(sub, 1, 0, 0, &buf, NULL, NULL), -1);
    CHECK_INT(kevy_sub_wait_batch(NULL, 1, 0, 0, &buf, &count, &dropped), -1);
    CHECK(count == 0 && dropped == 0);
    CHECK_INT(kevy_sub_wait_batch(sub, 1, 1u << 31, 0, &buf, &count, &dropped), -1);
    CHECK_INT(kevy_sub_add(sub, NULL, 1, 0), -1);
    CHECK_INT(kevy_sub_remove(NULL, u("a"), 1, 0), -1);
    CHECK_INT(kevy_sub_limit(sub, 1, 1, 9), -1);
    CHECK_INT(kevy_sub_limit(NULL, 1, 1, 0), -1);
    CHECK_INT(kevy_sub_wake(NULL), -1);
    CHECK_INT(kevy_sub_dropped(NULL), 0);
    kevy_sub_close(NULL);
    CHECK_INT(kevy_publish(db, u("a"), 1, NULL, 0), 1);
    expect_raw(sub, "");
    kevy_sub_close(sub);
    kevy_close(db);
}

TEST(names_are_added_and_removed_by_the_abi)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = subscribe(db, "a");
    KevyBuf buf;
    uint32_t count;
    uint64_t dropped;
    CHECK_INT(kevy_sub_add(sub, u("p*"), 2, 1), 0);
    CHECK_INT(kevy_sub_remove(sub, u("a"), 1, 0), 0);
    CHECK_INT(publish(db, "a", "x"), 0);
    CHECK_INT(kevy_sub_limit(sub, 2, 0, KEVY_SUB_DROP_OLDEST), 0);
    CHECK_INT(publish(db, "pa", "1"), 1);
    CHECK_INT(publish(db, "pb", "2"), 1);
    CHECK_INT(publish(db, "pc", "3"), 1);
    CHECK_INT(kevy_sub_dropped(sub), 1);
    CHECK_INT(kevy_sub_wait_batch(sub, 0, KEVY_BATCH_CHANNELS, 0, &buf, &count, &dropped), 1);
    CHECK(count == 2 && dropped == 1);
    CHECK_BYTES(buf.ptr, buf.len, "\2\0\0\0pb\1\0\0\0002\2\0\0\0pc\1\0\0\0003", 22);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    kevy_sub_close(sub);
    kevy_close(db);
}

/* ---- Threads that sleep ---- */

struct sleeper {
    KevyDb *db;
    KevySub *sub;
    _Atomic bool is_done;
    int64_t result;
    pthread_t thread;
};

static void *sleep_on_sub(void *user)
{
    struct sleeper *self = user;
    KevyBuf buf;
    self->result = kevy_sub_wait_raw(self->sub, 0, &buf);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    atomic_store(&self->is_done, true);
    return NULL;
}

static void *publish_blocked(void *user)
{
    struct sleeper *self = user;
    self->result = publish(self->db, "a", "late");
    atomic_store(&self->is_done, true);
    return NULL;
}

static void start(struct sleeper *self, KevyDb *db, KevySub *sub, void *(*run)(void *user))
{
    self->db = db;
    self->sub = sub;
    REQUIRE_INT(pthread_create(&self->thread, NULL, run, self), 0);
}

/* Waits until so many threads wait for a message. */
static void await_asleep(KevySub *sub, uint32_t count)
{
    kit_await_parked((struct kv_sub *)(void *)sub, count);
}

/* Waits until so many threads wait for room to publish. */
static void await_blocked(KevyDb *db, uint32_t count)
{
    kit_await_blocked(db->engine->bus, count);
}

TEST(close_takes_only_its_own_subscriptions_down)
{
    const char *dir = test_path("store");
    KevyDb *first = kevy_open(u(dir), strlen(dir)), *second = kevy_open(u(dir), strlen(dir));
    REQUIRE(first != NULL && second != NULL);
    struct sleeper one = {0}, two = {0};
    start(&one, first, subscribe(first, "a"), sleep_on_sub);
    start(&two, second, subscribe(second, "a"), sleep_on_sub);
    await_asleep(one.sub, 1);
    await_asleep(two.sub, 1);
    kevy_close(first);
    pthread_join(one.thread, NULL);
    CHECK(one.result < 0);
    CHECK(!atomic_load(&two.is_done));
    CHECK_INT(publish(second, "a", "x"), 1);
    pthread_join(two.thread, NULL);
    CHECK_INT(two.result, 1);
    kevy_close(second);
    KevyDb *again = kevy_open(u(dir), strlen(dir));
    CHECK(again != NULL);
    kevy_sub_close(one.sub);
    kevy_sub_close(two.sub);
    kevy_close(again);
}

static int open_and_look(const char *dir)
{
    KevyBuf buf;
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    if (db == NULL) {
        return 1;
    }
    int32_t result = kevy_get(db, u("k"), 1, &buf);
    kevy_close(db);
    return result == 1 ? 0 : 2;
}

TEST(close_with_a_live_subscription_closes_the_store)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open(u(dir), strlen(dir));
    REQUIRE(db != NULL);
    KevySub *sub = subscribe(db, "a");
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 0), 0);
    CHECK_INT(publish(db, "a", "unread"), 1);
    kevy_close(db);
    int status = -1;
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        _exit(open_and_look(dir));
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    kevy_sub_close(sub);
}

TEST(close_ends_a_publish_that_waits_for_room)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = subscribe(db, "a");
    struct sleeper self = {0};
    CHECK_INT(kevy_sub_limit(sub, 1, 0, KEVY_SUB_BLOCK), 0);
    CHECK_INT(publish(db, "a", "x"), 1);
    start(&self, db, sub, publish_blocked);
    await_blocked(db, 1);
    CHECK(!atomic_load(&self.is_done));
    expect_raw(sub, "x");
    pthread_join(self.thread, NULL);
    CHECK_INT(self.result, 1);
    start(&self, db, sub, publish_blocked);
    await_blocked(db, 1);
    kevy_close(db);
    pthread_join(self.thread, NULL);
    CHECK_INT(self.result, -1);
    kevy_sub_close(sub);
}

/* PUBLISH as a command; the result is the number in the reply. */
static void *command_blocked(void *user)
{
    static const uint8_t *const argv[] = {(const uint8_t *)"PUBLISH", (const uint8_t *)"a",
                                          (const uint8_t *)"y"};
    static const size_t sizes[] = {7, 1, 1};
    struct sleeper *self = user;
    KevyBuf buf;
    self->result = kevy_cmd(self->db, 3, argv, sizes, &buf) == 0 ? buf.ptr[1] - '0' : -1;
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    atomic_store(&self->is_done, true);
    return NULL;
}

TEST(a_blocked_publish_keeps_nobody_out)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = subscribe(db, "a");
    struct sleeper selves[2] = {0};
    KevyBuf buf;
    CHECK_INT(kevy_sub_limit(sub, 1, 0, KEVY_SUB_BLOCK), 0);
    CHECK_INT(publish(db, "a", "x"), 1);
    start(&selves[0], db, sub, publish_blocked);
    start(&selves[1], db, sub, command_blocked);
    await_blocked(db, 2);
    CHECK(!atomic_load(&selves[0].is_done) && !atomic_load(&selves[1].is_done));
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 0), 0);
    CHECK_INT(kevy_get(db, u("k"), 1, &buf), 1);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    CHECK_INT(publish(db, "other", "x"), 0);
    kevy_sub_close(sub);
    for (int i = 0; i < 2; i++) {
        pthread_join(selves[i].thread, NULL);
        CHECK_INT(selves[i].result, 0);
    }
    kevy_close(db);
}

TEST(an_idle_store_with_a_parked_reader_wakes_nobody)
{
    KevyDb *db = kevy_open_mem();
    struct sleeper self = {0};
    start(&self, db, subscribe(db, "a"), sleep_on_sub);
    await_asleep(self.sub, 1);
    CHECK_INT(idle_wakes(1000), 0);
    CHECK_INT(publish(db, "a", "x"), 1);
    pthread_join(self.thread, NULL);
    CHECK_INT(self.result, 1);
    kevy_sub_close(self.sub);
    kevy_close(db);
}

/* ---- Fork ---- */

static int use_in_child(KevyDb *db, KevySub *sub)
{
    KevyBuf buf;
    uint32_t count;
    int wrong = 0;
    wrong += publish(db, "a", "x") != -1;
    wrong += kevy_subscribe(db, u("a"), 1) != NULL;
    wrong += kevy_sub_next(sub, &buf) != -1;
    wrong += kevy_sub_wait(sub, 0, &buf) != -1;
    wrong += kevy_sub_wait_batch(sub, 0, 0, 0, &buf, &count, NULL) != -1;
    wrong += kevy_sub_add(sub, u("b"), 1, 0) != -1;
    wrong += kevy_sub_limit(sub, 1, 1, 0) != -1;
    wrong += kevy_sub_wake(sub) != -1;
    kevy_sub_close(sub);
    return wrong;
}

TEST(a_forked_child_cannot_use_a_subscription)
{
    KevyDb *db = kevy_open_mem();
    struct sleeper self = {0};
    KevySub *sub = subscribe(db, "a");
    start(&self, db, sub, sleep_on_sub);
    await_asleep(sub, 1);
    int status = -1;
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        _exit(use_in_child(db, sub));
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(publish(db, "a", "x"), 1);
    pthread_join(self.thread, NULL);
    CHECK_INT(self.result, 1);
    kevy_sub_close(sub);
    kevy_close(db);
}
