/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Flushing a database of any size: one record and a change of pointers under
 * the lock, the rest in steps between which others write, and collection may
 * move what is not yet retired. What was flushed never comes back, and what it
 * took is given back.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "kevy/src/keyspace/drop.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/fake_journal.h"
#include "testing/harness.h"

static struct bytes name_of(char out[16], const char *prefix, size_t number)
{
    return bytes_of(out, (size_t)snprintf(out, 16, "%s%zu", prefix, number));
}

/* ---- The keyspace alone ---- */

struct world {
    struct fake_journal journal;
    struct kv_keyspace ks;
    struct kv_clock clock;
    size_t used; /* by the journal itself */
};

static void world_init(struct world *world)
{
    fake_journal_init(&world->journal);
    world->used = world->journal.mem.used;
    kv_clock_init(&world->clock, &kv_os_posix);
    kv_keyspace_init(&world->ks, &world->journal.mem, &world->journal.space, &world->journal.table,
                     &world->clock, test_seed());
}

static void world_done(struct world *world)
{
    CHECK(kv_keyspace_verify(&world->ks));
    kv_keyspace_done(&world->ks);
    CHECK_INT(world->journal.mem.used, world->used);
    fake_journal_done(&world->journal);
}

static void fill(struct world *world, size_t count)
{
    char name[16];
    for (size_t i = 0; i < count; i++) {
        struct kv_pair pair = {name_of(name, "k", i), BYTES_LITERAL("value"), 0};
        REQUIRE_INT(kv_keyspace_put(&world->ks, 0, &pair, 1), 0);
    }
}

TEST(a_flush_retires_nothing_and_each_step_little)
{
    enum { COUNT = 20000, STEP_MAX = 1100 };
    struct world world;
    struct kv_database *empty = NULL;
    world_init(&world);
    fill(&world, COUNT);
    size_t records = world.journal.records, steps = 0;
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), 0);
    CHECK_INT(world.journal.records, records + 1);
    CHECK_INT(world.journal.retired, 0);
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 0);
    CHECK(kv_keyspace_memory(&world.ks) > COUNT * 4);
    while (empty == NULL) {
        size_t before = world.journal.retired;
        REQUIRE(kv_keyspace_drop_step(&world.ks, &empty));
        CHECK(world.journal.retired - before <= STEP_MAX);
        steps++;
    }
    CHECK(steps >= COUNT / STEP_MAX);
    CHECK_INT(world.journal.retired, COUNT);
    CHECK_INT(kv_keyspace_memory(&world.ks), 0);
    kv_database_free(&world.ks, empty);
    CHECK(!kv_keyspace_drop_step(&world.ks, &empty) && empty == NULL);
    world_done(&world);
}

static uint32_t ref_of(struct world *world, const char *name)
{
    struct kv_key key =
        kv_table_key(&kv_database_of(&world->ks, 0)->table, bytes_of(name, strlen(name)));
    return kv_table_find(&kv_database_of(&world->ks, 0)->table, key);
}

/* A record that was flushed is still one to be moved until it is retired. */
TEST(collection_moves_what_is_not_yet_retired)
{
    struct world world;
    world_init(&world);
    fill(&world, 100);
    uint32_t old_ref = ref_of(&world, "k7");
    struct kv_draft again = {.type = KV_RECORD_VALUE,
                             .namespace_id = world.ks.namespaces[0],
                             .key = BYTES_LITERAL("k7"),
                             .value = BYTES_LITERAL("value")};
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), 0);
    REQUIRE_INT(world.journal.table.append(world.journal.table.self, &again, 1), 0);
    CHECK_INT(kv_keyspace_move(&world.ks, old_ref, again.ref), 1);
    CHECK_INT(kv_keyspace_move(&world.ks, old_ref, again.ref), 0);
    kv_keyspace_drop_all(&world.ks);
    CHECK_INT(world.journal.retired, 100);
    CHECK_INT(kv_keyspace_move(&world.ks, again.ref, again.ref), 0);
    world_done(&world);
}

/* What a step has retired is none to be moved, or it would be retired twice. */
TEST(collection_leaves_what_is_retired)
{
    enum { COUNT = 5000 };
    static uint32_t refs[COUNT];
    struct world world;
    struct kv_database *empty;
    size_t movable = 0;
    world_init(&world);
    fill(&world, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char name[16];
        (void)name_of(name, "k", i);
        refs[i] = ref_of(&world, name);
    }
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), 0);
    CHECK(kv_keyspace_drop_step(&world.ks, &empty) && empty == NULL);
    for (size_t i = 0; i < COUNT; i++) {
        movable += kv_keyspace_move(&world.ks, refs[i], refs[i]) == 1;
    }
    CHECK(world.journal.retired > 0);
    CHECK_INT(movable, COUNT - world.journal.retired);
    kv_keyspace_drop_all(&world.ks);
    CHECK_INT(world.journal.retired, COUNT);
    world_done(&world);
}

