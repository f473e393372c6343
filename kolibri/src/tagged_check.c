/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The validate pass over a message from anywhere.
 *
 * Two budgets bound it: each run, block and definition that is visited takes its bytes from the
 * body's, each short string from the text area's. Areas that are used twice, overlap or contain
 * themselves run out of budget, so the time and all that a decoder will make are bounded by the
 * size of the message. Nothing is allocated here but by the table of shapes, for keys that are
 * there.
 */
#include "kolibri/src/tagged_check.h"

#include "kolibri/src/tagged_format.h"
#include "kolibri/src/tagged_shapes.h"

#include <stdio.h>

struct check {
    const uint8_t *bytes;
    const struct kol_shapes *shapes; /* NULL: none is known */
    uint32_t text;                   /* where the body ends */
    uint32_t text_size;
    size_t body_left;
    size_t text_left;
    const char *what;  /* is wrong, of the first fault */
    size_t definition; /* the offset of the last one that was looked at, 0: none */
    /* Where: the number of the slot in each run, the innermost first. Filled while it unwinds. */
    size_t step_count;
    uint32_t steps[KOL_DEPTH_MAX + 1];
};

static const char NO_PLACE[] = "a place outside of the message, or used twice";
static const char NO_SHAPE[] = "a shape that nobody defined";
static const char NO_TABLE[] = "definitions of shapes for a connection, and there is none";
static const char NO_KEY[] = "a key that is no string";

static kol_status check_slot(struct check *check, uint64_t slot, size_t depth);
static kol_status check_slots(struct check *check, const uint8_t *at, size_t count, size_t depth);

static kol_status refuse(struct check *check, kol_status status, const char *what)
{
    check->what = what;
    return status;
}

static kol_status damaged(struct check *check, const char *what)
{
    return refuse(check, KOL_EFORMAT, what);
}

static kol_status good_if(struct check *check, int is_good, const char *what)
{
    return is_good ? KOL_OK : damaged(check, what);
}

/* Notes the way back to what is wrong in slot number `index` of a run. */
static kol_status step(struct check *check, kol_status status, size_t index)
{
    if (status != KOL_OK) {
        check->steps[check->step_count++] = (uint32_t)index;
    }
    return status;
}

/* Whether `size` bytes at `offset` are in the body and in its budget, which they are taken from. */
static int take_body(struct check *check, size_t offset, size_t size)
{
    size = round_up8(size);
    if (offset % 8 != 0 || offset < HEADER_END || offset > check->text ||
        size > check->text - offset || size > check->body_left) {
        return 0;
    }
    check->body_left -= size;
    return 1;
}

static int take_text(struct check *check, size_t offset, size_t size)
{
    if (offset > check->text_size || size > check->text_size - offset || size > check->text_left) {
        return 0;
    }
    check->text_left -= size;
    return 1;
}

/* `count` elements of `size` bytes behind `head` bytes; 0 also when that is more than any body. */
static int take_elements(struct check *check, size_t offset, size_t head, uint64_t count,
                         size_t size)
{
    return count <= check->text / size && take_body(check, offset, head + (size_t)count * size);
}

static kol_status check_depth(struct check *check, size_t depth)
{
    return depth < KOL_DEPTH_MAX ? KOL_OK
                                 : refuse(check, KOL_EDEPTH, "containers nested too deeply");
}

/* The place and the depth of a run of slots. */
static kol_status take_run(struct check *check, size_t offset, size_t head, uint64_t count,
                           size_t depth)
{
    int is_nowhere = head == 0 && count == 0;
    return is_nowhere || take_elements(check, offset, head, count, 8) ? check_depth(check, depth)
                                                                      : damaged(check, NO_PLACE);
}

static kol_status check_run(struct check *check, size_t offset, size_t head, uint64_t count,
                            size_t depth)
{
    kol_status status = take_run(check, offset, head, count, depth);
    return status == KOL_OK
               ? check_slots(check, check->bytes + offset + head, (size_t)count, depth + 1)
               : status;
}

static int is_text(uint64_t slot)
{
    unsigned tag = slot_tag_of(slot), kind = slot_kind(slot);
    return tag == TAG_TEXT8 || tag == TAG_TEXT16 || kind == KIND_TEXT8 || kind == KIND_TEXT16;
}

