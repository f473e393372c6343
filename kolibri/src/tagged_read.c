/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The cursor over a validated message. Nothing is checked again: the validate pass has seen every
 * slot that a value can come from, and values made here (an element of a packed array, a row of
 * RECORDS) point at bytes of the same message.
 *
 * Numbers and texts are tagged_scalar.c.
 */
#include "kolibri/src/tagged_run.h"

#include "kolibri/src/tagged_check.h"
#include "kolibri/src/tagged_shapes.h"

kol_status kol_reader_open(struct kol_reader *reader, struct kol_shapes *shapes,
                           struct kol_message message)
{
    reader->bytes = NULL;
    reader->text = 0;
    reader->shapes = shapes;
    reader->own = NULL;
    reader->what = NULL;
    reader->where[0] = '\0';
    kol_status status = kol__message_check(reader, message);
    if (status != KOL_OK) {
        const char *what = reader->what;
        kol_reader_close(reader);
        reader->what = what;
    }
    return status;
}

void kol_reader_close(struct kol_reader *reader)
{
    kol_shapes_free(reader->own);
    reader->bytes = NULL;
    reader->shapes = NULL;
    reader->own = NULL;
    reader->what = NULL;
}

static struct kol_value value_of(const struct kol_reader *reader, uint64_t slot)
{
    return (struct kol_value){reader, slot};
}

static struct kol_value undefined_of(const struct kol_reader *reader)
{
    return value_of(reader, slot_const_of(CONST_UNDEFINED));
}

struct kol_value kol_reader_root(const struct kol_reader *reader)
{
    return reader->bytes ? value_of(reader, load_u64(reader->bytes + HEADER_ROOT))
                         : undefined_of(reader);
}

static kol_type type_of_block(unsigned kind)
{
    static const uint8_t types[] = {
        [KIND_INT64] = KOL_LONG,    [KIND_DATE] = KOL_DATE,     [KIND_BIGINT] = KOL_BIGINT,
        [KIND_TEXT8] = KOL_TEXT,    [KIND_TEXT16] = KOL_TEXT,   [KIND_LIST] = KOL_LIST,
        [KIND_OBJECT] = KOL_OBJECT, [KIND_MAP] = KOL_MAP,       [KIND_SET] = KOL_SET,
        [KIND_ERROR] = KOL_ERROR,   [KIND_CUSTOM] = KOL_CUSTOM, [KIND_RECORDS] = KOL_LIST,
        [KIND_DOUBLES] = KOL_LIST,  [KIND_INTS] = KOL_LIST,     [KIND_BYTES] = KOL_BYTES,
    };
    return kind >= KIND_PACKED ? KOL_PACKED : (kol_type)types[kind];
}

static kol_type type_of_const(uint64_t slot)
{
    switch (slot & 3) {
    case CONST_UNDEFINED:
        return KOL_UNDEFINED;
    case CONST_NULL:
        return KOL_NULL;
    default:
        return KOL_BOOL;
    }
}

kol_type kol_value_type(struct kol_value value)
{
    switch (slot_tag_of(value.slot)) {
    case TAG_CONST:
        return type_of_const(value.slot);
    case TAG_INT32:
        return KOL_INT;
    case TAG_INT48:
        return KOL_LONG;
    case TAG_TEXT8:
    case TAG_TEXT16:
        return KOL_TEXT;
    case TAG_LIST:
        return KOL_LIST;
    case TAG_RECORD:
    case TAG_OBJECT:
        return KOL_OBJECT;
    case TAG_BLOCK:
        return type_of_block(slot_kind(value.slot));
    default:
        return KOL_DOUBLE;
    }
}

int kol_value_is_nothing(struct kol_value value)
{
    return value.slot == slot_const_of(CONST_UNDEFINED) || value.slot == slot_const_of(CONST_NULL);
}

static const struct kol_shape *shape_numbered(struct kol_value value, uint32_t id)
{
    return kol__shapes_at(value.reader->shapes, id);
}

/* The run of a block. */
static struct run run_of_block(struct kol_value value)
{
    unsigned kind = slot_kind(value.slot);
    const uint8_t *block = value.reader->bytes + slot_offset(value.slot);
    uint64_t head = load_u64(block);
    struct run run = {block + 8, (size_t)head, kind, NULL};
    switch (kind) {
    case KIND_INT64:
    case KIND_DATE:
    case KIND_BIGINT:
    case KIND_TEXT8:
    case KIND_TEXT16:
        run.kind = 0;
        run.count = 0;
        break;
    case KIND_CUSTOM:
        run.count = (size_t)(head >> 32);
        break;
    case KIND_RECORDS:
        run.shape = shape_numbered(value, (uint32_t)head);
        run.count = (size_t)(head >> 32);
        break;
    default:
        break;
    }
    return run;
}

