/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Images of tables: what was saved comes back, at every size; and bytes that
 * somebody forged, seals and all, give a table whose every step stays within
 * its memory, or none.
 */
#include <stdio.h>
#include <string.h>

#include "kevy.h"
#include "kevy/src/keyspace/blocks.h"
#include "kevy/src/keyspace/table_image.h"
#include "kevy/test/fake_journal.h"
#include "testing/harness.h"

enum { ROOM = 1 << 20, SEED = 77 };

/* A file in memory. */
struct tape {
    uint8_t bytes[ROOM];
    size_t size;
};

static int tape_write(void *self, const void *bytes, size_t size, uint64_t offset)
{
    struct tape *tape = (struct tape *)self;
    REQUIRE(offset + size <= ROOM);
    memcpy(tape->bytes + offset, bytes, size);
    tape->size = (size_t)offset + size;
    return 0;
}

static int tape_read(void *self, void *out, size_t size, uint64_t offset)
{
    const struct tape *tape = (const struct tape *)self;
    REQUIRE(offset + size <= tape->size);
    memcpy(out, tape->bytes + offset, size);
    return 0;
}

static struct tape tape;
static struct kv_image_room room;

static void save(const struct kv_table *table)
{
    struct kv_image image = {.self = &tape, .write = tape_write, .hash = SEED};
    tape.size = 0;
    REQUIRE_INT(kv_table_save(table, &image), 0);
    REQUIRE_INT(tape.size, kv_table_image_size(table));
}

static int load(struct kv_table *table, const struct kv_table_shape *shape)
{
    struct kv_image image = {.self = &tape, .read = tape_read, .size = tape.size, .hash = SEED};
    return kv_table_load(table, &image, shape, &room);
}

/* ---- A table with keys ---- */

struct world {
    struct fake_journal journal;
    struct kv_mem mem;
    struct kv_table table;
};

static void world_init(struct world *world)
{
    fake_journal_init(&world->journal);
    kv_mem_init(&world->mem, &kv_mem_libc);
    kv_table_init(&world->table, &world->mem, &world->journal.space, SEED);
    for (size_t slot = 0; slot < KV_SLOT_COUNT; slot++) {
        room.granules[slot] = slot == 0 ? 1u << KV_SLOT_SHIFT : 0;
    }
}

static void world_done(struct world *world)
{
    kv_table_clear(&world->table);
    CHECK_INT(world->mem.used, 0);
    fake_journal_done(&world->journal);
}

static struct kv_key key_of(const struct kv_table *table, unsigned number, char name[16])
{
    int size = snprintf(name, 16, "key:%u", number);
    return kv_table_key(table, bytes_of(name, (size_t)size));
}

static void put(struct world *world, unsigned number)
{
    char name[16];
    struct kv_key key = key_of(&world->table, number, name);
    struct kv_draft draft = {.type = KV_RECORD_VALUE, .key = key.name};
    REQUIRE_INT(world->journal.table.append(&world->journal, &draft, 1), 0);
    REQUIRE_INT(kv_table_reserve(&world->table, 1), 0);
    (void)kv_table_put(&world->table, key, draft.ref);
}

static void drop(struct world *world, unsigned number)
{
    char name[16];
    (void)kv_table_remove(&world->table, key_of(&world->table, number, name));
}

/* ---- Tests ---- */

TEST(an_image_gives_the_table_back)
{
    struct world world;
    world_init(&world);
    for (unsigned count = 0; count < 3000; count++) {
        put(&world, count);
        if (count % 3 == 2) {
            drop(&world, count / 2);
        }
        if (count % 37 != 0 && count != 2999) {
            continue;
        }
        struct kv_table_shape shape = kv_table_shape(&world.table);
        struct kv_table copy;
        save(&world.table);
        kv_table_init(&copy, &world.mem, &world.journal.space, SEED);
        REQUIRE_INT(load(&copy, &shape), 0);
        CHECK(kv_table_verify(&copy));
        for (unsigned number = 0; number <= count; number++) {
            char name[16];
            struct kv_key key = key_of(&copy, number, name);
            CHECK_INT(kv_table_find(&copy, key), kv_table_find(&world.table, key));
        }
        kv_table_clear(&copy);
    }
    world_done(&world);
}

TEST(a_loaded_table_grows_and_shrinks_on)
{
    struct world world;
    world_init(&world);
    for (unsigned number = 0; number < 500; number++) {
        put(&world, number);
    }
    struct kv_table_shape shape = kv_table_shape(&world.table);
    save(&world.table);
    kv_table_clear(&world.table);
    REQUIRE_INT(load(&world.table, &shape), 0);
    for (unsigned number = 500; number < 5000; number++) {
        put(&world, number);
        drop(&world, number - 400);
    }
    CHECK(kv_table_verify(&world.table));
    CHECK_INT(world.table.count, 500);
    CHECK(kv_table_memory(&world.table) <= world.mem.used);
    world_done(&world);
}

