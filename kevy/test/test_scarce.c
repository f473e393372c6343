/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every public function that takes memory, with each of its allocations failing
 * once, in memory and in files: the call fails or does without, fills nothing
 * in, and leaves the store sound and with the same keys; repeated it succeeds.
 * Single commands are in test_cmd_failure.c and test_writes.c.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "testing/harness.h"

enum { KEYS = 300, VALUE_SIZE = 2000, CALLS_MAX = 2000 };

static struct {
    size_t left; /* allocations before one fails */
    bool has_failed;
} memory;

static void *scarce_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    if (new_size > old_size && memory.left == 0 && !memory.has_failed) {
        memory.has_failed = true;
        return NULL;
    }
    memory.left -= new_size > old_size && memory.left > 0;
    return kv_mem_libc.resize(kv_mem_libc.self, ptr, old_size, new_size);
}

static kevy_mem buffers_table;

/* The buffers that are handed out come from a table of their own. */
static void *scarce_buffers(void *self, void *ptr, size_t old_size, size_t new_size)
{
    if (new_size != 0 && memory.left == 0 && !memory.has_failed) {
        memory.has_failed = true;
        return NULL;
    }
    memory.left -= new_size != 0 && memory.left > 0;
    return buffers_table.resize(self, ptr, old_size, new_size);
}

static void memory_is_ample(void)
{
    memory.left = SIZE_MAX;
    memory.has_failed = false;
}

/* ---- A store with keys, some of them superseded ---- */

struct place {
    const char *dir; /* NULL: in memory */
    KevyDb *db;
};

static const uint8_t *key_of(size_t index, size_t *size)
{
    static char names[KEYS][8];
    *size = (size_t)snprintf(names[index], sizeof names[index], "k%zu", index);
    return (const uint8_t *)names[index];
}

/* Nothing here is about durability. */
static int flush_nothing(void *self, int file)
{
    (void)self;
    (void)file;
    return 0;
}

static int open_again(struct place *place)
{
    static const KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    static const kevy_mem mem = {NULL, scarce_resize};
    static kevy_os os;
    struct kv_open open = {.options = &options, .os = &os, .mem = &mem, .is_threadless = true};
    os = kv_os_posix;
    os.file_flush = os.dir_flush = flush_nothing;
    if (place->dir != NULL) {
        open.dir = bytes_of(place->dir, strlen(place->dir));
        open.segment_size = (size_t)64 << 10;
    }
    return kv_engine_open(&open, &place->db, NULL);
}

static void fill(struct place *place)
{
    static uint8_t value[VALUE_SIZE];
    for (size_t i = 0; i < 2 * KEYS; i++) {
        size_t size;
        const uint8_t *key = key_of(i % KEYS, &size);
        value[0] = (uint8_t)i;
        value[VALUE_SIZE - 1] = (uint8_t)(i >> 8);
        REQUIRE_INT(kevy_set(place->db, key, size, value, VALUE_SIZE - i % 7, 0), 0);
    }
}

/* Writes many more keys and deletes two of three: segments with holes. */
static void leave_holes(struct place *place)
{
    static const uint8_t value[VALUE_SIZE];
    for (size_t i = 0, count = place->dir == NULL ? 6000 : 1500; i < count; i++) {
        char name[8];
        int size = snprintf(name, sizeof name, "x%zu", i);
        KevyBuf out;
        const uint8_t *del[] = {(const uint8_t *)"DEL", (const uint8_t *)name};
        size_t sizes[] = {3, (size_t)size};
        REQUIRE_INT(kevy_set(place->db, del[1], sizes[1], value, sizeof value, 0), 0);
        if (i % 3 != 0) {
            REQUIRE_INT(kevy_cmd(place->db, 2, del, sizes, &out), 0);
            kevy_buf_free(out.ptr, out.len, out.cap);
        }
    }
}

static bool is_whole(const struct place *place)
{
    bool is_good = true;
    for (size_t i = 0; i < KEYS; i++) {
        uint8_t value[VALUE_SIZE];
        size_t size, len, wrote = KEYS + i;
        const uint8_t *key = key_of(i, &size);
        is_good = kevy_get_into(place->db, key, size, value, sizeof value, &len) == 1 &&
                  len == VALUE_SIZE - wrote % 7 && value[0] == (uint8_t)wrote && is_good;
    }
    struct kv_engine *engine = place->db->engine;
    kv_mutex_lock(&engine->writer);
    is_good = kv_keyspace_verify(&engine->keyspace) && kv_log_verify(engine->log) && is_good;
    kv_mutex_unlock(&engine->writer);
    return is_good;
}

/* ---- What is done ---- */

static const uint8_t *text(const char *string)
{
    return (const uint8_t *)string;
}

static int do_open(struct place *place)
{
    kevy_close(place->db);
    place->db = NULL;
    return open_again(place);
}

static int do_compact(struct place *place)
{
    return kevy_compact(place->db);
}

static int is_filled(int64_t status, const KevyBuf *buf)
{
    CHECK(status >= 0 || (buf->ptr == NULL && buf->len == 0 && buf->cap == 0));
    kevy_buf_free(buf->ptr, buf->len, buf->cap);
    return status < 0 ? (int)status : 0;
}

static int do_get(struct place *place)
{
    KevyBuf out;
    return is_filled(kevy_get(place->db, text("k7"), 2, &out), &out);
}