struct run kol__run_of(struct kol_value value)
{
    const uint8_t *at = value.reader->bytes + slot_offset(value.slot);
    uint32_t count = slot_count(value.slot);
    switch (slot_tag_of(value.slot)) {
    case TAG_LIST:
        return (struct run){at, count, KIND_LIST, NULL};
    case TAG_OBJECT:
        return (struct run){at, count, KIND_OBJECT, NULL};
    case TAG_RECORD: {
        const struct kol_shape *shape = shape_numbered(value, count);
        return (struct run){at, kol_shape_count(shape), RUN_RECORD, shape};
    }
    case TAG_BLOCK:
        return run_of_block(value);
    default:
        return (struct run){NULL, 0, 0, NULL};
    }
}

size_t kol_value_count(struct kol_value value)
{
    return kol__run_of(value).count;
}

/* Row number `index` of RECORDS as an object of its own. */
static uint64_t row_slot(const struct kol_reader *reader, const struct run *run, size_t index)
{
    size_t offset = (size_t)(run->at - reader->bytes) + index * 8 * kol_shape_count(run->shape);
    return slot_of(TAG_RECORD, kol_shape_id(run->shape), offset);
}

struct kol_value kol_value_at(struct kol_value value, size_t index)
{
    struct run run = kol__run_of(value);
    if (index >= run.count) {
        return undefined_of(value.reader);
    }
    switch (run.kind) {
    case KIND_LIST:
    case KIND_SET:
    case KIND_ERROR:
    case KIND_CUSTOM:
    case RUN_RECORD:
        return value_of(value.reader, load_u64(run.at + index * 8));
    case KIND_OBJECT:
    case KIND_MAP:
        return value_of(value.reader, load_u64(run.at + index * 16 + 8));
    case KIND_RECORDS:
        return value_of(value.reader, row_slot(value.reader, &run, index));
    default:
        return value_of(value.reader, kol__element_slot(value.reader, &run, index));
    }
}

kol_status kol_value_key_at(struct kol_value value, size_t index, struct kol_string *out)
{
    struct run run = kol__run_of(value);
    *out = kol_string_of(NULL, 0, KOL_LATIN1);
    if (kol_value_type(value) != KOL_OBJECT) {
        return KOL_ETYPE;
    }
    if (index >= run.count) {
        return KOL_NONE;
    }
    if (run.shape) {
        *out = kol_shape_key(run.shape, index);
        return KOL_OK;
    }
    return kol_value_as_text(value_of(value.reader, load_u64(run.at + index * 16)), out);
}

struct kol_value kol_value_map_key_at(struct kol_value value, size_t index)
{
    struct run run = kol__run_of(value);
    return run.kind == KIND_MAP && index < run.count
               ? value_of(value.reader, load_u64(run.at + index * 16))
               : undefined_of(value.reader);
}

/* The position of a key; of equal ones the last. SIZE_MAX if there is none. */
static size_t find_pair(struct kol_value value, const struct run *run, struct kol_string key)
{
    struct kol_string found;
    for (size_t i = run->count; i > 0; i--) {
        struct kol_value name = value_of(value.reader, load_u64(run->at + (i - 1) * 16));
        if (kol_value_as_text(name, &found) == KOL_OK && kol_string_equal(found, key)) {
            return i - 1;
        }
    }
    return SIZE_MAX;
}

kol_status kol_value_get(struct kol_value value, struct kol_string key, struct kol_value *out)
{
    struct run run = kol__run_of(value);
    *out = undefined_of(value.reader);
    if (kol_value_type(value) != KOL_OBJECT) {
        return KOL_ETYPE;
    }
    size_t index = run.shape ? kol_shape_find(run.shape, key) : find_pair(value, &run, key);
    if (index == SIZE_MAX) {
        return KOL_NONE;
    }
    *out = kol_value_at(value, index);
    return KOL_OK;
}

const struct kol_shape *kol_value_shape(struct kol_value value)
{
    return kol__run_of(value).shape;
}

uint32_t kol_value_schema(struct kol_value value)
{
    return slot_kind(value.slot) == KIND_CUSTOM
               ? load_u32(value.reader->bytes + slot_offset(value.slot))
               : 0;
}
