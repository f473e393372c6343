/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What values are in C: numbers that lose nothing or fail, texts, bytes, arrays of numbers.
 *
 * Elements of arrays become slots, made here: a long that is too wide for a slot is its own element
 * taken as a block, since an INT64 block is nothing but its head.
 */
#include "kolibri/src/tagged_run.h"

#define TWO_63 9223372036854775808.0

kol_status kol_value_as_bool(struct kol_value value, int *out)
{
    *out = value.slot == slot_const_of(CONST_TRUE);
    return kol_value_type(value) == KOL_BOOL ? KOL_OK : KOL_ETYPE;
}

static const uint8_t *block_of(struct kol_value value)
{
    return value.reader->bytes + slot_offset(value.slot);
}

static kol_status long_of_double(double number, int64_t *out)
{
    if (!(number >= -TWO_63 && number < TWO_63)) {
        return number == number && number != 0 && number * 0 == 0 ? KOL_ERANGE : KOL_ETYPE;
    }
    *out = (int64_t)number;
    return (double)*out == number ? KOL_OK : KOL_ETYPE;
}

static kol_status long_of_bigint(struct kol_bigint number, int64_t *out)
{
    uint64_t magnitude = 0;
    if (number.size > 8) {
        return KOL_ERANGE;
    }
    for (size_t i = number.size; i > 0; i--) {
        magnitude = magnitude << 8 | number.magnitude[i - 1];
    }
    if (magnitude > (uint64_t)INT64_MAX + (uint64_t)number.is_negative) {
        return KOL_ERANGE;
    }
    *out = (int64_t)(number.is_negative ? 0 - magnitude : magnitude);
    return KOL_OK;
}

kol_status kol_value_as_long(struct kol_value value, int64_t *out)
{
    struct kol_bigint bigint;
    *out = 0;
    switch (kol_value_type(value)) {
    case KOL_INT:
        *out = (int32_t)(uint32_t)value.slot;
        return KOL_OK;
    case KOL_LONG:
        *out = slot_kind(value.slot) ? (int64_t)load_u64(block_of(value)) : slot_int48(value.slot);
        return KOL_OK;
    case KOL_DOUBLE:
        return long_of_double(bits_double(value.slot), out);
    case KOL_BIGINT:
        return kol_value_as_bigint(value, &bigint) == KOL_OK ? long_of_bigint(bigint, out)
                                                             : KOL_ETYPE;
    case KOL_UNDEFINED:
    case KOL_NULL:
    case KOL_BOOL:
    case KOL_TEXT:
    case KOL_LIST:
    case KOL_OBJECT:
    case KOL_MAP:
    case KOL_SET:
    case KOL_DATE:
    case KOL_BYTES:
    case KOL_PACKED:
    case KOL_ERROR:
    case KOL_CUSTOM:
    default:
        return KOL_ETYPE;
    }
}

kol_status kol_value_as_int(struct kol_value value, int32_t *out)
{
    int64_t number;
    kol_status status = kol_value_as_long(value, &number);
    if (status == KOL_OK && (number < INT32_MIN || number > INT32_MAX)) {
        status = KOL_ERANGE;
    }
    *out = status == KOL_OK ? (int32_t)number : 0;
    return status;
}

kol_status kol_value_as_double(struct kol_value value, double *out)
{
    int64_t number;
    *out = 0;
    if (slot_is_double(value.slot)) {
        *out = bits_double(value.slot);
        return KOL_OK;
    }
    kol_type type = kol_value_type(value);
    if (type != KOL_INT && type != KOL_LONG) {
        return KOL_ETYPE;
    }
    kol_status status = kol_value_as_long(value, &number);
    double converted = (double)number;
    if (status != KOL_OK || converted >= TWO_63 || (int64_t)converted != number) {
        return KOL_ERANGE;
    }
    *out = converted;
    return KOL_OK;
}

kol_status kol_value_as_bigint(struct kol_value value, struct kol_bigint *out)
{
    *out = (struct kol_bigint){NULL, 0, 0};
    if (slot_kind(value.slot) != KIND_BIGINT) {
        return KOL_ETYPE;
    }
    uint64_t head = load_u64(block_of(value));
    *out = (struct kol_bigint){block_of(value) + 8, (size_t)(head & UINT32_MAX), head >> 63 != 0};
    return KOL_OK;
}

kol_status kol_value_as_date(struct kol_value value, double *out)
{
    *out = 0;
    if (slot_kind(value.slot) != KIND_DATE) {
        return KOL_ETYPE;
    }
    *out = bits_double(load_u64(block_of(value)));
    return KOL_OK;
}

