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

#include "kevy.h"

#include "base/hash.h"

/* Drafts that fit on the stack. */
#define DRAFTS_SMALL 8u

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
        kv_table_init(&ks->databases[i].table, mem, space, seed);
        ks->databases[i].namespace_id = i;
    }
}

void kv_keyspace_done(struct kv_keyspace *ks)
{
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        kv_table_clear(&ks->databases[i].table);
    }
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

/* Returns the record of a key that is there and has not expired, or NULL. */
static const uint8_t *live_record(const struct kv_keyspace *ks, uint32_t db, struct kv_key key)
{
    ASSERT(db < KV_DATABASE_COUNT);
    uint32_t ref = kv_table_find(&ks->databases[db].table, key);
    if (ref == 0) {
        return NULL;
    }
    const uint8_t *record = kv_space_record(ks->space, ref);
    return has_expired(ks, record) ? NULL : record;
}

int kv_keyspace_find_key(const struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                         struct kv_item *out)
{
    const uint8_t *record = live_record(ks, db, key);
    if (record == NULL) {
        return 0;
    }
    *out = (struct kv_item){kv_record_value(ks->space, record), kv_record_expiry(record)};
    return 1;
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

static void enter(struct kv_keyspace *ks, struct kv_database *database, struct kv_key key,
                  const struct kv_draft *draft)
{
    database->expiring_count += draft->expiry_ms != 0;
    uint32_t old = kv_table_put(&database->table, key, draft->ref);
    if (old != 0) {
        retire(ks, database, old);
    }
}

static int append(struct kv_keyspace *ks, struct kv_draft *drafts, size_t count)
{
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

static int put_drafts(struct kv_keyspace *ks, struct kv_database *database,
                      const struct kv_pair *pairs, struct kv_draft *drafts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].key.size > KEVY_SIZE_MAX || pairs[i].value.size > KEVY_SIZE_MAX) {
            return KEVY_ELIMIT;
        }
        drafts[i] = (struct kv_draft){.type = KV_RECORD_VALUE,
                                      .namespace_id = database->namespace_id,
                                      .expiry_ms = pairs[i].expiry_ms,
                                      .key = pairs[i].key,
                                      .value = pairs[i].value};
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
    struct kv_draft *drafts = drafts_new(ks, small, count);
    if (drafts == NULL) {
        return KEVY_ENOMEM;
    }
    int status = count == 0 ? 0 : put_drafts(ks, &ks->databases[db], pairs, drafts, count);
    drafts_free(ks, drafts, small, count);
    return status;
}

static struct kv_draft tombstone(const struct kv_database *database, struct bytes key)
{
    return (struct kv_draft){
        .type = KV_RECORD_TOMBSTONE, .namespace_id = database->namespace_id, .key = key};
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
static int64_t remove_drafts(struct kv_keyspace *ks, struct kv_database *database,
                             const struct bytes *keys, struct kv_draft *drafts, size_t count)
{
    size_t found = 0;
    int64_t live = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t ref = kv_table_find(&database->table, kv_keyspace_key(ks, keys[i]));
        if (ref == 0) {
            continue;
        }
        drafts[found] = tombstone(database, keys[i]);
        drafts[found++].ref = ref;
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
    struct kv_draft *drafts = drafts_new(ks, small, count);
    if (drafts == NULL) {
        return KEVY_ENOMEM;
    }
    int64_t result = remove_drafts(ks, &ks->databases[db], keys, drafts, count);
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
    struct kv_database *source = &ks->databases[db], *target = &ks->databases[to_db];
    struct kv_item item;
    if (kv_keyspace_find(ks, db, from, &item) == 0) {
        return 0;
    }
    if (db == to_db && bytes_equal(from, to)) {
        return 1;
    }
    struct kv_draft drafts[2] = {{.type = KV_RECORD_VALUE,
                                  .namespace_id = target->namespace_id,
                                  .expiry_ms = item.expiry_ms,
                                  .key = to,
                                  .value = item.value},
                                 tombstone(source, from)};
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
