/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The builder's scalars, strings and arrays: a slot, and for what does not fit into one a block.
 *
 * Containers are tagged_nest.c, memory is tagged_space.c.
 */
#include "kolibri/src/tagged_text.h"
#include "kolibri/src/tagged_writer.h"

#include <kolibri/tagged_write.h>

/* Writes a block's head and returns where its data goes; NULL after a failure. */
static uint8_t *put_block(struct kol_writer *writer, unsigned kind, uint64_t head, size_t data_size)
{
    uint32_t offset;
    if (!wants_value(writer)) {
        return NULL;
    }
    uint8_t *block =
        data_size > KOL_MESSAGE_MAX ? NULL : kol__writer_reserve(writer, 8 + data_size, &offset);
    if (!block) {
        kol__writer_fail(writer, KOL_ERANGE);
        return NULL;
    }
    store_u64(block, head);
    if (data_size % 8 != 0) {
        memset(block + 8 + data_size, 0, 8 - data_size % 8);
    }
    store_u64(writer->at, slot_of(TAG_BLOCK, kind, offset));
    writer->at += 8;
    return block + 8;
}

void kol_write_undefined(struct kol_writer *writer)
{
    put_slot(writer, slot_const_of(CONST_UNDEFINED));
}

void kol_write_null(struct kol_writer *writer)
{
    put_slot(writer, slot_const_of(CONST_NULL));
}

void kol_write_bool(struct kol_writer *writer, int is_true)
{
    put_slot(writer, slot_const_of(is_true ? CONST_TRUE : CONST_FALSE));
}

void kol_write_int(struct kol_writer *writer, int32_t number)
{
    put_slot(writer, (uint64_t)TAG_INT32 << 48 | (uint32_t)number);
}

void kol_write_long(struct kol_writer *writer, int64_t number)
{
    uint64_t low = (uint64_t)number & ((UINT64_C(1) << 48) - 1);
    if (slot_int48(low) == number) {
        put_slot(writer, (uint64_t)TAG_INT48 << 48 | low);
    } else {
        put_block(writer, KIND_INT64, (uint64_t)number, 0);
    }
}

void kol_write_double(struct kol_writer *writer, double number)
{
    put_slot(writer, number == number ? double_bits(number) : TAGGED_NAN);
}

void kol_write_date(struct kol_writer *writer, double milliseconds)
{
    double whole = milliseconds + 0.0;
    if (!(whole >= -DATE_MAX && whole <= DATE_MAX) || (double)(int64_t)whole != whole) {
        kol__writer_fail(writer, KOL_ERANGE);
        return;
    }
    put_block(writer, KIND_DATE, double_bits(whole), 0);
}

void kol_write_bigint(struct kol_writer *writer, struct kol_bigint number)
{
    size_t size = number.size;
    while (size > 0 && number.magnitude[size - 1] == 0) {
        size--;
    }
    uint64_t sign = number.is_negative && size > 0 ? UINT64_C(1) << 63 : 0;
    uint8_t *data = put_block(writer, KIND_BIGINT, sign | size, size);
    if (data && size > 0) {
        memcpy(data, number.magnitude, size);
    }
}

void kol_write_bytes(struct kol_writer *writer, const void *bytes, size_t size)
{
    uint8_t *data = put_block(writer, KIND_BYTES, size, size);
    if (data && size > 0) {
        memcpy(data, bytes, size);
    }
}

/* A list of numbers is a level like every list. */
static int is_too_deep(struct kol_writer *writer)
{
    if (wants_value(writer) && writer->depth >= KOL_DEPTH_MAX) {
        kol__writer_fail(writer, KOL_EDEPTH);
    }
    return writer->status != KOL_OK;
}

static void put_array(struct kol_writer *writer, unsigned kind, const void *data, size_t count)
{
    size_t size = element_size(kind);
    uint8_t *to = count > KOL_MESSAGE_MAX ? put_block(writer, kind, count, SIZE_MAX)
                                          : put_block(writer, kind, count, count * size);
    if (to) {
        copy_elements(to, data, count, size);
    }
}

