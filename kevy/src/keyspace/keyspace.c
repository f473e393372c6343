/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The keyspace: finding and writing keys. Databases as wholes (flush, swap,
 * replay) are in keyspace_map.c, walking in keyspace_walk.c.
 *
 * Every write goes the same way: get the memory that the table will need,
 * append to the journal, and only then change the table, which cannot fail. So
 * a failed write leaves no trace.
 */
#include "kevy/src/keyspace/keyspace.h"

#include "kevy/src/keyspace/bucket.h"

#include "kevy.h"

#include "base/hash.h"

/* Drafts that fit on the stack. */
#define DRAFTS_SMALL 8u

/* Lookups without the lock before the lock is asked for. */
#define PEEK_TRIES 3u

/* ---- Databases ---- */

void kv_keyspace_init(struct kv_keyspace *ks, struct kv_mem *mem, const struct kv_space *space,
                      struct kv_journal *journal, const struct kv_clock *clock, uint64_t seed)
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
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        struct kv_database *database = kv_database_of(ks, i);
        if (database != NULL) {
            kv_database_free(ks, database);
        }
    }
}

void kv_database_free(struct kv_keyspace *ks, struct kv_database *database)
{
    kv_table_clear(&database->table);
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

struct kv_key kv_keyspace_key(const struct kv_keyspace *ks, struct bytes name)
{
    return (struct kv_key){name, hash_bytes(name.data, name.size, ks->seed)};
}

/* ---- Finding ---- */

static bool has_expired(const struct kv_keyspace *ks, const uint8_t *record)
{
    uint64_t expiry_ms = kv_record_expiry(record);
    return expiry_ms != 0 && expiry_ms <= kv_keyspace_now(ks);
}

/* 1 and the item, unless the record has expired. */
static inline int item_of(const struct kv_keyspace *ks, uint32_t ref, struct kv_item *out)
{
    const uint8_t *record = kv_space_record(ks->space, ref);
    if (has_expired(ks, record)) {
        return 0;
    }
    *out = (struct kv_item){kv_record_value(ks->space, record), kv_record_expiry(record)};
    return 1;
}

int kv_keyspace_peek(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                     struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    bool is_sure = true;
    for (unsigned tries = 0; database != NULL && tries < PEEK_TRIES; tries++) {
        uint32_t ref = kv_table_peek(&database->table, key, &is_sure);
        if (ref != 0) {
            return item_of(ks, ref, out);
        }
        if (is_sure) {
            return 0;
        }
    }
    return database == NULL ? 0 : -1;
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

int kv_keyspace_find_key(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                         struct kv_item *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    uint32_t ref = database == NULL ? 0 : kv_table_find(&database->table, key);
    return ref == 0 ? 0 : item_of(ks, ref, out);
}

int kv_keyspace_find(const struct kv_keyspace *ks, uint32_t db, struct bytes key,
                     struct kv_item *out)
{
    return kv_keyspace_find_key(ks, db, kv_keyspace_key(ks, key), out);
}

/* ---- Writing ---- */

/* Makes the record that a table entry had the past, and counts expiries. */
static void retire(struct kv_keyspace *ks, struct kv_database *database, uint32_t ref)
{
    if (kv_record_expiry(kv_space_record(ks->space, ref)) != 0) {
        ASSERT(database->expiring_count > 0);
        database->expiring_count--;
    }
    ks->journal->retire(ks->journal->self, ref);
}

static void enter_at(struct kv_keyspace *ks, struct kv_database *database,
                     struct kv_table_entry place, struct kv_key key, const struct kv_draft *draft)
{
    database->expiring_count += draft->expiry_ms != 0;
    kv_table_put_at(&database->table, place, key, draft->ref);
    if (place.ref != 0) {
        retire(ks, database, place.ref);
    }
}

static void enter(struct kv_keyspace *ks, struct kv_database *database, struct kv_key key,
                  const struct kv_draft *draft)
{
    enter_at(ks, database, kv_table_locate(&database->table, key), key, draft);
}

static int append(struct kv_keyspace *ks, struct kv_draft *drafts, size_t count)
{
    kv_graveyard_reap(&ks->yard);
    int status = ks->journal->append(ks->journal->self, drafts, count);
    if (status == 0) {
        ks->changes += count;
    }
    return status;
}

static struct kv_draft *drafts_new(struct kv_keyspace *ks, struct kv_draft *small, size_t count)
{
    return count <= DRAFTS_SMALL ? small : kv_mem_new(ks->mem, count * sizeof(struct kv_draft));
}

static void drafts_free(struct kv_keyspace *ks, struct kv_draft *drafts,
                        const struct kv_draft *small, size_t count)
{
    if (drafts != small) {
        kv_mem_free(ks->mem, drafts, count * sizeof *drafts);
    }
}

static bool fits(struct bytes key, struct bytes value)
{
    return key.size <= KEVY_SIZE_MAX && value.size <= KEVY_SIZE_MAX;
}

static struct kv_draft value_draft(const struct kv_keyspace *ks, uint32_t db, struct bytes key,
                                   struct bytes value, uint64_t expiry_ms)
{
    return (struct kv_draft){.type = KV_RECORD_VALUE,
                             .namespace_id = ks->namespaces[db],
                             .expiry_ms = expiry_ms,
                             .key = key,
                             .value = value};
}

int kv_keyspace_put_key(struct kv_keyspace *ks, uint32_t db, struct kv_key key, struct bytes value,
                        uint64_t expiry_ms)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_database *database = kv_database_need(ks, db);
    if (database == NULL) {
        return KEVY_ENOMEM;
    }
    if (!fits(key.name, value)) {
        return KEVY_ELIMIT;
    }
    struct kv_table_entry place = kv_table_locate(&database->table, key);
    struct kv_draft draft = value_draft(ks, db, key.name, value, expiry_ms);
    int status = place.ref != 0 ? 0 : kv_table_reserve(&database->table, 1);
    if (status == 0) {
        status = append(ks, &draft, 1);
    }
    if (status == 0) {
        if (place.ref != 0) {
            /* Collection within the append may have moved the record. */
            place.ref = kv_bucket_ref(place.bucket, place.entry);
        }
        enter_at(ks, database, place, key, &draft);
    }
    return status;
}

static int put_drafts(struct kv_keyspace *ks, uint32_t db, const struct kv_pair *pairs,
                      struct kv_draft *drafts, size_t count)
{
    struct kv_database *database = kv_database_need(ks, db);
    if (database == NULL) {
        return KEVY_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (!fits(pairs[i].key, pairs[i].value)) {
            return KEVY_ELIMIT;
        }
        drafts[i] = value_draft(ks, db, pairs[i].key, pairs[i].value, pairs[i].expiry_ms);
    }
    int status = kv_table_reserve(&database->table, count);
    if (status == 0) {
        status = append(ks, drafts, count);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        enter(ks, database, kv_keyspace_key(ks, pairs[i].key), &drafts[i]);
    }
    return status;
}

int kv_keyspace_put(struct kv_keyspace *ks, uint32_t db, const struct kv_pair *pairs, size_t count)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_draft small[DRAFTS_SMALL];
    if (count == 1) {
        return kv_keyspace_put_key(ks, db, kv_keyspace_key(ks, pairs->key), pairs->value,
                                   pairs->expiry_ms);
    }
    struct kv_draft *drafts = drafts_new(ks, small, count);
    if (drafts == NULL) {
        return KEVY_ENOMEM;
    }
    int status = count == 0 ? 0 : put_drafts(ks, db, pairs, drafts, count);
    drafts_free(ks, drafts, small, count);
    return status;
}

