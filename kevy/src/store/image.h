/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The image: a run of pieces in which what an open would have to rebuild is
 * put down at a close and picked up again (docs/log-format.md, Index). Each
 * piece is hashed with the hash of all before it as the seed; a seal is that
 * hash, so that whoever meets one knows everything before it to be as it was
 * written. What says how much is to come is sealed before it is believed.
 *
 *     piece  seal  piece  piece  piece  seal
 *
 * Both directions use the same structure; which one it is, its maker knows.
 *
 * What does not live here: the file (log/log_index_*.c), what is in the pieces
 * (there, and keyspace/table_image.c).
 *
 * Threads: one.
 */
#ifndef KEVY_SRC_STORE_IMAGE_H
#define KEVY_SRC_STORE_IMAGE_H

#include <stdbool.h>

#include "kevy/src/store/record.h"

#define KV_IMAGE_SEAL ((size_t)8)

/* Writes, or fills, all `size` bytes at `offset`: 0 or a status. */
typedef int kv_image_write_fn(void *self, const void *bytes, size_t size, uint64_t offset);
typedef int kv_image_read_fn(void *self, void *out, size_t size, uint64_t offset);

struct kv_image {
    void *self;
    kv_image_write_fn *write; /* NULL: it is being read */
    kv_image_read_fn *read;   /* NULL: it is being written */
    uint64_t offset;
    uint64_t size; /* when it is read: where it ends */
    uint64_t hash;
};

/* 0, or what writing said. */
int kv_image_put(struct kv_image *image, const void *bytes, size_t size);
int kv_image_put_seal(struct kv_image *image);

/* 0, what reading said, or KEVY_ECORRUPT when the image is too short for that,
 * or a seal is not the one that belongs here. */
int kv_image_get(struct kv_image *image, void *out, size_t size);
int kv_image_get_seal(struct kv_image *image);

/* Says whether `count` things of `size` bytes can still come. */
bool kv_image_has(const struct kv_image *image, uint64_t count, size_t size);

/* Where records can lie that an image points at: how many granules of each slot
 * that a reference may name. */
struct kv_image_room {
    uint32_t granules[KV_SLOT_COUNT];
};

#endif
