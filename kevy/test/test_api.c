/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public C ABI as a stranger uses it: values, limits, misuse, and many
 * threads against close. Opening files is in test_api_open.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static int32_t set(KevyDb *db, const char *key, const char *value)
{
    return kevy_set(db, u(key), strlen(key), u(value), strlen(value), 0);
}

/* Checks that a key has a value, or, with NULL, that it is missing. */
static void check_get(KevyDb *db, const char *key, const char *want)
{
    KevyBuf buf;
    CHECK_INT(kevy_get(db, u(key), strlen(key), &buf), want != NULL);
    CHECK((buf.ptr != NULL) == (want != NULL));
    if (buf.ptr != NULL && want != NULL) {
        CHECK_BYTES(buf.ptr, buf.len, want, strlen(want));
    }
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
}

/* Runs a command of one to four words and checks its whole reply. */
static void check_cmd(KevyDb *db, const char *const words[4], const char *want)
{
    const uint8_t *argv[4];
    size_t sizes[4], argc = 0;
    KevyBuf reply;
    for (; argc < 4 && words[argc] != NULL; argc++) {
        argv[argc] = u(words[argc]);
        sizes[argc] = strlen(words[argc]);
    }
    CHECK_INT(kevy_cmd(db, argc, argv, sizes, &reply), 0);
    CHECK_BYTES(reply.ptr, reply.len, want, strlen(want));
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}
#define CMD(db, want, ...) check_cmd(db, (const char *const[4]){__VA_ARGS__}, want)

TEST(the_abi_is_one_and_the_structures_have_their_offsets)
{
    CHECK_INT(kevy_abi(), 1);
    CHECK(strchr(kevy_version(), '.') != NULL);
    CHECK_INT(sizeof(KevyOpenOptions), 40);
    CHECK_INT(offsetof(KevyOpenOptions, shards), 4);
    CHECK_INT(offsetof(KevyOpenOptions, rewrite_min_size), 16);
    CHECK_INT(offsetof(KevyOpenOptions, rewrite_interval_secs), 32);
    CHECK_INT(sizeof(KevyOpenReport), 40);
    CHECK_INT(offsetof(KevyOpenReport, corrupt), 32);
    CHECK_INT(offsetof(KevyOpenReport, quarantine_count), 36);
}

TEST(values_come_back_exactly)
{
    KevyDb *db = kevy_open_mem();
    REQUIRE(db != NULL);
    check_get(db, "k", NULL);
    CHECK_INT(set(db, "k", "value"), 0);
    check_get(db, "k", "value");
    CHECK_INT(kevy_set(db, u("k"), 1, NULL, 0, 0), 0);
    check_get(db, "k", "");
    CHECK_INT(kevy_set(db, u("\0a"), 2, u("\0\0"), 2, 0), 0);
    CHECK_INT(kevy_set(db, u("\0b"), 2, u("x"), 1, 0), 0);
    CHECK_INT(kevy_set(db, NULL, 0, u("empty key"), 9, 0), 0);
    check_get(db, "", "empty key");
    KevyBuf buf;
    CHECK_INT(kevy_get_shared(db, u("\0a"), 2, &buf), 1);
    CHECK_BYTES(buf.ptr, buf.len, "\0\0", 2);
    kevy_close(db);
    CHECK_BYTES(buf.ptr, buf.len, "\0\0", 2);
    kevy_buf_free_shared(buf.ptr, buf.len, buf.cap);
}

TEST(get_into_says_how_much_it_needs)
{
    KevyDb *db = kevy_open_mem();
    uint8_t buf[5] = "zzzz";
    size_t size = 99;
    CHECK_INT(set(db, "k", "12345"), 0);
    CHECK_INT(kevy_get_into(db, u("k"), 1, buf, 4, &size), 2);
    CHECK_INT(size, 5);
    CHECK_BYTES(buf, 4, "zzzz", 4);
    CHECK_INT(kevy_get_into(db, u("k"), 1, buf, 5, &size), 1);
    CHECK_BYTES(buf, 5, "12345", 5);
    CHECK_INT(kevy_get_into(db, u("none"), 4, buf, 5, &size), 0);
    CHECK_INT(size, 0);
    CHECK_INT(kevy_get_into(db, u("k"), 1, NULL, 0, &size), 2);
    CHECK_INT(kevy_get_into(db, u("k"), 1, NULL, 4, &size), -1);
    CHECK_INT(kevy_get_into(db, u("k"), 1, buf, 5, NULL), -1);
    kevy_close(db);
}