static struct kv_draft tombstone(const struct kv_keyspace *ks, uint32_t db, struct bytes key)
{
    return (struct kv_draft){
        .type = KV_RECORD_TOMBSTONE, .namespace_id = ks->namespaces[db], .key = key};
}

static void leave(struct kv_keyspace *ks, struct kv_database *database, struct bytes key)
{
    uint32_t old = kv_table_remove(&database->table, kv_keyspace_key(ks, key));
    if (old != 0) {
        retire(ks, database, old);
    }
}

/* A key that has expired gets a tombstone too, but does not count. A key named
 * twice is removed, and counted, once. */
static int64_t remove_drafts(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                             struct kv_draft *drafts, size_t count)
{
    struct kv_database *database = kv_database_of(ks, db);
    size_t found = 0;
    int64_t live = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t ref = kv_table_find(&database->table, kv_keyspace_key(ks, keys[i]));
        if (ref == 0) {
            continue;
        }
        drafts[found++] = tombstone(ks, db, keys[i]);
    }
    int status = found == 0 ? 0 : append(ks, drafts, found);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < found; i++) {
        uint32_t ref = kv_table_find(&database->table, kv_keyspace_key(ks, drafts[i].key));
        if (ref != 0) {
            live += !has_expired(ks, kv_space_record(ks->space, ref));
            leave(ks, database, drafts[i].key);
        }
    }
    return live;
}

int64_t kv_keyspace_remove(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                           size_t count)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_draft small[DRAFTS_SMALL];
    if (kv_database_of(ks, db) == NULL) {
        return 0;
    }
    struct kv_draft *drafts = drafts_new(ks, small, count);
    if (drafts == NULL) {
        return KEVY_ENOMEM;
    }
    int64_t result = remove_drafts(ks, db, keys, drafts, count);
    drafts_free(ks, drafts, small, count);
    return result;
}

int kv_keyspace_expire(struct kv_keyspace *ks, uint32_t db, struct bytes key, uint64_t expiry_ms)
{
    struct kv_item item;
    if (kv_keyspace_find(ks, db, key, &item) == 0) {
        return 0;
    }
    if (expiry_ms != 0 && expiry_ms <= kv_keyspace_now(ks)) {
        int64_t removed = kv_keyspace_remove(ks, db, &key, 1);
        return removed < 0 ? (int)removed : 1;
    }
    if (expiry_ms == item.expiry_ms) {
        return 1;
    }
    struct kv_pair pair = {key, item.value, expiry_ms};
    int status = kv_keyspace_put(ks, db, &pair, 1);
    return status < 0 ? status : 1;
}

int kv_keyspace_rename(struct kv_keyspace *ks, uint32_t db, struct bytes from, uint32_t to_db,
                       struct bytes to)
{
    ASSERT(to_db < KV_DATABASE_COUNT);
    struct kv_item item;
    if (kv_keyspace_find(ks, db, from, &item) == 0) {
        return 0;
    }
    if (db == to_db && bytes_equal(from, to)) {
        return 1;
    }
    struct kv_database *source = kv_database_of(ks, db), *target = kv_database_need(ks, to_db);
    if (target == NULL || to.size > KEVY_SIZE_MAX) {
        return target == NULL ? KEVY_ENOMEM : KEVY_ELIMIT;
    }
    struct kv_draft drafts[2] = {value_draft(ks, to_db, to, item.value, item.expiry_ms),
                                 tombstone(ks, db, from)};
    int status = kv_table_reserve(&target->table, 1);
    if (status == 0) {
        status = append(ks, drafts, 2);
    }
    if (status < 0) {
        return status;
    }
    enter(ks, target, kv_keyspace_key(ks, to), &drafts[0]);
    leave(ks, source, from);
    return 1;
}
