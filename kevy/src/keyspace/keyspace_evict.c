/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Evicting: which key gives way, by Redis's policies. A few keys are looked at,
 * chosen by chance, and the best of them goes; how warm keys are is in heat.h.
 *
 * Policies over all keys take their samples from the table; those over keys
 * with a time to live from the leaves of the deadlines (deadlines.h), so that
 * few such keys among many others are found as fast.
 */
#include "kevy/src/keyspace/keyspace_inside.h"

#include "base/hash.h"

/* Keys, or leaves of keys with an expiry, that are looked at. */
#define EVICT_SAMPLES 10u
#define EVICT_LEAVES 2u

/* Leaves whose bound was no key's any more, that are passed over at once. */
#define EVICT_STALE_MAX 64u

/* ---- Heat ---- */

static bool has_heat(int32_t policy)
{
    return policy == KEVY_EVICT_ALLKEYS_LRU || policy == KEVY_EVICT_ALLKEYS_LFU ||
           policy == KEVY_EVICT_VOLATILE_LRU || policy == KEVY_EVICT_VOLATILE_LFU;
}

static bool is_by_frequency(int32_t policy)
{
    return policy == KEVY_EVICT_ALLKEYS_LFU || policy == KEVY_EVICT_VOLATILE_LFU;
}

static bool is_volatile(int32_t policy)
{
    return policy >= KEVY_EVICT_VOLATILE_LRU;
}

static void free_heat_grave(void *owner, struct kv_grave *grave)
{
    struct kv_keyspace *ks = owner;
    kv_heat_free(ks->mem,
                 (struct kv_heat *)(void *)((char *)grave - offsetof(struct kv_heat, grave)));
}

/* Lets readers see another heat; the old one goes when none looks at it. */
static void heat_set(struct kv_keyspace *ks, struct kv_heat *heat)
{
    struct kv_heat *old = atomic_load_explicit(&ks->heat, memory_order_relaxed);
    atomic_store_explicit(&ks->heat, heat, memory_order_release);
    if (old != NULL) {
        kv_graveyard_bury(&ks->yard, &old->grave, free_heat_grave);
    }
}

static uint64_t count_all(const struct kv_keyspace *ks)
{
    uint64_t count = 0;
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        count += kv_keyspace_count(ks, db);
    }
    return count;
}

void kv_keyspace_warm(struct kv_keyspace *ks, struct kv_heat *heat, uint64_t hash, bool is_new)
{
    if (!is_new) {
        kv_heat_touch(heat, hash);
        return;
    }
    if (!kv_heat_born(heat, hash)) {
        return;
    }
    uint64_t count = count_all(ks);
    if (kv_heat_is_small(heat, count)) {
        /* Without memory more keys share a byte. */
        struct kv_heat *larger = kv_heat_new(ks->mem, heat, heat->is_frequency, count);
        if (larger != NULL) {
            heat_set(ks, larger);
        }
    }
}

int kv_keyspace_set_policy(struct kv_keyspace *ks, int32_t policy)
{
    struct kv_heat *heat = atomic_load_explicit(&ks->heat, memory_order_relaxed);
    kv_graveyard_reap(&ks->yard);
    if (!has_heat(policy)) {
        heat_set(ks, NULL);
    } else if (heat == NULL || heat->is_frequency != is_by_frequency(policy)) {
        heat = kv_heat_new(ks->mem, NULL, is_by_frequency(policy), count_all(ks));
        if (heat == NULL) {
            return KEVY_ENOMEM;
        }
        heat_set(ks, heat);
    }
    ks->policy = policy;
    return 0;
}

int kv_keyspace_frequency(const struct kv_keyspace *ks, struct bytes key)
{
    const struct kv_heat *heat = atomic_load_explicit(&ks->heat, memory_order_acquire);
    return heat == NULL || !heat->is_frequency
               ? -1
               : UINT8_MAX - (int)kv_heat_coldness(heat, kv_keyspace_key(ks, key).hash);
}

/* ---- Choosing ---- */