TEST(misuse_is_a_number_and_changes_nothing)
{
    KevyDb *db = kevy_open_mem();
    KevyBuf buf = {(uint8_t *)1, 1, 1};
    const uint8_t *argv[1] = {NULL};
    size_t size = 3;
    CHECK_INT(kevy_get(NULL, u("k"), 1, &buf), -1);
    CHECK(buf.ptr == NULL && buf.len == 0 && buf.cap == 0);
    CHECK_INT(kevy_get(db, NULL, 1, &buf), -1);
    CHECK_INT(kevy_get(db, u("k"), 1, NULL), -1);
    CHECK_INT(kevy_set(NULL, u("k"), 1, u("v"), 1, 0), -1);
    CHECK_INT(kevy_set(db, NULL, 1, u("v"), 1, 0), -1);
    CHECK_INT(kevy_set(db, u("k"), 1, NULL, 1, 0), -1);
    CHECK_INT(kevy_cmd(db, 0, argv, &size, &buf), -1);
    CHECK_INT(kevy_cmd(db, 1, argv, &size, &buf), -1);
    CHECK_INT(kevy_cmd(db, 1, NULL, &size, &buf), -1);
    CHECK_INT(kevy_cmd(db, 1, argv, NULL, &buf), -1);
    CHECK_INT(kevy_cmd(db, 1, argv, &size, NULL), -1);
    CHECK_INT(kevy_cmd(NULL, 1, argv, &size, &buf), -1);
    CHECK_INT(kevy_publish(NULL, u("c"), 1, u("p"), 1), -1);
    CHECK_INT(kevy_publish(db, NULL, 1, u("p"), 1), -1);
    CHECK_INT(kevy_shutdown(NULL), -1);
    CHECK_INT(kevy_sync(NULL), -1);
    CHECK_INT(kevy_open_report(db, NULL), -1);
    CHECK(kevy_subscribe(NULL, u("c"), 1) == NULL);
    CHECK(kevy_subscribe(db, NULL, 1) == NULL);
    CHECK_INT(kevy_sub_next(NULL, &buf), -1);
    CHECK_INT(kevy_sub_wait(NULL, 1, &buf), -1);
    kevy_sub_close(NULL);
    kevy_close(NULL);
    kevy_buf_free(NULL, 0, 0);
    kevy_buf_free_shared(NULL, 0, 0);
    CMD(db, ":0\r\n", "DBSIZE");
    kevy_close(db);
}

TEST(a_packed_call_is_validated_whole)
{
    static const uint8_t good[] = {3, 0, 0, 0, 'S', 'E', 'T', 1, 0, 0, 0, 'k', 1, 0, 0, 0, 'v'};
    KevyDb *db = kevy_open_mem();
    KevyBuf buf;
    for (size_t size = 0; size < sizeof good; size++) {
        /* Cut between arguments it is a shorter call, which is well formed. */
        int32_t want = size == 7 || size == 12 ? 0 : -1;
        uint8_t *cut = malloc(size + 1);
        memcpy(cut, good, size);
        CHECK_INT(kevy_cmd_packed(db, cut, size, &buf), want);
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
        free(cut);
    }
    CMD(db, ":0\r\n", "DBSIZE");
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 'P'};
    CHECK_INT(kevy_cmd_packed(db, huge, sizeof huge, &buf), -1);
    CHECK_INT(kevy_cmd_packed(db, NULL, 4, &buf), -1);
    CHECK_INT(kevy_cmd_packed(db, good, sizeof good, &buf), 0);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    check_get(db, "k", "v");
    kevy_close(db);
}

TEST_LIMIT(the_largest_value_fits_and_one_byte_more_does_not, 120)
{
    KevyDb *db = kevy_open_mem();
    uint8_t *value = calloc(1, KEVY_SIZE_MAX + 1);
    REQUIRE(db != NULL && value != NULL);
    value[0] = 'a';
    value[KEVY_SIZE_MAX - 1] = 'z';
    CHECK_INT(set(db, "k", "before"), 0);
    CHECK_INT(kevy_set(db, u("k"), 1, value, KEVY_SIZE_MAX + 1, 0), -2);
    CHECK_INT(kevy_set(db, value, KEVY_SIZE_MAX + 1, u("v"), 1, 0), -2);
    check_get(db, "k", "before");
    CHECK_INT(kevy_set(db, u("k"), 1, value, KEVY_SIZE_MAX, 0), 0);
    KevyBuf buf;
    REQUIRE_INT(kevy_get(db, u("k"), 1, &buf), 1);
    CHECK_INT(buf.len, KEVY_SIZE_MAX);
    CHECK(buf.ptr[0] == 'a' && buf.ptr[KEVY_SIZE_MAX - 1] == 'z');
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    CHECK_INT(set(db, "k", "small again"), 0);
    check_get(db, "k", "small again");
    kevy_close(db);
    free(value);
}

TEST(a_time_to_live_ends_and_an_impossible_one_is_refused)
{
    KevyDb *db = kevy_open_mem();
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, UINT64_MAX), -2);
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, INT64_MAX), -2);
    check_get(db, "k", NULL);
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 3600000), 0);
    CMD(db, ":3600\r\n", "TTL", "k");
    CHECK_INT(set(db, "k", "w"), 0);
    CMD(db, ":-1\r\n", "TTL", "k");
    CHECK_INT(kevy_set(db, u("k"), 1, u("v"), 1, 30), 0);
    CMD(db, "+OK\r\n", "DEBUG", "SLEEP", "0.04");
    check_get(db, "k", NULL);
    CMD(db, ":-2\r\n", "TTL", "k");
    kevy_close(db);
}

