/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The keyspace: databases, and finding keys in them. Writing is in
 * keyspace_write.c, reclaiming what expired in keyspace_reclaim.c, databases as
 * wholes (flush, swap, replay) in keyspace_map.c, walking in keyspace_walk.c.
 */
#include "kevy/src/keyspace/keyspace_inside.h"

/* Lookups without the lock before the lock is asked for. */
#define PEEK_TRIES 3u

/* ---- Databases ---- */

void kv_keyspace_init(struct kv_keyspace *ks, struct kv_mem *mem, const struct kv_space *space,
                      struct kv_journal *journal, struct kv_clock *clock, uint64_t seed)
{
    memset(ks, 0, sizeof *ks);
    ks->mem = mem;
    ks->space = space;
    ks->journal = journal;
    ks->clock = clock;
    ks->seed = seed;
    ks->namespace_next = KV_DATABASE_COUNT;
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        ks->namespaces[i] = i;
    }
    kv_graveyard_init(&ks->yard, ks);
}

void kv_keyspace_done(struct kv_keyspace *ks)
{
    kv_graveyard_done(&ks->yard);
    kv_heat_free(ks->mem, atomic_load_explicit(&ks->heat, memory_order_relaxed));
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        struct kv_database *database = kv_database_of(ks, i);
        if (database != NULL) {
            kv_database_free(ks, database);
        }
    }
    while (ks->dropped != NULL) {
        struct kv_database *database = ks->dropped;
        ks->dropped = database->dropped_next;
        kv_database_free(ks, database);
    }
}

void kv_database_free(struct kv_keyspace *ks, struct kv_database *database)
{
    kv_table_clear(&database->table);
    kv_deadlines_free(&database->deadlines, ks->mem);
    kv_mem_free(ks->mem, database, sizeof *database);
}

struct kv_database *kv_database_need(struct kv_keyspace *ks, uint32_t db)
{
    struct kv_database *database = kv_database_of(ks, db);
    if (database == NULL) {
        database = kv_mem_zeroed(ks->mem, sizeof *database);
        if (database != NULL) {
            kv_table_init(&database->table, ks->mem, ks->space, ks->seed);
            atomic_store_explicit(&ks->databases[db], database, memory_order_release);
        }
    }
    return database;
}

uint64_t kv_keyspace_now(const struct kv_keyspace *ks)
{
    return kv_clock_now_ms(ks->clock);
}

/* ---- Finding ---- */

int kv_item_at(const struct kv_keyspace *ks, const uint8_t *record, uint64_t hash,
               struct kv_item *out)
{
    struct kv_heat *heat = atomic_load_explicit(&ks->heat, memory_order_acquire);
    if (heat != NULL) {
        kv_heat_touch(heat, hash);
    }
    *out = (struct kv_item){kv_record_value(ks->space, record), kv_record_expiry(record)};
    return 1;
}

int kv_item_of_slow(const struct kv_keyspace *ks, const uint8_t *record, uint64_t hash,
                    struct kv_item *out)
{
    return kv_keyspace_has_expired(ks, record) ? 0 : kv_item_at(ks, record, hash, out);
}

int kv_keyspace_peek_slow(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                          struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    bool is_sure = database == NULL;
    for (unsigned tries = 0; !is_sure && tries < PEEK_TRIES; tries++) {
        uint32_t ref = kv_table_peek(&database->table, *key, &is_sure);
        if (ref != 0) {
            return kv_item_of(ks, kv_space_record(ks->space, ref), key->hash, out);
        }
    }
    return is_sure ? 0 : -1;
}

void kv_keyspace_peek_many(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *keys,
                           size_t count, int *found, struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    ASSERT(count <= KV_PEEK_MANY);
    if (database != NULL) {
        kv_table_fetch(&database->table, keys, count);
    }
    for (size_t i = 0; i < count; i++) {
        found[i] = kv_keyspace_peek(ks, db, keys[i], &out[i]);
    }
}

int kv_keyspace_find_slow(const struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                          struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    uint32_t ref = database == NULL ? 0 : kv_table_find(&database->table, *key);
    return ref == 0 ? 0 : kv_item_of(ks, kv_space_record(ks->space, ref), key->hash, out);
}

int kv_keyspace_find(const struct kv_keyspace *ks, uint32_t db, struct bytes key,
                     struct kv_item *out)
{
    return kv_keyspace_find_key(ks, db, kv_keyspace_key(ks, key), out);
}
