/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The pool of a connection: its seats, and who holds it all.
 *
 *     chunk seats   writer i with chunk i of the block
 *     guest seats   writers without a chunk: on the rest of another's, in a room, on a one-off
 *     beyond        writers on the heap, counted
 *
 * A set of seats is one word, a bit a free seat and the topmost for closed: taking a seat is one
 * compare-and-swap, leaving it one atomic or, and that is all a message costs here.
 *
 * Messages on one chunk are a stack: a guest may sit on the rest behind the topmost message once
 * that is finished. The chunk's owner keeps its seat until the last guest has left. The pool's
 * memory goes with its last holder: its user until it is closed, then those who still sit. Nothing
 * large is kept: what a message took beyond its chunk goes with its writer.
 */
#include "kolibri/src/tagged_pool.h"

#include "kolibri/src/counters.h"
#include "kolibri/src/misuse.h"
#include "kolibri/src/tagged_memory.h"
#include "kolibri/src/tagged_writer.h"

#define SEATS_CLOSED (UINT64_C(1) << 63)
enum { SEATS_MAX = 63 };

/* `all` are the seats that there are, `free` those that nobody sits on. */
struct seats {
    uint64_t free;
    uint64_t all;
    struct kol_writer *writers;
};

struct kol_buffers {
    struct seats chunks;
    struct seats guests;
    struct kol_memory memory;
    uint64_t holders;
    uint64_t on_heap; /* writers there */
    uint64_t one_offs;
    size_t chunk_size;
    size_t chunk_count;
    struct kol__block block;
    struct kol_shapes *sent;
    struct kol_shapes *received;
};

static kol_status seats_init(struct seats *seats, size_t count, const struct kol_memory *memory)
{
    count = count > SEATS_MAX ? SEATS_MAX : count;
    seats->all = (UINT64_C(1) << count) - 1;
    seats->free = seats->all;
    seats->writers = memory_take(memory, count * sizeof *seats->writers);
    return seats->writers ? KOL_OK : KOL_ENOMEM;
}

