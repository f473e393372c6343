/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Integers of any width in a string: BITFIELD. A field is signed (i1 to i64)
 * or unsigned (u1 to u63) and lies at any bit, its highest bit first.
 *
 * All operations are parsed before the first is done; they work in order on
 * one copy of the value, which replaces it at the end if any of them wrote.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

enum field_verb { FIELD_GET, FIELD_SET, FIELD_INCRBY };
enum field_overflow { FIELD_WRAP, FIELD_SAT, FIELD_FAIL };

struct field {
    enum field_verb verb;
    enum field_overflow overflow;
    bool is_signed;
    unsigned width;
    uint64_t offset; /* in bits */
    int64_t operand;
};

struct fields {
    struct field *list;
    size_t count;
    size_t capacity;
    size_t size_needed; /* bytes that the writes reach */
    bool writes;
};

/* ---- Parsing ---- */

static bool parse_encoding(struct kv_call *call, struct bytes arg, struct field *out)
{
    int64_t width = 0;
    bool is_signed = arg.size > 0 && arg.data[0] == 'i';
    bool is_number = arg.size > 1 && (is_signed || arg.data[0] == 'u') &&
                     kv_number_parse_int(bytes_of(arg.data + 1, arg.size - 1), &width);
    if (!is_number || width < 1 || width > (is_signed ? 64 : 63)) {
        return kv_call_refuse(call, "ERR Invalid bitfield type. Use something like i16 u8. Note "
                                    "that u64 is not supported but i64 is.");
    }
    out->is_signed = is_signed;
    out->width = (unsigned)width;
    return true;
}

/* An offset in bits, or behind a `#` in fields. */
static bool parse_offset(struct kv_call *call, struct bytes arg, struct field *out)
{
    int64_t offset = 0;
    bool is_scaled = arg.size > 0 && arg.data[0] == '#';
    struct bytes digits = bytes_of(arg.data + is_scaled, arg.size - is_scaled);
    const int64_t end = (int64_t)KEVY_SIZE_MAX * 8;
    bool fits = kv_number_parse_int(digits, &offset) && offset >= 0 && offset < end;
    if (fits && is_scaled) {
        offset *= (int64_t)out->width;
        fits = offset < end;
    }
    out->offset = (uint64_t)offset;
    return fits || kv_call_refuse(call, "ERR bit offset is not an integer or out of range");
}

static bool parse_overflow(struct kv_call *call, struct bytes arg, enum field_overflow *out)
{
    static const char *const names[] = {"wrap", "sat", "fail"};
    for (unsigned i = 0; i < 3; i++) {
        if (kv_arg_is(arg, names[i])) {
            *out = (enum field_overflow)i;
            return true;
        }
    }
    return kv_call_refuse(call, "ERR Invalid OVERFLOW type specified");
}

static bool fields_push(struct kv_call *call, struct fields *fields, const struct field *field)
{
    if (fields->count == fields->capacity) {
        size_t each = sizeof *field, old = fields->capacity, new = old == 0 ? 4 : old * 2;
        void *list = kv_mem_resize(call->mem, fields->list, old * each, new *each);
        if (list == NULL) {
            return kv_call_done(call, KEVY_ENOMEM);
        }
        fields->list = list;
        fields->capacity = new;
    }
    fields->list[fields->count++] = *field;
    return true;
}

/* Reads one operation at argv[*at] and steps over it. */
static bool parse_field(struct kv_call *call, size_t *at, struct fields *fields,
                        enum field_overflow overflow)
{
    struct field field = {.overflow = overflow};
    struct bytes verb = call->argv[*at];
    size_t left = call->argc - *at - 1;
    if (kv_arg_is(verb, "get") && left >= 2) {
        field.verb = FIELD_GET;
    } else if (kv_arg_is(verb, "set") && left >= 3) {
        field.verb = FIELD_SET;
    } else if (kv_arg_is(verb, "incrby") && left >= 3) {
        field.verb = FIELD_INCRBY;
    } else {
        return kv_call_refuse(call, KV_TEXT_SYNTAX);
    }
    if (!parse_encoding(call, call->argv[*at + 1], &field) ||
        !parse_offset(call, call->argv[*at + 2], &field)) {
        return false;
    }
    if (field.verb != FIELD_GET) {
        size_t end = (size_t)((field.offset + field.width + 7) / 8);
        fields->size_needed = end > fields->size_needed ? end : fields->size_needed;
        fields->writes = true;
        if (!kv_arg_int(call, *at + 3, &field.operand)) {
            return false;
        }
    }
    *at += field.verb == FIELD_GET ? 3 : 4;
    return fields_push(call, fields, &field);
}

static bool fields_parse(struct kv_call *call, struct fields *fields)
{
    enum field_overflow overflow = FIELD_WRAP;
    size_t at = 2;
    while (at < call->argc) {
        if (kv_arg_is(call->argv[at], "overflow") && at + 1 < call->argc) {
            if (!parse_overflow(call, call->argv[at + 1], &overflow)) {
                return false;
            }
            at += 2;
        } else if (!parse_field(call, &at, fields, overflow)) {
            return false;
        }
    }
    return true;
}

/* ---- Bits ---- */

