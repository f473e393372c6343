/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The hash table: lookup, insert, removal and the split that makes it grow.
 * The first look for a key is in probe.h, walking in table_walk.c, its memory in
 * blocks.c, the bucket's bits in bucket.h, the drawing in table.h.
 */
#include "kevy/src/keyspace/table.h"

#include "kevy.h"

#include "base/hash.h"
#include "kevy/src/keyspace/probe.h"

#ifdef KEVY_HOSTILE
#define BUCKETS_FIRST ((uint64_t)1)
#else
#define BUCKETS_FIRST ((uint64_t)16)
#endif

/* Buckets that a reader without the lock follows before it gives up. */
#define PEEK_STEPS ((size_t)64)

/* The end of a chain that is being built. */
struct chain {
    struct kv_bucket *last;
    unsigned count; /* entries in the last bucket */
};

void kv_table_init(struct kv_table *table, struct kv_mem *mem, const struct kv_space *space,
                   uint64_t seed)
{
    memset(table, 0, sizeof *table);
    table->mem = mem;
    table->space = space;
    table->seed = seed;
}

void kv_table_clear(struct kv_table *table)
{
    atomic_store_explicit(&table->bucket_count, 0, memory_order_release);
    kv_blocks_clear(&table->heads, table->mem);
    kv_blocks_clear(&table->more, table->mem);
    table->more_used = table->more_free = table->more_spare = 0;
    table->count = 0;
}

struct kv_key kv_table_key(const struct kv_table *table, struct bytes name)
{
    return (struct kv_key){name, hash_bytes(name.data, name.size, table->seed)};
}

/* ---- Lookup ---- */

uint64_t kv_table_buckets(const struct kv_table *table)
{
    return kv_probe_buckets(table);
}

uint64_t kv_table_home(const struct kv_table *table, uint64_t hash)
{
    return kv_probe_home(hash, kv_probe_buckets(table));
}

uint64_t kv_table_split_of(uint64_t bucket)
{
    ASSERT(bucket != 0);
    return bucket & (UINT64_MAX >> __builtin_clzll(bucket) >> 1);
}

static struct kv_bucket *next_of(const struct kv_table *table, struct kv_tags tags)
{
    uint32_t link = kv_tags_link(tags);
    return link == 0 ? NULL : kv_blocks_at(&table->more, link - 1);
}

/* Finds the entry of `key`. A reader without the lock may be led through a
 * chain that is being changed, but not for ever: its buckets are finite and
 * its steps are bounded. */
static inline struct kv_table_entry locate(const struct kv_table *table, struct kv_key key,
                                           size_t steps_max)
{
    uint64_t count = kv_probe_buckets(table);
    if (count == 0) {
        return (struct kv_table_entry){0, 0, NULL, NULL};
    }
    uint8_t tag = kv_tag_of(key.hash);
    struct kv_bucket *bucket = kv_blocks_at(&table->heads, kv_probe_home(key.hash, count));
    for (size_t step = 0; bucket != NULL && step < steps_max; step++) {
        struct kv_tags tags = kv_bucket_tags(bucket);
        for (unsigned match = kv_tags_match(tags, tag); match != 0; match &= match - 1) {
            unsigned entry = (unsigned)__builtin_ctz(match);
            uint32_t ref = kv_bucket_ref(bucket, entry);
            const uint8_t *record = kv_space_record(table->space, ref);
            if (kv_probe_holds(table, record, key.name)) {
                return (struct kv_table_entry){ref, entry, bucket, record};
            }
        }
        bucket = next_of(table, tags);
    }
    return (struct kv_table_entry){0, 0, bucket, NULL};
}

struct kv_table_entry kv_table_locate(const struct kv_table *table, struct kv_key key)
{
    return locate(table, key, SIZE_MAX);
}

uint32_t kv_table_find(const struct kv_table *table, struct kv_key key)
{
    return locate(table, key, SIZE_MAX).ref;
}

