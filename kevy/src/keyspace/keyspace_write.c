/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing keys. Every write goes the same way: get the memory that the table
 * will need, append to the journal, and only then change the table, which
 * cannot fail. So a failed write leaves no trace. Whoever watches is told after
 * the table has changed.
 */
#include "kevy/src/keyspace/keyspace_inside.h"

/* Drafts that fit on the stack. */
#define DRAFTS_SMALL 8u

/* ---- Steps that do not fail ---- */

/* Makes the record that a table entry had the past, and counts expiries. */
static void retire(struct kv_keyspace *ks, struct kv_database *database, uint32_t ref)
{
    if (database->expiring_count != 0) {
        database->expiring_count -= kv_record_expiry(kv_space_record(ks->space, ref)) != 0;
    }
    ks->journal->retire(ks->journal->self, ref);
}

/* A key has a new record: heat and deadlines note it. `before` is the number of
 * buckets that the table had. */
static void note_entry(struct kv_keyspace *ks, struct kv_database *database,
                       const struct kv_edit *edit, uint64_t expiry_ms, uint64_t before)
{
    struct kv_heat *heat = atomic_load_explicit(&ks->heat, memory_order_relaxed);
    if (heat != NULL) {
        kv_keyspace_warm(ks, heat, edit->key.hash, edit->place.ref == 0);
    }
    if (database->deadlines.leaf_count != 0) {
        kv_keyspace_note_expiry(database, before, edit->key.hash, expiry_ms);
    }
}

/* Tells that a key was set. One that had expired unseen is told first. */
static void tell_entry(struct kv_keyspace *ks, const struct kv_edit *edit)
{
    uint32_t old = edit->place.ref;
    if (old != 0 && kv_keyspace_has_expired(ks, kv_space_record(ks->space, old))) {
        ks->expired++;
        kv_keyspace_tell(ks, edit->db, edit->key.name, KEVY_CHANGE_EXPIRE);
    }
    kv_keyspace_tell(ks, edit->db, edit->key.name, KEVY_CHANGE_SET);
}

/* Points the place of a key at its new record. */
KV_PEEK_INLINE void enter_at(struct kv_keyspace *ks, const struct kv_edit *edit,
                             const struct kv_draft *draft)
{
    struct kv_database *database = kv_database_of(ks, edit->db);
    uint64_t before = kv_probe_buckets(&database->table);
    database->expiring_count += draft->expiry_ms != 0;
    kv_table_put_at(&database->table, &edit->place, &edit->key, draft->ref);
    if (atomic_load_explicit(&ks->heat, memory_order_relaxed) != NULL ||
        database->deadlines.leaf_count != 0) {
        note_entry(ks, database, edit, draft->expiry_ms, before);
    }
    if (ks->watch != NULL) {
        tell_entry(ks, edit);
    }
    if (edit->place.ref != 0) {
        retire(ks, database, edit->place.ref);
    }
}

static void enter(struct kv_keyspace *ks, uint32_t db, struct kv_key key,
                  const struct kv_draft *draft)
{
    struct kv_edit edit = {.db = db, .key = key};
    edit.place = kv_table_locate(&kv_database_of(ks, db)->table, key);
    enter_at(ks, &edit, draft);
}

bool kv_keyspace_leave(struct kv_keyspace *ks, uint32_t db, struct bytes key, int32_t cause)
{
    struct kv_database *database = kv_database_of(ks, db);
    uint32_t old = kv_table_remove(&database->table, kv_keyspace_key(ks, key));
    if (old == 0) {
        return false;
    }
    bool has_expired = kv_keyspace_has_expired(ks, kv_space_record(ks->space, old));
    ks->expired += has_expired || cause == KEVY_CHANGE_EXPIRE;
    retire(ks, database, old);
    kv_keyspace_tell(ks, db, key, has_expired ? KEVY_CHANGE_EXPIRE : cause);
    return !has_expired;
}

/* ---- Writing ---- */

int kv_keyspace_append(struct kv_keyspace *ks, struct kv_draft *drafts, size_t count)
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

/* Finds the place of a key that is to be written. */
KV_PEEK_INLINE void edit_locate(struct kv_keyspace *ks, struct kv_edit *edit, bool has_expiry)
{
    const struct kv_database *database = kv_database_of(ks, edit->db);
    edit->place = (struct kv_table_entry){0};
    if (database == NULL) {
        return;
    }
    if (database->expiring_count != 0) {
        kv_keyspace_tidy(ks, edit->db, has_expiry);
    }
    edit->place = kv_table_probe(&database->table, edit->key);
    if (edit->place.ref == 0) {
        edit->place = kv_table_locate(&database->table, edit->key);
    }
}

