/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Databases as wholes: emptying and swapping them by their namespaces, and
 * rebuilding them from the log.
 *
 * A database is emptied by giving it a namespace that was never used; the one
 * map record that says so is all that the log gets. Records of a namespace
 * that no database has are dead, now and in every replay.
 */
#include "kevy/src/keyspace/drop.h"
#include "kevy/src/keyspace/keyspace_inside.h"

#include "base/hash.h"

/* Keys whose buckets are fetched together. */
enum { FETCH_AHEAD = 16 };

struct kv_namespaces kv_keyspace_namespaces(const struct kv_keyspace *ks)
{
    struct kv_namespaces map = {.next = ks->namespace_next};
    memcpy(map.database, ks->namespaces, sizeof map.database);
    return map;
}

/* Which database has this namespace, or KV_DATABASE_COUNT. */
static uint32_t index_of(const uint32_t *namespaces, uint32_t namespace_id)
{
    uint32_t i = 0;
    while (i < KV_DATABASE_COUNT && namespaces[i] != namespace_id) {
        i++;
    }
    return i;
}

void kv_keyspace_map(struct kv_keyspace *ks, const struct kv_namespaces *map)
{
    struct kv_database *old[KV_DATABASE_COUNT + 1] = {NULL};
    struct kv_namespaces before = kv_keyspace_namespaces(ks);
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        old[i] = kv_database_of(ks, i);
    }
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        struct kv_database *database = old[index_of(before.database, map->database[i])];
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

/* ---- Replay and collection ---- */

static struct kv_key key_of(const struct kv_keyspace *ks, const uint8_t *record)
{
    return kv_keyspace_key(ks, kv_record_key(ks->space, record));
}

static void supersede(struct kv_keyspace *ks, struct kv_database *database, uint32_t old)
{
    if (old != 0) {
        database->expiring_count -= kv_record_expiry(kv_space_record(ks->space, old)) != 0;
        ks->journal->retire(ks->journal->self, old);
    }
}

static int apply_value(struct kv_keyspace *ks, uint32_t db, const uint8_t *record, uint32_t ref)
{
    struct kv_database *database = db == KV_DATABASE_COUNT ? NULL : kv_database_need(ks, db);
    if (db == KV_DATABASE_COUNT) {
        ks->journal->retire(ks->journal->self, ref);
        return 0;
    }
    uint64_t expiry_ms = kv_record_expiry(record);
    if (database == NULL || kv_keyspace_reserve(ks, database, 1, expiry_ms != 0) < 0) {
        return KEVY_ENOMEM;
    }
    struct kv_key key = key_of(ks, record);
    uint64_t before = kv_table_buckets(&database->table);
    database->expiring_count += expiry_ms != 0;
    supersede(ks, database, kv_table_put(&database->table, key, ref));
    if (database->deadlines.leaf_count != 0) {
        kv_keyspace_note_expiry(database, before, key.hash, expiry_ms);
    }
    return 0;
}

int kv_keyspace_apply(struct kv_keyspace *ks, uint32_t ref)
{
    const uint8_t *record = kv_space_record(ks->space, ref);
    uint32_t db = index_of(ks->namespaces, kv_record_namespace(record));
    struct kv_database *database = db == KV_DATABASE_COUNT ? NULL : kv_database_of(ks, db);
    struct kv_namespaces map;
    switch ((enum kv_record_type)kv_record_type(record)) {
    case KV_RECORD_NAMESPACES:
        if (!kv_namespaces_decode(kv_record_value(ks->space, record), &map)) {
            return KEVY_ECORRUPT;
        }
        kv_keyspace_map(ks, &map);
        kv_keyspace_drop_all(ks);
        return 0;
    case KV_RECORD_TOMBSTONE:
        if (database != NULL) {
            supersede(ks, database, kv_table_remove(&database->table, key_of(ks, record)));
        }
        return 0;
    case KV_RECORD_VALUE:
    case KV_RECORD_EXTENT:
        return apply_value(ks, db, record, ref);
    case KV_RECORD_COMMIT:
    case KV_RECORD_SEAL:
    case KV_RECORD_STAMP:
    case KV_RECORD_PAD:
        return 0;
    }
    return KEVY_ECORRUPT;
}

/* Records mostly come in runs of one namespace. */
void kv_keyspace_fetch(const struct kv_keyspace *ks, const uint32_t *refs, size_t count)
{
    struct kv_key keys[FETCH_AHEAD];
    for (size_t i = 0; i < count;) {
        uint32_t id = kv_record_namespace(kv_space_record(ks->space, refs[i]));
        uint32_t db = index_of(ks->namespaces, id);
        const struct kv_database *database =
            db == KV_DATABASE_COUNT ? NULL : kv_database_of(ks, db);
        size_t run = 0;
        for (; i < count && run < FETCH_AHEAD; run++, i++) {
            const uint8_t *record = kv_space_record(ks->space, refs[i]);
            if (kv_record_namespace(record) != id) {
                break;
            }
            keys[run] = key_of(ks, record);
        }
        if (database != NULL) {
            kv_table_fetch(&database->table, keys, run);
        }
    }
}

int kv_keyspace_move(struct kv_keyspace *ks, uint32_t old_ref, uint32_t new_ref)
{
    const uint8_t *record = kv_space_record(ks->space, old_ref);
    uint32_t id = kv_record_namespace(record), db = index_of(ks->namespaces, id);
    struct kv_database *database = db == KV_DATABASE_COUNT ? NULL : kv_database_of(ks, db);
    if (database != NULL && kv_record_type(record) == KV_RECORD_TOMBSTONE) {
        return kv_table_find(&database->table, key_of(ks, record)) == 0;
    }
    /* One that is dropped and not yet retired is to be found where it is retired. */
    database = db == KV_DATABASE_COUNT ? kv_keyspace_dropped_of(ks, id) : database;
    return database != NULL &&
           kv_table_replace(&database->table, key_of(ks, record).hash, old_ref, new_ref);
}