/* A string in slot number `index` of a run. */
static kol_status check_string(struct check *check, const uint8_t *run, size_t index, size_t depth,
                               const char *what)
{
    uint64_t slot = load_u64(run + index * 8);
    kol_status status = is_text(slot) ? check_slot(check, slot, depth) : damaged(check, what);
    return step(check, status, index);
}

/* Pairs whose keys must be strings. */
static kol_status check_pairs(struct check *check, const uint8_t *run, size_t count, size_t depth)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t key = load_u64(run + i * 16), value = load_u64(run + i * 16 + 8);
        kol_status status = is_text(key) ? check_slot(check, key, depth) : damaged(check, NO_KEY);
        if (status != KOL_OK) {
            return step(check, status, i * 2);
        }
        status = slot_is_double(value) ? KOL_OK : check_slot(check, value, depth);
        if (status != KOL_OK) {
            return step(check, status, i * 2 + 1);
        }
    }
    return KOL_OK;
}

static kol_status check_object(struct check *check, size_t offset, size_t head, uint64_t count,
                               size_t depth)
{
    kol_status status = count > check->text ? damaged(check, NO_PLACE)
                                            : take_run(check, offset, head, count * 2, depth);
    const uint8_t *run = check->bytes + offset + head;
    return status == KOL_OK ? check_pairs(check, run, (size_t)count, depth + 1) : status;
}

static kol_status check_bigint(struct check *check, size_t offset, uint64_t head)
{
    static const char what[] = "a BigInt with a wrong head or a zero on top";
    uint64_t size = head & UINT32_MAX;
    int is_negative = head >> 63 != 0;
    if ((head << 1 >> 33) != 0) {
        return damaged(check, what);
    }
    if (!take_elements(check, offset, 8, size, 1)) {
        return damaged(check, NO_PLACE);
    }
    int is_good = size == 0 ? !is_negative : check->bytes[offset + 8 + size - 1] != 0;
    return good_if(check, is_good, what);
}

static kol_status check_date(struct check *check, size_t offset, uint64_t head)
{
    double date = bits_double(head);
    int is_date = date >= -DATE_MAX && date <= DATE_MAX && (double)(int64_t)date == date &&
                  head != UINT64_C(1) << 63;
    kol_status status = good_if(check, take_body(check, offset, 8), NO_PLACE);
    return status == KOL_OK ? good_if(check, is_date, "a date that is none") : status;
}

static kol_status check_error(struct check *check, size_t offset, uint64_t head, size_t depth)
{
    static const char what[] = "an error whose name, message or stack is no string";
    const uint8_t *fields = check->bytes + offset + 8;
    kol_status status = head == ERROR_FIELDS ? take_run(check, offset, 8, head, depth)
                                             : damaged(check, "an error without its five parts");
    for (size_t i = 0; status == KOL_OK && i < ERROR_FIELDS; i++) {
        uint64_t slot = load_u64(fields + i * 8);
        int is_string = i < 2 || (i == 2 && slot != slot_const_of(CONST_UNDEFINED));
        status = is_string ? check_string(check, fields, i, depth + 1, what)
                           : step(check, check_slot(check, slot, depth + 1), i);
    }
    return status;
}

static const struct kol_shape *shape_of(const struct check *check, uint32_t id)
{
    return check->shapes ? kol__shapes_at(check->shapes, id) : NULL;
}

static kol_status check_records(struct check *check, size_t offset, uint64_t head, size_t depth)
{
    const struct kol_shape *shape = shape_of(check, (uint32_t)head);
    size_t keys = shape ? kol_shape_count(shape) : 0;
    uint64_t count = head >> 32;
    if (keys == 0) {
        return damaged(check, shape ? "records without keys" : NO_SHAPE);
    }
    return count > check->text / keys ? damaged(check, NO_PLACE)
                                      : check_run(check, offset, 8, count * keys, depth + 1);
}

/* A list of numbers: a level like every list. */
static kol_status check_numbers(struct check *check, size_t offset, uint64_t count, size_t size,
                                size_t depth)
{
    return take_elements(check, offset, 8, count, size) ? check_depth(check, depth)
                                                        : damaged(check, NO_PLACE);
}

