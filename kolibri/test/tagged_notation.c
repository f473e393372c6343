/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writes values in the notation of the vectors. It knows the public cursor only, and so tests it.
 * Reading the notation is tagged_parse.c.
 */
#define _XOPEN_SOURCE 700
#include "kolibri/test/tagged_kit.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    kol_packed kind;
    size_t size;
} kinds[] = {
    {"i8(", KOL_I8, 1},   {"u8(", KOL_U8, 1},   {"i16(", KOL_I16, 2},        {"u16(", KOL_U16, 2},
    {"i32(", KOL_I32, 4}, {"u32(", KOL_U32, 4}, {"i64(", KOL_I64, 8},        {"u64(", KOL_U64, 8},
    {"f32(", KOL_F32, 4}, {"f64(", KOL_F64, 8}, {"u8c(", KOL_U8_CLAMPED, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void print_value(FILE *out, struct kol_value value);

static void print_units(FILE *out, struct kol_string text)
{
    const uint8_t *data = text.data;
    fputc('"', out);
    for (size_t i = 0; i < text.count; i++) {
        unsigned unit = text.form == KOL_LATIN1 ? data[i] : load_u16(data + 2 * i);
        if (unit == '"' || unit == '\\') {
            fprintf(out, "\\%c", (int)unit);
        } else if (unit >= 0x20 && unit <= 0x7e) {
            fputc((int)unit, out);
        } else {
            fprintf(out, "\\u%04x", unit);
        }
    }
    fputc('"', out);
}

static void print_text(FILE *out, struct kol_value value)
{
    struct kol_string text;
    if (kol_value_as_text(value, &text) == KOL_OK) {
        print_units(out, text);
    }
}

static void print_values(FILE *out, struct kol_value value, const char *between, const char *end)
{
    for (size_t i = 0; i < kol_value_count(value); i++) {
        fputs(i > 0 ? between : "", out);
        print_value(out, kol_value_at(value, i));
    }
    fputs(end, out);
}

static void print_object(FILE *out, struct kol_value value)
{
    fputc('{', out);
    for (size_t i = 0; i < kol_value_count(value); i++) {
        struct kol_string key;
        if (kol_value_key_at(value, i, &key) == KOL_OK) {
            fputs(i > 0 ? "," : "", out);
            print_units(out, key);
            fputc(':', out);
            print_value(out, kol_value_at(value, i));
        }
    }
    fputc('}', out);
}

static void print_map(FILE *out, struct kol_value value)
{
    fputs("map(", out);
    for (size_t i = 0; i < kol_value_count(value); i++) {
        fputs(i > 0 ? "," : "", out);
        print_value(out, kol_value_map_key_at(value, i));
        fputc('=', out);
        print_value(out, kol_value_at(value, i));
    }
    fputc(')', out);
}

static void print_element(FILE *out, const struct kol_array *array, size_t index, size_t size)
{
    const uint8_t *at = (const uint8_t *)array->data + index * size;
    uint64_t bits = size == 1   ? *at
                    : size == 2 ? load_u16(at)
                    : size == 4 ? load_u32(at)
                                : load_u64(at);
    unsigned shift = 64 - 8 * (unsigned)size;
    switch (array->kind) {
    case KOL_I8:
    case KOL_I16:
    case KOL_I32:
    case KOL_I64:
        fprintf(out, "%" PRId64, (int64_t)(bits << shift) >> shift);
        break;
    case KOL_F32:
        fprintf(out, "%08" PRIx64, bits);
        break;
    case KOL_F64:
        fprintf(out, "%016" PRIx64, bits);
        break;
    case KOL_U8:
    case KOL_U16:
    case KOL_U32:
    case KOL_U64:
    case KOL_U8_CLAMPED:
    default:
        fprintf(out, "%" PRIu64, bits);
    }
}

static void print_packed(FILE *out, struct kol_value value)
{
    struct kol_array array;
    size_t k = 0;
    if (kol_value_as_packed(value, &array) != KOL_OK) {
        return;
    }
    while (kinds[k].kind != array.kind) {
        k++;
    }
    fputs(kinds[k].name, out);
    for (size_t i = 0; i < array.count; i++) {
        fputs(i > 0 ? "," : "", out);
        print_element(out, &array, i, kinds[k].size);
    }
    fputc(')', out);
}

static void print_bytes(FILE *out, struct kol_value value)
{
    const uint8_t *data;
    size_t size;
    fputs("bytes(", out);
    if (kol_value_as_bytes(value, &data, &size) == KOL_OK) {
        for (size_t i = 0; i < size; i++) {
            fprintf(out, "%02x", data[i]);
        }
    }
    fputc(')', out);
}

static void print_bigint(FILE *out, struct kol_value value)
{
    struct kol_bigint number;
    if (kol_value_as_bigint(value, &number) != KOL_OK) {
        return;
    }
    fputs(number.is_negative ? "n-" : "n", out);
    for (size_t i = number.size; i > 0; i--) {
        fprintf(out, i == number.size ? "%x" : "%02x", number.magnitude[i - 1]);
    }
    fputs(number.size == 0 ? "0" : "", out);
}

static void print_number(FILE *out, struct kol_value value)
{
    int64_t number = 0;
    double real = 0;
    uint64_t bits;
    kol_type type = kol_value_type(value);
    if (type == KOL_DOUBLE && kol_value_as_double(value, &real) == KOL_OK) {
        memcpy(&bits, &real, sizeof bits);
        fprintf(out, "d%016" PRIx64, bits);
    } else if (kol_value_as_long(value, &number) == KOL_OK) {
        fprintf(out, type == KOL_INT ? "%" PRId64 : "%" PRId64 "L", number);
    }
}

static void print_date(FILE *out, struct kol_value value)
{
    double date;
    if (kol_value_as_date(value, &date) == KOL_OK) {
        fprintf(out, "date(%" PRId64 ")", (int64_t)date);
    }
}

static void print_value(FILE *out, struct kol_value value)
{
    int is_true = 0;
    switch (kol_value_type(value)) {
    case KOL_UNDEFINED:
        fputs("undefined", out);
        break;
    case KOL_NULL:
        fputs("null", out);
        break;
    case KOL_BOOL:
        fputs(kol_value_as_bool(value, &is_true) == KOL_OK && is_true ? "true" : "false", out);
        break;
    case KOL_INT:
    case KOL_LONG:
    case KOL_DOUBLE:
        print_number(out, value);
        break;
    case KOL_BIGINT:
        print_bigint(out, value);
        break;
    case KOL_TEXT:
        print_text(out, value);
        break;
    case KOL_LIST:
        fputc('[', out);
        print_values(out, value, ",", "]");
        break;
    case KOL_OBJECT:
        print_object(out, value);
        break;
    case KOL_MAP:
        print_map(out, value);
        break;
    case KOL_SET:
        fputs("set(", out);
        print_values(out, value, ",", ")");
        break;
    case KOL_DATE:
        print_date(out, value);
        break;
    case KOL_BYTES:
        print_bytes(out, value);
        break;
    case KOL_PACKED:
        print_packed(out, value);
        break;
    case KOL_ERROR:
        fputs("error(", out);
        print_values(out, value, ",", ")");
        break;
    case KOL_CUSTOM:
    default:
        fprintf(out, "custom(%" PRIu32 "%s", kol_value_schema(value),
                kol_value_count(value) > 0 ? "," : "");
        print_values(out, value, ",", ")");
    }
}

char *tagged_print(struct kol_value value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    print_value(out, value);
    fclose(out);
    return text;
}