kol_status kol_value_as_text(struct kol_value value, struct kol_string *out)
{
    const uint8_t *bytes = value.reader->bytes;
    uint32_t count = slot_count(value.slot), offset = slot_offset(value.slot);
    *out = kol_string_of(NULL, 0, KOL_LATIN1);
    switch (slot_tag_of(value.slot)) {
    case TAG_TEXT8:
        *out = kol_string_of(bytes + value.reader->text + (count ? offset : 0), count, KOL_LATIN1);
        return KOL_OK;
    case TAG_TEXT16:
        *out = kol_string_of(bytes + offset, count, KOL_UTF16_LE);
        return KOL_OK;
    case TAG_BLOCK:
        if (count == KIND_TEXT8 || count == KIND_TEXT16) {
            kol_text_form form = count == KIND_TEXT8 ? KOL_LATIN1 : KOL_UTF16_LE;
            *out = kol_string_of(bytes + offset + 8, (size_t)load_u64(bytes + offset), form);
            return KOL_OK;
        }
        return KOL_ETYPE;
    default:
        return KOL_ETYPE;
    }
}

kol_status kol_value_copy_text(struct kol_value value, char *utf8, size_t size, size_t *size_out)
{
    struct kol_string string;
    kol_status status = kol_value_as_text(value, &string);
    *size_out = 0;
    if (status != KOL_OK) {
        return status;
    }
    *size_out = kol_string_copy(string, utf8, size > 0 ? size - 1 : 0);
    if (*size_out >= size) {
        return KOL_ESMALL;
    }
    utf8[*size_out] = '\0';
    return KOL_OK;
}

kol_status kol_value_as_bytes(struct kol_value value, const uint8_t **data_out, size_t *size_out)
{
    struct run run = kol__run_of(value);
    int is_bytes = run.kind == KIND_BYTES;
    *data_out = is_bytes ? run.at : NULL;
    *size_out = is_bytes ? run.count : 0;
    return is_bytes ? KOL_OK : KOL_ETYPE;
}

kol_status kol_value_as_packed(struct kol_value value, struct kol_array *out)
{
    struct run run = kol__run_of(value);
    if (run.kind < KIND_PACKED || run.kind >= KIND_END) {
        *out = (struct kol_array){NULL, 0, KOL_U8};
        return KOL_ETYPE;
    }
    *out = (struct kol_array){run.at, run.count, (kol_packed)run.kind};
    return KOL_OK;
}

kol_status kol_value_copy_doubles(struct kol_value value, double *numbers, size_t max,
                                  size_t *count_out)
{
    *count_out = 0;
    if (kol_value_type(value) != KOL_LIST) {
        return KOL_ETYPE;
    }
    size_t count = kol_value_count(value);
    if (count > max) {
        return KOL_ESMALL;
    }
    for (size_t i = 0; i < count; i++) {
        kol_status status = kol_value_as_double(kol_value_at(value, i), numbers + i);
        if (status != KOL_OK) {
            return status;
        }
    }
    *count_out = count;
    return KOL_OK;
}

static uint64_t int_slot(int32_t number)
{
    return (uint64_t)TAG_INT32 << 48 | (uint32_t)number;
}

static uint64_t double_slot(double number)
{
    return number == number ? double_bits(number) : TAGGED_NAN;
}

/* 64 bits of an array: short where that fits, else the element itself as a block. */
static uint64_t long_slot(const struct kol_reader *reader, const uint8_t *at)
{
    uint64_t bits = load_u64(at), low = bits & ((UINT64_C(1) << 48) - 1);
    return slot_int48(low) == (int64_t)bits
               ? (uint64_t)TAG_INT48 << 48 | low
               : slot_of(TAG_BLOCK, KIND_INT64, (size_t)(at - reader->bytes));
}

static uint64_t float_slot(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return double_slot((double)number);
}

uint64_t kol__element_slot(const struct kol_reader *reader, const struct run *run, size_t index)
{
    const uint8_t *at = run->at + index * element_size(run->kind);
    switch (run->kind) {
    case KOL_I8:
        return int_slot((int8_t)*at);
    case KIND_BYTES:
    case KOL_U8:
    case KOL_U8_CLAMPED:
        return int_slot(*at);
    case KOL_I16:
        return int_slot((int16_t)load_u16(at));
    case KOL_U16:
        return int_slot(load_u16(at));
    case KIND_INTS:
    case KOL_I32:
        return int_slot((int32_t)load_u32(at));
    case KOL_U32:
        return load_u32(at) <= INT32_MAX ? int_slot((int32_t)load_u32(at))
                                         : (uint64_t)TAG_INT48 << 48 | load_u32(at);
    case KOL_F32:
        return float_slot(load_u32(at));
    case KOL_I64:
        return long_slot(reader, at);
    case KOL_U64:
        return load_u64(at) <= INT64_MAX ? long_slot(reader, at)
                                         : double_slot((double)load_u64(at));
    default:
        return double_slot(bits_double(load_u64(at)));
    }
}
