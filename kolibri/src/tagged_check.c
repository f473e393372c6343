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

struct check {
    const uint8_t *bytes;
    const struct kol_shapes *shapes; /* NULL: none is known */
    uint32_t text;                   /* where the body ends */
    uint32_t text_size;
    size_t body_left;
    size_t text_left;
};

static kol_status check_slots(struct check *check, const uint8_t *at, size_t count, size_t depth);

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

static kol_status check_run(struct check *check, size_t offset, size_t head, uint64_t count,
                            size_t depth)
{
    if (head == 0 && count == 0) {
        return depth < KOL_DEPTH_MAX ? KOL_OK : KOL_EDEPTH;
    }
    if (!take_elements(check, offset, head, count, 8)) {
        return KOL_EFORMAT;
    }
    if (depth >= KOL_DEPTH_MAX) {
        return KOL_EDEPTH;
    }
    return check_slots(check, check->bytes + offset + head, (size_t)count, depth + 1);
}

static int is_text(uint64_t slot)
{
    unsigned tag = slot_tag_of(slot), kind = slot_kind(slot);
    return tag == TAG_TEXT8 || tag == TAG_TEXT16 || kind == KIND_TEXT8 || kind == KIND_TEXT16;
}

/* Pairs whose keys must be strings. */
static kol_status check_object(struct check *check, size_t offset, size_t head, uint64_t count,
                               size_t depth)
{
    kol_status status =
        count > check->text ? KOL_EFORMAT : check_run(check, offset, head, count * 2, depth);
    const uint8_t *run = check->bytes + offset + head;
    for (uint64_t i = 0; status == KOL_OK && i < count; i++) {
        status = is_text(load_u64(run + i * 16)) ? KOL_OK : KOL_EFORMAT;
    }
    return status;
}

static kol_status check_bigint(struct check *check, size_t offset, uint64_t head)
{
    uint64_t size = head & UINT32_MAX;
    int is_negative = head >> 63 != 0;
    if ((head << 1 >> 33) != 0 || !take_elements(check, offset, 8, size, 1)) {
        return KOL_EFORMAT;
    }
    if (size == 0) {
        return is_negative ? KOL_EFORMAT : KOL_OK;
    }
    return check->bytes[offset + 8 + size - 1] != 0 ? KOL_OK : KOL_EFORMAT;
}

static kol_status check_date(struct check *check, size_t offset, uint64_t head)
{
    double date = bits_double(head);
    int is_date = date >= -DATE_MAX && date <= DATE_MAX && (double)(int64_t)date == date &&
                  head != UINT64_C(1) << 63;
    return is_date && take_body(check, offset, 8) ? KOL_OK : KOL_EFORMAT;
}

static kol_status check_error(struct check *check, size_t offset, uint64_t head, size_t depth)
{
    kol_status status =
        head == ERROR_FIELDS ? check_run(check, offset, 8, head, depth) : KOL_EFORMAT;
    if (status != KOL_OK) {
        return status;
    }
    const uint8_t *fields = check->bytes + offset + 8;
    uint64_t stack = load_u64(fields + 16);
    return is_text(load_u64(fields)) && is_text(load_u64(fields + 8)) &&
                   (is_text(stack) || stack == slot_const_of(CONST_UNDEFINED))
               ? KOL_OK
               : KOL_EFORMAT;
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
    if (keys == 0 || count > check->text / keys) {
        return KOL_EFORMAT;
    }
    return check_run(check, offset, 8, count * keys, depth + 1);
}

/* A list of numbers: a level like every list. */
static kol_status check_numbers(struct check *check, size_t offset, uint64_t count, size_t size,
                                size_t depth)
{
    if (!take_elements(check, offset, 8, count, size)) {
        return KOL_EFORMAT;
    }
    return depth < KOL_DEPTH_MAX ? KOL_OK : KOL_EDEPTH;
}

