/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The pool of a connection: which chunks and which writers are free, and who holds it all.
 *
 *     block     chunk 0 | chunk 1 | …               a bit each in `free_chunks`
 *     writers   writer 0 | writer 1 | …             a bit each in `free_writers`; two a chunk
 *     tops      per chunk: where its topmost message begins, NULL: free
 *
 * Both masks change by compare-and-swap. Messages on one chunk are a stack: a writer may be opened
 * on the rest behind the topmost message once that is finished. Holders are the pool's user and the
 * open writers; the memory goes with the last. Nothing large is kept by the pool: what a message
 * took beyond its chunk goes with its writer.
 */
#include "kolibri/src/tagged_pool.h"

#include "kolibri/src/counters.h"
#include "kolibri/src/misuse.h"
#include "kolibri/src/tagged_memory.h"
#include "kolibri/src/tagged_writer.h"

#define POOL_CLOSED (UINT64_C(1) << 63)

struct kol_buffers {
    struct kol_memory memory;
    uint64_t holders; /* with POOL_CLOSED */
    uint64_t free_chunks;
    uint64_t free_writers;
    uint64_t one_offs;
    size_t chunk_size;
    size_t chunk_count;
    struct kol__block block;
    struct kol_shapes *sent;
    struct kol_shapes *received;
    struct kol_writer *writers;
    uint8_t *tops[KOL_CHUNKS_MAX];
    uint8_t users[KOL_CHUNKS_MAX]; /* open writers on a chunk */
};

