/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hash table against a plain array as oracle: put, find, remove, growth,
 * long chains, scans during growth, memory that runs out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kevy.h"
#include "kevy/src/keyspace/table.h"
#include "kevy/test/fake_journal.h"
#include "testing/harness.h"

struct world {
    struct fake_journal journal;
    struct kv_table table;
    struct kv_mem mem;
};

static void world_init(struct world *world, const kevy_mem *table, uint64_t seed)
{
    fake_journal_init(&world->journal);
    kv_mem_init(&world->mem, table);
    kv_table_init(&world->table, &world->mem, &world->journal.space, seed);
}

static void world_done(struct world *world)
{
    kv_table_clear(&world->table);
    CHECK_INT(atomic_load(&world->mem.used), 0);
    fake_journal_done(&world->journal);
}

static struct kv_key key_of(struct world *world, const char *name)
{
    return kv_table_key(&world->table, bytes_of(name, strlen(name)));
}

/* Writes a record for `name` and enters it; returns the old reference. */
static uint32_t put(struct world *world, const char *name, uint32_t *ref_out)
{
    struct kv_draft draft = {.type = KV_RECORD_VALUE, .key = bytes_of(name, strlen(name))};
    REQUIRE_INT(world->journal.table.append(&world->journal, &draft, 1), 0);
    REQUIRE_INT(kv_table_reserve(&world->table, 1), 0);
    *ref_out = draft.ref;
    return kv_table_put(&world->table, key_of(world, name), draft.ref);
}

TEST(finds_what_was_put)
{
    struct world world;
    world_init(&world, &kv_mem_libc, 42);
    uint32_t a, b, again;
    CHECK_INT(kv_table_find(&world.table, key_of(&world, "a")), 0);
    CHECK_INT(kv_table_remove(&world.table, key_of(&world, "a")), 0);
    CHECK_INT(put(&world, "a", &a), 0);
    CHECK_INT(put(&world, "", &b), 0);
    CHECK_INT(kv_table_find(&world.table, key_of(&world, "a")), a);
    CHECK_INT(kv_table_find(&world.table, key_of(&world, "")), b);
    CHECK_INT(put(&world, "a", &again), a);
    CHECK_INT(world.table.count, 2);
    CHECK_INT(kv_table_remove(&world.table, key_of(&world, "a")), again);
    CHECK_INT(kv_table_find(&world.table, key_of(&world, "a")), 0);
    CHECK(kv_table_verify(&world.table));
    world_done(&world);
}

#define MANY 8000u

TEST(random_changes_agree_with_an_array)
{
    struct world world;
    uint64_t state = test_seed();
    static uint32_t refs[MANY];
    char name[16];
    world_init(&world, &kv_mem_libc, test_random(&state));
    for (unsigned step = 0; step < 6 * MANY; step++) {
        unsigned i = (unsigned)(test_random(&state) % MANY);
        (void)snprintf(name, sizeof name, "key:%u", i);
        if (step % 3 == 2) {
            CHECK_INT(kv_table_remove(&world.table, key_of(&world, name)), refs[i]);
            refs[i] = 0;
        } else {
            uint32_t before = refs[i];
            CHECK_INT(put(&world, name, &refs[i]), before);
        }
    }
    CHECK(kv_table_verify(&world.table));
    size_t count = 0;
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "key:%u", i);
        CHECK_INT(kv_table_find(&world.table, key_of(&world, name)), refs[i]);
        count += refs[i] != 0;
    }
    CHECK_INT(world.table.count, count);
    world_done(&world);
}

/* Keys whose hashes end alike land in one chain, through every split. */
TEST(keys_of_one_bucket_share_a_chain)
{
    struct world world;
    static uint32_t refs[60];
    static char names[60][16];
    world_init(&world, &kv_mem_libc, 7);
    for (unsigned count = 0, i = 0; count < 60; i++) {
        (void)snprintf(names[count], sizeof names[count], "k%u", i);
        if (key_of(&world, names[count]).hash % 4096 == 0) {
            CHECK_INT(put(&world, names[count], &refs[count]), 0);
            count++;
        }
    }
    CHECK(kv_table_verify(&world.table));
    CHECK(world.table.more_used - world.table.more_spare >= 4);
    for (unsigned i = 0; i < 60; i++) {
        CHECK_INT(kv_table_find(&world.table, key_of(&world, names[i])), refs[i]);
    }
    for (unsigned i = 0; i < 60; i++) {
        CHECK_INT(kv_table_remove(&world.table, key_of(&world, names[i])), refs[i]);
    }
    CHECK_INT(world.table.more_used - world.table.more_spare, 0);
    CHECK(kv_table_verify(&world.table));
    world_done(&world);
}