static kol_status check_block(struct check *check, unsigned kind, size_t offset, size_t depth)
{
    if (offset % 8 != 0 || offset < HEADER_END || offset >= check->text) {
        return KOL_EFORMAT;
    }
    uint64_t head = load_u64(check->bytes + offset);
    size_t size = kind == KIND_TEXT8 ? 1 : kind == KIND_TEXT16 ? 2 : element_size(kind);
    switch (kind) {
    case KIND_INT64:
        return take_body(check, offset, 8) ? KOL_OK : KOL_EFORMAT;
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
        return head > check->text ? KOL_EFORMAT : check_run(check, offset, 8, head * 2, depth);
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
        return size > 0 && take_elements(check, offset, 8, head, size) ? KOL_OK : KOL_EFORMAT;
    }
}

static kol_status check_record(struct check *check, uint64_t slot, size_t depth)
{
    const struct kol_shape *shape = shape_of(check, slot_count(slot));
    return shape ? check_run(check, slot_offset(slot), 0, kol_shape_count(shape), depth)
                 : KOL_EFORMAT;
}

static kol_status check_slot(struct check *check, uint64_t slot, size_t depth)
{
    uint32_t count = slot_count(slot), offset = slot_offset(slot);
    int is_good;
    switch (slot_tag_of(slot)) {
    case TAG_CONST:
        is_good = (slot & ~((uint64_t)TAG_CONST << 48)) <= CONST_TRUE;
        break;
    case TAG_INT32:
        is_good = (slot >> 32 & 0xffff) == 0;
        break;
    case TAG_INT48:
        is_good = 1;
        break;
    case TAG_TEXT8:
        is_good = count == 0 || take_text(check, offset, count);
        break;
    case TAG_TEXT16:
        is_good = count == 0 || take_elements(check, offset, 0, count, 2);
        break;
    case TAG_LIST:
        return check_run(check, offset, 0, count, depth);
    case TAG_RECORD:
        return check_record(check, slot, depth);
    case TAG_OBJECT:
        return check_object(check, offset, 0, count, depth);
    case TAG_BLOCK:
        return check_block(check, count, offset, depth);
    default:
        is_good = slot_is_double(slot);
    }
    return is_good ? KOL_OK : KOL_EFORMAT;
}

static kol_status check_slots(struct check *check, const uint8_t *at, size_t count, size_t depth)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = load_u64(at + i * 8);
        if (!slot_is_double(slot)) {
            kol_status status = check_slot(check, slot, depth);
            if (status != KOL_OK) {
                return status;
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
        if (status == KOL_OK) {
            uint64_t older = load_u64(check->bytes + at + 8);
            status = older < at ? KOL_OK : KOL_EFORMAT;
            at = (size_t)older;
        }
    }
    return status;
}

static kol_status check_header(struct check *check, struct kol_message message)
{
    const uint8_t *bytes = message.bytes;
    if (message.size < HEADER_END || ((uintptr_t)bytes & 7) != 0) {
        return KOL_EFORMAT;
    }
    if (message.size > KOL_MESSAGE_MAX) {
        return KOL_ERANGE;
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
        return KOL_EFORMAT;
    }
    check->body_left = check->text - HEADER_END;
    check->text_left = check->text_size;
    return KOL_OK;
}

/* The table that the message's shapes are in: the connection's, or one of its own. */
static kol_status choose_shapes(struct kol_reader *reader, const uint8_t *bytes)
{
    uint32_t newest = load_u32(bytes + HEADER_SHAPES);
    if ((bytes[HEADER_FLAGS] & FLAG_SHAPES) != 0) {
        return reader->shapes || newest == 0 ? KOL_OK : KOL_EFORMAT;
    }
    const struct kol_memory *memory = reader->shapes ? kol__shapes_memory(reader->shapes) : NULL;
    kol_status status = newest == 0 ? KOL_OK : kol_shapes_new(memory, &reader->own);
    reader->shapes = reader->own;
    return status;
}

kol_status kol__message_check(struct kol_reader *reader, struct kol_message message)
{
    struct check check;
    kol_status status = check_header(&check, message);
    if (status != KOL_OK) {
        return status;
    }
    status = choose_shapes(reader, check.bytes);
    check.shapes = reader->shapes;
    if (status == KOL_OK) {
        status = check_definitions(&check, reader->shapes, load_u32(check.bytes + HEADER_SHAPES));
    }
    if (status == KOL_OK) {
        status = check_slots(&check, check.bytes + HEADER_ROOT, 1, 0);
    }
    reader->bytes = check.bytes;
    reader->text = check.text;
    return status;
}