static uint64_t mask_of(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static int lowest_bit(uint64_t mask)
{
    int bit = 0;
    while ((mask >> bit & 1) == 0) {
        bit++;
    }
    return bit;
}

/* Takes a bit out of a mask; -1 if there is none. */
static int take_bit(uint64_t *mask)
{
    uint64_t seen = __atomic_load_n(mask, __ATOMIC_RELAXED);
    while (seen != 0) {
        int bit = lowest_bit(seen);
        if (__atomic_compare_exchange_n(mask, &seen, seen & (seen - 1), 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return bit;
        }
    }
    return -1;
}

static void give_bit(uint64_t *mask, int bit)
{
    (void)__atomic_fetch_or(mask, UINT64_C(1) << bit, __ATOMIC_RELEASE);
}

static void pool_free(struct kol_buffers *buffers)
{
    struct kol_memory memory = buffers->memory;
    kol_shapes_free(buffers->sent);
    kol_shapes_free(buffers->received);
    memory_free(&memory, buffers->writers);
    if (buffers->block.let_go) {
        buffers->block.let_go(buffers->block.owner);
    } else {
        memory_free(&memory, buffers->block.bytes);
    }
    memory_free(&memory, buffers);
}

static kol_status pool_new(const struct kol__block *block, size_t chunk_size, size_t chunk_count,
                           const struct kol_memory *memory, struct kol_buffers **out)
{
    struct kol_memory taken = memory_or_libc(memory);
    size_t writer_count = chunk_count > 32 ? 64 : chunk_count * 2;
    struct kol_buffers *buffers = memory_take(&taken, sizeof *buffers);
    *out = NULL;
    if (!buffers) {
        return KOL_ENOMEM;
    }
    memset(buffers, 0, sizeof *buffers);
    buffers->memory = taken;
    buffers->holders = 1;
    buffers->chunk_size = chunk_size;
    buffers->chunk_count = chunk_count;
    buffers->free_chunks = mask_of(chunk_count);
    buffers->free_writers = mask_of(writer_count);
    buffers->writers = memory_take(&taken, writer_count * sizeof *buffers->writers);
    kol_status status = buffers->writers ? kol_shapes_new(&taken, &buffers->sent) : KOL_ENOMEM;
    if (status == KOL_OK) {
        status = kol_shapes_new(&taken, &buffers->received);
    }
    if (status == KOL_OK && !block) {
        buffers->block.size = chunk_size * chunk_count;
        buffers->block.bytes = memory_take(&taken, buffers->block.size);
        status = buffers->block.bytes ? KOL_OK : KOL_ENOMEM;
    }
    if (status != KOL_OK) {
        pool_free(buffers);
        return status;
    }
    if (block) {
        buffers->block = *block;
    }
    *out = buffers;
    return KOL_OK;
}

static int is_chunk_size(size_t size)
{
    return size >= KOL_CHUNK_SIZE_MIN && size <= KOL_CHUNK_SIZE_MAX && (size & (size - 1)) == 0;
}

kol_status kol_buffers_new(size_t chunk_size, size_t chunk_count, const struct kol_memory *memory,
                           struct kol_buffers **out)
{
    chunk_size = chunk_size ? chunk_size : KOL_CHUNK_SIZE;
    chunk_count = chunk_count ? chunk_count : KOL_CHUNKS;
    *out = NULL;
    if (!is_chunk_size(chunk_size) || chunk_count > KOL_CHUNKS_MAX) {
        return KOL_ERANGE;
    }
    return pool_new(NULL, chunk_size, chunk_count, memory, out);
}

kol_status kol__buffers_over(const struct kol__block *block, size_t chunk_size, size_t chunk_count,
                             struct kol_buffers **out)
{
    *out = NULL;
    if (!is_chunk_size(chunk_size) || chunk_count == 0 || chunk_count > KOL_CHUNKS_MAX ||
        block->size / chunk_size < chunk_count || ((uintptr_t)block->bytes & 7) != 0) {
        return KOL_ERANGE;
    }
    return pool_new(block, chunk_size, chunk_count, NULL, out);
}

const struct kol__block *kol__buffers_block(const struct kol_buffers *buffers)
{
    return &buffers->block;
}

size_t kol__buffers_leased_size(const struct kol_buffers *buffers)
{
    return buffers->chunk_size * buffers->chunk_count;
}

const struct kol_memory *kol__buffers_memory(const struct kol_buffers *buffers)
{
    return &buffers->memory;
}

void kol__buffers_tally(struct kol_buffers *buffers)
{
    (void)__atomic_fetch_add(&buffers->one_offs, 1, __ATOMIC_RELAXED);
    KOL__TALLY_UP(one_offs);
}

struct kol_shapes *kol_buffers_sent(struct kol_buffers *buffers)
{
    return buffers->sent;
}

struct kol_shapes *kol_buffers_received(struct kol_buffers *buffers)
{
    return buffers->received;
}

size_t kol_buffers_leases(const struct kol_buffers *buffers)
{
    uint64_t holders = __atomic_load_n(&buffers->holders, __ATOMIC_RELAXED);
    return (size_t)((holders & ~POOL_CLOSED) - ((holders & POOL_CLOSED) == 0));
}

size_t kol_buffers_one_offs(const struct kol_buffers *buffers)
{
    return (size_t)__atomic_load_n(&buffers->one_offs, __ATOMIC_RELAXED);
}

/* Another writer holds the pool; 0 once it is closed. */
static int hold(struct kol_buffers *buffers)
{
    uint64_t seen = __atomic_load_n(&buffers->holders, __ATOMIC_RELAXED);
    do {
        if ((seen & POOL_CLOSED) != 0) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&buffers->holders, &seen, seen + 1, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return 1;
}

static void let_pool_go(struct kol_buffers *buffers)
{
    if (__atomic_sub_fetch(&buffers->holders, 1, __ATOMIC_ACQ_REL) == POOL_CLOSED) {
        pool_free(buffers);
    }
}

void kol__buffers_close(struct kol_buffers *buffers, int is_checked)
{
    if (!buffers) {
        return;
    }
    uint64_t before = __atomic_fetch_or(&buffers->holders, POOL_CLOSED, __ATOMIC_ACQ_REL);
    if (is_checked && before > 1) {
        kol__misuse("kol_buffers_close", "writers of this pool are still open");
    }
    let_pool_go(buffers);
}

/* A writer without a chunk yet. */
static struct kol_writer *take_writer(struct kol_buffers *buffers)
{
    int book = take_bit(&buffers->free_writers);
    struct kol_writer *writer = book >= 0 ? &buffers->writers[book] : NULL;
    if (!writer) {
        writer = memory_take(&buffers->memory, sizeof *writer);
        if (!writer) {
            return NULL;
        }
    }
    writer->book = book;
    writer->buffers = buffers;
    writer->shapes = buffers->sent;
    writer->lease = -1;
    writer->one_off = NULL;
    writer->below = NULL;
    return writer;
}

static void give_writer(struct kol_writer *writer)
{
    struct kol_buffers *buffers = writer->buffers;
    if (writer->book >= 0) {
        give_bit(&buffers->free_writers, writer->book);
    } else {
        memory_free(&buffers->memory, writer);
    }
}

/* The rest of the chunk behind a finished message that is its topmost; 0 if there is none. */
static size_t rest_behind(const struct kol_writer *outer)
{
    if (!outer || outer->lease < 0 || outer->message.bytes != outer->first.bytes ||
        outer->buffers->tops[outer->lease] != outer->first.bytes) {
        return 0;
    }
    size_t rest = outer->first_size - outer->message.size;
    return rest < KOL_CHUNK_SIZE_MIN ? 0 : rest;
}

/* Puts a writer on the rest, a chunk or a one-off; 0 if there is no memory. */
static int place(struct kol_writer *writer, struct kol_writer *outer)
{
    struct kol_buffers *buffers = writer->buffers;
    size_t rest = outer && outer->buffers == buffers ? rest_behind(outer) : 0;
    size_t size = buffers->chunk_size;
    uint8_t *first;
    if (rest > 0) {
        writer->lease = outer->lease;
        writer->below = outer->first.bytes;
        first = outer->first.bytes + outer->message.size;
        size = rest;
    } else if ((writer->lease = take_bit(&buffers->free_chunks)) >= 0) {
        first = buffers->block.bytes + (size_t)writer->lease * buffers->chunk_size;
    } else {
        first = writer->one_off = memory_take(&buffers->memory, size);
        if (!first) {
            return 0;
        }
        kol__buffers_tally(buffers);
    }
    if (writer->lease >= 0) {
        buffers->tops[writer->lease] = first;
        (void)__atomic_fetch_add(&buffers->users[writer->lease], 1, __ATOMIC_RELAXED);
    }
    kol__writer_init(writer, first, size);
    return 1;
}

kol_status kol_writer_open(struct kol_buffers *buffers, struct kol_writer *outer,
                           struct kol_writer **out)
{
    *out = NULL;
    if (!hold(buffers)) {
        return KOL_EENDED;
    }
    struct kol_writer *writer = take_writer(buffers);
    if (!writer || !place(writer, outer)) {
        if (writer) {
            give_writer(writer);
        }
        let_pool_go(buffers);
        return KOL_ENOMEM;
    }
    KOL__TALLY_UP(writers_open);
    *out = writer;
    return KOL_OK;
}

kol_status kol_writer_open_at(struct kol_buffers *buffers, void *room, size_t size,
                              struct kol_writer **out)
{
    *out = NULL;
    if (size < KOL_MESSAGE_MIN || ((uintptr_t)room & 7) != 0) {
        return KOL_EMISUSE;
    }
    if (!hold(buffers)) {
        return KOL_EENDED;
    }
    struct kol_writer *writer = take_writer(buffers);
    if (!writer) {
        let_pool_go(buffers);
        return KOL_ENOMEM;
    }
    kol__writer_init(writer, room, size);
    KOL__TALLY_UP(writers_open);
    *out = writer;
    return KOL_OK;
}

/* The chunk is free when its last writer leaves it; until then the one below is its topmost. */
static void leave_chunk(struct kol_buffers *buffers, const struct kol_writer *writer)
{
    int lease = writer->lease;
    if (buffers->tops[lease] == writer->first.bytes) {
        buffers->tops[lease] = writer->below;
    }
    if (__atomic_sub_fetch(&buffers->users[lease], 1, __ATOMIC_ACQ_REL) == 0) {
        buffers->tops[lease] = NULL;
        give_bit(&buffers->free_chunks, lease);
    }
}

void kol_writer_close(struct kol_writer *writer)
{
    if (!writer) {
        return;
    }
    struct kol_buffers *buffers = writer->buffers;
    kol__writer_done(writer);
    if (writer->lease >= 0) {
        leave_chunk(buffers, writer);
    }
    memory_free(&buffers->memory, writer->one_off);
    give_writer(writer);
    KOL__TALLY_DOWN(writers_open);
    let_pool_go(buffers);
}