static uint64_t width_mask(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Reads the bits of a field; those behind the value are 0. */
static uint64_t bits_read(struct bytes value, uint64_t offset, unsigned width)
{
    uint64_t bits = 0;
    for (uint64_t at = offset; at < offset + width; at++) {
        uint64_t byte = at >> 3;
        unsigned bit = byte < value.size ? value.data[byte] >> (7 - (at & 7)) & 1u : 0;
        bits = bits << 1 | bit;
    }
    return bits;
}

static void bits_write(uint8_t *data, uint64_t offset, unsigned width, uint64_t bits)
{
    for (unsigned i = 0; i < width; i++) {
        uint64_t at = offset + i;
        unsigned mask = 1u << (7 - (at & 7));
        bool is_set = (bits >> (width - 1 - i) & 1) != 0;
        data[at >> 3] = (uint8_t)(is_set ? data[at >> 3] | mask : data[at >> 3] & ~mask);
    }
}

/* The number that a field's bits are. */
static int64_t field_number(const struct field *field, uint64_t bits)
{
    if (field->is_signed && (bits >> (field->width - 1) & 1) != 0) {
        return (int64_t)(bits | ~width_mask(field->width));
    }
    return (int64_t)bits;
}

/* The least and greatest number of a field. */
static int64_t field_min(const struct field *field)
{
    return field->is_signed ? (int64_t)~width_mask(field->width - 1) : 0;
}

static int64_t field_max(const struct field *field)
{
    return (int64_t)width_mask(field->is_signed ? field->width - 1 : field->width);
}

/* Adds `by` to `from` (a number of the field); -1 below its range, 1 above,
 * else 0. *bits_out is the sum, wrapped to the field's width. */
static int field_add(const struct field *field, int64_t from, int64_t by, uint64_t *bits_out)
{
    int64_t min = field_min(field), max = field_max(field);
    *bits_out = ((uint64_t)from + (uint64_t)by) & width_mask(field->width);
    if (by > 0) {
        return (uint64_t)max - (uint64_t)from < (uint64_t)by ? 1 : 0;
    }
    return (uint64_t)from - (uint64_t)min < 0 - (uint64_t)by ? -1 : 0;
}

/* As field_add for SET: is the number itself within the range? An unsigned
 * field takes a negative one for a very large one. So does, in Redis, a signed
 * field if the number is so low that its distance to the greatest does not fit
 * into 64 bits, and it saturates there. */
static int field_check(const struct field *field, int64_t number, uint64_t *bits_out)
{
    int64_t max = field_max(field);
    *bits_out = (uint64_t)number & width_mask(field->width);
    if (!field->is_signed) {
        return (uint64_t)number > (uint64_t)max ? 1 : 0;
    }
    if (field->width == 64) {
        return 0;
    }
    bool is_above = ((uint64_t)max - (uint64_t)number) >> 63 != 0;
    return is_above ? 1 : number < field_min(field) ? -1 : 0;
}

/* Applies the overflow policy; false: FAIL, nothing is to be written. */
static bool field_settle(const struct field *field, int overflow, uint64_t *bits)
{
    if (overflow == 0 || field->overflow == FIELD_WRAP) {
        return true;
    }
    int64_t limit = overflow > 0 ? field_max(field) : field_min(field);
    *bits = (uint64_t)limit & width_mask(field->width);
    return field->overflow == FIELD_SAT;
}

static void field_run(struct kv_call *call, const struct field *field, uint8_t *data, size_t size)
{
    uint64_t bits, old = bits_read(bytes_of(data, size), field->offset, field->width);
    int64_t number = field_number(field, old);
    if (field->verb == FIELD_GET) {
        kv_reply_int(call->reply, number);
        return;
    }
    bool is_set = field->verb == FIELD_SET;
    int overflow = is_set ? field_check(field, field->operand, &bits)
                          : field_add(field, number, field->operand, &bits);
    if (!field_settle(field, overflow, &bits)) {
        kv_reply_null(call->reply);
        return;
    }
    bits_write(data, field->offset, field->width, bits);
    kv_reply_int(call->reply, is_set ? number : field_number(field, bits));
}

static void fields_run(struct kv_call *call, const struct fields *fields)
{
    struct kv_item item = {{NULL, 0}, 0};
    struct kv_scratch scratch;
    kv_call_find(call, call->argv[1], &item);
    size_t size = item.value.size;
    if (fields->size_needed > size) {
        size = fields->size_needed;
    }
    if (size > KEVY_SIZE_MAX) {
        kv_call_refuse(call, KV_TEXT_TOO_LONG);
        return;
    }
    if (!kv_scratch_new(call, &scratch, size)) {
        return;
    }
    kv_scratch_fill(&scratch, item.value);
    kv_reply_array(call->reply, fields->count);
    for (size_t i = 0; i < fields->count; i++) {
        field_run(call, &fields->list[i], scratch.data, size);
    }
    if (fields->writes) {
        kv_call_put_one(call, call->argv[1], bytes_of(scratch.data, size), item.expiry_ms);
    }
    kv_scratch_done(&scratch);
}

void kv_run_bitfield(struct kv_call *call)
{
    struct fields fields = {0};
    if (fields_parse(call, &fields)) {
        fields_run(call, &fields);
    }
    kv_mem_free(call->mem, fields.list, fields.capacity * sizeof *fields.list);
}

void kv_run_bitfield_ro(struct kv_call *call)
{
    struct fields fields = {0};
    if (fields_parse(call, &fields)) {
        if (fields.writes) {
            kv_call_refuse(call, "ERR BITFIELD_RO only supports the GET subcommand");
        } else {
            fields_run(call, &fields);
        }
    }
    kv_mem_free(call->mem, fields.list, fields.capacity * sizeof *fields.list);
}
