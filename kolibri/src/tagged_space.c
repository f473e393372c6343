/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Where a message grows: the chunks of its body and its text area, and how they become one run of
 * bytes. The drawing is in tagged_writer.h.
 *
 * In the first chunk body and text share the free room: whoever meets the other has the text moved,
 * so that both have room again; each move leaves the body three quarters of what is free, so there
 * are few. When the chunk is full the body goes on in one-offs, each as large as all before it.
 */
#include "kolibri/src/tagged_writer.h"

#include "kolibri/src/tagged_memory.h"

enum { ONE_OFF_MIN = 1024, ONE_OFF_MAX = 16 * 1024 * 1024 };

void kol__writer_init(struct kol_writer *writer, uint8_t *first, size_t size)
{
    size_t split = (size - size / 4) & ~(size_t)7;
    ASSERT(size >= KOL_MESSAGE_MIN);
    split = split < HEADER_END ? HEADER_END : split;
    writer->first = (struct chunk){NULL, first, HEADER_END, split, 0};
    writer->first_size = size;
    writer->chunk = &writer->first;
    writer->text = first + split;
    writer->text_used = 0;
    writer->text_room = size - split;
    writer->text_own = NULL;
    writer->gathered = NULL;
    writer->message = (struct kol_message){NULL, 0};
    writer->levels = writer->levels_inline;
    writer->level = writer->levels;
    memset(writer->level, 0, sizeof *writer->level);
    writer->level->start = writer->root;
    writer->level->end = writer->root + 8;
    writer->at = writer->root;
    writer->end = writer->root + 8;
    writer->depth = 0;
    writer->newest_shape = 0;
    writer->status = KOL_OK;
    writer->stands_alone = 0;
    writer->is_finished = 0;
    writer->has_defined = 0;
}

void kol__writer_done(struct kol_writer *writer)
{
    const struct kol_memory *memory = kol__buffers_memory(writer->buffers);
    while (writer->chunk != &writer->first) {
        struct chunk *older = writer->chunk->older;
        memory_free(memory, writer->chunk);
        writer->chunk = older;
    }
    memory_free(memory, writer->text_own);
    memory_free(memory, writer->gathered);
    if (writer->levels != writer->levels_inline) {
        memory_free(memory, writer->levels);
    }
}

/* The text lies in the first chunk and the body still grows there. */
static int is_sharing(const struct kol_writer *writer)
{
    return writer->chunk == &writer->first && !writer->text_own;
}

static size_t free_in_first(const struct kol_writer *writer)
{
    return writer->first_size - writer->first.used - writer->text_used;
}

/* Moves the text so that it begins at `start` of the first chunk. */
static void move_text(struct kol_writer *writer, size_t start)
{
    uint8_t *to = writer->first.bytes + start;
    ASSERT(start >= writer->first.used && start + writer->text_used <= writer->first_size);
    memmove(to, writer->text, writer->text_used);
    writer->text = to;
    writer->text_room = writer->first_size - start;
    writer->first.room = start;
}

/* Begins a further chunk that has room for `size` bytes. */
static int add_chunk(struct kol_writer *writer, size_t size)
{
    const struct kol_memory *memory = kol__buffers_memory(writer->buffers);
    size_t before = writer->chunk->base + writer->chunk->used;
    size_t room = before < ONE_OFF_MIN ? ONE_OFF_MIN : before > ONE_OFF_MAX ? ONE_OFF_MAX : before;
    room = round_up8(room < size ? size : room);
    struct chunk *chunk = memory_take(memory, sizeof *chunk + room);
    if (!chunk) {
        kol__writer_fail(writer, KOL_ENOMEM);
        return 0;
    }
    kol__buffers_tally(writer->buffers);
    if (is_sharing(writer)) {
        move_text(writer, writer->first.used);
    }
    *chunk = (struct chunk){writer->chunk, (uint8_t *)(chunk + 1), 0, room, before};
    writer->chunk = chunk;
    return 1;
}

static int make_room(struct kol_writer *writer, size_t size)
{
    if (is_sharing(writer)) {
        size_t left = free_in_first(writer);
        if (size <= left) {
            move_text(writer, writer->first.used + size + (left - size) / 4 * 3);
            return 1;
        }
    }
    return add_chunk(writer, size);
}

