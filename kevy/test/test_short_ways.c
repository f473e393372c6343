/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the short ways through the engine cost, counted and not timed:
 * allocations of a call and of what it returned, locks of a read, bytes of an
 * EXPIRE. And that these ways give what the long ones give.
 *
 * Hostile builds keep no buffers (mem/buffers.h): there only results are checked.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "kevy/src/mem/buffers.h"
#include "testing/harness.h"

static const uint8_t *u(const char *text)
{
    return (const uint8_t *)text;
}

static int32_t set(KevyDb *db, const char *key, const char *value)
{
    return kevy_set(db, u(key), strlen(key), u(value), strlen(value), 0);
}

/* Runs a command of up to three words and checks its reply. */
static void check_cmd(KevyDb *db, const char *const words[3], const char *want)
{
    const uint8_t *argv[3];
    size_t sizes[3], argc = 0;
    KevyBuf reply;
    for (; argc < 3 && words[argc] != NULL; argc++) {
        argv[argc] = u(words[argc]);
        sizes[argc] = strlen(words[argc]);
    }
    REQUIRE_INT(kevy_cmd(db, argc, argv, sizes, &reply), 0);
    CHECK_BYTES(reply.ptr, reply.len, want, strlen(want));
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}
#define CMD(db, want, ...) check_cmd(db, (const char *const[3]){__VA_ARGS__}, want)

/* ---- Allocations ---- */

struct counter {
    kevy_mem under;
    size_t calls;
};

static void *counting_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct counter *counter = self;
    counter->calls += new_size != 0;
    return counter->under.resize(counter->under.self, ptr, old_size, new_size);
}

static void counter_begin(struct counter *counter)
{
    *counter = (struct counter){.under = kv_mem_buffers.table};
    kv_mem_buffers.table = (kevy_mem){counter, counting_resize};
}

static size_t counter_end(struct counter *counter)
{
    kv_mem_buffers.table = counter->under;
    return counter->calls;
}

TEST(a_call_and_the_freeing_of_its_reply_allocate_nothing)
{
    struct counter counter;
    KevyDb *db = kevy_open_mem();
    REQUIRE_INT(set(db, "k", "a value of the usual length"), 0);
    CMD(db, "+PONG\r\n", "PING");
    size_t used = atomic_load(&db->engine->mem.used);
    counter_begin(&counter);
    for (int i = 0; i < 100; i++) {
        KevyBuf buf;
        CMD(db, "+PONG\r\n", "PING");
        CMD(db, "$27\r\na value of the usual length\r\n", "GET", "k");
        CMD(db, "+OK\r\n", "SET", "n", "41");
        CMD(db, ":42\r\n", "INCR", "n");
        CMD(db, ":-1\r\n", "TTL", "k");
        CHECK_INT(kevy_get(db, u("k"), 1, &buf), 1);
        CHECK_BYTES(buf.ptr, buf.len, "a value of the usual length", 27);
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    }
    size_t calls = counter_end(&counter);
    CHECK_INT(calls, KV_BUFFER_KEPT == 0 ? 600 : 0);
    CHECK(atomic_load(&db->engine->mem.used) - used < 4096);
    kevy_close(db);
}

