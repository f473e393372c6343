/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Putting a table's blocks into an image, and reading them back; see
 * table_image.h. A block is read straight to where it stays, and looked at
 * while it is in the cache.
 *
 * Every overflow bucket must be reached exactly once, by a link or as a free
 * one: a bit for each says whether it was. So chains end, and none shares a
 * bucket with another.
 */
#include "kevy/src/keyspace/table_image.h"

#include "kevy.h"

#include "kevy/src/keyspace/blocks.h"

/* Bits of tags[1] between the last tag and the link: the kinds of entries, of
 * which there is one so far. */
#define KIND_BITS (UINT64_C(0xfff) << 32)

/* A table that is being read. */
struct table_load {
    const struct kv_image_room *room;
    const struct kv_table_shape *shape;
    uint8_t *reached; /* a bit for each overflow bucket */
    uint64_t reached_count;
    uint64_t count; /* entries */
    bool is_good;
};

struct kv_table_shape kv_table_shape(const struct kv_table *table)
{
    return (struct kv_table_shape){.bucket_count = kv_table_buckets(table),
                                   .count = table->count,
                                   .more_used = table->more_used,
                                   .more_free = table->more_free,
                                   .more_spare = table->more_spare};
}

uint64_t kv_table_image_size(const struct kv_table *table)
{
    return (kv_table_buckets(table) + table->more_used) * sizeof(struct kv_bucket);
}

/* ---- Saving ---- */

static uint64_t block_share(uint64_t left)
{
    return left < KV_BLOCK_BUCKETS ? left : KV_BLOCK_BUCKETS;
}

static int blocks_save(const struct kv_blocks *blocks, uint64_t count, struct kv_image *image)
{
    int status = KEVY_OK;
    for (uint64_t i = 0; status == KEVY_OK && i < count; i += KV_BLOCK_BUCKETS) {
        size_t size = (size_t)block_share(count - i) * sizeof(struct kv_bucket);
        status = kv_image_put(image, kv_blocks_at(blocks, i), size);
    }
    return status;
}

int kv_table_save(const struct kv_table *table, struct kv_image *image)
{
    int status = blocks_save(&table->heads, kv_table_buckets(table), image);
    return status == KEVY_OK ? blocks_save(&table->more, table->more_used, image) : status;
}

/* ---- Loading ---- */

/* An overflow bucket is linked to, or on the list of free ones. */
static void reach(struct table_load *load, uint32_t number)
{
    uint32_t index = number - 1;
    if (number == 0 || number > load->shape->more_used ||
        (load->reached[index / 8] >> (index % 8) & 1) != 0) {
        load->is_good = false;
        return;
    }
    load->reached[index / 8] = (uint8_t)(load->reached[index / 8] | 1u << (index % 8));
    load->reached_count++;
}

/* Both numbers are small: the difference is negative where one is out of bounds. */
static uint32_t ref_excess(const struct kv_image_room *room, const struct kv_bucket *bucket,
                           unsigned entry)
{
    uint32_t ref = atomic_load_explicit(&bucket->refs[entry], memory_order_relaxed);
    return room->granules[ref >> KV_SLOT_SHIFT] - 1 - (ref & ((1u << KV_SLOT_SHIFT) - 1));
}

static bool refs_hold(const struct kv_image_room *room, const struct kv_bucket *bucket,
                      unsigned count)
{
    uint32_t excess = 0;
    for (unsigned i = 0; i < count; i++) {
        excess |= ref_excess(room, bucket, i);
    }
    return excess >> 31 == 0;
}

/* A bucket that is no free one. */
static void bucket_look(struct table_load *load, const struct kv_bucket *bucket)
{
    struct kv_tags tags = kv_bucket_tags(bucket);
    unsigned empty = kv_tags_match(tags, 0);
    unsigned count = (unsigned)__builtin_ctz(empty | (1u << KV_BUCKET_ENTRIES));
    uint32_t link = kv_tags_link(tags);
    load->is_good = load->is_good && empty == ((KV_BUCKET_MASK << count) & KV_BUCKET_MASK) &&
                    (tags.word[1] & KIND_BITS) == 0 && refs_hold(load->room, bucket, count);
    load->count += count;
    if (link != 0) {
        load->is_good = load->is_good && count == KV_BUCKET_ENTRIES;
        reach(load, link);
    }
}