TEST(set_many_is_all_or_nothing)
{
    KevyDb *db = kevy_open_mem();
    const uint8_t *keys[3] = {u("a"), u("b"), u("a")};
    const uint8_t *vals[3] = {u("1"), NULL, u("3")};
    size_t key_sizes[3] = {1, 1, 1}, val_sizes[3] = {1, 0, 1};
    CHECK_INT(kevy_set_many(db, 3, keys, key_sizes, vals, val_sizes), 0);
    check_get(db, "a", "3");
    check_get(db, "b", "");
    val_sizes[1] = 1;
    CHECK_INT(kevy_set_many(db, 3, keys, key_sizes, vals, val_sizes), -1);
    val_sizes[1] = 0;
    vals[0] = u("new");
    val_sizes[2] = KEVY_SIZE_MAX + 1;
    CHECK_INT(kevy_set_many(db, 3, keys, key_sizes, vals, val_sizes), -2);
    check_get(db, "a", "3");
    CHECK_INT(kevy_set_many(db, 0, NULL, NULL, NULL, NULL), 0);
    CHECK_INT(kevy_set_many(db, 1, NULL, NULL, NULL, NULL), -1);
    kevy_close(db);
}

TEST(after_shutdown_writes_fail_and_reads_go_on)
{
    KevyDb *db = kevy_open_mem();
    CHECK_INT(set(db, "k", "v"), 0);
    CHECK_INT(kevy_shutdown(db), 0);
    CHECK_INT(kevy_shutdown(db), 0);
    CHECK_INT(set(db, "k", "w"), -2);
    check_get(db, "k", "v");
    const uint8_t *argv[2] = {u("DEL"), u("k")};
    size_t sizes[2] = {3, 1};
    KevyBuf reply;
    CHECK_INT(kevy_cmd(db, 2, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] == '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    check_get(db, "k", "v");
    kevy_close(db);
}

TEST(pub_sub_through_the_abi)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = kevy_subscribe(db, u("news"), 4);
    KevyBuf buf;
    REQUIRE(sub != NULL);
    CHECK_INT(kevy_publish(db, u("news"), 4, u("hello"), 5), 1);
    CHECK_INT(kevy_publish(db, u("other"), 5, u("hello"), 5), 0);
    CHECK_INT(kevy_sub_next(sub, &buf), 1);
    CHECK_BYTES(buf.ptr, buf.len, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n", 33);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    CHECK_INT(kevy_sub_wait_raw(sub, 1000, &buf), 1);
    CHECK_BYTES(buf.ptr, buf.len, "hello", 5);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    CHECK_INT(kevy_sub_next(sub, &buf), 0);
    kevy_close(db);
    CHECK(kevy_sub_next(sub, &buf) < 0);
    kevy_sub_close(sub);
}

/* ---- Close against calls in flight ---- */

struct racer {
    KevyDb *db;
    _Atomic int is_going;
    _Atomic long calls;
};

static void *race(void *user)
{
    struct racer *racer = user;
    char key[16];
    KevyBuf buf;
    for (unsigned i = 0; atomic_load(&racer->is_going); i++) {
        (void)snprintf(key, sizeof key, "k%u", i % 100);
        switch (i % 4) {
        case 0:
            (void)set(racer->db, key, key);
            break;
        case 1:
            (void)kevy_publish(racer->db, u("c"), 1, u("p"), 1);
            break;
        case 2:
            (void)kevy_sync(racer->db);
            break;
        default:
            if (kevy_get(racer->db, u(key), strlen(key), &buf) == 1) {
                kevy_buf_free(buf.ptr, buf.len, buf.cap);
            }
        }
        atomic_fetch_add(&racer->calls, 1);
    }
    return NULL;
}

/* The handle is closed by one thread while others are inside calls; they stop
 * before it is gone, which is what a door has to make sure of. */
TEST(close_waits_for_calls_in_flight)
{
    for (unsigned round = 0; round < 20; round++) {
        struct racer racer = {.db = kevy_open_mem(), .is_going = 1};
        pthread_t threads[4];
        for (unsigned i = 0; i < 4; i++) {
            REQUIRE_INT(pthread_create(&threads[i], NULL, race, &racer), 0);
        }
        while (atomic_load(&racer.calls) < 200) {
        }
        atomic_store(&racer.is_going, 0);
        for (unsigned i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        kevy_close(racer.db);
    }
    CHECK(true);
}

static void *wait_for_ever(void *user)
{
    KevyBuf buf;
    int32_t result;
    do {
        result = kevy_sub_wait(user, 0, &buf);
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    } while (result >= 0);
    return (void *)(intptr_t)result;
}

TEST(close_wakes_a_parked_waiter_with_a_negative_number)
{
    KevyDb *db = kevy_open_mem();
    KevySub *sub = kevy_subscribe(db, u("c"), 1);
    pthread_t thread;
    void *result;
    REQUIRE_INT(pthread_create(&thread, NULL, wait_for_ever, sub), 0);
    CHECK_INT(kevy_publish(db, u("c"), 1, u("p"), 1), 1);
    kevy_close(db);
    pthread_join(thread, &result);
    CHECK((intptr_t)result < 0);
    kevy_sub_close(sub);
}
