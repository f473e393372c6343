/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The builder's containers: levels that are opened, filled and ended; the definitions of shapes.
 *
 * The slot of a container whose count is known is written when it begins; otherwise its place is
 * kept, its run grows by moving to twice the room, and the slot is written at its end. Old runs
 * stay behind as zeros. A growing run keeps 8 bytes before it for the head of a block.
 */
#include "kolibri/src/tagged_memory.h"
#include "kolibri/src/tagged_writer.h"

#include <kolibri/tagged_write.h>

enum { OPEN_SLOTS = 8 };

/* What a container will be. */
struct nest {
    enum level_kind kind;
    unsigned block; /* its kind as a block */
    unsigned tag;   /* its tag as a plain run, 0: always a block */
    uint64_t head;  /* of the block, without the count of pairs or slots that lists have */
    size_t count;   /* as it goes into the slot or the head; KOL_UNKNOWN */
    size_t slots;   /* values that follow */
    const struct kol_shape *shape;
};

static int is_by_pairs(unsigned kind)
{
    return kind == LEVEL_PAIRS || kind == LEVEL_MAP;
}

/* Values may come where the level stands; in objects only once a key has come. */
static void resume(struct kol_writer *writer, uint8_t *at)
{
    writer->at = at;
    writer->end = writer->level->kind == LEVEL_PAIRS ? at : writer->level->end;
}

/* Makes room for another level above the innermost. */
static int add_level(struct kol_writer *writer)
{
    size_t used = (size_t)(writer->level - writer->levels) + 1;
    if (used == LEVELS_INLINE && writer->levels == writer->levels_inline) {
        struct level *levels =
            memory_take(kol__buffers_memory(writer->buffers), LEVELS_MAX * sizeof *levels);
        if (!levels) {
            kol__writer_fail(writer, KOL_ENOMEM);
            return 0;
        }
        memcpy(levels, writer->levels_inline, sizeof writer->levels_inline);
        writer->level = levels + (writer->level - writer->levels);
        writer->levels = levels;
    }
    ASSERT(used < LEVELS_MAX);
    return 1;
}

/* Reserves the run, and the head where there is one. */
static uint8_t *reserve_run(struct kol_writer *writer, const struct nest *nest, uint32_t *offset)
{
    int is_open = nest->count == KOL_UNKNOWN;
    int has_head = is_open || nest->tag == 0 || nest->count > SLOT_COUNT_MAX;
    size_t slots = is_open ? OPEN_SLOTS : nest->slots;
    *offset = 0;
    if (slots > KOL_MESSAGE_MAX / 8) {
        kol__writer_fail(writer, KOL_ERANGE);
        return NULL;
    }
    if (!has_head && slots == 0) {
        return writer->root; /* a run without place: only its address is used */
    }
    uint8_t *run = kol__writer_reserve(writer, (has_head ? 8 : 0) + slots * 8, offset);
    if (run && has_head) {
        store_u64(run, is_open ? 0 : nest->head);
        run += 8;
        *offset += 8;
    }
    return run;
}

static uint64_t nest_slot(const struct nest *nest, uint32_t offset)
{
    if (nest->count == KOL_UNKNOWN) {
        return 0;
    }
    if (nest->tag == 0 || nest->count > SLOT_COUNT_MAX) {
        return slot_of(TAG_BLOCK, nest->block, offset - 8);
    }
    return (uint64_t)nest->tag << 48 | (uint64_t)nest->count << 28 | offset;
}

static void begin(struct kol_writer *writer, const struct nest *nest)
{
    size_t levels = nest->kind == LEVEL_RECORDS ? 2 : 1;
    uint32_t offset;
    if (!wants_value(writer)) {
        return;
    }
    if (writer->depth + levels > KOL_DEPTH_MAX) {
        kol__writer_fail(writer, KOL_EDEPTH);
        return;
    }
    uint8_t *run = add_level(writer) ? reserve_run(writer, nest, &offset) : NULL;
    if (!run) {
        return;
    }
    store_u64(writer->at, nest_slot(nest, offset));
    writer->level->at = writer->at + 8;
    writer->level++;
    writer->depth += levels;
    size_t slots = nest->count == KOL_UNKNOWN ? OPEN_SLOTS : nest->slots;
    *writer->level = (struct level){.start = run,
                                    .end = run + slots * 8,
                                    .shape = nest->shape,
                                    .offset = offset,
                                    .schema = (uint32_t)nest->head,
                                    .kind = (uint8_t)nest->kind,
                                    .block = (uint8_t)nest->block,
                                    .is_open = nest->count == KOL_UNKNOWN};
    resume(writer, run);
}

