/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The store with some of everything; see index_kit.h. Values follow from their
 * key and salt; what a fill leaves is the same for the same salt, so two stores
 * that were filled alike read alike.
 */
#include "kevy/test/index_kit.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "kevy/src/log/log_inside.h"
#include "testing/harness.h"

enum { VALUE_MAX = 20000, KEY_MAX = 24 };

void index_world_init(struct index_world *world)
{
    *world = (struct index_world){.crash = crash_os_new(test_seed()), .mem = &kv_mem_libc};
}

void index_world_done(struct index_world *world)
{
    crash_os_free(world->crash);
}

int index_open(struct index_world *world)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(world->crash),
                           .mem = world->mem,
                           .segment_size = KV_SEGMENT_SIZE_MIN,
                           .is_threadless = true};
    world->report = (KevyOpenReport){0};
    int status = kv_engine_open(&open, &world->db, &world->error);
    if (status == 0) {
        REQUIRE_INT(kevy_open_report(world->db, &world->report), 0);
    }
    return status;
}

void index_close(struct index_world *world)
{
    crash_os_pass(world->crash, 100);
    kevy_close(world->db);
    world->db = NULL;
    crash_os_pass(world->crash, 100);
}

void index_kill(struct index_world *world)
{
    crash_os_fault(world->crash, CRASH_DEAD, 0, 1);
    kevy_close(world->db);
    world->db = NULL;
    crash_os_kill(world->crash);
}

/* ---- Writing ---- */

static size_t key_name(unsigned key, char out[KEY_MAX])
{
    return (size_t)snprintf(out, KEY_MAX, "key:%u", key);
}

static void run(struct index_world *world, size_t count, const char *const *words)
{
    const uint8_t *argv[4];
    size_t sizes[4];
    KevyBuf reply;
    for (size_t i = 0; i < count; i++) {
        argv[i] = (const uint8_t *)words[i];
        sizes[i] = strlen(words[i]);
    }
    REQUIRE_INT(kevy_cmd(world->db, count, argv, sizes, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

static void set_expiring(struct index_world *world, unsigned key, unsigned salt, size_t size,
                         uint64_t ttl_ms)
{
    static uint8_t value[VALUE_MAX];
    char name[KEY_MAX];
    size_t name_size = key_name(key, name);
    REQUIRE(size <= VALUE_MAX);
    for (size_t i = 0; i < size; i++) {
        value[i] = (uint8_t)(key * 7 + salt * 31 + i);
    }
    REQUIRE_INT(kevy_set(world->db, (const uint8_t *)name, name_size, value, size, ttl_ms), 0);
}

void index_set(struct index_world *world, unsigned key, unsigned salt, size_t size)
{
    set_expiring(world, key, salt, size, 0);
}

void index_delete(struct index_world *world, unsigned key)
{
    char name[KEY_MAX];
    (void)key_name(key, name);
    const char *const words[] = {"DEL", name};
    run(world, 2, words);
}

/* Keys 100 to 139 in one batch, which goes into an extent of its own. */
static void set_batch(struct index_world *world, unsigned salt)
{
    enum { COUNT = 40, SIZE = 300 };
    static uint8_t values[COUNT][SIZE];
    static char names[COUNT][KEY_MAX];
    const uint8_t *keys[COUNT], *data[COUNT];
    size_t key_sizes[COUNT], sizes[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        memset(values[i], (int)(salt + i), SIZE);
        key_sizes[i] = key_name(100 + i, names[i]);
        keys[i] = (const uint8_t *)names[i];
        data[i] = values[i];
        sizes[i] = SIZE;
    }
    REQUIRE_INT(kevy_set_many(world->db, COUNT, keys, key_sizes, data, sizes), 0);
}

void index_fill(struct index_world *world, unsigned salt)
{
    static const char *const swap[] = {"SWAPDB", "0", "1"};
    static const char *const flush[] = {"FLUSHDB"};
    for (unsigned key = 0; key < 20; key++) {
        index_set(world, key, salt, 200);
    }
    run(world, 1, flush);
    for (unsigned key = 0; key < 30; key++) {
        index_set(world, key, salt + 1, 100);
    }
    run(world, 3, swap);
    for (unsigned key = 0; key < 100; key++) {
        index_set(world, key, salt + 2, 20 + key * 5);
        if (key % 9 == 0) {
            index_set(world, key, salt + 3, VALUE_MAX - key);
        }
        if (key % 7 == 0) {
            set_expiring(world, key, salt + 4, 30, 1000000 + key);
        }
    }
    set_batch(world, salt);
    for (unsigned key = 3; key < 135; key += 11) {
        index_delete(world, key);
    }
    REQUIRE_INT(kevy_sync(world->db), 0);
}

/* ---- Reading ---- */

static uint64_t mix_key(struct kv_keyspace *ks, uint32_t db, unsigned key, uint64_t hash)
{
    char name[KEY_MAX];
    size_t size = key_name(key, name);
    struct kv_item item = {0};
    if (kv_keyspace_find(ks, db, bytes_of(name, size), &item) == 1) {
        hash = hash_bytes(item.value.data, item.value.size, hash + key);
        hash = hash_fold(hash ^ item.expiry_ms, HASH_K1);
    }
    return hash;
}

uint64_t index_read(struct index_world *world)
{
    struct kv_engine *engine = world->db->engine;
    struct kv_keyspace *ks = &engine->keyspace;
    uint64_t hash = 1;
    CHECK(kv_keyspace_verify(ks));
    CHECK(kv_log_verify(engine->log));
    for (uint32_t db = 0; db < 2; db++) {
        hash = hash_fold(hash ^ kv_keyspace_count(ks, db), HASH_K2);
        hash = hash_fold(hash ^ kv_keyspace_expiring(ks, db), HASH_K3);
        for (unsigned key = 0; key < INDEX_KEYS; key++) {
            hash = mix_key(ks, db, key, hash);
        }
    }
    return hash;
}

uint64_t index_notes(const struct index_world *world)
{
    const struct kv_engine *engine = world->db->engine;
    const struct kv_log *log = engine->log;
    const struct kv_segment *segment;
    uint64_t hash = log->live_size;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        uint64_t notes[] = {
            segment->slot,          segment->used,
            segment->live,          segment->last_lsn,
            segment->tombstone_lsn, segment->name_count,
            segment->named_by,      segment->tombstone_size,
            segment->first_lsn,     segment->named_in == NULL ? 0 : segment->named_in->slot + 1};
        hash = hash_bytes(notes, sizeof notes, hash);
    }
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        hash = hash_fold(hash ^ kv_keyspace_count(&engine->keyspace, db), HASH_K1);
        hash = hash_fold(hash ^ kv_keyspace_expiring(&engine->keyspace, db), HASH_K2);
        hash = hash_fold(hash ^ kv_keyspace_deadline(&engine->keyspace, db), HASH_K3);
    }
    return hash_fold(hash ^ log->lsn_end, log->used_size | 1);
}
