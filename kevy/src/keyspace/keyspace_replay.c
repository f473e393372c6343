/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Rebuilding databases from the log, record by record, and following records
 * that collection moves.
 *
 * Replay is one cache miss after another unless they overlap. The log tells
 * records ahead, a group at a time and each group before the one in front of it
 * is applied: their keys are hashed and their buckets asked for; then, of the
 * group in front, whose buckets have come by now, the records that it replaces.
 *
 * Threads: as keyspace.h says; replay has the keyspace to itself.
 */
#include "kevy/src/keyspace/drop.h"
#include "kevy/src/keyspace/keyspace_inside.h"

static struct kv_key key_of(const struct kv_keyspace *ks, const uint8_t *record)
{
    return kv_keyspace_key(ks, kv_record_key(ks->space, record));
}

/* The key of a record that is being applied: its hash may be known. */
static struct kv_key key_applied(struct kv_keyspace *ks, const uint8_t *record, uint32_t ref)
{
    struct kv_key_ahead *ahead = &ks->ahead;
    for (size_t i = ahead->next; i < ahead->count; i++) {
        if (ahead->refs[i] == ref) {
            ahead->next = i + 1;
            return (struct kv_key){kv_record_key(ks->space, record), ahead->hashes[i]};
        }
    }
    return key_of(ks, record);
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
    if (database == NULL) {
        return KEVY_ENOMEM;
    }
    struct kv_key key = key_applied(ks, record, ref);
    struct kv_table_entry place = kv_table_locate(&database->table, key);
    uint64_t expiry_ms = kv_record_expiry(record);
    if ((place.ref == 0 || expiry_ms != 0) &&
        kv_keyspace_reserve(ks, database, place.ref == 0, expiry_ms != 0) < 0) {
        return KEVY_ENOMEM;
    }
    uint64_t before = kv_table_buckets(&database->table);
    database->expiring_count += expiry_ms != 0;
    kv_table_put_at(&database->table, &place, &key, ref);
    supersede(ks, database, place.ref);
    if (database->deadlines.leaf_count != 0) {
        kv_keyspace_note_expiry(database, before, key.hash, expiry_ms);
    }
    return 0;
}

int kv_keyspace_apply(struct kv_keyspace *ks, uint32_t ref)
{
    const uint8_t *record = kv_space_record(ks->space, ref);
    uint32_t db = kv_namespace_index(ks->namespaces, kv_record_namespace(record));
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
            struct kv_key key = key_applied(ks, record, ref);
            supersede(ks, database, kv_table_remove(&database->table, key));
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

/* The table of a record that will be applied, as of now. */
static const struct kv_table *table_of(const struct kv_keyspace *ks, const uint8_t *record)
{
    uint32_t db = kv_namespace_index(ks->namespaces, kv_record_namespace(record));
    const struct kv_database *database = db == KV_DATABASE_COUNT ? NULL : kv_database_of(ks, db);
    return database == NULL ? NULL : &database->table;
}

void kv_keyspace_fetch(struct kv_keyspace *ks, const uint32_t *refs, size_t count)
{
    struct kv_key_ahead *ahead = &ks->ahead;
    size_t left = ahead->count - ahead->next;
    ASSERT(count <= KV_KEYS_AHEAD);
    if (left > KV_KEYS_AHEAD) {
        left = 0;
    }
    memmove(ahead->refs, ahead->refs + ahead->count - left, left * sizeof *ahead->refs);
    memmove(ahead->hashes, ahead->hashes + ahead->count - left, left * sizeof *ahead->hashes);
    ahead->next = 0;
    ahead->count = left + count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = kv_space_record(ks->space, refs[i]);
        const struct kv_table *table = table_of(ks, record);
        struct kv_key key = key_of(ks, record);
        ahead->refs[left + i] = refs[i];
        ahead->hashes[left + i] = key.hash;
        if (table != NULL) {
            kv_table_fetch_bucket(table, key.hash);
        }
    }
    for (size_t i = 0; i < left; i++) {
        const struct kv_table *table = table_of(ks, kv_space_record(ks->space, ahead->refs[i]));
        if (table != NULL) {
            kv_table_fetch_record(table, ahead->hashes[i]);
        }
    }
}

int kv_keyspace_move(struct kv_keyspace *ks, uint32_t old_ref, uint32_t new_ref)
{
    const uint8_t *record = kv_space_record(ks->space, old_ref);
    uint32_t id = kv_record_namespace(record), db = kv_namespace_index(ks->namespaces, id);
    struct kv_database *database = db == KV_DATABASE_COUNT ? NULL : kv_database_of(ks, db);
    if (database != NULL && kv_record_type(record) == KV_RECORD_TOMBSTONE) {
        return kv_table_find(&database->table, key_of(ks, record)) == 0;
    }
    /* One that is dropped and not yet retired is to be found where it is retired. */
    uint64_t hash = key_of(ks, record).hash;
    database = db == KV_DATABASE_COUNT ? kv_keyspace_dropped_of(ks, id, hash) : database;
    return database != NULL && kv_table_replace(&database->table, hash, old_ref, new_ref);
}

/* ---- Sizes ---- */

void kv_keyspace_bucket_counts(const struct kv_keyspace *ks, uint32_t out[KV_DATABASE_COUNT])
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        const struct kv_database *database = kv_database_of(ks, db);
        uint64_t count =
            database == NULL || database->table.count == 0 ? 0 : kv_table_buckets(&database->table);
        out[db] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    }
}

void kv_keyspace_expect(struct kv_keyspace *ks, const uint32_t bucket_counts[KV_DATABASE_COUNT])
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        if (bucket_counts[db] != 0) {
            struct kv_database *database = kv_database_need(ks, db);
            if (database != NULL) {
                kv_table_expect(&database->table, bucket_counts[db]);
            }
        }
    }
}