uint32_t kv_table_peek(const struct kv_table *table, struct kv_key key, bool *is_sure)
{
    uint64_t before = atomic_load_explicit(&table->changes, memory_order_acquire);
    struct kv_table_entry place = locate(table, key, PEEK_STEPS);
    if (place.ref == 0) {
        atomic_thread_fence(memory_order_acquire);
        *is_sure = place.bucket == NULL && before % 2 == 0 &&
                   atomic_load_explicit(&table->changes, memory_order_relaxed) == before;
    }
    return place.ref;
}

/* Cache lines of a record that are asked for: those of a small value. */
#define FETCH_LINES 3u
#define FETCH_LINE 64u

static void fetch_bucket(const struct kv_table *table, uint64_t hash, uint64_t buckets)
{
    __builtin_prefetch(kv_blocks_at(&table->heads, kv_probe_home(hash, buckets)));
}

static void fetch_record(const struct kv_table *table, uint64_t hash, uint64_t buckets)
{
    struct kv_bucket *bucket = kv_blocks_at(&table->heads, kv_probe_home(hash, buckets));
    unsigned match = kv_tags_match(kv_bucket_tags(bucket), kv_tag_of(hash));
    if (match != 0) {
        uint32_t ref = kv_bucket_ref(bucket, (unsigned)__builtin_ctz(match));
        const uint8_t *record = kv_space_record(table->space, ref);
        for (unsigned i = 0; i < FETCH_LINES; i++) {
            __builtin_prefetch(record + (size_t)i * FETCH_LINE);
        }
    }
}

void kv_table_fetch(const struct kv_table *table, const struct kv_key *keys, size_t count)
{
    uint64_t buckets = kv_probe_buckets(table);
    for (size_t i = 0; buckets != 0 && i < count; i++) {
        fetch_bucket(table, keys[i].hash, buckets);
    }
    for (size_t i = 0; buckets != 0 && i < count; i++) {
        fetch_record(table, keys[i].hash, buckets);
    }
}

void kv_table_fetch_bucket(const struct kv_table *table, uint64_t hash)
{
    uint64_t buckets = kv_probe_buckets(table);
    if (buckets != 0) {
        fetch_bucket(table, hash, buckets);
    }
}

void kv_table_fetch_record(const struct kv_table *table, uint64_t hash)
{
    uint64_t buckets = kv_probe_buckets(table);
    if (buckets != 0) {
        fetch_record(table, hash, buckets);
    }
}

/* ---- Overflow buckets ---- */

/* Takes an overflow bucket; one is there, since reserve said so. */
static struct kv_bucket *more_take(struct kv_table *table, uint32_t *number)
{
    struct kv_bucket *bucket;
    if (table->more_free != 0) {
        *number = table->more_free;
        bucket = kv_blocks_at(&table->more, *number - 1);
        table->more_free = kv_tags_link(kv_bucket_tags(bucket));
        table->more_spare--;
    } else {
        ASSERT(table->more_used < table->more.count * KV_BLOCK_BUCKETS);
        *number = ++table->more_used;
        bucket = kv_blocks_at(&table->more, *number - 1);
    }
    kv_bucket_clear(bucket);
    return bucket;
}

/* The list runs through the link bits: references of a freed bucket stay as
 * they are, since a late reader may still load one. */
static void more_give(struct kv_table *table, uint32_t number)
{
    struct kv_bucket *bucket = kv_blocks_at(&table->more, number - 1);
    kv_bucket_clear(bucket);
    kv_bucket_set_link(bucket, table->more_free);
    table->more_free = number;
    table->more_spare++;
}

static void chain_append(struct kv_table *table, struct chain *chain, uint8_t tag, uint32_t ref)
{
    if (chain->count == KV_BUCKET_ENTRIES) {
        uint32_t number;
        struct kv_bucket *fresh = more_take(table, &number);
        kv_bucket_set_ref(fresh, 0, ref);
        kv_bucket_set_tag(fresh, 0, tag);
        kv_bucket_set_link(chain->last, number);
        *chain = (struct chain){fresh, 1};
        return;
    }
    kv_bucket_set_ref(chain->last, chain->count, ref);
    kv_bucket_set_tag(chain->last, chain->count, tag);
    chain->count++;
}

/* ---- Growth ---- */

/* Entries for each 2 buckets before one is split. With few overflow numbers
 * left the table rather grows, so that the 20-bit links do not run out. */
