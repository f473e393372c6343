/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Many keys in one call: what comes back for each, misuse, missing memory, and
 * readers beside a writer that moves everything.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/engine/engine.h"
#include "testing/harness.h"

enum { KEY_COUNT = 1000, NAME_SIZE = 12 };

struct names {
    char text[KEY_COUNT][NAME_SIZE];
    const uint8_t *keys[KEY_COUNT];
    size_t sizes[KEY_COUNT];
};

static void names_init(struct names *names)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        int size = snprintf(names->text[i], NAME_SIZE, "key%zu", i);
        names->keys[i] = (const uint8_t *)names->text[i];
        names->sizes[i] = (size_t)size;
    }
}

/* The value of key i in round `round`: its size tells it, and so does each byte. */
static size_t value_of(size_t i, size_t round, uint8_t out[300])
{
    size_t size = (i + round) % 300;
    memset(out, (int)(size % 251), size);
    return size;
}

static void set_all(KevyDb *db, const struct names *names, size_t round)
{
    uint8_t value[300];
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (i % 7 != 3) {
            size_t size = value_of(i, round, value);
            CHECK_INT(kevy_set(db, names->keys[i], names->sizes[i], value, size, 0), 0);
        }
    }
}

TEST(every_key_comes_back_in_its_place)
{
    struct names *names = malloc(sizeof *names);
    KevyDb *db = kevy_open_mem();
    KevyBuf buf;
    REQUIRE(db != NULL && names != NULL);
    names_init(names);
    set_all(db, names, 0);
    for (size_t count = 0; count <= KEY_COUNT; count = count * 2 + 1) {
        int64_t hits = 0;
        size_t at = 0;
        int64_t got = kevy_get_many(db, count, names->keys, names->sizes, &buf);
        REQUIRE(buf.ptr != NULL && buf.len <= buf.cap);
        for (size_t i = 0; i < count; i++) {
            uint8_t value[300];
            size_t size = value_of(i, 0, value);
            uint32_t got_size = load_u32(buf.ptr + at);
            at += 4;
            if (i % 7 == 3) {
                CHECK(got_size == KEVY_MISSING);
                continue;
            }
            hits++;
            CHECK_BYTES(buf.ptr + at, got_size, value, size);
            at += got_size;
        }
        CHECK_INT(at, buf.len);
        CHECK_INT(got, hits);
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    }
    kevy_close(db);
    free(names);
}

TEST(misuse_of_get_many_is_a_number)
{
    KevyDb *db = kevy_open_mem();
    const uint8_t *keys[2] = {(const uint8_t *)"a", NULL};
    size_t sizes[2] = {1, 1};
    KevyBuf buf = {(uint8_t *)1, 1, 1};
    CHECK_INT(kevy_get_many(db, 2, keys, sizes, &buf), -1);
    CHECK(buf.ptr == NULL && buf.len == 0 && buf.cap == 0);
    CHECK_INT(kevy_get_many(db, 1, NULL, sizes, &buf), -1);
    CHECK_INT(kevy_get_many(db, 1, keys, NULL, &buf), -1);
    CHECK_INT(kevy_get_many(db, 1, keys, sizes, NULL), -1);
    CHECK_INT(kevy_get_many(NULL, 1, keys, sizes, &buf), -1);
    sizes[1] = 0;
    CHECK_INT(kevy_get_many(db, 2, keys, sizes, &buf), 0);
    CHECK_BYTES(buf.ptr, buf.len, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    CHECK_INT(kevy_get_many(db, 0, NULL, NULL, &buf), 0);
    CHECK(buf.ptr != NULL && buf.len == 0);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    kevy_close(db);
}

/* ---- Without memory ---- */

static kevy_mem buffers;

static void *failing_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    size_t *left = self;
    if (new_size > 0 && (*left)-- == 0) {
        *left = 0;
        return NULL;
    }
    return buffers.resize(buffers.self, ptr, old_size, new_size);
}

TEST(without_memory_nothing_comes_back)
{
    static struct names names;
    KevyDb *db = kevy_open_mem();
    KevyBuf buf;
    names_init(&names);
    set_all(db, &names, 0);
    size_t failures = 0;
    buffers = kv_mem_buffers.table;
    for (;; failures++) {
        size_t left = failures;
        kv_mem_buffers.table = (kevy_mem){&left, failing_resize};
        int64_t got = kevy_get_many(db, KEY_COUNT, names.keys, names.sizes, &buf);
        kv_mem_buffers.table = buffers;
        if (got >= 0) {
            break;
        }
        CHECK_INT(got, -2);
        CHECK(buf.ptr == NULL && buf.len == 0 && buf.cap == 0);
    }
    CHECK(failures > 0 && failures < 20);
    kevy_buf_free(buf.ptr, buf.len, buf.cap);
    kevy_close(db);
}

/* ---- Beside a writer ---- */

struct shared {
    KevyDb *db;
    struct names names;
    _Atomic int is_going;
    _Atomic unsigned wrong;
};

static void *read_many(void *user)
{
    struct shared *shared = user;
    while (atomic_load(&shared->is_going)) {
        KevyBuf buf;
        int64_t got =
            kevy_get_many(shared->db, KEY_COUNT, shared->names.keys, shared->names.sizes, &buf);
        size_t at = 0;
        unsigned wrong = got < (int64_t)(KEY_COUNT - KEY_COUNT / 7 - 1);
        while (got >= 0 && at < buf.len) {
            uint32_t size = load_u32(buf.ptr + at);
            at += 4;
            for (uint32_t i = 0; size != KEVY_MISSING && i < size; i++) {
                wrong += buf.ptr[at + i] != size % 251;
            }
            at += size == KEVY_MISSING ? 0 : size;
        }
        atomic_fetch_add(&shared->wrong, wrong + (at != buf.len));
        kevy_buf_free(buf.ptr, buf.len, buf.cap);
    }
    return NULL;
}

TEST_LIMIT(values_are_whole_beside_a_writer, 120)
{
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_t threads[2];
    REQUIRE(shared != NULL);
    shared->db = kevy_open_mem();
    shared->is_going = 1;
    names_init(&shared->names);
    set_all(shared->db, &shared->names, 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE_INT(pthread_create(&threads[i], NULL, read_many, shared), 0);
    }
    for (size_t round = 1; round < test_scale(200); round++) {
        set_all(shared->db, &shared->names, round);
    }
    atomic_store(&shared->is_going, 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT(shared->wrong, 0);
    kevy_close(shared->db);
    free(shared);
}