TEST(replace_moves_only_what_is_newest)
{
    struct world world;
    uint32_t first, second;
    world_init(&world, &kv_mem_libc, 3);
    put(&world, "k", &first);
    put(&world, "k", &second);
    uint64_t hash = key_of(&world, "k").hash;
    CHECK(!kv_table_replace(&world.table, hash, first, first));
    CHECK(kv_table_replace(&world.table, hash, second, first));
    CHECK_INT(kv_table_find(&world.table, key_of(&world, "k")), first);
    world_done(&world);
}

/* ---- Scan ---- */

struct seen {
    struct world *world;
    uint8_t *hits; /* by key number */
};

static void note(void *user, uint32_t ref)
{
    struct seen *seen = user;
    struct kv_space *space = &seen->world->journal.space;
    struct bytes key = kv_record_key(space, kv_space_record(space, ref));
    char text[16] = {0};
    memcpy(text, key.data, key.size);
    seen->hits[strtoul(text + 1, NULL, 10)] = 1;
}

/* Everything that is there throughout is seen, while other keys come and go
 * and the table grows. */
TEST(scan_sees_all_that_stays)
{
    struct world world;
    static uint8_t hits[100000];
    struct seen seen = {&world, hits};
    char name[16];
    uint32_t ref;
    uint64_t cursor = 0;
    unsigned next = 1000, end = 1000 + (unsigned)test_scale(99000);
    world_init(&world, &kv_mem_libc, test_seed());
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "k%u", i);
        put(&world, name, &ref);
    }
    do {
        cursor = kv_table_scan(&world.table, cursor, 10, note, &seen);
        for (unsigned i = 0; i < 50 && next < end; i++, next++) {
            (void)snprintf(name, sizeof name, "k%u", next);
            put(&world, name, &ref);
            if (next % 2 == 0) {
                kv_table_remove(&world.table, key_of(&world, name));
            }
        }
    } while (cursor != 0);
    for (unsigned i = 0; i < 1000; i++) {
        CHECK(hits[i] == 1);
    }
    world_done(&world);
}

TEST(a_page_of_an_empty_table_is_bounded)
{
    struct world world;
    char name[16];
    uint32_t ref;
    world_init(&world, &kv_mem_libc, 5);
    for (unsigned i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof name, "k%u", i);
        put(&world, name, &ref);
    }
    for (unsigned i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof name, "k%u", i);
        kv_table_remove(&world.table, key_of(&world, name));
    }
    struct seen seen = {&world, NULL};
    CHECK_INT(kv_table_scan(&world.table, 0, 10, note, &seen), 100);
    CHECK_INT(kv_table_random(&world.table, 17), 0);
    put(&world, "last", &ref);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_INT(kv_table_random(&world.table, i * 77), ref);
    }
    world_done(&world);
}

/* ---- Memory ---- */

struct quota {
    size_t left; /* allocations until one fails */
};

static void *quota_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    struct quota *quota = self;
    if (new_size != 0 && quota->left-- == 0) {
        quota->left = 0;
        return NULL;
    }
    return kv_mem_libc.resize(NULL, ptr, old_size, new_size);
}

/* Whatever allocation fails, the reserve says so and the table is as before. */
TEST(a_failed_reserve_changes_nothing)
{
    for (size_t n = 0; n < 12; n++) {
        struct world world;
        struct quota quota = {n};
        kevy_mem mem = {&quota, quota_resize};
        char name[16];
        uint32_t ref;
        unsigned count = 0;
        world_init(&world, &mem, n);
        while (kv_table_reserve(&world.table, 1) == 0 && count < 20000) {
            (void)snprintf(name, sizeof name, "k%u", count++);
            put(&world, name, &ref);
        }
        CHECK_INT(world.table.count, count);
        CHECK_INT(kv_table_reserve(&world.table, 100000), KEVY_ENOMEM);
        CHECK(kv_table_verify(&world.table));
        world_done(&world);
    }
}

TEST(tags_match_alike_with_and_without_vectors)
{
    uint64_t state = test_seed();
    for (unsigned i = 0; i < 10000; i++) {
        struct kv_tags tags = {{test_random(&state), test_random(&state)}};
        uint8_t tag = (uint8_t)(i % 3 == 0 ? tags.word[0] >> 16 : test_random(&state));
        unsigned want = 0;
        for (unsigned j = 0; j < KV_BUCKET_ENTRIES; j++) {
            want |= (unsigned)(kv_tags_get(tags, j) == tag) << j;
        }
        CHECK_INT(kv_tags_match(tags, tag), want);
        CHECK_INT((kv_word_match(tags.word[0], tag) | kv_word_match(tags.word[1], tag) << 8) &
                      KV_BUCKET_MASK,
                  want);
    }
}