static uint64_t load_limit(const struct kv_table *table)
{
    uint32_t used = table->more_used - table->more_spare;
    return used < KV_LINK_MAX / 2 ? 13 : used < KV_LINK_MAX / 4 * 3 ? 8 : 4;
}

static void changes_begin(struct kv_table *table)
{
    atomic_fetch_add_explicit(&table->changes, 1, memory_order_acq_rel);
}

static void changes_end(struct kv_table *table)
{
    atomic_fetch_add_explicit(&table->changes, 1, memory_order_release);
}

/* Deals the entries of one bucket out to the two sides of a split. */
static void split_entries(struct kv_table *table, const struct kv_bucket *entries,
                          struct kv_tags tags, uint64_t bit, struct chain sides[2])
{
    unsigned count = kv_tags_count(tags);
    for (unsigned i = 0; i < count; i++) {
        __builtin_prefetch(kv_space_record(table->space, kv_bucket_ref(entries, i)));
    }
    for (unsigned i = 0; i < count; i++) {
        uint32_t ref = kv_bucket_ref(entries, i);
        const uint8_t *record = kv_space_record(table->space, ref);
        struct bytes name = kv_record_key(table->space, record);
        uint64_t hash = hash_bytes(name.data, name.size, table->seed);
        chain_append(table, &sides[(hash & bit) != 0], kv_tags_get(tags, i), ref);
    }
}

/* Asks for what the next splits will need: the records of the bucket that is
 * next in turn, and the bucket behind that. */
static void split_fetch(const struct kv_table *table, uint64_t index)
{
    const struct kv_bucket *low = kv_blocks_at(&table->heads, kv_table_split_of(index));
    unsigned count = kv_tags_count(kv_bucket_tags(low));
    for (unsigned i = 0; i < count; i++) {
        __builtin_prefetch(kv_space_record(table->space, kv_bucket_ref(low, i)));
    }
    __builtin_prefetch(kv_blocks_at(&table->heads, kv_table_split_of(index + 1)));
}

/* Splits the next bucket in turn. Each overflow bucket is emptied and given
 * back before its entries are dealt out, so that the two new chains find as
 * many as they can need. */
static void split(struct kv_table *table)
{
    uint64_t index = kv_probe_buckets(table);
    uint64_t bit = (UINT64_MAX >> __builtin_clzll(index)) / 2 + 1;
    struct kv_bucket *low = kv_blocks_at(&table->heads, kv_table_split_of(index));
    struct kv_bucket *high = kv_blocks_at(&table->heads, index);
    struct chain sides[2] = {{low, 0}, {high, 0}};
    struct kv_bucket entries;
    struct kv_bucket *bucket = low;
    uint32_t number = 0;

    changes_begin(table);
    while (bucket != NULL) {
        struct kv_tags tags = kv_bucket_tags(bucket);
        for (unsigned i = 0; i < KV_BUCKET_ENTRIES; i++) {
            atomic_init(&entries.refs[i], kv_bucket_ref(bucket, i));
        }
        kv_bucket_clear(bucket);
        if (number != 0) {
            more_give(table, number);
        }
        number = kv_tags_link(tags);
        bucket = next_of(table, tags);
        split_entries(table, &entries, tags, bit, sides);
    }
    atomic_store_explicit(&table->bucket_count, index + 1, memory_order_release);
    changes_end(table);
    split_fetch(table, index + 1);
}

int kv_table_reserve(struct kv_table *table, size_t count)
{
    uint64_t used = kv_probe_buckets(table);
    size_t heads = (size_t)(used == 0 ? BUCKETS_FIRST : used) + 2 * count;
    if (table->more_used - table->more_spare + count > KV_LINK_MAX) {
        return KEVY_ELIMIT;
    }
    size_t fresh = count > table->more_spare ? count - table->more_spare : 0;
    int status = kv_blocks_reserve(&table->heads, table->mem, heads);
    return status < 0 ? status
                      : kv_blocks_reserve(&table->more, table->mem, table->more_used + fresh);
}