/* Gives a growing run twice its room: in place if it is the newest of its chunk, else elsewhere. */
static int grow(struct kol_writer *writer)
{
    struct level *level = writer->level;
    struct chunk *chunk = writer->chunk;
    size_t used = (size_t)(level->end - level->start);
    uint32_t offset;
    if (level->end == chunk->bytes + chunk->used && used <= chunk->room - chunk->used &&
        kol__writer_reserve(writer, used, &offset)) {
        level->end += used;
    } else {
        uint8_t *run = kol__writer_reserve(writer, 8 + used * 2, &offset);
        if (!run) {
            return 0;
        }
        memcpy(run + 8, level->start, used);
        memset(run, 0, 8);
        memset(level->start - 8, 0, 8 + used);
        writer->at = run + 8 + (writer->at - level->start);
        level->start = run + 8;
        level->end = run + 8 + used * 2;
        level->offset = offset + 8;
    }
    resume(writer, writer->at);
    return 1;
}

int kol__writer_wants(struct kol_writer *writer)
{
    if (writer->status != KOL_OK) {
        return 0;
    }
    if (writer->level->is_open && writer->at == writer->level->end &&
        writer->level->kind != LEVEL_PAIRS) {
        return grow(writer);
    }
    kol__writer_fail(writer, KOL_EMISUSE);
    return 0;
}

void kol_write_key(struct kol_writer *writer, struct kol_string key)
{
    struct level *level = writer->level;
    uint64_t slot;
    if (writer->status != KOL_OK) {
        return;
    }
    if (level->kind != LEVEL_PAIRS || writer->at != writer->end ||
        (writer->at == level->end && !level->is_open)) {
        kol__writer_fail(writer, KOL_EMISUSE);
        return;
    }
    /* a growing run has an even count of slots, so a pair never is cut in two */
    if ((writer->at == level->end && !grow(writer)) || !kol__writer_text_slot(writer, key, &slot)) {
        return;
    }
    store_u64(writer->at, slot);
    writer->at += 8;
    writer->end = writer->at + 8;
}

/* Takes a growing container's spare room back, and writes its head and its slot. */
static void settle_count(struct kol_writer *writer)
{
    struct level *level = writer->level;
    struct chunk *chunk = writer->chunk;
    size_t slots = (size_t)(writer->at - level->start) / 8;
    size_t count = is_by_pairs(level->kind) ? slots / 2 : slots;
    if (level->end == chunk->bytes + chunk->used) {
        chunk->used -= (size_t)(level->end - writer->at);
    } else {
        memset(writer->at, 0, (size_t)(level->end - writer->at));
    }
    unsigned tag = level->block == KIND_LIST     ? TAG_LIST
                   : level->block == KIND_OBJECT ? TAG_OBJECT
                                                 : 0;
    uint64_t head = level->block == KIND_CUSTOM ? (uint64_t)count << 32 | level->schema : count;
    struct nest nest = {.tag = tag, .block = level->block, .count = count};
    uint64_t slot = nest_slot(&nest, count == 0 && tag != 0 ? 0 : level->offset);
    if (slot_tag_of(slot) == TAG_BLOCK) {
        store_u64(level->start - 8, head);
    }
    store_u64(level[-1].at - 8, slot);
}

void kol_write_end(struct kol_writer *writer)
{
    struct level *level = writer->level;
    if (writer->status != KOL_OK) {
        return;
    }
    size_t slots = (size_t)(writer->at - level->start) / 8;
    int is_whole =
        level->is_open ? !is_by_pairs(level->kind) || slots % 2 == 0 : writer->at == level->end;
    if (level == writer->levels || !is_whole) {
        kol__writer_fail(writer, KOL_EMISUSE);
        return;
    }
    if (level->is_open) {
        settle_count(writer);
    }
    writer->depth -= level->kind == LEVEL_RECORDS ? 2 : 1;
    writer->level--;
    resume(writer, writer->level->at);
}

void kol_write_list(struct kol_writer *writer, size_t count)
{
    begin(writer, &(struct nest){LEVEL_LIST, KIND_LIST, TAG_LIST, count, count, count, NULL});
}

void kol_write_set(struct kol_writer *writer, size_t count)
{
    begin(writer, &(struct nest){LEVEL_LIST, KIND_SET, 0, count, count, count, NULL});
}