TEST(a_thread_keeps_few_buffers_and_only_small_ones)
{
    enum { COUNT = 20 };
    struct counter counter;
    uint8_t *buffers[COUNT];
    size_t capacity;
    struct kv_epoch_slot *slot = kv_epoch_enter();
    REQUIRE(slot != NULL);
    kv_epoch_leave(slot);
    for (int i = 0; i < COUNT; i++) {
        buffers[i] = kv_buffer_new(0, &capacity);
        REQUIRE(buffers[i] != NULL);
        CHECK_INT(capacity, KV_BUFFER_SMALL);
        CHECK_INT((uintptr_t)buffers[i] % sizeof(void *), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        kv_buffer_free(buffers[i]);
    }
    uint8_t *large = kv_buffer_new(KV_BUFFER_SMALL + 1, &capacity);
    REQUIRE(large != NULL);
    CHECK_INT(capacity, KV_BUFFER_SMALL + 1);
    kv_buffer_free(large);
    counter_begin(&counter);
    for (int i = 0; i < COUNT; i++) {
        buffers[i] = kv_buffer_new(1, &capacity);
        REQUIRE(buffers[i] != NULL);
    }
    CHECK_INT(counter_end(&counter), COUNT - (int)KV_BUFFER_KEPT);
    for (int i = 0; i < COUNT; i++) {
        kv_buffer_free(buffers[i]);
    }
}

/* ---- Leak checks ---- */

#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
#if defined(__ELF__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define NO_LEAK_CHECK

static const uint8_t *roots;
static size_t roots_size;

/* As the one of LeakSanitizer, which is not here. */
void __lsan_register_root_region(const void *begin, size_t size);
void __lsan_register_root_region(const void *begin, size_t size)
{
    roots = begin;
    roots_size = size;
}
#endif

TEST(a_leak_check_of_the_host_is_told_where_kept_buffers_are)
{
    size_t capacity;
    struct kv_epoch_slot *slot = kv_epoch_enter();
    REQUIRE(slot != NULL);
    kv_epoch_leave(slot);
    uint8_t *buffer = kv_buffer_new(1, &capacity);
    REQUIRE(buffer != NULL);
    kv_buffer_free(buffer);
    CHECK(KV_BUFFER_KEPT == 0 || slot->kept == kv_buffer_of(buffer));
#ifdef NO_LEAK_CHECK
    const uint8_t *at = (const uint8_t *)slot;
    CHECK(roots != NULL && at >= roots && at + sizeof *slot <= roots + roots_size);
#endif
}

TEST(a_buffer_grows_and_shrinks_with_what_it_holds)
{
    size_t capacity;
    uint8_t *buffer = kv_buffer_new(5, &capacity);
    REQUIRE(buffer != NULL);
    memcpy(buffer, "bytes", 5);
    buffer = kv_mem_resize(&kv_mem_buffers, buffer, capacity, 5000);
    REQUIRE(buffer != NULL);
    CHECK_BYTES(buffer, 5, "bytes", 5);
    memset(buffer + 5, 7, 4995);
    buffer = kv_mem_resize(&kv_mem_buffers, buffer, 5000, 6);
    REQUIRE(buffer != NULL);
    CHECK_BYTES(buffer, 5, "bytes", 5);
    kv_mem_free(&kv_mem_buffers, buffer, 6);
    CHECK(kv_buffer_new(SIZE_MAX, &capacity) == NULL);
    kevy_buf_free(NULL, 0, 0);
}

static void *free_all(void *user)
{
    KevyBuf *bufs = user;
    KevyDb *db = kevy_open_mem();
    CMD(db, "+PONG\r\n", "PING"); /* now the thread has a slot */
    for (int i = 0; i < 32; i++) {
        kevy_buf_free(bufs[i].ptr, 0, 0);
    }
    kevy_close(db);
    return NULL;
}

TEST(buffers_may_be_freed_by_another_thread)
{
    KevyBuf bufs[32];
    pthread_t thread;
    KevyDb *db = kevy_open_mem();
    for (int round = 0; round < 4; round++) {
        REQUIRE_INT(set(db, "k", "v"), 0);
        for (int i = 0; i < 32; i++) {
            REQUIRE_INT(kevy_get(db, u("k"), 1, &bufs[i]), 1);
            CHECK_BYTES(bufs[i].ptr, bufs[i].len, "v", 1);
        }
        REQUIRE_INT(pthread_create(&thread, NULL, free_all, bufs), 0);
        pthread_join(thread, NULL);
    }
    kevy_close(db);
}

/* ---- Locks ---- */

TEST(reading_one_key_takes_no_lock)
{
    KevyDb *db = kevy_open_mem();
    KevyBuf buf;
    REQUIRE_INT(set(db, "k", "value"), 0);
    REQUIRE_INT(kevy_set(db, u("t"), 1, u("v"), 1, 1000000), 0);
    kv_mutex_lock(&db->engine->writer);
    CMD(db, "+PONG\r\n", "PING");
    CMD(db, "$5\r\nvalue\r\n", "GET", "k");
    CMD(db, "$-1\r\n", "GET", "no such key");
    CMD(db, ":5\r\n", "STRLEN", "k");
    CMD(db, ":1\r\n", "EXISTS", "k");
    CMD(db, ":-1\r\n", "TTL", "k");
    CMD(db, ":1000\r\n", "TTL", "t");
    CMD(db, ":-2\r\n", "PTTL", "no such key");
    CMD(db, "+string\r\n", "TYPE", "k");
    CMD(db, ":0\r\n", "GETBIT", "k", "0");
    CHECK_INT(kevy_get(db, u("k"), 1, &buf), 1);
    kv_mutex_unlock(&db->engine->writer);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    kevy_close(db);
}

/* ---- EXPIRE ---- */

enum { LARGE = 2000000 };

static void check_large(KevyDb *db, const uint8_t *want)
{
    KevyBuf buf;
    REQUIRE_INT(kevy_get(db, u("large"), 5, &buf), 1);
    CHECK_INT(buf.len, LARGE);
    CHECK(memcmp(buf.ptr, want, LARGE) == 0);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
}

static uint64_t records_of(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    REQUIRE_INT(kevy_stats(db, &stats), 0);
    return stats.memory_records + stats.memory_dead + stats.log_size;
}

/* EXPIRE and PERSIST again and again, then an end of the value by the calendar,
 * which reads the same however long the rest takes. */
static void expire_often(KevyDb *db, const uint8_t *value)
{
    REQUIRE_INT(kevy_set(db, u("large"), 5, value, LARGE, 0), 0);
    uint64_t before = records_of(db);
    for (int i = 0; i < 50; i++) {
        CMD(db, ":1\r\n", "EXPIRE", "large", "1000");
        CMD(db, ":1\r\n", "PERSIST", "large");
    }
    CMD(db, ":1\r\n", "EXPIREAT", "large", "4000000000");
    CHECK(records_of(db) - before < (uint64_t)300000);
    check_large(db, value);
    CMD(db, ":4000000000\r\n", "EXPIRETIME", "large");
}

TEST(expire_of_a_large_value_writes_a_short_record)
{
    uint8_t *value = malloc(LARGE);
    REQUIRE(value != NULL);
    for (size_t i = 0; i < LARGE; i++) {
        value[i] = (uint8_t)(i * 7 + i / 251);
    }
    KevyDb *db = kevy_open_mem();
    expire_often(db, value);
    uint64_t with = records_of(db);
    CMD(db, ":1\r\n", "DEL", "large");
    REQUIRE_INT(set(db, "next", "append frees what nobody reads"), 0);
    CHECK(with - records_of(db) >= (uint64_t)LARGE);
    kevy_close(db);

    const char *dir = test_path("store");
    db = kevy_open(u(dir), strlen(dir));
    REQUIRE(db != NULL);
    expire_often(db, value);
    kevy_close(db);
    db = kevy_open(u(dir), strlen(dir));
    REQUIRE(db != NULL);
    check_large(db, value);
    CMD(db, ":1\r\n", "PERSIST", "large");
    CMD(db, "+OK\r\n", "SET", "large", "small");
    CMD(db, "$5\r\nsmall\r\n", "GET", "large");
    kevy_close(db);
    free(value);
}
