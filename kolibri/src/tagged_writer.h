/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A writer from inside: where its message grows, and the containers that are open.
 *
 *     the first chunk     [ header | body ->     free     | text -> | free ]      leased, or a room
 *     further chunks                [ body ->             ]                       one-offs
 *     text that moved out           [ text ->             ]                       one-off, doubles
 *
 * The body is a chain of chunks; each is one run of the message, chunk after chunk, so an offset in
 * the message is the chunk's `base` plus the place in it. A chunk never moves: containers that are
 * open point into it. Text is only ever known by its offset in the text area, so it may move: up to
 * make room for the body, down to make room for itself, or out into memory of its own.
 *
 * The innermost container's next slot is at `at`; at == end says that no value may just be put (the
 * container is full or grows, a key is due, the writer failed); kol__writer_wants finds out which.
 */
#ifndef KOLIBRI_SRC_TAGGED_WRITER_H
#define KOLIBRI_SRC_TAGGED_WRITER_H

#include "kolibri/src/tagged_format.h"
#include "kolibri/src/tagged_shapes.h"

#include <kolibri/tagged_buffer.h>

enum { LEVELS_INLINE = 24, LEVELS_MAX = KOL_DEPTH_MAX + 1 };

/* What a container is, for the path and for what may come next. */
enum level_kind {
    LEVEL_ROOT,
    LEVEL_LIST,
    LEVEL_PAIRS, /* an object: keys are strings */
    LEVEL_MAP,
    LEVEL_RECORD,
    LEVEL_RECORDS,
    LEVEL_FIELDS /* an error or a custom value */
};

/* A container that is open. */
struct level {
    uint8_t *start; /* of its run */
    uint8_t *at;    /* next slot, of outer containers only */
    uint8_t *end;   /* behind its run */
    const void *identity;
    const struct kol_shape *shape;
    uint32_t offset; /* of its run in the message */
    uint32_t schema; /* of a custom value */
    uint8_t kind;    /* level_kind */
    uint8_t block;   /* block_kind, also of what ends as a plain run */
    uint8_t is_open; /* the count is not known: the run grows, with room for a head before it */
};

/* A chunk of the body: the head of a one-off, or the books of the first chunk. */
struct chunk {
    struct chunk *older;
    uint8_t *bytes;
    size_t used;
    size_t room; /* where its body must stop */
    size_t base; /* offset of its first byte in the message */
};

struct kol_writer {
    /* the innermost container */
    uint8_t *at;
    uint8_t *end;
    struct level *level;

    struct chunk *chunk; /* the newest */
    uint8_t *text;       /* in the first chunk, or at `text_own` */
    size_t text_used;
    size_t text_room;

    struct kol_buffers *buffers;
    struct kol_shapes *shapes;
    struct chunk first;
    size_t first_size; /* all of it, body and text */
    uint8_t *text_own;
    uint8_t *gathered;
    struct kol_message message; /* bytes NULL until finished */

    struct level *levels; /* levels_inline, or LEVELS_MAX on the heap */
    size_t depth;         /* as the format counts it */
    uint32_t newest_shape;
    kol_status status;
    int stands_alone;
    int is_finished;
    int has_defined; /* shapes; until then `defined` is not set up */
    struct shape_set defined;

    /* the pool's books */
    struct kol_writer *owner; /* of the leased chunk that this one is on, itself or another */
    uint8_t *top;             /* owners: where the topmost message on the chunk begins */
    uint8_t *below;           /* guests: where the message below begins */
    uint32_t users;           /* owners: writers on the chunk */
    int seat;                 /* -1: on the heap */
    uint8_t *one_off;         /* the first chunk, if the pool had none */

    uint8_t root[8];
    struct level levels_inline[LEVELS_INLINE];
    char path[KOL_PATH_MAX + 1];
};

/* Makes a writer whose first chunk is `size` bytes at `first`; not the pool's books. */
KOL__HIDDEN void kol__writer_init(struct kol_writer *writer, uint8_t *first, size_t size);

/* Frees what the message took, but not the first chunk. */
KOL__HIDDEN void kol__writer_done(struct kol_writer *writer);

/* The pool's part: its memory, and that it could not help. */
KOL__HIDDEN const struct kol_memory *kol__buffers_memory(const struct kol_buffers *buffers);
KOL__HIDDEN void kol__buffers_tally(struct kol_buffers *buffers);

/*
 * Notes the first failure and its path, the place of the next value, and stops everything.
 * kol__writer_fail_here names the container begun last instead.
 */
KOL__HIDDEN void kol__writer_fail(struct kol_writer *writer, kol_status status);
KOL__HIDDEN void kol__writer_fail_here(struct kol_writer *writer, kol_status status);
KOL__HIDDEN void kol__writer_note_path(struct kol_writer *writer, const struct level *last,
                                       const uint8_t *at);

/* `size` > 0 bytes of the body, 8-aligned, and their offset; NULL after a failure. */
KOL__HIDDEN uint8_t *kol__writer_reserve(struct kol_writer *writer, size_t size, uint32_t *offset);

/* `size` bytes of the text area, and their offset; NULL after a failure. */
KOL__HIDDEN uint8_t *kol__writer_reserve_text(struct kol_writer *writer, size_t size,
                                              uint32_t *offset);

/* The memory of an offset in the body. */
KOL__HIDDEN uint8_t *kol__writer_memory_of(const struct kol_writer *writer, uint32_t offset);

/* Whether a value may come although at == end: makes room for it, or fails. */
KOL__HIDDEN int kol__writer_wants(struct kol_writer *writer);

/* The definition of a shape, if the message needs it; 0 after a failure. */
KOL__HIDDEN int kol__writer_define(struct kol_writer *writer, const struct kol_shape *shape);

/* Makes the slot of a string, with its characters put where they go; 0 after a failure. */
KOL__HIDDEN int kol__writer_text_slot(struct kol_writer *writer, struct kol_string string,
                                      uint64_t *slot);

/* A block of numbers or bytes that are little-endian already. */
KOL__HIDDEN void kol__write_numbers(struct kol_writer *writer, unsigned kind, const void *data,
                                    size_t count);

/*
 * Finishes the message in the first chunk if it fits there: then writer->message says where. It is
 * untouched otherwise, with KOL_OK; or the writer has failed.
 */
KOL__HIDDEN kol_status kol__writer_place(struct kol_writer *writer);

/* The bytes that the finished message takes, and the message brought together into them. */
KOL__HIDDEN size_t kol__writer_size(const struct kol_writer *writer);
KOL__HIDDEN void kol__writer_gather(struct kol_writer *writer, uint8_t *to);

/* Brings the message together in the first chunk; 0 if it does not fit. */
KOL__HIDDEN int kol__writer_close_up(struct kol_writer *writer);

static inline int wants_value(struct kol_writer *writer)
{
    return writer->at != writer->end || kol__writer_wants(writer);
}

static inline void put_slot(struct kol_writer *writer, uint64_t slot)
{
    if (wants_value(writer)) {
        store_u64(writer->at, slot);
        writer->at += 8;
    }
}

#endif
