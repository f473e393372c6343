/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The keyspace over a journal that lies: writes that fail leave no trace,
 * expiry is exact, databases flush and swap, replay rebuilds the same keys.
 */
#include <stdio.h>

#include "kevy.h"
#include "kevy/src/keyspace/drop.h"
#include "kevy/src/keyspace/peek.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/fake_journal.h"
#include "testing/harness.h"

struct world {
    struct fake_journal journal;
    struct kv_keyspace ks;
    struct kv_clock clock;
    kevy_os os;
    uint64_t now_ms;
};

static uint64_t world_wall(void *self)
{
    return ((struct world *)self)->now_ms;
}

static uint64_t world_boot(void *self)
{
    return ((struct world *)self)->now_ms * 1000000;
}

static void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
    fake_journal_init(&world->journal);
    world->os = kv_os_posix;
    world->os.self = world;
    world->os.wall_ms = world_wall;
    world->os.boot_ns = world_boot;
    world->now_ms = 1000;
    kv_clock_init(&world->clock, &world->os);
    kv_keyspace_init(&world->ks, &world->journal.mem, &world->journal.space, &world->journal.table,
                     &world->clock, test_seed());
}

static void world_done(struct world *world)
{
    CHECK(kv_keyspace_verify(&world->ks));
    kv_keyspace_done(&world->ks);
    fake_journal_done(&world->journal);
}

static struct bytes text(const char *string)
{
    return bytes_of(string, strlen(string));
}

static int set(struct world *world, uint32_t db, const char *key, const char *value,
               uint64_t expiry_ms)
{
    struct kv_pair pair = {text(key), text(value), expiry_ms};
    return kv_keyspace_put(&world->ks, db, &pair, 1);
}

/* Checks that a key has this value, or, with NULL, that it is missing. */
static void check_value(struct world *world, uint32_t db, const char *key, const char *want)
{
    struct kv_item item;
    int hit = kv_keyspace_find(&world->ks, db, text(key), &item);
    CHECK_INT(hit, want != NULL);
    if (hit && want != NULL) {
        CHECK_BYTES(item.value.data, item.value.size, want, strlen(want));
    }
}

static int64_t del(struct world *world, uint32_t db, const char *key)
{
    struct bytes name = text(key);
    return kv_keyspace_remove(&world->ks, db, &name, 1);
}

TEST(put_find_remove)
{
    struct world world;
    world_init(&world);
    CHECK_INT(set(&world, 0, "a", "1", 0), 0);
    CHECK_INT(set(&world, 3, "a", "other database", 0), 0);
    CHECK_INT(set(&world, 0, "a", "2", 0), 0);
    check_value(&world, 0, "a", "2");
    check_value(&world, 3, "a", "other database");
    CHECK_INT(world.journal.retired, 1);
    CHECK_INT(del(&world, 0, "a"), 1);
    CHECK_INT(del(&world, 0, "a"), 0);
    check_value(&world, 0, "a", NULL);
    CHECK_INT(world.journal.retired, 2);
    world_done(&world);
}

TEST(one_append_for_many_pairs_and_the_last_of_a_key_wins)
{
    struct world world;
    world_init(&world);
    struct kv_pair pairs[20];
    for (unsigned i = 0; i < 20; i++) {
        pairs[i] = (struct kv_pair){text(i % 2 == 0 ? "even" : "odd"), text("0123456789"), 0};
        pairs[i].value.size = i / 2 + 1;
    }
    CHECK_INT(kv_keyspace_put(&world.ks, 0, pairs, 20), 0);
    CHECK_INT(world.journal.appends, 1);
    CHECK_INT(world.journal.records, 20);
    CHECK_INT(world.journal.retired, 18);
    check_value(&world, 0, "even", "0123456789");
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 2);
    struct bytes keys[3] = {text("odd"), text("none"), text("odd")};
    CHECK_INT(kv_keyspace_remove(&world.ks, 0, keys, 3), 1);
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 1);
    world_done(&world);
}

