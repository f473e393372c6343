/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A table as an image: its buckets byte for byte, put down at a close and
 * picked up at the next open instead of inserting every key again.
 *
 * What is picked up is believed only as far as its seals go; beyond that every
 * property is looked at on which the table's own steps rely: entries packed,
 * references only to where records can lie, each overflow bucket in one chain
 * or in the list of free ones, and in it once.
 *
 * Threads: nobody else uses the table.
 */
#ifndef KEVY_SRC_KEYSPACE_TABLE_IMAGE_H
#define KEVY_SRC_KEYSPACE_TABLE_IMAGE_H

#include "kevy/src/keyspace/table.h"
#include "kevy/src/store/image.h"

/* What tells how the buckets are to be read. */
struct kv_table_shape {
    uint64_t bucket_count;
    uint64_t count;
    uint32_t more_used;
    uint32_t more_free;
    uint32_t more_spare;
};

struct kv_table_shape kv_table_shape(const struct kv_table *table);

/* Bytes of the image. */
uint64_t kv_table_image_size(const struct kv_table *table);

/* 0, or what writing said. */
int kv_table_save(const struct kv_table *table, struct kv_image *image);

/* Fills an empty table. 0; KEVY_ENOMEM, KEVY_ECORRUPT or what reading said:
 * then it is to be cleared, which is all that may be done with it. Only when
 * the next seal was found good may the table be used. */
int kv_table_load(struct kv_table *table, struct kv_image *image,
                  const struct kv_table_shape *shape, const struct kv_image_room *room);

#endif