void kol_write_packed(struct kol_writer *writer, kol_packed kind, const void *data, size_t count)
{
    if (kind < KOL_I8 || kind > KOL_U8_CLAMPED) {
        kol__writer_fail(writer, KOL_EMISUSE);
        return;
    }
    put_array(writer, (unsigned)kind, data, count);
}

static int has_nan(const double *numbers, size_t count)
{
    int seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen |= numbers[i] != numbers[i];
    }
    return seen;
}

void kol_write_doubles(struct kol_writer *writer, const double *numbers, size_t count)
{
    if (is_too_deep(writer)) {
        return;
    }
    uint8_t *to = count > KOL_MESSAGE_MAX ? put_block(writer, KIND_DOUBLES, count, SIZE_MAX)
                                          : put_block(writer, KIND_DOUBLES, count, count * 8);
    if (!to) {
        return;
    }
    copy_elements(to, numbers, count, 8);
    if (has_nan(numbers, count)) {
        for (size_t i = 0; i < count; i++) {
            store_u64(to + i * 8, numbers[i] == numbers[i] ? double_bits(numbers[i]) : TAGGED_NAN);
        }
    }
}

void kol_write_ints(struct kol_writer *writer, const int32_t *numbers, size_t count)
{
    if (!is_too_deep(writer)) {
        put_array(writer, KIND_INTS, numbers, count);
    }
}

void kol__write_numbers(struct kol_writer *writer, unsigned kind, const void *data, size_t count)
{
    int is_list = kind == KIND_DOUBLES || kind == KIND_INTS;
    if (is_list && is_too_deep(writer)) {
        return;
    }
    uint8_t *to = put_block(writer, kind, count, count * element_size(kind));
    if (to && count > 0) {
        memcpy(to, data, count * element_size(kind));
    }
}

/* A string past a slot's count, as a block of its own; its slot goes where the caller wants it. */
static uint8_t *long_text(struct kol_writer *writer, struct text_extent extent, uint64_t *slot)
{
    uint32_t offset;
    size_t size = extent.is_narrow ? extent.units : extent.units * 2;
    uint8_t *block = kol__writer_reserve(writer, 8 + size, &offset);
    if (!block) {
        return NULL;
    }
    store_u64(block, extent.units);
    if (size % 8 != 0) {
        memset(block + 8 + size, 0, 8 - size % 8);
    }
    *slot = slot_of(TAG_BLOCK, extent.is_narrow ? KIND_TEXT8 : KIND_TEXT16, offset);
    return block + 8;
}

static uint8_t *wide_text(struct kol_writer *writer, size_t units, uint64_t *slot)
{
    uint32_t offset;
    uint8_t *to = kol__writer_reserve(writer, units * 2, &offset);
    if (to && units % 4 != 0) {
        memset(to + units * 2, 0, 8 - units % 4 * 2);
    }
    *slot = slot_of(TAG_TEXT16, units, offset);
    return to;
}

int kol__writer_text_slot(struct kol_writer *writer, struct kol_string string, uint64_t *slot)
{
    if (string.count > (size_t)KOL_MESSAGE_MAX * 2) {
        kol__writer_fail(writer, KOL_ERANGE);
        return 0;
    }
    struct text_extent extent = kol__text_measure(string);
    uint32_t offset;
    uint8_t *to;
    if (extent.units > SLOT_COUNT_MAX) {
        to = long_text(writer, extent, slot);
    } else if (extent.is_narrow) {
        to = kol__writer_reserve_text(writer, extent.units, &offset);
        *slot = slot_of(TAG_TEXT8, extent.units, extent.units > 0 ? offset : 0);
    } else {
        to = wide_text(writer, extent.units, slot);
    }
    if (!to) {
        return 0;
    }
    if (extent.is_narrow) {
        kol__text_put8(string, extent.units, to);
    } else {
        kol__text_put16(string, to);
    }
    return 1;
}

void kol_write_string(struct kol_writer *writer, struct kol_string string)
{
    uint64_t slot;
    if (wants_value(writer) && kol__writer_text_slot(writer, string, &slot)) {
        store_u64(writer->at, slot);
        writer->at += 8;
    }
}

void kol_write_failure(struct kol_writer *writer, kol_status status)
{
    kol__writer_fail(writer, status == KOL_OK ? KOL_EMISUSE : status);
}
