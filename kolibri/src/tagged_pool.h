/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What shared_buffer.c needs of the pool beyond tagged_buffer.h: a block that somebody else owns,
 * a Java ByteBuffer. The pool leases the first chunks of it; the rest is leased by the other side,
 * and no byte of it holds books of either.
 */
#ifndef KOLIBRI_SRC_TAGGED_POOL_H
#define KOLIBRI_SRC_TAGGED_POOL_H

#include <kolibri/tagged_buffer.h>

/* Memory that the pool borrows: `size` bytes, of which the first chunks are leased. */
struct kol__block {
    uint8_t *bytes;
    size_t size;
    void *owner;
    void (*let_go)(void *owner); /* called with `owner` when the last lease of a closed pool ends */
};

KOL__HIDDEN kol_status kol__buffers_over(const struct kol__block *block, size_t chunk_size,
                                         size_t chunk_count, struct kol_buffers **out);
KOL__HIDDEN const struct kol__block *kol__buffers_block(const struct kol_buffers *buffers);

/* The size of the part that the pool leases. */
KOL__HIDDEN size_t kol__buffers_leased_size(const struct kol_buffers *buffers);

#endif
