/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reads the notation of values and writes it by the builder. Containers are begun without their
 * counts, which is the harder way; tests that care for counts call the builder themselves.
 */
#define _XOPEN_SOURCE 700
#include "kolibri/test/tagged_kit.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct kol_writer *writer;
    struct kol_shapes *shapes;
    const char *at; /* NULL once it is no notation */
};

static void parse_value(struct parser *parser);

static int takes(struct parser *parser, const char *text)
{
    size_t size = strlen(text);
    if (parser->at && strncmp(parser->at, text, size) == 0) {
        parser->at += size;
        return 1;
    }
    return 0;
}

static void needs(struct parser *parser, const char *text)
{
    if (!takes(parser, text)) {
        parser->at = NULL;
    }
}

/* A string as units in `units`, which has room for all characters of the text. */
static size_t parse_units(struct parser *parser, uint16_t *units)
{
    size_t count = 0;
    needs(parser, "\"");
    while (parser->at && *parser->at != '"' && *parser->at != '\0') {
        if (parser->at[0] == '\\' && parser->at[1] == 'u') {
            char digits[5] = {0};
            memcpy(digits, parser->at + 2, strnlen(parser->at + 2, 4));
            units[count++] = (uint16_t)strtoul(digits, NULL, 16);
            parser->at += 6;
        } else {
            parser->at += parser->at[0] == '\\';
            units[count++] = (uint16_t)(unsigned char)*parser->at++;
        }
    }
    needs(parser, "\"");
    return count;
}

static uint16_t *parse_text(struct parser *parser, struct kol_string *out)
{
    uint16_t *units = malloc((strlen(parser->at) + 1) * sizeof *units);
    if (!units) {
        parser->at = NULL;
        return NULL;
    }
    *out = kol_string_of(units, parse_units(parser, units), KOL_UTF16);
    return units;
}

static void parse_list(struct parser *parser, const char *end)
{
    while (parser->at && !takes(parser, end)) {
        parse_value(parser);
        if (!takes(parser, ",") && parser->at && strncmp(parser->at, end, 1) != 0) {
            parser->at = NULL;
        }
    }
    kol_write_end(parser->writer);
}

static void parse_map(struct parser *parser)
{
    kol_write_map(parser->writer, KOL_UNKNOWN);
    while (parser->at && !takes(parser, ")")) {
        takes(parser, ",");
        parse_value(parser);
        needs(parser, "=");
        parse_value(parser);
    }
    kol_write_end(parser->writer);
}

/* The shape of the object at the parser, found by parsing it into a writer of its own. */
static const struct kol_shape *shape_ahead(struct parser *parser)
{
    struct kol_buffers *buffers = NULL;
    struct kol_writer *writer = NULL;
    struct kol_message message;
    struct kol_reader reader;
    struct kol_string keys[KOL_SHAPE_KEYS_MAX];
    const struct kol_shape *shape = NULL;
    if (!parser->shapes || kol_buffers_new(0, 1, NULL, &buffers) != KOL_OK) {
        return NULL;
    }
    if (kol_writer_open(buffers, NULL, &writer) == KOL_OK &&
        tagged_parse(writer, parser->at, NULL) && kol_writer_finish(writer, &message) == KOL_OK &&
        kol_reader_open(&reader, NULL, message) == KOL_OK) {
        struct kol_value object = kol_reader_root(&reader);
        size_t count = kol_value_count(object);
        size_t i = 0;
        while (i < count && i < KOL_SHAPE_KEYS_MAX &&
               kol_value_key_at(object, i, &keys[i]) == KOL_OK) {
            i++;
        }
        if (i < count || kol_shape_of(parser->shapes, keys, count, &shape) != KOL_OK) {
            shape = NULL;
        }
        kol_reader_close(&reader);
    }
    kol_writer_close(writer);
    kol_buffers_close(buffers);
    return shape;
}

static void parse_object(struct parser *parser)
{
    const struct kol_shape *shape = shape_ahead(parser);
    needs(parser, "{");
    if (shape) {
        kol_write_record(parser->writer, shape);
    } else {
        kol_write_object(parser->writer, KOL_UNKNOWN);
    }
    while (parser->at && !takes(parser, "}")) {
        struct kol_string key;
        takes(parser, ",");
        uint16_t *units = parse_text(parser, &key);
        if (!shape) {
            kol_write_key(parser->writer, key);
        }
        free(units);
        needs(parser, ":");
        parse_value(parser);
    }
    kol_write_end(parser->writer);
}

static unsigned hex_byte(const char *at)
{
    char digits[3] = {at[0], at[1], 0};
    return (unsigned)strtoul(digits, NULL, 16);
}

static void parse_bytes(struct parser *parser)
{
    size_t size = strcspn(parser->at, ")") / 2;
    uint8_t *bytes = calloc(size + 1, 1);
    for (size_t i = 0; bytes && i < size; i++) {
        bytes[i] = (uint8_t)hex_byte(parser->at + 2 * i);
    }
    kol_write_bytes(parser->writer, bytes, size);
    free(bytes);
    parser->at += 2 * size;
    needs(parser, ")");
}

static void parse_bigint(struct parser *parser)
{
    uint8_t magnitude[4096];
    int is_negative = takes(parser, "-");
    size_t digits = strspn(parser->at, "0123456789abcdef");
    size_t size = 0;
    for (size_t i = digits; i > 0; i -= i > 1 ? 2 : 1) {
        char text[3] = {i > 1 ? parser->at[i - 2] : '0', parser->at[i - 1], 0};
        magnitude[size++] = (uint8_t)strtoul(text, NULL, 16);
    }
    parser->at += digits;
    kol_write_bigint(parser->writer, (struct kol_bigint){magnitude, size, is_negative});
}