/* A free seat; -1 if there is none, or they are closed. */
static int seat_take(struct seats *seats)
{
    uint64_t seen = __atomic_load_n(&seats->free, __ATOMIC_RELAXED);
    while (seen != 0 && seen < SEATS_CLOSED) {
        if (__atomic_compare_exchange_n(&seats->free, &seen, seen & (seen - 1), 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return __builtin_ctzll(seen);
        }
    }
    return -1;
}

static int seats_are_closed(const struct seats *seats)
{
    return (__atomic_load_n(&seats->free, __ATOMIC_RELAXED) & SEATS_CLOSED) != 0;
}

static size_t seats_taken(const struct seats *seats)
{
    uint64_t free = __atomic_load_n(&seats->free, __ATOMIC_RELAXED);
    return (size_t)__builtin_popcountll(seats->all & ~free);
}

static void pool_free(struct kol_buffers *buffers)
{
    struct kol_memory memory = buffers->memory;
    kol_shapes_free(buffers->sent);
    kol_shapes_free(buffers->received);
    memory_free(&memory, buffers->chunks.writers);
    memory_free(&memory, buffers->guests.writers);
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
    kol_status status = seats_init(&buffers->chunks, chunk_count, &taken);
    if (status == KOL_OK) {
        status = seats_init(&buffers->guests, chunk_count, &taken);
    }
    if (status == KOL_OK) {
        status = kol_shapes_new(&taken, &buffers->sent);
    }
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
    return seats_taken(&buffers->chunks) + seats_taken(&buffers->guests) +
           (size_t)__atomic_load_n(&buffers->on_heap, __ATOMIC_RELAXED);
}

size_t kol_buffers_one_offs(const struct kol_buffers *buffers)
{
    return (size_t)__atomic_load_n(&buffers->one_offs, __ATOMIC_RELAXED);
}

static void let_pool_go(struct kol_buffers *buffers, uint64_t count)
{
    if (__atomic_sub_fetch(&buffers->holders, count, __ATOMIC_ACQ_REL) == 0) {
        pool_free(buffers);
    }
}

/* Leaves a seat; after the pool was closed that is one holder less. */
static void seat_give(struct kol_buffers *buffers, struct seats *seats, int seat)
{
    uint64_t before = __atomic_fetch_or(&seats->free, UINT64_C(1) << seat, __ATOMIC_ACQ_REL);
    if ((before & SEATS_CLOSED) != 0) {
        let_pool_go(buffers, 1);
    }
}

/* Closes seats: from now on those who still sit are holders. They may leave at any moment, so all
 * are counted first and those who are not there are taken out again; returns how many those are. */
static uint64_t seats_close(struct kol_buffers *buffers, struct seats *seats)
{
    uint64_t all = (uint64_t)__builtin_popcountll(seats->all);
    (void)__atomic_fetch_add(&buffers->holders, all, __ATOMIC_RELAXED);
    uint64_t before = __atomic_fetch_or(&seats->free, SEATS_CLOSED, __ATOMIC_ACQ_REL);
    return (uint64_t)__builtin_popcountll(seats->all & before);
}

void kol__buffers_close(struct kol_buffers *buffers, int is_checked)
{
    if (!buffers) {
        return;
    }
    if (is_checked && kol_buffers_leases(buffers) > 0) {
        kol__misuse("kol_buffers_close", "writers of this pool are still open");
    }
    uint64_t absent = seats_close(buffers, &buffers->chunks);
    absent += seats_close(buffers, &buffers->guests);
    let_pool_go(buffers, absent + 1);
}

/* A writer that owns no chunk: on a seat for guests, or on the heap. */
static struct kol_writer *take_guest(struct kol_buffers *buffers)
{
    int seat = seat_take(&buffers->guests);
    struct kol_writer *writer = seat >= 0 ? &buffers->guests.writers[seat] : NULL;
    if (!writer) {
        writer = memory_take(&buffers->memory, sizeof *writer);
        if (!writer) {
            return NULL;
        }
        (void)__atomic_fetch_add(&buffers->holders, 1, __ATOMIC_RELAXED);
        (void)__atomic_fetch_add(&buffers->on_heap, 1, __ATOMIC_RELAXED);
    }
    writer->seat = seat;
    writer->owner = NULL;
    writer->one_off = NULL;
    writer->buffers = buffers;
    writer->shapes = buffers->sent;
    return writer;
}

static void give_guest(struct kol_writer *writer)
{
    struct kol_buffers *buffers = writer->buffers;
    if (writer->seat >= 0) {
        seat_give(buffers, &buffers->guests, writer->seat);
        return;
    }
    memory_free(&buffers->memory, writer);
    (void)__atomic_fetch_sub(&buffers->on_heap, 1, __ATOMIC_RELAXED);
    let_pool_go(buffers, 1);
}

/* A writer with its chunk; NULL if all are taken. */
static struct kol_writer *take_owner(struct kol_buffers *buffers)
{
    int seat = seat_take(&buffers->chunks);
    if (seat < 0) {
        return NULL;
    }
    struct kol_writer *writer = &buffers->chunks.writers[seat];
    uint8_t *chunk = buffers->block.bytes + (size_t)seat * buffers->chunk_size;
    writer->seat = seat;
    writer->owner = writer;
    writer->one_off = NULL;
    writer->buffers = buffers;
    writer->shapes = buffers->sent;
    writer->top = chunk;
    __atomic_store_n(&writer->users, 1, __ATOMIC_RELAXED);
    kol__writer_init(writer, chunk, buffers->chunk_size);
    return writer;
}

/* One user of a chunk less. Alone there can come no other, so that costs nothing atomic. */
static void leave_chunk(struct kol_writer *owner)
{
    if (__atomic_load_n(&owner->users, __ATOMIC_ACQUIRE) == 1 ||
        __atomic_sub_fetch(&owner->users, 1, __ATOMIC_ACQ_REL) == 0) {
        seat_give(owner->buffers, &owner->buffers->chunks, owner->seat);
    }
}

/* The rest of the chunk behind a finished message that is its topmost; 0 if there is none. */
static size_t rest_behind(const struct kol_buffers *buffers, const struct kol_writer *outer)
{
    if (!outer || outer->buffers != buffers || !outer->owner ||
        outer->message.bytes != outer->first.bytes || outer->owner->top != outer->first.bytes) {
        return 0;
    }
    size_t rest = outer->first_size - outer->message.size;
    return rest < KOL_CHUNK_SIZE_MIN ? 0 : rest;
}

/* A writer on the rest of `outer`'s chunk. */
static struct kol_writer *take_rest(struct kol_writer *outer, size_t rest)
{
    struct kol_writer *writer = take_guest(outer->buffers);
    if (!writer) {
        return NULL;
    }
    writer->owner = outer->owner;
    writer->below = outer->first.bytes;
    (void)__atomic_fetch_add(&writer->owner->users, 1, __ATOMIC_RELAXED);
    uint8_t *first = outer->first.bytes + outer->message.size;
    writer->owner->top = first;
    kol__writer_init(writer, first, rest);
    return writer;
}

/* A writer on a chunk of its own that is freed with it. */
static struct kol_writer *take_one_off(struct kol_buffers *buffers)
{
    struct kol_writer *writer = take_guest(buffers);
    if (!writer) {
        return NULL;
    }
    writer->one_off = memory_take(&buffers->memory, buffers->chunk_size);
    if (!writer->one_off) {
        give_guest(writer);
        return NULL;
    }
    kol__buffers_tally(buffers);
    kol__writer_init(writer, writer->one_off, buffers->chunk_size);
    return writer;
}

kol_status kol_writer_open(struct kol_buffers *buffers, struct kol_writer *outer,
                           struct kol_writer **out)
{
    size_t rest = outer ? rest_behind(buffers, outer) : 0;
    *out = NULL;
    if (seats_are_closed(&buffers->chunks)) {
        return KOL_EENDED;
    }
    *out = rest > 0 ? take_rest(outer, rest) : take_owner(buffers);
    if (!*out) {
        *out = take_one_off(buffers);
    }
    return *out ? KOL_OK : KOL_ENOMEM;
}

kol_status kol_writer_open_at(struct kol_buffers *buffers, void *room, size_t size,
                              struct kol_writer **out)
{
    *out = NULL;
    if (size < KOL_MESSAGE_MIN || ((uintptr_t)room & 7) != 0) {
        return KOL_EMISUSE;
    }
    if (seats_are_closed(&buffers->chunks)) {
        return KOL_EENDED;
    }
    *out = take_guest(buffers);
    if (!*out) {
        return KOL_ENOMEM;
    }
    kol__writer_init(*out, room, size);
    return KOL_OK;
}

void kol_writer_close(struct kol_writer *writer)
{
    if (!writer) {
        return;
    }
    struct kol_writer *owner = writer->owner;
    kol__writer_done(writer);
    if (owner == writer) {
        leave_chunk(owner);
        return;
    }
    memory_free(&writer->buffers->memory, writer->one_off);
    if (owner) {
        if (owner->top == writer->first.bytes) {
            owner->top = writer->below;
        }
        leave_chunk(owner);
    }
    give_guest(writer);
}