struct choice {
    struct kv_keyspace *ks;
    const struct kv_heat *heat;
    uint64_t now_ms;
    uint64_t next_ms; /* the least expiry that was seen */
    uint64_t score;   /* of `key`; 0: none yet */
    struct bytes key;
    uint32_t db; /* under way, and `best_db` of the key */
    uint32_t best_db;
};

static uint64_t evict_random(struct kv_keyspace *ks)
{
    return hash_fold(ks->seed ^ ++ks->evict_turn, HASH_K3);
}

/* How willingly a key goes, at least 1; one that has expired most of all. */
static uint64_t score_of(const struct choice *choice, struct bytes name, uint64_t expiry_ms)
{
    struct kv_keyspace *ks = choice->ks;
    if (expiry_ms != 0 && expiry_ms <= choice->now_ms) {
        return UINT64_MAX;
    }
    if (ks->policy == KEVY_EVICT_VOLATILE_TTL) {
        return UINT64_MAX - expiry_ms;
    }
    return choice->heat == NULL
               ? evict_random(ks) >> 1 | 1
               : 1 + kv_heat_coldness(choice->heat, kv_keyspace_key(ks, name).hash);
}

static void consider(void *user, uint32_t ref)
{
    struct choice *choice = user;
    const struct kv_space *space = choice->ks->space;
    const uint8_t *record = kv_space_record(space, ref);
    uint64_t expiry_ms = kv_record_expiry(record);
    if (is_volatile(choice->ks->policy) && expiry_ms == 0) {
        return;
    }
    if (expiry_ms != 0 && expiry_ms < choice->next_ms) {
        choice->next_ms = expiry_ms;
    }
    struct bytes name = kv_record_key(space, record);
    uint64_t score = score_of(choice, name, expiry_ms);
    if (score > choice->score) {
        choice->score = score;
        choice->key = name;
        choice->best_db = choice->db;
    }
}

static void consider_any(struct choice *choice, const struct kv_table *table)
{
    for (unsigned i = 0; i < EVICT_SAMPLES && table->count != 0; i++) {
        consider(choice, kv_table_random(table, evict_random(choice->ks)));
    }
}

/* Looks at a leaf, whose bound then is right. */
static void consider_leaf(struct choice *choice, struct kv_database *database, size_t leaf)
{
    choice->next_ms = KV_DEADLINE_NEVER;
    kv_keyspace_visit_leaf(database, leaf, consider, choice);
    kv_deadlines_set(&database->deadlines, leaf, choice->next_ms);
}

static void consider_expiring(struct choice *choice, struct kv_database *database)
{
    struct kv_deadlines *deadlines = &database->deadlines;
    bool is_first = choice->ks->policy == KEVY_EVICT_VOLATILE_TTL;
    unsigned seen = 0, wanted = is_first ? 1 : EVICT_LEAVES;
    for (unsigned i = 0; i < EVICT_STALE_MAX && seen < wanted; i++) {
        uint64_t bound = kv_deadlines_first(deadlines);
        if (bound == KV_DEADLINE_NEVER) {
            return;
        }
        size_t leaf = is_first ? kv_deadlines_first_leaf(deadlines)
                               : kv_deadlines_random_leaf(deadlines, evict_random(choice->ks));
        consider_leaf(choice, database, leaf);
        seen += is_first ? choice->next_ms == bound : choice->next_ms != KV_DEADLINE_NEVER;
    }
}

int kv_keyspace_evict(struct kv_keyspace *ks)
{
    struct choice choice = {.ks = ks,
                            .heat = atomic_load_explicit(&ks->heat, memory_order_relaxed),
                            .now_ms = kv_keyspace_now(ks)};
    ASSERT(ks->policy != KEVY_EVICT_NONE);
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        struct kv_database *database = kv_database_of(ks, db);
        choice.db = db;
        if (database == NULL) {
            continue;
        }
        if (is_volatile(ks->policy)) {
            consider_expiring(&choice, database);
        } else {
            consider_any(&choice, &database->table);
        }
    }
    if (choice.score == 0) {
        return 0;
    }
    int64_t live = kv_keyspace_remove_as(ks, choice.best_db, &choice.key, 1, KEVY_CHANGE_EVICT);
    ks->evicted += live == 1;
    return live < 0 ? (int)live : 1;
}