static void parse_packed(struct parser *parser, kol_packed kind, size_t size)
{
    uint8_t data[4096];
    int is_bits = kind == KOL_F32 || kind == KOL_F64;
    size_t count = 0;
    while (parser->at && !takes(parser, ")") && count * size < sizeof data - 8) {
        char *end;
        takes(parser, ",");
        uint64_t bits = parser->at[0] == '-' ? (uint64_t)strtoll(parser->at, &end, 10)
                                             : strtoull(parser->at, &end, is_bits ? 16 : 10);
        store_u64(data + count * size, bits);
        parser->at = end == parser->at ? NULL : end;
        count++;
    }
    /* the elements lie little-endian: on a big-endian machine each is turned first */
    for (size_t i = 0; i < count && size > 1; i++) {
        uint8_t *at = data + i * size;
        uint64_t bits = size == 2 ? load_u16(at) : size == 4 ? load_u32(at) : load_u64(at);
        uint16_t two = (uint16_t)bits;
        uint32_t four = (uint32_t)bits;
        memcpy(at, size == 2 ? (void *)&two : size == 4 ? (void *)&four : (void *)&bits, size);
    }
    kol_write_packed(parser->writer, kind, data, count);
}

static void parse_number(struct parser *parser)
{
    char *end;
    errno = 0;
    long long number = strtoll(parser->at, &end, 10);
    if (end == parser->at || errno != 0) {
        parser->at = NULL;
        return;
    }
    parser->at = end;
    if (takes(parser, "L")) {
        kol_write_long(parser->writer, number);
    } else {
        kol_write_int(parser->writer, (int32_t)number);
    }
}

static void parse_double(struct parser *parser)
{
    char digits[17] = {0};
    double number;
    memcpy(digits, parser->at, strnlen(parser->at, 16));
    uint64_t bits = strtoull(digits, NULL, 16);
    memcpy(&number, &bits, sizeof number);
    parser->at += strlen(digits);
    kol_write_double(parser->writer, number);
}

static void parse_date(struct parser *parser)
{
    char *end;
    kol_write_date(parser->writer, (double)strtoll(parser->at, &end, 10));
    parser->at = end;
    needs(parser, ")");
}

static void parse_custom(struct parser *parser)
{
    char *end;
    uint32_t schema = (uint32_t)strtoul(parser->at, &end, 10);
    parser->at = end;
    kol_write_custom(parser->writer, schema, KOL_UNKNOWN);
    takes(parser, ",");
    parse_list(parser, ")");
}

static int parse_packed_or_none(struct parser *parser)
{
    static const struct {
        const char *name;
        kol_packed kind;
        size_t size;
    } arrays[] = {{"i8(", KOL_I8, 1},   {"u8(", KOL_U8, 1},   {"u8c(", KOL_U8_CLAMPED, 1},
                  {"i16(", KOL_I16, 2}, {"u16(", KOL_U16, 2}, {"i32(", KOL_I32, 4},
                  {"u32(", KOL_U32, 4}, {"i64(", KOL_I64, 8}, {"u64(", KOL_U64, 8},
                  {"f32(", KOL_F32, 4}, {"f64(", KOL_F64, 8}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (takes(parser, arrays[i].name)) {
            parse_packed(parser, arrays[i].kind, arrays[i].size);
            return 1;
        }
    }
    return 0;
}

/* Words, and everything that begins with one. */
static int parse_word(struct parser *parser)
{
    struct kol_writer *writer = parser->writer;
    if (takes(parser, "undefined")) {
        kol_write_undefined(writer);
    } else if (takes(parser, "null")) {
        kol_write_null(writer);
    } else if (takes(parser, "true")) {
        kol_write_bool(writer, 1);
    } else if (takes(parser, "false")) {
        kol_write_bool(writer, 0);
    } else if (takes(parser, "map(")) {
        parse_map(parser);
    } else if (takes(parser, "set(")) {
        kol_write_set(writer, KOL_UNKNOWN);
        parse_list(parser, ")");
    } else if (takes(parser, "date(")) {
        parse_date(parser);
    } else if (takes(parser, "bytes(")) {
        parse_bytes(parser);
    } else if (takes(parser, "error(")) {
        kol_write_error(writer);
        parse_list(parser, ")");
    } else if (takes(parser, "custom(")) {
        parse_custom(parser);
    } else {
        return parse_packed_or_none(parser);
    }
    return 1;
}

static void parse_value(struct parser *parser)
{
    struct kol_string text;
    if (!parser->at || parse_word(parser)) {
        return;
    }
    switch (parser->at[0]) {
    case '"': {
        uint16_t *units = parse_text(parser, &text);
        kol_write_string(parser->writer, text);
        free(units);
        break;
    }
    case '[':
        parser->at++;
        kol_write_list(parser->writer, KOL_UNKNOWN);
        parse_list(parser, "]");
        break;
    case '{':
        parse_object(parser);
        break;
    case 'd':
        parser->at++;
        parse_double(parser);
        break;
    case 'n':
        parser->at++;
        parse_bigint(parser);
        break;
    default:
        parse_number(parser);
    }
}

const char *tagged_parse(struct kol_writer *writer, const char *text, struct kol_shapes *shapes)
{
    struct parser parser = {writer, shapes, text};
    parse_value(&parser);
    return parser.at;
}
