/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Walking the hash table: scan pages, random choice, measuring and checking.
 *
 * A scan's cursor is the number of the next head bucket. Buckets only ever
 * split into a higher number and never merge, so an entry that a scan has not
 * seen is always ahead of it.
 */
#include "kevy/src/keyspace/table.h"

#include "base/hash.h"
#include "kevy/src/keyspace/blocks.h"

#define RANDOM_BUCKET_TRIES 64u

static const struct kv_bucket *after(const struct kv_table *table, struct kv_tags tags)
{
    uint32_t link = kv_tags_link(tags);
    return link == 0 ? NULL : kv_blocks_at(&table->more, link - 1);
}

static size_t visit_chain(const struct kv_table *table, uint64_t index, kv_table_visit_fn *visit,
                          void *user)
{
    size_t seen = 0;
    const struct kv_bucket *bucket = kv_blocks_at(&table->heads, index);
    while (bucket != NULL) {
        struct kv_tags tags = kv_bucket_tags(bucket);
        unsigned count = kv_tags_count(tags);
        for (unsigned i = 0; i < count; i++) {
            visit(user, kv_bucket_ref(bucket, i));
        }
        seen += count;
        bucket = after(table, tags);
    }
    return seen;
}

void kv_table_visit(const struct kv_table *table, uint64_t bucket, kv_table_visit_fn *visit,
                    void *user)
{
    visit_chain(table, bucket, visit, user);
}

uint64_t kv_table_scan(const struct kv_table *table, uint64_t cursor, size_t count,
                       kv_table_visit_fn *visit, void *user)
{
    uint64_t buckets = atomic_load_explicit(&table->bucket_count, memory_order_acquire);
    size_t seen = 0, empty = 0;
    while (cursor < buckets && seen < count && empty < count * 10) {
        size_t here = visit_chain(table, cursor, visit, user);
        seen += here;
        empty += here == 0;
        cursor++;
    }
    return cursor < buckets ? cursor : 0;
}

static void count_entry(void *user, uint32_t ref)
{
    (void)ref;
    ++*(size_t *)user;
}

struct pick {
    size_t left;
    uint32_t ref;
};

static void pick_entry(void *user, uint32_t ref)
{
    struct pick *pick = user;
    if (pick->left-- == 0) {
        pick->ref = ref;
    }
}

/* Tries random buckets; in a table that is nearly empty, walks on from one. */
uint32_t kv_table_random(const struct kv_table *table, uint64_t random)
{
    uint64_t buckets = atomic_load_explicit(&table->bucket_count, memory_order_acquire);
    if (table->count == 0) {
        return 0;
    }
    for (unsigned tries = 0;; tries++) {
        uint64_t index = tries < RANDOM_BUCKET_TRIES
                             ? hash_fold(random ^ HASH_K1, HASH_K2 + tries) % buckets
                             : (random + tries) % buckets;
        size_t here = 0;
        visit_chain(table, index, count_entry, &here);
        if (here != 0) {
            struct pick pick = {(size_t)(hash_fold(random, HASH_K3) % here), 0};
            visit_chain(table, index, pick_entry, &pick);
            return pick.ref;
        }
    }
}

size_t kv_table_memory(const struct kv_table *table)
{
    return kv_blocks_memory(&table->heads) + kv_blocks_memory(&table->more);
}

/* ---- Checking ---- */

struct check {
    const struct kv_table *table;
    uint64_t index;
    uint64_t buckets;
    uint64_t count;
    uint64_t more;
    bool ok;
};

/* Each entry is in the bucket, and has the tag, that its key asks for. */
static void check_bucket(struct check *check, const struct kv_bucket *bucket)
{
    const struct kv_table *table = check->table;
    struct kv_tags tags = kv_bucket_tags(bucket);
    unsigned count = kv_tags_count(tags);
    uint64_t mask = UINT64_MAX >> __builtin_clzll(check->buckets);
    check->ok = check->ok && (kv_tags_link(tags) == 0 || count == KV_BUCKET_ENTRIES);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *record = kv_space_record(table->space, kv_bucket_ref(bucket, i));
        struct bytes name = kv_record_key(table->space, record);
        uint64_t hash = hash_bytes(name.data, name.size, table->seed);
        uint64_t home = (hash & mask) < check->buckets ? hash & mask : hash & (mask >> 1);
        check->ok = check->ok && home == check->index && kv_tag_of(hash) == kv_tags_get(tags, i);
    }
    check->count += count;
}

bool kv_table_verify(const struct kv_table *table)
{
    struct check check = {table, 0, 0, 0, 0, true};
    check.buckets = atomic_load_explicit(&table->bucket_count, memory_order_acquire);
    for (; check.index < check.buckets; check.index++) {
        const struct kv_bucket *bucket = kv_blocks_at(&table->heads, check.index);
        while (bucket != NULL) {
            check_bucket(&check, bucket);
            bucket = after(table, kv_bucket_tags(bucket));
            check.more += bucket != NULL;
        }
    }
    return check.ok && check.count == table->count &&
           check.more == table->more_used - table->more_spare &&
           atomic_load_explicit(&table->changes, memory_order_relaxed) % 2 == 0;
}