void kv_table_expect(struct kv_table *table, uint64_t bucket_count)
{
    if (table->heads.count != 0 || bucket_count < BUCKETS_FIRST) {
        return;
    }
    struct kv_bucket *first = kv_blocks_make(&table->heads, table->mem, (size_t)bucket_count);
    if (first != NULL) {
        memset((void *)first, 0, (size_t)bucket_count * sizeof *first);
        atomic_store_explicit(&table->bucket_count, bucket_count, memory_order_release);
    }
}

uint64_t kv_table_reserved(const struct kv_table *table)
{
    return (uint64_t)table->heads.count * KV_BLOCK_BUCKETS;
}

/* ---- Changes ---- */

void kv_table_insert(struct kv_table *table, const struct kv_key *key, uint32_t ref)
{
    ASSERT(ref != 0);
    if (kv_probe_buckets(table) == 0) {
        atomic_store_explicit(&table->bucket_count, BUCKETS_FIRST, memory_order_release);
    }
    struct kv_bucket *bucket =
        kv_blocks_at(&table->heads, kv_probe_home(key->hash, kv_probe_buckets(table)));
    struct kv_tags tags = kv_bucket_tags(bucket);
    for (struct kv_bucket *next; (next = next_of(table, tags)) != NULL;) {
        bucket = next;
        tags = kv_bucket_tags(bucket);
    }
    struct chain chain = {bucket, kv_tags_count(tags)};
    chain_append(table, &chain, kv_tag_of(key->hash), ref);
    table->count++;
    for (unsigned i = 0; i < 2 && table->count * 2 > kv_probe_buckets(table) * load_limit(table);
         i++) {
        split(table);
    }
    ASSERT_SLOW(table->count % 64 != 0 || kv_table_verify(table));
}

uint32_t kv_table_put(struct kv_table *table, struct kv_key key, uint32_t ref)
{
    struct kv_table_entry place = kv_table_locate(table, key);
    kv_table_put_at(table, &place, &key, ref);
    return place.ref;
}

/* Fills the hole at `at` with the last entry of the chain that starts at `head`. */
static void fill_hole(struct kv_table *table, struct kv_bucket *head, struct kv_table_entry at)
{
    struct kv_bucket *before = NULL, *last = head;
    struct kv_tags tags = kv_bucket_tags(last);
    for (struct kv_bucket *next; (next = next_of(table, tags)) != NULL;) {
        before = last;
        last = next;
        tags = kv_bucket_tags(last);
    }
    unsigned entry = kv_tags_count(tags) - 1;
    if (last != at.bucket || entry != at.entry) {
        kv_bucket_set_ref(at.bucket, at.entry, kv_bucket_ref(last, entry));
        kv_bucket_set_tag(at.bucket, at.entry, kv_tags_get(tags, entry));
    }
    kv_bucket_set_tag(last, entry, 0);
    if (entry == 0 && before != NULL) {
        uint32_t number = kv_tags_link(kv_bucket_tags(before));
        kv_bucket_set_link(before, 0);
        more_give(table, number);
    }
}

uint32_t kv_table_remove(struct kv_table *table, struct kv_key key)
{
    struct kv_table_entry at = kv_table_locate(table, key);
    if (at.ref == 0) {
        return 0;
    }
    changes_begin(table);
    fill_hole(table, kv_blocks_at(&table->heads, kv_probe_home(key.hash, kv_probe_buckets(table))),
              at);
    table->count--;
    changes_end(table);
    ASSERT_SLOW(table->count % 64 != 0 || kv_table_verify(table));
    return at.ref;
}

bool kv_table_replace(struct kv_table *table, uint64_t hash, uint32_t old_ref, uint32_t new_ref)
{
    uint64_t count = kv_probe_buckets(table);
    struct kv_bucket *bucket =
        count == 0 ? NULL : kv_blocks_at(&table->heads, kv_probe_home(hash, count));
    while (bucket != NULL) {
        struct kv_tags tags = kv_bucket_tags(bucket);
        unsigned match = kv_tags_match(tags, kv_tag_of(hash));
        for (; match != 0; match &= match - 1) {
            unsigned entry = (unsigned)__builtin_ctz(match);
            if (kv_bucket_ref(bucket, entry) == old_ref) {
                kv_bucket_set_ref(bucket, entry, new_ref);
                return true;
            }
        }
        bucket = next_of(table, tags);
    }
    return false;
}