TEST(a_failed_journal_leaves_no_trace)
{
    struct world world;
    world_init(&world);
    CHECK_INT(set(&world, 0, "a", "1", 5000), 0);
    world.journal.fail_with = KEVY_ENOSPC;
    CHECK_INT(set(&world, 0, "a", "2", 0), KEVY_ENOSPC);
    CHECK_INT(set(&world, 0, "b", "2", 0), KEVY_ENOSPC);
    CHECK_INT(del(&world, 0, "a"), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_expire(&world.ks, 0, text("a"), 9000), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_expire(&world.ks, 0, text("a"), 1), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_rename(&world.ks, 0, text("a"), 0, text("b")), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_flush_all(&world.ks), KEVY_ENOSPC);
    CHECK_INT(kv_keyspace_swap(&world.ks, 0, 1), KEVY_ENOSPC);
    check_value(&world, 0, "a", "1");
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 1);
    CHECK_INT(kv_keyspace_expiring(&world.ks, 0), 1);
    CHECK_INT(world.ks.changes, 1);
    world.journal.fail_with = 0;
    CHECK_INT(set(&world, 0, "b", "2", 0), 0);
    world_done(&world);
}

TEST(an_expiry_is_exact)
{
    struct world world;
    world_init(&world);
    struct bytes found;
    CHECK_INT(set(&world, 0, "a", "1", 1500), 0);
    world.now_ms = 1499;
    check_value(&world, 0, "a", "1");
    world.now_ms = 1500;
    check_value(&world, 0, "a", NULL);
    CHECK_INT(kv_keyspace_expire(&world.ks, 0, text("a"), 9000), 0);
    CHECK_INT(kv_keyspace_rename(&world.ks, 0, text("a"), 0, text("b")), 0);
    CHECK_INT(kv_keyspace_random(&world.ks, 0, 7, &found), 0);
    CHECK_INT(del(&world, 0, "a"), 0);
    CHECK_INT(kv_keyspace_count(&world.ks, 0), 0);
    CHECK_INT(set(&world, 0, "a", "new", 0), 0);
    CHECK_INT(kv_keyspace_expire(&world.ks, 0, text("a"), 1500), 1);
    check_value(&world, 0, "a", NULL);
    world_done(&world);
}

TEST(expire_and_rename_keep_the_value)
{
    struct world world;
    struct kv_item item;
    world_init(&world);
    CHECK_INT(set(&world, 0, "a", "value", 0), 0);
    CHECK_INT(kv_keyspace_expire(&world.ks, 0, text("a"), 7000), 1);
    CHECK_INT(kv_keyspace_rename(&world.ks, 0, text("a"), 5, text("b")), 1);
    check_value(&world, 0, "a", NULL);
    REQUIRE_INT(kv_keyspace_find(&world.ks, 5, text("b"), &item), 1);
    CHECK_INT(item.expiry_ms, 7000);
    CHECK_BYTES(item.value.data, item.value.size, "value", 5);
    CHECK_INT(kv_keyspace_rename(&world.ks, 5, text("b"), 5, text("b")), 1);
    CHECK_INT(kv_keyspace_expire(&world.ks, 5, text("b"), 0), 1);
    CHECK_INT(kv_keyspace_expiring(&world.ks, 5), 0);
    world_done(&world);
}

