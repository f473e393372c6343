/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The databases of a keyspace as pieces of an image, so that an open need not
 * apply every record of the log. Sixteen times:
 *
 *   offset  size
 *        0     4  the database's number
 *        4     4  overflow buckets, those that are free included
 *        8     4  the first free one, 0 none
 *       12     4  how many are free
 *       16     8  head buckets, 0: no key, and nothing of what follows
 *       24     8  keys
 *       32     8  of them with an expiry
 *       40     8  leaves of the deadlines, 0 none, else one for 4 head buckets
 *       48        seal
 *                 head buckets, 64 bytes each, a piece for each 256 of them
 *                 overflow buckets, likewise
 *                 leaves, 8 bytes each, one piece
 *
 * Threads: nobody else uses the keyspace.
 */
#ifndef KEVY_SRC_KEYSPACE_KEYSPACE_IMAGE_H
#define KEVY_SRC_KEYSPACE_KEYSPACE_IMAGE_H

#include "kevy/src/keyspace/keyspace.h"
#include "kevy/src/store/image.h"

/* Bytes of the image; 0: now there is none to be made. */
uint64_t kv_keyspace_image_size(const struct kv_keyspace *ks);

/* 0, or what writing said. */
int kv_keyspace_save(const struct kv_keyspace *ks, struct kv_image *image);

/* Fills a keyspace that has no key. 0; KEVY_ENOMEM, KEVY_ECORRUPT or what reading
 * said: then, and whenever a later seal is not good, kv_keyspace_unload makes
 * it empty again. */
int kv_keyspace_load(struct kv_keyspace *ks, struct kv_image *image,
                     const struct kv_image_room *room);
void kv_keyspace_unload(struct kv_keyspace *ks);

#endif
