/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reclaiming keys whose expiry has passed. To every reader such a key is gone
 * at its very time; here its entry and its record go too, with a tombstone in
 * the log.
 *
 * Without a watcher it is the writes that reclaim, a leaf of the deadlines
 * (deadlines.h) at a time and not before its bound has passed by TIDY_LATE_MS:
 * so a leaf whose keys are set anew all the time is looked at once in that
 * time, and what a store of expiring keys holds on to is bounded. A watcher
 * has a thread that asks for each at its time (engine/).
 */
#include "kevy/src/keyspace/keyspace_inside.h"

/* Keys that one step removes; a leaf has about 26. */
#define RECLAIM_MAX 64u

/* How long after its time a key is left to be by the writes, and how many
 * writes, of keys with an expiry or without, there are for each look at the
 * clock. A leaf that is cleared has more keys than were written meanwhile. */
#define TIDY_LATE_MS 1000u
#define TIDY_WRITES_EXPIRING 4u
#define TIDY_WRITES 16u

/* ---- The bounds ---- */

int kv_keyspace_reserve(struct kv_keyspace *ks, struct kv_database *database, size_t count,
                        bool has_expiry)
{
    int status = count == 0 ? 0 : kv_table_reserve(&database->table, count);
    if (status == 0 && (has_expiry || database->deadlines.leaf_count != 0)) {
        uint64_t buckets = kv_table_reserved(&database->table);
        status = kv_deadlines_reserve(&database->deadlines, ks->mem, buckets);
    }
    return status;
}

void kv_keyspace_note_expiry(struct kv_database *database, uint64_t before, uint64_t hash,
                             uint64_t expiry_ms)
{
    struct kv_deadlines *deadlines = &database->deadlines;
    uint64_t now = kv_table_buckets(&database->table);
    for (uint64_t bucket = before == 0 ? 1 : before; bucket < now; bucket++) {
        kv_deadlines_lower(deadlines, bucket,
                           kv_deadlines_of(deadlines, kv_table_split_of(bucket)));
    }
    if (expiry_ms != 0) {
        kv_deadlines_lower(deadlines, kv_table_home(&database->table, hash), expiry_ms);
    }
}

uint64_t kv_keyspace_deadline(const struct kv_keyspace *ks, uint32_t db)
{
    const struct kv_database *database = kv_database_of(ks, db);
    return database == NULL ? KV_DEADLINE_NEVER : kv_deadlines_first(&database->deadlines);
}

/* ---- Reclaiming ---- */

struct reclaim {
    struct kv_keyspace *ks;
    uint32_t db;
    uint64_t now_ms;
    uint64_t next_ms; /* the least expiry of what stays */
    size_t count;
    struct kv_draft drafts[RECLAIM_MAX];
};

static void reclaim_entry(void *user, uint32_t ref)
{
    struct reclaim *reclaim = user;
    const struct kv_space *space = reclaim->ks->space;
    const uint8_t *record = kv_space_record(space, ref);
    uint64_t expiry_ms = kv_record_expiry(record);
    if (expiry_ms == 0) {
        return;
    }
    if (expiry_ms <= reclaim->now_ms && reclaim->count < RECLAIM_MAX) {
        reclaim->drafts[reclaim->count++] =
            kv_keyspace_tombstone(reclaim->ks, reclaim->db, kv_record_key(space, record));
    } else if (expiry_ms < reclaim->next_ms) {
        reclaim->next_ms = expiry_ms;
    }
}

void kv_keyspace_visit_leaf(const struct kv_database *database, size_t leaf,
                            kv_table_visit_fn *visit, void *user)
{
    uint64_t end = kv_table_buckets(&database->table);
    uint64_t first = (uint64_t)leaf * KV_DEADLINE_BUCKETS;
    for (uint64_t i = first; i < first + KV_DEADLINE_BUCKETS && i < end; i++) {
        kv_table_visit(&database->table, i, visit, user);
    }
}

int64_t kv_keyspace_reclaim(struct kv_keyspace *ks, uint32_t db, uint64_t now_ms)
{
    struct kv_database *database = kv_database_of(ks, db);
    if (kv_keyspace_deadline(ks, db) > now_ms) {
        return 0;
    }
    struct reclaim reclaim;
    reclaim.ks = ks;
    reclaim.db = db;
    reclaim.now_ms = now_ms;
    reclaim.next_ms = KV_DEADLINE_NEVER;
    reclaim.count = 0;
    size_t leaf = kv_deadlines_first_leaf(&database->deadlines);
    kv_keyspace_visit_leaf(database, leaf, reclaim_entry, &reclaim);
    if (reclaim.count != 0) {
        int status = kv_keyspace_append(ks, reclaim.drafts, reclaim.count);
        if (status < 0) {
            return status;
        }
    }
    kv_deadlines_set(&database->deadlines, leaf, reclaim.next_ms);
    for (size_t i = 0; i < reclaim.count; i++) {
        (void)kv_keyspace_leave(ks, db, reclaim.drafts[i].key, KEVY_CHANGE_EXPIRE);
    }
    return (int64_t)reclaim.count;
}

void kv_keyspace_tidy(struct kv_keyspace *ks, uint32_t db, bool has_expiry)
{
    if (++ks->tidy_turn % (has_expiry ? TIDY_WRITES_EXPIRING : TIDY_WRITES) != 0) {
        return;
    }
    uint64_t now = kv_keyspace_now(ks), first = kv_keyspace_deadline(ks, db);
    if (first < now && now - first >= TIDY_LATE_MS) {
        /* If it fails, the write that comes tells why. */
        (void)kv_keyspace_reclaim(ks, db, now);
    }
}