static kol_status check_block(struct check *check, unsigned kind, size_t offset, size_t depth)
{
    if (offset % 8 != 0 || offset < HEADER_END || offset >= check->text) {
        return damaged(check, NO_PLACE);
    }
    uint64_t head = load_u64(check->bytes + offset);
    size_t size = kind == KIND_TEXT8 ? 1 : kind == KIND_TEXT16 ? 2 : element_size(kind);
    switch (kind) {
    case KIND_INT64:
        return good_if(check, take_body(check, offset, 8), NO_PLACE);
    case KIND_DATE:
        return check_date(check, offset, head);
    case KIND_BIGINT:
        return check_bigint(check, offset, head);
    case KIND_LIST:
    case KIND_SET:
        return check_run(check, offset, 8, head, depth);
    case KIND_OBJECT:
        return check_object(check, offset, 8, head, depth);
    case KIND_MAP:
        return head > check->text ? damaged(check, NO_PLACE)
                                  : check_run(check, offset, 8, head * 2, depth);
    case KIND_ERROR:
        return check_error(check, offset, head, depth);
    case KIND_CUSTOM:
        return check_run(check, offset, 8, head >> 32, depth);
    case KIND_RECORDS:
        return check_records(check, offset, head, depth);
    case KIND_DOUBLES:
    case KIND_INTS:
        return check_numbers(check, offset, head, size, depth);
    default:
        return size == 0 ? damaged(check, "a kind of block that nobody knows")
                         : good_if(check, take_elements(check, offset, 8, head, size), NO_PLACE);
    }
}

static kol_status check_record(struct check *check, uint64_t slot, size_t depth)
{
    const struct kol_shape *shape = shape_of(check, slot_count(slot));
    return shape ? check_run(check, slot_offset(slot), 0, kol_shape_count(shape), depth)
                 : damaged(check, NO_SHAPE);
}

static kol_status check_slot(struct check *check, uint64_t slot, size_t depth)
{
    static const char no_value[] = "a slot that is no value";
    uint32_t count = slot_count(slot), offset = slot_offset(slot);
    switch (slot_tag_of(slot)) {
    case TAG_CONST:
        return good_if(check, (slot & ~((uint64_t)TAG_CONST << 48)) <= CONST_TRUE, no_value);
    case TAG_INT32:
        return good_if(check, (slot >> 32 & 0xffff) == 0, no_value);
    case TAG_INT48:
        return KOL_OK;
    case TAG_TEXT8:
        return good_if(check, count == 0 || take_text(check, offset, count), NO_PLACE);
    case TAG_TEXT16:
        return good_if(check, count == 0 || take_elements(check, offset, 0, count, 2), NO_PLACE);
    case TAG_LIST:
        return check_run(check, offset, 0, count, depth);
    case TAG_RECORD:
        return check_record(check, slot, depth);
    case TAG_OBJECT:
        return check_object(check, offset, 0, count, depth);
    case TAG_BLOCK:
        return check_block(check, count, offset, depth);
    default:
        return good_if(check, slot_is_double(slot), no_value);
    }
}

static kol_status check_slots(struct check *check, const uint8_t *at, size_t count, size_t depth)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = load_u64(at + i * 8);
        if (!slot_is_double(slot)) {
            kol_status status = check_slot(check, slot, depth);
            if (status != KOL_OK) {
                return step(check, status, i);
            }
        }
    }
    return KOL_OK;
}

/* One key of a definition as a string; 0 if it is none or too long. */
static int key_of_definition(struct check *check, uint64_t slot, struct kol_string *out)
{
    uint32_t count = slot_count(slot), offset = slot_offset(slot);
    unsigned tag = slot_tag_of(slot);
    if ((tag != TAG_TEXT8 && tag != TAG_TEXT16) || count > KOL_SHAPE_KEY_MAX ||
        check_slot(check, slot, 0) != KOL_OK) {
        return 0;
    }
    *out = tag == TAG_TEXT8
               ? kol_string_of(check->bytes + check->text + (count ? offset : 0), count, KOL_LATIN1)
               : kol_string_of(check->bytes + (count ? offset : 0), count, KOL_UTF16_LE);
    return 1;
}

static kol_status check_definition(struct check *check, struct kol_shapes *shapes, size_t offset)
{
    struct kol_string keys[KOL_SHAPE_KEYS_MAX];
    if (!take_body(check, offset, SHAPE_HEAD_SIZE)) {
        return KOL_EFORMAT;
    }
    const uint8_t *at = check->bytes + offset;
    uint32_t count = load_u32(at + 4);
    if (count > KOL_SHAPE_KEYS_MAX ||
        (count > 0 && !take_elements(check, offset + SHAPE_HEAD_SIZE, 0, count, 8))) {
        return KOL_EFORMAT;
    }
    for (size_t i = 0; i < count; i++) {
        if (!key_of_definition(check, load_u64(at + SHAPE_HEAD_SIZE + i * 8), &keys[i])) {
            return KOL_EFORMAT;
        }
    }
    return kol__shapes_define(shapes, load_u32(at), keys, count);
}