static size_t twice(size_t count)
{
    return count > KOL_MESSAGE_MAX ? SIZE_MAX : count * 2;
}

void kol_write_object(struct kol_writer *writer, size_t pair_count)
{
    begin(writer, &(struct nest){LEVEL_PAIRS, KIND_OBJECT, TAG_OBJECT, pair_count, pair_count,
                                 twice(pair_count), NULL});
}

void kol_write_map(struct kol_writer *writer, size_t pair_count)
{
    begin(writer,
          &(struct nest){LEVEL_MAP, KIND_MAP, 0, pair_count, pair_count, twice(pair_count), NULL});
}

void kol_write_custom(struct kol_writer *writer, uint32_t schema_id, size_t count)
{
    uint64_t head = (uint64_t)(count == KOL_UNKNOWN ? 0 : count) << 32 | schema_id;
    begin(writer, &(struct nest){LEVEL_FIELDS, KIND_CUSTOM, 0, head, count, count, NULL});
}

void kol_write_error(struct kol_writer *writer)
{
    begin(writer, &(struct nest){LEVEL_FIELDS, KIND_ERROR, 0, ERROR_FIELDS, ERROR_FIELDS,
                                 ERROR_FIELDS, NULL});
}

/* Writes a definition into the body and chains it to the one before. */
static int put_definition(struct kol_writer *writer, const struct kol_shape *shape)
{
    size_t count = kol_shape_count(shape);
    uint32_t offset;
    uint8_t *at = kol__writer_reserve(writer, SHAPE_HEAD_SIZE + count * 8, &offset);
    if (!at) {
        return 0;
    }
    store_u32(at, kol_shape_id(shape));
    store_u32(at + 4, (uint32_t)count);
    store_u64(at + 8, writer->newest_shape);
    for (size_t i = 0; i < count; i++) {
        uint64_t slot;
        if (!kol__writer_text_slot(writer, kol_shape_key(shape, i), &slot)) {
            return 0;
        }
        store_u64(at + SHAPE_HEAD_SIZE + i * 8, slot);
    }
    writer->newest_shape = offset;
    return 1;
}

int kol__writer_define(struct kol_writer *writer, const struct kol_shape *shape)
{
    uint32_t id = shape ? kol_shape_id(shape) : 0;
    if (writer->status != KOL_OK) {
        return 0;
    }
    if (!shape || kol__shapes_at(writer->shapes, id) != shape) {
        kol__writer_fail(writer, KOL_EMISUSE);
        return 0;
    }
    if ((writer->has_defined && shape_set_has(&writer->defined, id)) ||
        (!writer->stands_alone && kol__shapes_is_delivered(writer->shapes, id))) {
        return 1;
    }
    if (!put_definition(writer, shape)) {
        return 0;
    }
    if (!writer->has_defined) {
        memset(&writer->defined, 0, sizeof writer->defined);
        writer->has_defined = 1;
    }
    shape_set_add(&writer->defined, id);
    return 1;
}

void kol_write_record(struct kol_writer *writer, const struct kol_shape *shape)
{
    if (wants_value(writer) && kol__writer_define(writer, shape)) {
        begin(writer, &(struct nest){LEVEL_RECORD, 0, TAG_RECORD, 0, kol_shape_id(shape),
                                     kol_shape_count(shape), shape});
    }
}

void kol_write_records(struct kol_writer *writer, const struct kol_shape *shape, size_t count)
{
    size_t keys = shape ? kol_shape_count(shape) : 0;
    if (!wants_value(writer) || !kol__writer_define(writer, shape)) {
        return;
    }
    if (keys == 0 || count == KOL_UNKNOWN) {
        kol__writer_fail(writer, KOL_EMISUSE);
        return;
    }
    uint64_t head = (uint64_t)count << 32 | kol_shape_id(shape);
    size_t slots = count > KOL_MESSAGE_MAX / 8 / keys ? SIZE_MAX / 16 : count * keys;
    begin(writer, &(struct nest){LEVEL_RECORDS, KIND_RECORDS, 0, head, 0, slots, shape});
}

void kol_write_mark(struct kol_writer *writer, const void *identity)
{
    if (writer->status != KOL_OK || !identity) {
        return;
    }
    for (const struct level *level = writer->levels + 1; level < writer->level; level++) {
        if (level->identity == identity) {
            kol__writer_fail_here(writer, KOL_ECYCLE);
            return;
        }
    }
    if (writer->level != writer->levels) {
        writer->level->identity = identity;
    }
}