static int do_view(struct place *place)
{
    KevyBuf out[3];
    int status = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t size;
        const uint8_t *key = key_of(i * 100, &size);
        int32_t hit = kevy_get_shared(place->db, key, size, &out[i]);
        status = hit < 0 ? hit : status;
    }
    for (size_t i = 0; i < 3; i++) {
        kevy_buf_free_shared(out[i].ptr, out[i].len, out[i].cap);
    }
    return status;
}

static int do_get_many(struct place *place)
{
    const uint8_t *keys[KEYS];
    size_t sizes[KEYS];
    KevyBuf out;
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = key_of(i, &sizes[i]);
    }
    return is_filled(kevy_get_many(place->db, KEYS, keys, sizes, &out), &out);
}

static int do_command(struct place *place)
{
    const uint8_t *argv[40];
    size_t sizes[40];
    KevyBuf out;
    for (size_t i = 0; i < 40; i++) {
        argv[i] = key_of(i, &sizes[i]);
    }
    argv[0] = text("MGET");
    sizes[0] = 4;
    int status = kevy_cmd(place->db, 40, argv, sizes, &out);
    bool is_refused = status == 0 && out.ptr[0] == '-';
    return is_filled(status, &out) < 0 || is_refused ? -2 : 0;
}

static void hear(void *user, const KevyChange *change)
{
    (void)change;
    ++*(int *)user;
}

static int do_listen(struct place *place)
{
    int heard = 0;
    int64_t listener = kevy_listen(place->db, hear, &heard);
    if (listener > 0) {
        CHECK_INT(kevy_unlisten(place->db, listener), 0);
    }
    return listener > 0 ? 0 : (int)listener;
}

static int do_bus(struct place *place)
{
    KevyBuf out = {NULL, 0, 0};
    uint32_t count = 0;
    KevySub *sub = kevy_subscribe(place->db, text("news"), 4);
    int64_t status = sub == NULL ? -2 : kevy_sub_add(sub, text("n*"), 2, 1);
    if (status == 0) {
        status = kevy_publish(place->db, text("news"), 4, text("hello"), 5);
    }
    if (status > 0) {
        status = kevy_sub_wait_batch(sub, 1, KEVY_BATCH_NOWAIT, 0, &out, &count, NULL);
        CHECK(status <= 0 || count > 0);
    }
    int result = is_filled(status, &out);
    kevy_sub_close(sub);
    return result;
}

static int do_policy(struct place *place)
{
    int status = kevy_set_maxmemory(place->db, (uint64_t)1 << 30, KEVY_EVICT_ALLKEYS_LFU);
    CHECK_INT(kevy_set_maxmemory(place->db, 0, KEVY_EVICT_NONE), 0);
    return status;
}

static const struct {
    const char *name;
    int (*run)(struct place *place);
    bool has_it_in_memory;
} acts[] = {{"kevy_open", do_open, false},
            {"kevy_compact", do_compact, true},
            {"kevy_get", do_get, true},
            {"kevy_get_shared", do_view, true},
            {"kevy_get_many", do_get_many, true},
            {"kevy_cmd", do_command, true},
            {"kevy_listen", do_listen, true},
            {"kevy_subscribe", do_bus, true},
            {"kevy_set_maxmemory", do_policy, true}};

/* Runs an act with its n-th allocation failing, for every n. */
static void every_allocation_fails(size_t act, struct place *place)
{
    size_t n = 0, failures = 0;
    for (bool goes_on = true; goes_on && n < CALLS_MAX; n++) {
        if (acts[act].run == do_compact) {
            leave_holes(place);
        }
        memory.left = n;
        int status = acts[act].run(place);
        goes_on = memory.has_failed;
        failures += status < 0;
        memory_is_ample();
        bool is_good = CHECK(status == 0 || goes_on);
        if (place->db == NULL) {
            is_good = CHECK_INT(open_again(place), 0) && is_good;
        }
        is_good = CHECK(is_whole(place)) && is_good;
        is_good = CHECK_INT(acts[act].run(place), 0) && is_good;
        if (!is_good) {
            printf("    %s, allocation %zu\n", acts[act].name, n);
        }
    }
    CHECK(n > 1 && n < CALLS_MAX);
    printf("    %s: %zu allocations, %zu times it failed\n", acts[act].name, n - 1, failures);
}

static void all_acts(const char *dir)
{
    struct place place = {dir, NULL};
    buffers_table = kv_mem_buffers.table;
    kv_mem_buffers.table.resize = scarce_buffers;
    memory_is_ample();
    for (size_t act = 0; act < sizeof acts / sizeof *acts; act++) {
        if (dir == NULL && !acts[act].has_it_in_memory) {
            continue;
        }
        REQUIRE_INT(open_again(&place), 0);
        fill(&place);
        every_allocation_fails(act, &place);
        kevy_close(place.db);
        if (dir != NULL) {
            CHECK_INT(kevy_destroy((const uint8_t *)dir, strlen(dir), NULL), 0);
        }
    }
    kv_mem_buffers.table = buffers_table;
}

TEST_LIMIT(every_allocation_fails_once_in_memory, 60)
{
    all_acts(NULL);
}

TEST_LIMIT(every_allocation_fails_once_in_files, 120)
{
    all_acts(test_dir());
}