/* ---- A whole store ---- */

static KevyDb *open_store(const char *dir)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyDb *db = NULL;
    struct kv_open open = {.options = &options, .os = &kv_os_posix, .mem = &kv_mem_libc};
    if (dir != NULL) {
        open.dir = bytes_of(dir, strlen(dir));
        open.segment_size = (size_t)64 << 10;
    }
    REQUIRE_INT(kv_engine_open(&open, &db, NULL), 0);
    return db;
}

static void run(KevyDb *db, const char *command)
{
    const uint8_t *argv = (const uint8_t *)command;
    size_t size = strlen(command);
    KevyBuf reply;
    REQUIRE_INT(kevy_cmd(db, 1, &argv, &size, &reply), 0);
    CHECK(reply.len > 0 && reply.ptr[0] == '+');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

static void put(KevyDb *db, const char *prefix, size_t number)
{
    static const uint8_t value[40] = "forty bytes";
    char name[16];
    struct bytes key = name_of(name, prefix, number);
    CHECK_INT(kevy_set(db, key.data, key.size, value, sizeof value, number % 3 == 0 ? 100000 : 0),
              0);
}

static void is_sound(KevyDb *db)
{
    struct kv_engine *engine = db->engine;
    kv_mutex_lock(&engine->writer);
    CHECK(engine->keyspace.dropped == NULL);
    CHECK(kv_keyspace_verify(&engine->keyspace) && kv_log_verify(engine->log));
    kv_mutex_unlock(&engine->writer);
}

static uint64_t keys_of(KevyDb *db)
{
    KevyStats stats = {.size = sizeof stats};
    CHECK_INT(kevy_stats(db, &stats), 0);
    return stats.keys;
}

static void flush_gives_back(const char *dir)
{
    KevyDb *db = open_store(dir);
    KevyStats before = {.size = sizeof before}, after = {.size = sizeof after};
    put(db, "first", 0);
    run(db, "FLUSHALL");
    CHECK_INT(kevy_stats(db, &before), 0);
    for (size_t i = 0; i < 5000; i++) {
        put(db, "k", i);
    }
    run(db, "FLUSHALL");
    CHECK_INT(kevy_stats(db, &after), 0);
    CHECK_INT(after.keys, 0);
    CHECK_INT(after.memory_records, before.memory_records);
    CHECK_INT(after.memory_table, before.memory_table);
    CHECK_INT(kevy_compact(db), 0);
    is_sound(db);
    kevy_close(db);
}

TEST(what_a_flush_frees_is_given_back_in_memory)
{
    flush_gives_back(NULL);
}

TEST(what_a_flush_frees_is_given_back_in_files)
{
    flush_gives_back(test_dir());
}

struct racer {
    KevyDb *db;
    _Atomic bool stops;
};

static void *race_set(void *user)
{
    struct racer *racer = user;
    for (size_t i = 0; !racer->stops; i++) {
        put(racer->db, "x", i % 500);
    }
    return NULL;
}

static void *race_flush(void *user)
{
    struct racer *racer = user;
    for (size_t i = 0; !racer->stops; i++) {
        run(racer->db, i % 2 == 0 ? "FLUSHALL" : "FLUSHDB");
        CHECK_INT(i % 5 == 0 ? kevy_compact(racer->db) : 0, 0);
    }
    return NULL;
}

/* Two threads flush while two write, and the collector moves. */
static void flushes_race(const char *dir)
{
    struct racer racer = {open_store(dir), false};
    pthread_t threads[3];
    REQUIRE_INT(pthread_create(&threads[0], NULL, race_set, &racer), 0);
    REQUIRE_INT(pthread_create(&threads[1], NULL, race_flush, &racer), 0);
    REQUIRE_INT(pthread_create(&threads[2], NULL, race_flush, &racer), 0);
    for (size_t i = 0; i < test_scale(60000); i++) {
        put(racer.db, "k", i);
    }
    racer.stops = true;
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    }
    is_sound(racer.db);
    put(racer.db, "last", 1);
    uint64_t keys = keys_of(racer.db);
    kevy_close(racer.db);
    if (dir != NULL) {
        racer.db = open_store(dir);
        CHECK_INT(keys_of(racer.db), keys);
        is_sound(racer.db);
        run(racer.db, "FLUSHALL");
        kevy_close(racer.db);
        racer.db = open_store(dir);
        CHECK_INT(keys_of(racer.db), 0);
        kevy_close(racer.db);
    }
}

TEST_LIMIT(flushes_race_writers_in_memory, 60)
{
    flushes_race(NULL);
}

TEST_LIMIT(flushes_race_writers_in_files, 60)
{
    flushes_race(test_dir());
}
