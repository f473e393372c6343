/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Buffers of a connection: a bounded pool of chunks, and the writers that lease them.
 *
 * Each message that is being made or read has its own writer, and a writer its own memory: a
 * message that is begun while another one is still being written cannot overwrite it. A writer
 * leases one chunk of the pool; an empty pool never blocks, but gives a one-off chunk that is
 * counted and freed with its writer, as is everything a large message took. Writing into a leased
 * chunk allocates nothing.
 *
 * What Java sees of the pool is shared_buffer.h. A pool: any thread. A writer: one thread at a
 * time, and it may be closed by another one.
 */
#ifndef KOLIBRI_TAGGED_BUFFER_H
#define KOLIBRI_TAGGED_BUFFER_H

#include <kolibri/tagged_shape.h>

enum {
    KOL_CHUNK_SIZE = 64 * 1024, /* what 0 in kol_buffers_new means */
    KOL_CHUNK_SIZE_MIN = 256,
    KOL_CHUNK_SIZE_MAX = 16 * 1024 * 1024,
    KOL_CHUNKS = 8,     /* what 0 means */
    KOL_CHUNKS_MAX = 64 /* of 64, only 63 are ever leased */
};

struct kol_buffers;
struct kol_writer;

KOL__C_BEGIN

/*
 * A pool of `chunk_count` chunks (at most KOL_CHUNKS_MAX) of `chunk_size` bytes, a power of two;
 * 0 is the default. memory NULL is malloc; otherwise it is copied. Yours; close with
 * kol_buffers_close. KOL_ENOMEM, KOL_ERANGE.
 */
kol_status kol_buffers_new(size_t chunk_size, size_t chunk_count, const struct kol_memory *memory,
                           struct kol_buffers **out) KOL__MUST;

/* The table of the shapes that this side sends, and of those it receives. Borrowed. */
struct kol_shapes *kol_buffers_sent(struct kol_buffers *buffers);
struct kol_shapes *kol_buffers_received(struct kol_buffers *buffers);

/* Writers open now; one-off chunks and whole messages that the pool had no room for so far. */
size_t kol_buffers_leases(const struct kol_buffers *buffers);
size_t kol_buffers_one_offs(const struct kol_buffers *buffers);

/*
 * Opens a writer for one message. `outer` is NULL, or the finished writer of the message during
 * whose reading this one is made: then both may share a chunk. Yours; close with kol_writer_close.
 * KOL_ENOMEM; KOL_EENDED after the pool was closed.
 */
kol_status kol_writer_open(struct kol_buffers *buffers, struct kol_writer *outer,
                           struct kol_writer **out) KOL__MUST;

/*
 * The same, but the message is to lie in `size` bytes at `room`, which are 8-aligned, yours and
 * live until the writer is closed. What does not fit is brought together elsewhere by
 * kol_writer_finish. KOL_EMISUSE if room is not aligned or smaller than KOL_MESSAGE_MIN.
 */
kol_status kol_writer_open_at(struct kol_buffers *buffers, void *room, size_t size,
                              struct kol_writer **out) KOL__MUST;

/* Gives everything back that the writer holds: its message is gone. NULL is fine. */
void kol_writer_close(struct kol_writer *writer);

void kol__buffers_close(struct kol_buffers *buffers, int is_checked);

KOL__C_END

/*
 * Closes a pool; no writer can be opened any more. Writers that are still open are reported from
 * level 2 on; they keep the memory alive until the last of them is closed. NULL is fine.
 */
KOL__INLINE void kol_buffers_close(struct kol_buffers *buffers)
{
    kol__buffers_close(buffers, KOL_CHECK >= 2);
}

#endif
