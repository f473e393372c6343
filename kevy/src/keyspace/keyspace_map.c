/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Databases as wholes: emptying and swapping them by their namespaces, counting
 * and measuring them. Rebuilding them from the log is in keyspace_replay.c.
 *
 * A database is emptied by giving it a namespace that was never used; the one
 * map record that says so is all that the log gets. Records of a namespace
 * that no database has are dead, now and in every replay.
 */
#include "kevy/src/keyspace/drop.h"
#include "kevy/src/keyspace/keyspace_inside.h"

#include "base/hash.h"

struct kv_namespaces kv_keyspace_namespaces(const struct kv_keyspace *ks)
{
    struct kv_namespaces map = {.next = ks->namespace_next};
    memcpy(map.database, ks->namespaces, sizeof map.database);
    return map;
}

void kv_keyspace_map(struct kv_keyspace *ks, const struct kv_namespaces *map)
{
    struct kv_database *old[KV_DATABASE_COUNT + 1] = {NULL};
    struct kv_namespaces before = kv_keyspace_namespaces(ks);
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        old[i] = kv_database_of(ks, i);
    }
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        struct kv_database *database = old[kv_namespace_index(before.database, map->database[i])];
        atomic_store_explicit(&ks->databases[i], database, memory_order_release);
        ks->namespaces[i] = map->database[i];
    }
    ks->namespace_next = map->next;
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        if (old[i] != NULL && !kv_namespaces_has(map, before.database[i])) {
            kv_keyspace_drop(ks, old[i], before.database[i]);
        }
    }
}

/* Appends the map and only then lets it count. */
static int map_append(struct kv_keyspace *ks, const struct kv_namespaces *map)
{
    uint8_t encoded[KV_NAMESPACES_SIZE];
    kv_namespaces_encode(map, encoded);
    struct kv_draft draft = {.type = KV_RECORD_NAMESPACES,
                             .value = bytes_of(encoded, sizeof encoded)};
    int status = ks->journal->append(ks->journal->self, &draft, 1);
    if (status == 0) {
        ks->changes++;
        kv_keyspace_map(ks, map);
    }
    return status;
}

/* As map_append; databases that had keys and now have others, or none, are told. */
static int map_change(struct kv_keyspace *ks, const struct kv_namespaces *map)
{
    struct kv_namespaces before = kv_keyspace_namespaces(ks);
    bool had_keys[KV_DATABASE_COUNT];
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        had_keys[i] = kv_keyspace_count(ks, i) != 0;
    }
    int status = map_append(ks, map);
    for (uint32_t i = 0; status == 0 && i < KV_DATABASE_COUNT; i++) {
        if (before.database[i] != map->database[i] &&
            (had_keys[i] || kv_keyspace_count(ks, i) != 0)) {
            kv_keyspace_tell(ks, i, (struct bytes){NULL, 0}, KEVY_CHANGE_CLEAR);
        }
    }
    return status;
}

int kv_keyspace_flush(struct kv_keyspace *ks, uint32_t db)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_namespaces map = kv_keyspace_namespaces(ks);
    if (kv_keyspace_count(ks, db) == 0) {
        return 0;
    }
    if (map.next == KV_NAMESPACE_LAST) {
        return KEVY_ELIMIT;
    }
    map.database[db] = map.next++;
    return map_change(ks, &map);
}

int kv_keyspace_flush_all(struct kv_keyspace *ks)
{
    struct kv_namespaces map = kv_keyspace_namespaces(ks);
    bool is_empty = true;
    if (map.next > KV_NAMESPACE_LAST - KV_DATABASE_COUNT) {
        return KEVY_ELIMIT;
    }
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        if (kv_keyspace_count(ks, i) != 0) {
            map.database[i] = map.next++;
            is_empty = false;
        }
    }
    return is_empty ? 0 : map_change(ks, &map);
}

int kv_keyspace_swap(struct kv_keyspace *ks, uint32_t db, uint32_t other)
{
    ASSERT(db < KV_DATABASE_COUNT && other < KV_DATABASE_COUNT);
    struct kv_namespaces map = kv_keyspace_namespaces(ks);
    uint32_t id = map.database[db];
    map.database[db] = map.database[other];
    map.database[other] = id;
    return db == other ? 0 : map_change(ks, &map);
}

uint64_t kv_keyspace_count(const struct kv_keyspace *ks, uint32_t db)
{
    const struct kv_database *database = kv_database_of(ks, db);
    return database == NULL ? 0 : database->table.count;
}

uint64_t kv_keyspace_expiring(const struct kv_keyspace *ks, uint32_t db)
{
    const struct kv_database *database = kv_database_of(ks, db);
    return database == NULL ? 0 : database->expiring_count;
}

size_t kv_keyspace_record_size(const struct kv_keyspace *ks, uint32_t db, struct bytes key)
{
    struct kv_item item;
    if (kv_keyspace_find(ks, db, key, &item) == 0) {
        return 0;
    }
    uint32_t ref = kv_table_find(&kv_database_of(ks, db)->table, kv_keyspace_key(ks, key));
    const uint8_t *record = kv_space_record(ks->space, ref);
    bool has_extent = kv_record_type(record) == KV_RECORD_EXTENT;
    return kv_record_size(record) + (has_extent ? key.size + item.value.size : 0);
}

size_t kv_keyspace_memory(const struct kv_keyspace *ks)
{
    size_t size = 0;
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        const struct kv_database *database = kv_database_of(ks, i);
        size += database == NULL ? 0
                                 : sizeof *database + kv_table_memory(&database->table) +
                                       kv_deadlines_memory(&database->deadlines);
    }
    return size + kv_keyspace_dropped_memory(ks);
}