uint8_t *kol__writer_reserve(struct kol_writer *writer, size_t size, uint32_t *offset)
{
    struct chunk *chunk = writer->chunk;
    size_t before = chunk->base + chunk->used + writer->text_used;
    *offset = 0;
    if (writer->status != KOL_OK) {
        return NULL;
    }
    if (size > KOL_MESSAGE_MAX || before + round_up8(size) > KOL_MESSAGE_MAX) {
        kol__writer_fail(writer, KOL_ERANGE);
        return NULL;
    }
    size = round_up8(size);
    if (size > chunk->room - chunk->used) {
        if (!make_room(writer, size)) {
            return NULL;
        }
        chunk = writer->chunk;
    }
    uint8_t *reserved = chunk->bytes + chunk->used;
    *offset = (uint32_t)(chunk->base + chunk->used);
    chunk->used += size;
    ASSERT(chunk->used <= chunk->room);
    return reserved;
}

/* Moves the text out of the first chunk, or makes its own memory larger. */
static int enlarge_text(struct kol_writer *writer, size_t size)
{
    const struct kol_memory *memory = kol__buffers_memory(writer->buffers);
    size_t room = writer->text_used + size;
    room = room < 2 * writer->text_used ? 2 * writer->text_used : room;
    room = room < ONE_OFF_MIN ? ONE_OFF_MIN : room;
    uint8_t *text = memory->resize(memory->user, writer->text_own, room);
    if (!text) {
        kol__writer_fail(writer, KOL_ENOMEM);
        return 0;
    }
    if (!writer->text_own) {
        memcpy(text, writer->text, writer->text_used);
        writer->first.room = writer->first_size & ~(size_t)7;
        kol__buffers_tally(writer->buffers);
    }
    writer->text_own = text;
    writer->text = text;
    writer->text_room = room;
    return 1;
}

uint8_t *kol__writer_reserve_text(struct kol_writer *writer, size_t size, uint32_t *offset)
{
    size_t before = writer->chunk->base + writer->chunk->used + writer->text_used;
    *offset = 0;
    if (writer->status != KOL_OK) {
        return NULL;
    }
    if (size > KOL_MESSAGE_MAX || before + size > KOL_MESSAGE_MAX) {
        kol__writer_fail(writer, KOL_ERANGE);
        return NULL;
    }
    if (size > writer->text_room - writer->text_used) {
        size_t left = is_sharing(writer) ? free_in_first(writer) : 0;
        if (size <= left) {
            move_text(writer, writer->first.used + (((left - size) / 2) & ~(size_t)7));
        } else if (!enlarge_text(writer, size)) {
            return NULL;
        }
    }
    *offset = (uint32_t)writer->text_used;
    writer->text_used += size;
    return writer->text + *offset;
}

uint8_t *kol__writer_memory_of(const struct kol_writer *writer, uint32_t offset)
{
    const struct chunk *chunk = writer->chunk;
    while (offset < chunk->base) {
        chunk = chunk->older;
    }
    return chunk->bytes + (offset - chunk->base);
}

size_t kol__writer_size(const struct kol_writer *writer)
{
    return round_up8(writer->chunk->base + writer->chunk->used + writer->text_used);
}

/* Writes the header, and the padding behind the text. */
static void seal(const struct kol_writer *writer, uint8_t *message)
{
    size_t text = writer->chunk->base + writer->chunk->used;
    size_t size = kol__writer_size(writer);
    store_u32(message, TAGGED_MAGIC);
    message[HEADER_VERSION] = KOL_TAGGED_VERSION;
    message[HEADER_FLAGS] = writer->stands_alone ? 0 : FLAG_SHAPES;
    store_u16(message + HEADER_ZERO, 0);
    store_u32(message + HEADER_SIZE, (uint32_t)size);
    store_u32(message + HEADER_TEXT, (uint32_t)text);
    store_u32(message + HEADER_TEXT_SIZE, (uint32_t)writer->text_used);
    store_u32(message + HEADER_SHAPES, writer->newest_shape);
    memcpy(message + HEADER_ROOT, writer->root, sizeof writer->root);
    memset(message + text + writer->text_used, 0, size - text - writer->text_used);
}

void kol__writer_gather(struct kol_writer *writer, uint8_t *to)
{
    for (const struct chunk *chunk = writer->chunk; chunk; chunk = chunk->older) {
        memcpy(to + chunk->base, chunk->bytes, chunk->used);
    }
    if (writer->text_used > 0) {
        memcpy(to + writer->chunk->base + writer->chunk->used, writer->text, writer->text_used);
    }
    seal(writer, to);
}

int kol__writer_close_up(struct kol_writer *writer)
{
    if (writer->chunk != &writer->first || kol__writer_size(writer) > writer->first_size) {
        return 0;
    }
    uint8_t *first = writer->first.bytes;
    memmove(first + writer->first.used, writer->text, writer->text_used);
    writer->text = first + writer->first.used;
    seal(writer, first);
    return 1;
}
