/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing a value of one message into another, with everything in it: for proxies, and for whoever
 * keeps a part of a message.
 *
 * Objects that have a shape get the same shape of the writer's own table, if that has room. The
 * depth is bounded by both messages, so this recursion is too.
 */
#include "kolibri/src/tagged_run.h"
#include "kolibri/src/tagged_writer.h"

#include <kolibri/tagged_write.h>

static void copy_values(struct kol_writer *writer, struct kol_value value, size_t count)
{
    for (size_t i = 0; i < count && kol_writer_status(writer) == KOL_OK; i++) {
        kol_write_value(writer, kol_value_at(value, i));
    }
    kol_write_end(writer);
}

/* The writer's shape with the same keys; NULL if there can be none. */
static const struct kol_shape *same_shape(struct kol_writer *writer, const struct kol_shape *shape)
{
    struct kol_string keys[KOL_SHAPE_KEYS_MAX];
    const struct kol_shape *same = NULL;
    for (size_t i = 0; i < kol_shape_count(shape); i++) {
        keys[i] = kol_shape_key(shape, i);
    }
    kol_status status = kol_shape_of(writer->shapes, keys, kol_shape_count(shape), &same);
    if (status < KOL_OK) {
        kol__writer_fail(writer, status);
    }
    return same;
}

static void copy_object(struct kol_writer *writer, struct kol_value value)
{
    const struct kol_shape *shape = kol_value_shape(value);
    const struct kol_shape *same = shape ? same_shape(writer, shape) : NULL;
    size_t count = kol_value_count(value);
    struct kol_string key;
    if (same) {
        kol_write_record(writer, same);
        copy_values(writer, value, count);
        return;
    }
    kol_write_object(writer, count);
    for (size_t i = 0; i < count && kol_writer_status(writer) == KOL_OK; i++) {
        if (kol_value_key_at(value, i, &key) == KOL_OK) {
            kol_write_key(writer, key);
            kol_write_value(writer, kol_value_at(value, i));
        }
    }
    kol_write_end(writer);
}

static void copy_records(struct kol_writer *writer, struct kol_value value)
{
    const struct kol_shape *same = same_shape(writer, kol_value_shape(value));
    size_t count = kol_value_count(value), keys = kol_shape_count(kol_value_shape(value));
    if (!same) {
        kol_write_list(writer, count);
        copy_values(writer, value, count);
        return;
    }
    kol_write_records(writer, same, count);
    for (size_t i = 0; i < count; i++) {
        struct kol_value row = kol_value_at(value, i);
        for (size_t k = 0; k < keys && kol_writer_status(writer) == KOL_OK; k++) {
            kol_write_value(writer, kol_value_at(row, k));
        }
    }
    kol_write_end(writer);
}

static void copy_list(struct kol_writer *writer, struct kol_value value)
{
    struct run run = kol__run_of(value);
    if (run.kind == KIND_RECORDS) {
        copy_records(writer, value);
    } else if (run.kind == KIND_DOUBLES || run.kind == KIND_INTS) {
        kol__write_numbers(writer, run.kind, run.at, run.count);
    } else {
        kol_write_list(writer, run.count);
        copy_values(writer, value, run.count);
    }
}

static void copy_map(struct kol_writer *writer, struct kol_value value)
{
    size_t count = kol_value_count(value);
    kol_write_map(writer, count);
    for (size_t i = 0; i < count && kol_writer_status(writer) == KOL_OK; i++) {
        kol_write_value(writer, kol_value_map_key_at(value, i));
        kol_write_value(writer, kol_value_at(value, i));
    }
    kol_write_end(writer);
}

static void copy_number(struct kol_writer *writer, struct kol_value value)
{
    int64_t number = 0;
    struct kol_bigint bigint;
    double date;
    if (kol_value_as_bigint(value, &bigint) == KOL_OK) {
        kol_write_bigint(writer, bigint);
    } else if (kol_value_as_date(value, &date) == KOL_OK) {
        kol_write_date(writer, date);
    } else if (kol_value_as_long(value, &number) == KOL_OK) {
        kol_write_long(writer, number);
    }
}

void kol_write_value(struct kol_writer *writer, struct kol_value value)
{
    struct run run = kol__run_of(value);
    struct kol_string text;
    switch (kol_value_type(value)) {
    case KOL_UNDEFINED:
    case KOL_NULL:
    case KOL_BOOL:
    case KOL_INT:
        put_slot(writer, value.slot);
        break;
    case KOL_DOUBLE:
        kol_write_double(writer, bits_double(value.slot));
        break;
    case KOL_LONG:
    case KOL_BIGINT:
    case KOL_DATE:
        copy_number(writer, value);
        break;
    case KOL_TEXT:
        if (kol_value_as_text(value, &text) == KOL_OK) {
            kol_write_string(writer, text);
        }
        break;
    case KOL_LIST:
        copy_list(writer, value);
        break;
    case KOL_OBJECT:
        copy_object(writer, value);
        break;
    case KOL_MAP:
        copy_map(writer, value);
        break;
    case KOL_SET:
        kol_write_set(writer, run.count);
        copy_values(writer, value, run.count);
        break;
    case KOL_BYTES:
    case KOL_PACKED:
        kol__write_numbers(writer, run.kind, run.at, run.count);
        break;
    case KOL_ERROR:
        kol_write_error(writer);
        copy_values(writer, value, run.count);
        break;
    case KOL_CUSTOM:
    default:
        kol_write_custom(writer, kol_value_schema(value), run.count);
        copy_values(writer, value, run.count);
    }
}