/* Appends the key's new record and points its place there. */
KV_PEEK_INLINE int edit_append(struct kv_keyspace *ks, struct kv_edit *edit, struct kv_draft *draft)
{
    struct kv_table_entry *place = &edit->place;
    int status = 0;
    if (place->ref == 0 || draft->expiry_ms != 0) {
        struct kv_database *database = kv_database_need(ks, edit->db);
        status = database == NULL
                     ? KEVY_ENOMEM
                     : kv_keyspace_reserve(ks, database, place->ref == 0, draft->expiry_ms != 0);
    }
    if (status == 0) {
        status = kv_keyspace_append(ks, draft, 1);
    }
    if (status == 0) {
        if (place->ref != 0) {
            /* Collection within the append may have moved the record. */
            place->ref = kv_bucket_ref(place->bucket, place->entry);
        }
        enter_at(ks, edit, draft);
    }
    return status;
}

/* kv_keyspace_edit_put, inlined. */
KV_PEEK_INLINE int edit_put(struct kv_keyspace *ks, struct kv_edit *edit, struct bytes value,
                            uint64_t expiry_ms)
{
    if (!fits(edit->key.name, value)) {
        return KEVY_ELIMIT;
    }
    struct kv_draft draft = value_draft(ks, edit->db, edit->key.name, value, expiry_ms);
    return edit_append(ks, edit, &draft);
}

int kv_keyspace_edit_put(struct kv_keyspace *ks, struct kv_edit *edit, struct bytes value,
                         uint64_t expiry_ms)
{
    return edit_put(ks, edit, value, expiry_ms);
}

int kv_keyspace_put_key(struct kv_keyspace *ks, uint32_t db, const struct kv_key *key,
                        struct bytes value, uint64_t expiry_ms)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_edit edit;
    edit.db = db;
    edit.key = *key;
    edit_locate(ks, &edit, expiry_ms != 0);
    return edit_put(ks, &edit, value, expiry_ms);
}

int kv_keyspace_edit(struct kv_keyspace *ks, uint32_t db, struct bytes name, uint64_t now_ms,
                     struct kv_edit *edit, struct kv_item *out)
{
    ASSERT(db < KV_DATABASE_COUNT);
    edit->db = db;
    edit->key = kv_keyspace_key(ks, name);
    edit->now_ms = now_ms;
    edit_locate(ks, edit, false);
    *out = (struct kv_item){{NULL, 0}, 0};
    if (edit->place.ref == 0) {
        return 0;
    }
    uint64_t expiry_ms = kv_record_expiry(edit->place.record);
    if (expiry_ms != 0 && edit->now_ms == 0) {
        edit->now_ms = kv_keyspace_now(ks);
    }
    return expiry_ms != 0 && expiry_ms <= edit->now_ms
               ? 0
               : kv_item_at(ks, edit->place.record, edit->key.hash, out);
}

static int put_drafts(struct kv_keyspace *ks, uint32_t db, const struct kv_pair *pairs,
                      struct kv_draft *drafts, size_t count)
{
    struct kv_database *database = kv_database_need(ks, db);
    if (database == NULL) {
        return KEVY_ENOMEM;
    }
    bool has_expiry = false;
    for (size_t i = 0; i < count; i++) {
        if (!fits(pairs[i].key, pairs[i].value)) {
            return KEVY_ELIMIT;
        }
        has_expiry = has_expiry || pairs[i].expiry_ms != 0;
        drafts[i] = value_draft(ks, db, pairs[i].key, pairs[i].value, pairs[i].expiry_ms);
    }
    if (database->expiring_count != 0) {
        kv_keyspace_tidy(ks, db, has_expiry);
    }
    int status = kv_keyspace_reserve(ks, database, count, has_expiry);
    if (status == 0) {
        status = kv_keyspace_append(ks, drafts, count);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        enter(ks, db, kv_keyspace_key(ks, pairs[i].key), &drafts[i]);
    }
    return status;
}

