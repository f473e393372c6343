/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Walking the keyspace: pages of live keys, a random one, and checking.
 * Keys past their expiry are stepped over.
 */
#include "kevy/src/keyspace/peek.h"

#include "base/hash.h"

#define RANDOM_KEY_TRIES 100u

struct key_walk {
    const struct kv_keyspace *ks;
    uint64_t now_ms; /* 0: not read yet */
    kv_key_visit_fn *visit;
    void *user;
};

/* Reads the clock once a page, and only if a key has an expiry. */
static bool is_live(struct key_walk *walk, uint64_t expiry_ms)
{
    if (expiry_ms == 0) {
        return true;
    }
    if (walk->now_ms == 0) {
        walk->now_ms = kv_keyspace_now(walk->ks);
    }
    return expiry_ms > walk->now_ms;
}

static void visit_entry(void *user, uint32_t ref)
{
    struct key_walk *walk = user;
    const uint8_t *record = kv_space_record(walk->ks->space, ref);
    struct kv_item item = {kv_record_value(walk->ks->space, record), kv_record_expiry(record)};
    if (is_live(walk, item.expiry_ms)) {
        walk->visit(walk->user, kv_record_key(walk->ks->space, record), &item);
    }
}

uint64_t kv_keyspace_scan(const struct kv_keyspace *ks, uint32_t db, uint64_t cursor, size_t count,
                          kv_key_visit_fn *visit, void *user)
{
    struct key_walk walk = {ks, 0, visit, user};
    const struct kv_database *database = kv_database_of(ks, db);
    return database == NULL ? 0
                            : kv_table_scan(&database->table, cursor, count, visit_entry, &walk);
}

/* Remembers the first live key it meets. */
static void first_live(void *user, struct bytes key, const struct kv_item *item)
{
    struct bytes *out = user;
    (void)item;
    if (out->data == NULL) {
        *out = key;
    }
}

int kv_keyspace_random(const struct kv_keyspace *ks, uint32_t db, uint64_t random,
                       struct bytes *out)
{
    const struct kv_database *database = kv_database_of(ks, db);
    struct key_walk walk = {ks, 0, first_live, out};
    *out = (struct bytes){NULL, 0};
    if (database == NULL) {
        return 0;
    }
    const struct kv_table *table = &database->table;
    for (unsigned tries = 0; tries < RANDOM_KEY_TRIES && out->data == NULL; tries++) {
        uint32_t ref = kv_table_random(table, hash_fold(random ^ HASH_K0, HASH_K1 + 2 * tries));
        if (ref == 0) {
            return 0;
        }
        visit_entry(&walk, ref);
    }
    for (uint64_t cursor = 0; out->data == NULL;) {
        cursor = kv_table_scan(table, cursor, 64, visit_entry, &walk);
        if (cursor == 0) {
            break;
        }
    }
    return out->data != NULL;
}

struct expiry_check {
    const struct kv_keyspace *ks;
    const struct kv_database *database;
    uint64_t count;
    bool ok;
};

/* Counts a key with an expiry; its leaf has a bound that is not later. */
static void check_expiry(void *user, uint32_t ref)
{
    struct expiry_check *check = user;
    const uint8_t *record = kv_space_record(check->ks->space, ref);
    uint64_t expiry_ms = kv_record_expiry(record);
    if (expiry_ms != 0) {
        struct bytes name = kv_record_key(check->ks->space, record);
        uint64_t home =
            kv_table_home(&check->database->table, kv_keyspace_key(check->ks, name).hash);
        check->count++;
        check->ok = check->ok && kv_deadlines_of(&check->database->deadlines, home) <= expiry_ms;
    }
}

bool kv_keyspace_verify(const struct kv_keyspace *ks)
{
    for (uint32_t i = 0; i < KV_DATABASE_COUNT; i++) {
        const struct kv_database *database = kv_database_of(ks, i);
        uint64_t cursor = 0;
        if (database == NULL) {
            continue;
        }
        struct expiry_check check = {ks, database, 0, true};
        do {
            cursor = kv_table_scan(&database->table, cursor, 1024, check_expiry, &check);
        } while (cursor != 0);
        if (!check.ok || check.count != database->expiring_count ||
            !kv_table_verify(&database->table) || !kv_deadlines_verify(&database->deadlines)) {
            return false;
        }
    }
    return true;
}