TEST(flush_and_swap_are_one_record)
{
    struct world world;
    world_init(&world);
    for (unsigned i = 0; i < 100; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "k%u", i);
        CHECK_INT(set(&world, 0, name, "zero", 0), 0);
        CHECK_INT(set(&world, 1, name, "one", 9999), 0);
    }
    size_t records = world.journal.records;
    CHECK_INT(kv_keyspace_swap(&world.ks, 0, 1), 0);
    check_value(&world, 0, "k5", "one");
    check_value(&world, 1, "k5", "zero");
    CHECK_INT(kv_keyspace_expiring(&world.ks, 0), 100);
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), 0);
    check_value(&world, 0, "k5", NULL);
    check_value(&world, 1, "k5", "zero");
    CHECK_INT(kv_keyspace_flush(&world.ks, 7), 0);
    CHECK_INT(kv_keyspace_flush_all(&world.ks), 0);
    CHECK_INT(world.journal.records, records + 3);
    CHECK_INT(kv_keyspace_count(&world.ks, 1), 0);
    CHECK_INT(world.journal.retired, 0);
    CHECK_INT(world.ks.drops, 2);
    kv_keyspace_drop_all(&world.ks);
    CHECK_INT(world.journal.retired, 200);
    CHECK_INT(set(&world, 0, "k5", "again", 0), 0);
    check_value(&world, 0, "k5", "again");
    world_done(&world);
}

TEST(a_namespace_is_never_used_twice)
{
    struct world world;
    world_init(&world);
    world.ks.namespace_next = KV_NAMESPACE_LAST;
    CHECK_INT(set(&world, 0, "a", "1", 0), 0);
    CHECK_INT(kv_keyspace_flush(&world.ks, 0), KEVY_ELIMIT);
    CHECK_INT(kv_keyspace_flush_all(&world.ks), KEVY_ELIMIT);
    check_value(&world, 0, "a", "1");
    world_done(&world);
}

/* Replays the records of one world into another keyspace over the same space. */
static void replay(struct world *world, struct kv_keyspace *fresh)
{
    kv_keyspace_init(fresh, &world->journal.mem, &world->journal.space, &world->journal.table,
                     &world->clock, test_seed());
    size_t offset = KV_SEGMENT_HEADER;
    while (offset < world->journal.used) {
        REQUIRE_INT(kv_keyspace_apply(fresh, kv_ref_of(0, offset)), 0);
        offset += kv_record_size(world->journal.slots[0] + offset);
    }
}

TEST(replay_rebuilds_the_same_keys)
{
    struct world world;
    struct kv_keyspace fresh;
    uint64_t state = test_seed();
    world_init(&world);
    for (unsigned step = 0; step < 4000; step++) {
        char name[8];
        (void)snprintf(name, sizeof name, "k%u", (unsigned)(test_random(&state) % 200));
        uint32_t db = (uint32_t)(test_random(&state) % 3);
        switch (test_random(&state) % 40) {
        case 0:
            CHECK_INT(kv_keyspace_flush(&world.ks, db), 0);
            break;
        case 1:
            CHECK_INT(kv_keyspace_swap(&world.ks, db, 2), 0);
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            CHECK(del(&world, db, name) >= 0);
            break;
        case 6:
            CHECK(kv_keyspace_rename(&world.ks, db, text(name), 1, text("renamed")) >= 0);
            break;
        default:
            CHECK_INT(set(&world, db, name, name, step % 5 == 0 ? 5000 + step : 0), 0);
        }
    }
    REQUIRE_INT(world.journal.slot_count, 1);
    kv_keyspace_drop_all(&world.ks);
    replay(&world, &fresh);
    CHECK(kv_keyspace_verify(&fresh));
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        CHECK_INT(kv_keyspace_count(&fresh, db), kv_keyspace_count(&world.ks, db));
        CHECK_INT(fresh.namespaces[db], world.ks.namespaces[db]);
        struct kv_database *replayed = kv_database_of(&fresh, db);
        struct kv_database *original = kv_database_of(&world.ks, db);
        for (unsigned i = 0; i < 200 && replayed != NULL && original != NULL; i++) {
            char name[8];
            (void)snprintf(name, sizeof name, "k%u", i);
            struct kv_key key = kv_keyspace_key(&fresh, text(name));
            CHECK_INT(kv_table_find(&replayed->table, key), kv_table_find(&original->table, key));
        }
    }
    kv_keyspace_done(&fresh);
    world_done(&world);
}
