/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Why a call that returned -2 could not do it: kevy_last_status. And a table of
 * descriptors that is full, in a real process.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kevy.h"
#include "kevy/src/mem/buffers.h"
#include "kevy/src/os/os_thread.h"
#include "testing/harness.h"

static const uint8_t *text(const char *string)
{
    return (const uint8_t *)string;
}

static int32_t set(KevyDb *db, const char *key, const char *value)
{
    return kevy_set(db, text(key), strlen(key), text(value), strlen(value), 0);
}

static void status_of_another_thread(void *user)
{
    *(int32_t *)user = kevy_last_status();
}

TEST(status_of_each_failure_is_the_threads_own)
{
    int32_t other = 1;
    struct kv_thread thread;
    KevyDb *db = kevy_open_mem();
    REQUIRE(db != NULL);
    CHECK_INT(kevy_last_status(), KEVY_OK);
    CHECK_INT(kevy_set(db, text("k"), 1, text("v"), KEVY_SIZE_MAX + 1, 0), -2);
    CHECK_INT(kevy_last_status(), KEVY_ELIMIT);
    CHECK_INT(set(db, "k", "v"), 0);
    CHECK_INT(set(NULL, "k", "v"), -1);
    CHECK_INT(kevy_last_status(), KEVY_ELIMIT);
    REQUIRE_INT(kv_thread_start(&thread, status_of_another_thread, &other), 0);
    kv_thread_join(&thread);
    CHECK_INT(other, KEVY_OK);
    CHECK_INT(kevy_set_maxmemory(db, 1, KEVY_EVICT_NONE), 0);
    CHECK_INT(set(db, "k", "v"), -2);
    CHECK_INT(kevy_last_status(), KEVY_EMEMORY);
    CHECK(kevy_open(text(""), 0) == NULL);
    CHECK_INT(kevy_last_status(), KEVY_EPATH);
    CHECK(kevy_subscribe(db, text("c"), KEVY_SIZE_MAX + 1) == NULL);
    CHECK_INT(kevy_last_status(), KEVY_ELIMIT);
    CHECK_INT(kevy_shutdown(db), 0);
    CHECK_INT(set(db, "k", "v"), -2);
    CHECK_INT(kevy_last_status(), KEVY_ECLOSED);
    kevy_close(db);
}

/* A command answers with text; the status behind it is told as well. */
TEST(status_of_a_command_that_the_store_refused)
{
    KevyBuf out;
    KevyDb *db = kevy_open_mem();
    const uint8_t *argv[] = {text("SET"), text("k"), text("v")};
    const size_t sizes[] = {3, 1, 1};
    REQUIRE(db != NULL);
    CHECK_INT(kevy_set_maxmemory(db, 1, KEVY_EVICT_NONE), 0);
    REQUIRE_INT(kevy_cmd(db, 3, argv, sizes, &out), 0);
    CHECK_INT(out.ptr[0], '-');
    CHECK_INT(kevy_last_status(), KEVY_EMEMORY);
    kevy_buf_free(out.ptr, out.len, out.cap);
    CHECK_INT(kevy_shutdown(db), 0);
    REQUIRE_INT(kevy_cmd(db, 3, argv, sizes, &out), 0);
    CHECK_INT(kevy_last_status(), KEVY_ECLOSED);
    kevy_buf_free(out.ptr, out.len, out.cap);
    kevy_close(db);
}

/* Takes every descriptor that is left; returns the lowest of them. */
static int take_descriptors(void)
{
    int first = dup(0), last = first;
    while (last >= 0) {
        last = dup(0);
    }
    return first;
}

TEST(status_without_descriptors_heals)
{
    static uint8_t large[300 << 10];
    struct rlimit limit;
    const char *dir = test_dir();
    KevyDb *db = kevy_open(text(dir), strlen(dir));
    KevyError error;
    REQUIRE(db != NULL);
    REQUIRE_INT(set(db, "small", "1"), 0);
    REQUIRE_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 64;
    REQUIRE_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int first = take_descriptors();
    REQUIRE(first >= 0);
    CHECK_INT(kevy_set(db, text("large"), 5, large, sizeof large, 0), -2);
    CHECK_INT(kevy_last_status(), KEVY_EFILES);
    CHECK(strstr(kevy_status_text(KEVY_EFILES), "ulimit -n") != NULL);
    const uint8_t *argv[] = {text("SET"), text("large"), large};
    const size_t sizes[] = {3, 5, sizeof large};
    KevyBuf out;
    REQUIRE_INT(kevy_cmd(db, 3, argv, sizes, &out), 0);
    CHECK(memmem(out.ptr, out.len, "ulimit -n", 9) != NULL);
    kevy_buf_free(out.ptr, out.len, out.cap);
    CHECK_INT(set(db, "small", "2"), 0);
    KevyDb *other = NULL;
    CHECK_INT(kevy_open_ex(text("elsewhere"), 9, NULL, &other, &error), KEVY_EFILES);
    for (int file = first; file < 64; file++) {
        (void)close(file);
    }
    CHECK_INT(kevy_set(db, text("large"), 5, large, sizeof large, 0), 0);
    CHECK_INT(kevy_sync(db), 0);
    kevy_close(db);
}

/* ---- Freeing twice ---- */

#ifndef KEVY_HOSTILE /* there a tool sees it */
TEST(status_freeing_twice_gives_nobody_a_buffer_of_another)
{
    KevyBuf a, b, c;
    KevyDb *db = kevy_open_mem();
    REQUIRE(db != NULL && set(db, "k", "value") == 0 && set(db, "l", "other") == 0);
    for (int i = 0; i < 20; i++) {
        REQUIRE_INT(kevy_get(db, text("k"), 1, &a), 1);
        kevy_buf_free(a.ptr, a.len, a.cap);
        kevy_buf_free(a.ptr, a.len, a.cap);
        kevy_buf_free_shared(a.ptr, a.len, a.cap);
        REQUIRE_INT(kevy_get(db, text("k"), 1, &b), 1);
        REQUIRE_INT(kevy_get(db, text("l"), 1, &c), 1);
        CHECK(b.ptr != c.ptr);
        CHECK(memcmp(b.ptr, "value", 5) == 0 && memcmp(c.ptr, "other", 5) == 0);
        kevy_buf_free(b.ptr, b.len, b.cap);
        kevy_buf_free(c.ptr, c.len, c.cap);
    }
    kevy_close(db);
}
#endif
