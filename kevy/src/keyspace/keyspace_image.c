/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Saving and loading databases; see keyspace_image.h for the bytes. Expiries
 * need no look at the records: the bounds of the deadlines are saved too.
 */
#include "kevy/src/keyspace/keyspace_image.h"

#include "kevy.h"

#include "kevy/src/keyspace/table_image.h"

#define DATABASE_HEADER ((size_t)48)

struct database_shape {
    uint32_t db;
    struct kv_table_shape table;
    uint64_t expiring_count;
    uint64_t leaf_count;
};

/* A database without a key is saved as none at all. */
static const struct kv_database *database_with_keys(const struct kv_keyspace *ks, uint32_t db)
{
    const struct kv_database *database = kv_database_of(ks, db);
    return database == NULL || database->table.count == 0 ? NULL : database;
}

static struct database_shape shape_of(const struct kv_keyspace *ks, uint32_t db)
{
    const struct kv_database *database = database_with_keys(ks, db);
    struct database_shape shape = {.db = db};
    if (database != NULL) {
        shape.table = kv_table_shape(&database->table);
        shape.expiring_count = database->expiring_count;
        shape.leaf_count =
            database->deadlines.leaf_count == 0 ? 0 : kv_deadlines_leaves(shape.table.bucket_count);
    }
    return shape;
}

uint64_t kv_keyspace_image_size(const struct kv_keyspace *ks)
{
    uint64_t size = 0;
    if (ks->dropped != NULL) {
        return 0; /* records count as live that no database has */
    }
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        struct database_shape shape = shape_of(ks, db);
        size += DATABASE_HEADER + KV_IMAGE_SEAL + shape.leaf_count * sizeof(uint64_t);
        if (shape.table.bucket_count != 0) {
            size += kv_table_image_size(&kv_database_of(ks, db)->table);
        }
    }
    return size;
}

/* ---- Saving ---- */

static void shape_encode(const struct database_shape *shape, uint8_t out[DATABASE_HEADER])
{
    store_u32(out, shape->db);
    store_u32(out + 4, shape->table.more_used);
    store_u32(out + 8, shape->table.more_free);
    store_u32(out + 12, shape->table.more_spare);
    store_u64(out + 16, shape->table.bucket_count);
    store_u64(out + 24, shape->table.count);
    store_u64(out + 32, shape->expiring_count);
    store_u64(out + 40, shape->leaf_count);
}

static int database_save(const struct kv_keyspace *ks, uint32_t db, struct kv_image *image)
{
    const struct kv_database *database = database_with_keys(ks, db);
    struct database_shape shape = shape_of(ks, db);
    uint8_t header[DATABASE_HEADER];
    shape_encode(&shape, header);
    int status = kv_image_put(image, header, sizeof header);
    if (status == KEVY_OK) {
        status = kv_image_put_seal(image);
    }
    if (status == KEVY_OK && database != NULL) {
        status = kv_table_save(&database->table, image);
    }
    if (status == KEVY_OK && shape.leaf_count != 0) {
        status = kv_image_put(image, database->deadlines.levels[0],
                              (size_t)shape.leaf_count * sizeof(uint64_t));
    }
    return status;
}

int kv_keyspace_save(const struct kv_keyspace *ks, struct kv_image *image)
{
    int status = KEVY_OK;
    for (uint32_t db = 0; status == KEVY_OK && db < KV_DATABASE_COUNT; db++) {
        status = database_save(ks, db, image);
    }
    return status;
}

/* ---- Loading ---- */

static struct database_shape shape_decode(const uint8_t from[DATABASE_HEADER])
{
    return (struct database_shape){.db = load_u32(from),
                                   .table = {.more_used = load_u32(from + 4),
                                             .more_free = load_u32(from + 8),
                                             .more_spare = load_u32(from + 12),
                                             .bucket_count = load_u64(from + 16),
                                             .count = load_u64(from + 24)},
                                   .expiring_count = load_u64(from + 32),
                                   .leaf_count = load_u64(from + 40)};
}

static bool shape_holds(const struct database_shape *shape, uint32_t db)
{
    const struct kv_table_shape *table = &shape->table;
    bool is_empty = table->bucket_count == 0;
    return shape->db == db && is_empty == (table->count == 0) &&
           (!is_empty || (table->more_used == 0 && shape->leaf_count == 0)) &&
           shape->expiring_count <= table->count &&
           (shape->leaf_count == 0 ? shape->expiring_count == 0
                                   : shape->leaf_count == kv_deadlines_leaves(table->bucket_count));
}

static int deadlines_load(struct kv_keyspace *ks, struct kv_database *database,
                          struct kv_image *image, uint64_t leaf_count)
{
    struct kv_deadlines *deadlines = &database->deadlines;
    if (!kv_image_has(image, leaf_count, sizeof(uint64_t))) {
        return KEVY_ECORRUPT;
    }
    int status = kv_deadlines_reserve(deadlines, ks->mem, kv_table_reserved(&database->table));
    if (status == KEVY_OK) {
        status = kv_image_get(image, deadlines->levels[0], (size_t)leaf_count * sizeof(uint64_t));
    }
    if (status == KEVY_OK) {
        kv_deadlines_fill(deadlines);
    }
    return status;
}

static int database_load(struct kv_keyspace *ks, uint32_t db, struct kv_image *image,
                         const struct kv_image_room *room)
{
    uint8_t header[DATABASE_HEADER];
    int status = kv_image_get(image, header, sizeof header);
    if (status == KEVY_OK) {
        status = kv_image_get_seal(image);
    }
    if (status != KEVY_OK) {
        return status;
    }
    struct database_shape shape = shape_decode(header);
    if (!shape_holds(&shape, db)) {
        return KEVY_ECORRUPT;
    }
    if (shape.table.bucket_count == 0) {
        return KEVY_OK;
    }
    struct kv_database *database = kv_database_need(ks, db);
    if (database == NULL) {
        return KEVY_ENOMEM;
    }
    database->expiring_count = shape.expiring_count;
    status = kv_table_load(&database->table, image, &shape.table, room);
    return status == KEVY_OK && shape.leaf_count != 0
               ? deadlines_load(ks, database, image, shape.leaf_count)
               : status;
}

int kv_keyspace_load(struct kv_keyspace *ks, struct kv_image *image,
                     const struct kv_image_room *room)
{
    int status = KEVY_OK;
    for (uint32_t db = 0; status == KEVY_OK && db < KV_DATABASE_COUNT; db++) {
        status = database_load(ks, db, image, room);
    }
    return status;
}

void kv_keyspace_unload(struct kv_keyspace *ks)
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        struct kv_database *database = kv_database_of(ks, db);
        if (database != NULL) {
            kv_database_free(ks, database);
            atomic_store_explicit(&ks->databases[db], NULL, memory_order_release);
        }
    }
}