/* All definitions, from the newest to the oldest; each is before the one that names it. */
static kol_status check_definitions(struct check *check, struct kol_shapes *shapes, size_t newest)
{
    kol_status status = KOL_OK;
    for (size_t at = newest; status == KOL_OK && at != 0;) {
        status = check_definition(check, shapes, at);
        uint64_t older = status == KOL_OK ? load_u64(check->bytes + at + 8) : 0;
        if (older >= at) {
            status = KOL_EFORMAT;
        }
        check->definition = at;
        at = (size_t)older;
    }
    return status == KOL_EFORMAT ? damaged(check, "a definition of a shape that is damaged")
                                 : status;
}

static kol_status check_header(struct check *check, struct kol_message message)
{
    const uint8_t *bytes = message.bytes;
    check->what = NULL;
    check->definition = 0;
    check->step_count = 0;
    if (message.size < HEADER_END || ((uintptr_t)bytes & 7) != 0) {
        return damaged(check, "a message that is too short or not aligned");
    }
    if (message.size > KOL_MESSAGE_MAX) {
        return refuse(check, KOL_ERANGE, "a message of more than 256 MiB");
    }
    check->bytes = bytes;
    check->text = load_u32(bytes + HEADER_TEXT);
    check->text_size = load_u32(bytes + HEADER_TEXT_SIZE);
    int is_good = load_u32(bytes) == TAGGED_MAGIC && bytes[HEADER_VERSION] == KOL_TAGGED_VERSION &&
                  (bytes[HEADER_FLAGS] & ~FLAG_SHAPES) == 0 && load_u16(bytes + HEADER_ZERO) == 0 &&
                  load_u32(bytes + HEADER_SIZE) == message.size && message.size % 8 == 0 &&
                  check->text % 8 == 0 && check->text >= HEADER_END &&
                  check->text <= message.size && check->text_size <= message.size - check->text &&
                  message.size - check->text - check->text_size < 8;
    if (!is_good) {
        return damaged(check, "a header that is damaged or of another version");
    }
    check->body_left = check->text - HEADER_END;
    check->text_left = check->text_size;
    return KOL_OK;
}

/* The table that the message's shapes are in: the connection's, or one of its own. */
static kol_status choose_shapes(struct check *check, struct kol_reader *reader)
{
    const uint8_t *bytes = check->bytes;
    uint32_t newest = load_u32(bytes + HEADER_SHAPES);
    if ((bytes[HEADER_FLAGS] & FLAG_SHAPES) != 0) {
        return good_if(check, reader->shapes || newest == 0, NO_TABLE);
    }
    const struct kol_memory *memory = reader->shapes ? kol__shapes_memory(reader->shapes) : NULL;
    kol_status status = newest == 0 ? KOL_OK : kol_shapes_new(memory, &reader->own);
    reader->shapes = reader->own;
    return status;
}

/* What is wrong, and where: a value has a path, a definition an offset, a header neither. */
static void note_problem(struct kol_reader *reader, const struct check *check, kol_status status)
{
    reader->what = check->what ? check->what : kol_status_text(status);
    if (check->step_count > 0) {
        kol__reader_note_path(reader, check->steps, check->step_count);
    } else if (check->definition > 0) {
        snprintf(reader->where, sizeof reader->where, "byte %zu", check->definition);
    }
}

kol_status kol__message_check(struct kol_reader *reader, struct kol_message message)
{
    struct check check;
    kol_status status = check_header(&check, message);
    if (status == KOL_OK) {
        reader->bytes = check.bytes;
        reader->text = check.text;
        status = choose_shapes(&check, reader);
        check.shapes = reader->shapes;
    }
    if (status == KOL_OK) {
        status = check_definitions(&check, reader->shapes, load_u32(check.bytes + HEADER_SHAPES));
    }
    if (status == KOL_OK) {
        status = check_slots(&check, check.bytes + HEADER_ROOT, 1, 0);
    }
    if (status != KOL_OK) {
        note_problem(reader, &check, status);
    }
    return status;
}