int kv_keyspace_put(struct kv_keyspace *ks, uint32_t db, const struct kv_pair *pairs, size_t count)
{
    ASSERT(db < KV_DATABASE_COUNT);
    struct kv_draft small[DRAFTS_SMALL];
    if (count == 1) {
        struct kv_key key = kv_keyspace_key(ks, pairs->key);
        return kv_keyspace_put_key(ks, db, &key, pairs->value, pairs->expiry_ms);
    }
    struct kv_draft *drafts = drafts_new(ks, small, count);
    if (drafts == NULL) {
        return KEVY_ENOMEM;
    }
    int status = count == 0 ? 0 : put_drafts(ks, db, pairs, drafts, count);
    drafts_free(ks, drafts, small, count);
    return status;
}

struct kv_draft kv_keyspace_tombstone(const struct kv_keyspace *ks, uint32_t db, struct bytes key)
{
    return (struct kv_draft){
        .type = KV_RECORD_TOMBSTONE, .namespace_id = ks->namespaces[db], .key = key};
}

/* A key that has expired gets a tombstone too, but does not count. A key named
 * twice is removed, and counted, once. */
static int64_t remove_drafts(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                             struct kv_draft *drafts, size_t count, int32_t cause)
{
    struct kv_database *database = kv_database_of(ks, db);
    size_t found = 0;
    int64_t live = 0;
    for (size_t i = 0; i < count; i++) {
        if (kv_table_find(&database->table, kv_keyspace_key(ks, keys[i])) != 0) {
            drafts[found++] = kv_keyspace_tombstone(ks, db, keys[i]);
        }
    }
    int status = found == 0 ? 0 : kv_keyspace_append(ks, drafts, found);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < found; i++) {
        live += kv_keyspace_leave(ks, db, drafts[i].key, cause);
    }
    return live;
}

int64_t kv_keyspace_remove_as(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                              size_t count, int32_t cause)
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
    int64_t result = remove_drafts(ks, db, keys, drafts, count, cause);
    drafts_free(ks, drafts, small, count);
    return result;
}

int64_t kv_keyspace_remove(struct kv_keyspace *ks, uint32_t db, const struct bytes *keys,
                           size_t count)
{
    return kv_keyspace_remove_as(ks, db, keys, count, KEVY_CHANGE_DEL);
}

/* A large value stays where it is: the new record names the same extent. */
int kv_keyspace_edit_expire(struct kv_keyspace *ks, struct kv_edit *edit,
                            const struct kv_item *item, uint64_t expiry_ms)
{
    if (edit->now_ms == 0 && expiry_ms != 0) {
        edit->now_ms = kv_keyspace_now(ks);
    }
    if (expiry_ms != 0 && expiry_ms <= edit->now_ms) {
        int64_t removed =
            kv_keyspace_remove_as(ks, edit->db, &edit->key.name, 1, KEVY_CHANGE_EXPIRE);
        return removed < 0 ? (int)removed : 1;
    }
    if (expiry_ms == item->expiry_ms) {
        return 1;
    }
    struct kv_draft draft = value_draft(ks, edit->db, edit->key.name, item->value, expiry_ms);
    bool is_extent = kv_record_type(edit->place.record) == KV_RECORD_EXTENT;
    draft.same_as = is_extent ? edit->place.ref : 0;
    int status = edit_append(ks, edit, &draft);
    return status < 0 ? status : 1;
}

int kv_keyspace_expire(struct kv_keyspace *ks, uint32_t db, struct bytes key, uint64_t expiry_ms)
{
    struct kv_edit edit;
    struct kv_item item;
    int found = kv_keyspace_edit(ks, db, key, 0, &edit, &item);
    return found == 0 ? 0 : kv_keyspace_edit_expire(ks, &edit, &item, expiry_ms);
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
    struct kv_database *target = kv_database_need(ks, to_db);
    if (target == NULL || to.size > KEVY_SIZE_MAX) {
        return target == NULL ? KEVY_ENOMEM : KEVY_ELIMIT;
    }
    struct kv_draft drafts[2] = {value_draft(ks, to_db, to, item.value, item.expiry_ms),
                                 kv_keyspace_tombstone(ks, db, from)};
    int status = kv_keyspace_reserve(ks, target, 1, item.expiry_ms != 0);
    if (status == 0) {
        status = kv_keyspace_append(ks, drafts, 2);
    }
    if (status < 0) {
        return status;
    }
    enter(ks, to_db, kv_keyspace_key(ks, to), &drafts[0]);
    (void)kv_keyspace_leave(ks, db, from, KEVY_CHANGE_DEL);
    return 1;
}