/* A free overflow bucket has no entries and links to the next one; one in use
 * has some. */
static bool is_free(const struct kv_bucket *bucket)
{
    struct kv_tags tags = kv_bucket_tags(bucket);
    return tags.word[0] == 0 && (tags.word[1] << (64 - KV_LINK_SHIFT)) == 0;
}

static int blocks_load(struct kv_blocks *blocks, struct kv_mem *mem, uint64_t count,
                       struct kv_image *image, struct table_load *load)
{
    struct kv_bucket *first = count == 0 ? NULL : kv_blocks_make(blocks, mem, (size_t)count);
    int status = first == NULL && count != 0 ? KEVY_ENOMEM : KEVY_OK;
    for (uint64_t i = 0; status == KEVY_OK && i < count; i += KV_BLOCK_BUCKETS) {
        size_t here = (size_t)block_share(count - i);
        status = kv_image_get(image, first + i, here * sizeof *first);
        for (size_t k = 0; status == KEVY_OK && load != NULL && k < here; k++) {
            bucket_look(load, &first[i + k]);
        }
    }
    return status;
}

/* Looks at the overflow buckets: those in use, to which links must lead and to no
 * other; then the list of the others. */
static void more_look(struct table_load *load, const struct kv_blocks *more)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < load->shape->more_used; i++) {
        const struct kv_bucket *bucket = kv_blocks_at(more, i);
        if (!is_free(bucket)) {
            bucket_look(load, bucket);
            used++;
        }
    }
    for (uint32_t i = 0; i < load->shape->more_used; i++) {
        bool is_linked = (load->reached[i / 8] >> (i % 8) & 1) != 0;
        load->is_good = load->is_good && is_linked == !is_free(kv_blocks_at(more, i));
    }
    load->is_good = load->is_good && load->reached_count == used;
    uint32_t number = load->shape->more_free;
    for (uint32_t left = load->shape->more_spare; load->is_good && left > 0; left--) {
        reach(load, number);
        if (load->is_good) {
            const struct kv_bucket *bucket = kv_blocks_at(more, number - 1);
            load->is_good = is_free(bucket);
            number = kv_tags_link(kv_bucket_tags(bucket));
        }
    }
    load->is_good = load->is_good && number == 0;
}

static int buckets_load(struct kv_table *table, struct kv_image *image, struct table_load *load)
{
    const struct kv_table_shape *shape = load->shape;
    int status = blocks_load(&table->heads, table->mem, shape->bucket_count, image, load);
    if (status == KEVY_OK) {
        status = blocks_load(&table->more, table->mem, shape->more_used, image, NULL);
    }
    if (status != KEVY_OK) {
        return status;
    }
    more_look(load, &table->more);
    return load->is_good && load->reached_count == shape->more_used && load->count == shape->count
               ? KEVY_OK
               : KEVY_ECORRUPT;
}

int kv_table_load(struct kv_table *table, struct kv_image *image,
                  const struct kv_table_shape *shape, const struct kv_image_room *room)
{
    size_t bits = (size_t)shape->more_used / 8 + 1;
    if (shape->more_used > KV_LINK_MAX ||
        !kv_image_has(image, shape->bucket_count, sizeof(struct kv_bucket)) ||
        !kv_image_has(image, shape->more_used, sizeof(struct kv_bucket))) {
        return KEVY_ECORRUPT;
    }
    struct table_load load = {.room = room, .shape = shape, .is_good = true};
    load.reached = (uint8_t *)kv_mem_zeroed(table->mem, bits);
    if (load.reached == NULL) {
        return KEVY_ENOMEM;
    }
    int status = buckets_load(table, image, &load);
    kv_mem_free(table->mem, load.reached, bits);
    table->more_used = shape->more_used;
    table->more_free = shape->more_free;
    table->more_spare = shape->more_spare;
    table->count = shape->count;
    atomic_store_explicit(&table->bucket_count, shape->bucket_count, memory_order_release);
    return status;
}