static void count_entry(void *user, uint32_t ref)
{
    size_t *count = (size_t *)user;
    CHECK(room.granules[ref >> KV_SLOT_SHIFT] > (ref & ((1u << KV_SLOT_SHIFT) - 1)));
    ++*count;
}

/* Walks all of a table that was let pass: nothing runs in circles or out of it. */
static void walk(const struct kv_table *table)
{
    size_t count = 0;
    for (uint64_t bucket = 0; bucket < kv_table_buckets(table); bucket++) {
        kv_table_visit(table, bucket, count_entry, &count);
    }
    CHECK(count <= table->count);
}

TEST_LIMIT(a_forged_image_gives_no_table_that_leaves_its_memory, 120)
{
    struct world world;
    static uint8_t good[ROOM];
    uint64_t random = test_seed();
    unsigned passed = 0;
    world_init(&world);
    for (unsigned number = 0; number < 600; number++) {
        put(&world, number);
    }
    for (unsigned number = 0; number < 600; number += 2) {
        drop(&world, number);
    }
    struct kv_table_shape shape = kv_table_shape(&world.table);
    CHECK(shape.more_used > 2);
    save(&world.table);
    memcpy(good, tape.bytes, tape.size);
    size_t size = tape.size, heads = (size_t)shape.bucket_count * sizeof(struct kv_bucket);
    for (size_t round = 0; round < test_scale(20000); round++) {
        struct kv_table_shape forged = shape;
        struct kv_table copy;
        memcpy(tape.bytes, good, size);
        for (uint64_t flips = 1 + test_random(&random) % 3; flips > 0; flips--) {
            bool is_more = test_random(&random) % 2 == 0;
            size_t from = is_more ? heads : 0, to = is_more ? size : heads;
            size_t at = from + (size_t)(test_random(&random) % (to - from));
            at = test_random(&random) % 2 == 0 ? at / 64 * 64 + 12 + at % 4 : at;
            tape.bytes[at] = (uint8_t)test_random(&random);
        }
        switch (test_random(&random) % 12) {
        case 0:
            forged.more_free = (uint32_t)(test_random(&random) % (shape.more_used + 2));
            break;
        case 1:
            forged.more_spare = (uint32_t)(test_random(&random) % (shape.more_used + 2));
            break;
        case 2:
            forged.more_used -= 1;
            break;
        case 3:
            forged.bucket_count = test_random(&random) >> test_random(&random) % 64 | 1;
            break;
        default:
            break;
        }
        kv_table_init(&copy, &world.mem, &world.journal.space, SEED);
        if (load(&copy, &forged) == 0) {
            passed++;
            walk(&copy);
        }
        kv_table_clear(&copy);
    }
    CHECK(passed > 0);
    world_done(&world);
}

/* An empty bucket at the end of a chain would have a last entry before its first. */
TEST(a_chain_that_ends_in_a_free_bucket_is_refused)
{
    struct world world;
    world_init(&world);
    for (unsigned number = 0; number < 600; number++) {
        put(&world, number);
    }
    struct kv_table_shape shape = kv_table_shape(&world.table);
    save(&world.table);
    size_t at = (size_t)shape.bucket_count * sizeof(struct kv_bucket);
    REQUIRE(shape.more_used > shape.more_spare);
    while (load_u64(tape.bytes + at) == 0) {
        at += sizeof(struct kv_bucket);
    }
    shape.count -=
        kv_tags_count((struct kv_tags){{load_u64(tape.bytes + at), load_u64(tape.bytes + at + 8)}});
    memset(tape.bytes + at, 0, 12);
    struct kv_table copy;
    kv_table_init(&copy, &world.mem, &world.journal.space, SEED);
    CHECK_INT(load(&copy, &shape), KEVY_ECORRUPT);
    kv_table_clear(&copy);
    world_done(&world);
}

/* Each overflow bucket is reached once: none is shared, none is lost. */
TEST(a_chain_that_bites_its_tail_is_refused)
{
    struct world world;
    world_init(&world);
    for (unsigned number = 0; number < 600; number++) {
        put(&world, number);
    }
    struct kv_table_shape shape = kv_table_shape(&world.table);
    unsigned refused = 0;
    save(&world.table);
    for (size_t at = 0; at < tape.size; at += sizeof(struct kv_bucket)) {
        uint64_t word = load_u64(tape.bytes + at + 8);
        if (word >> KV_LINK_SHIFT == 0) {
            continue;
        }
        for (uint32_t link = 0; link <= shape.more_used + 1; link++) {
            struct kv_table copy;
            if (link == word >> KV_LINK_SHIFT) {
                continue;
            }
            store_u64(tape.bytes + at + 8, (word << 20 >> 20) | (uint64_t)link << KV_LINK_SHIFT);
            kv_table_init(&copy, &world.mem, &world.journal.space, SEED);
            CHECK_INT(load(&copy, &shape), KEVY_ECORRUPT);
            kv_table_clear(&copy);
            refused++;
        }
        store_u64(tape.bytes + at + 8, word);
    }
    CHECK(refused > 10);
    world_done(&world);
}
