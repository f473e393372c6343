/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random values, seeded: what is written into a message, of whatever form and in pools of whatever
 * size, is what is read. The oracle is the notation of the value, made beside it.
 */
#define _XOPEN_SOURCE 700
#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A value that is written and noted at the same time. */
struct author {
    struct kol_writer *writer;
    struct kol_shapes *shapes;
    FILE *notes;
    uint64_t state;
};

static size_t choose(struct author *author, size_t count)
{
    return (size_t)(test_random(&author->state) % count);
}

static void write_any(struct author *author, int depth);

static size_t random_units(struct author *author, uint16_t *units, int is_key)
{
    size_t count = choose(author, is_key ? 6 : 30);
    uint16_t most = choose(author, 3) == 0 ? 0xffff : choose(author, 2) ? 0xff : 0x7f;
    for (size_t i = 0; i < count; i++) {
        units[i] = (uint16_t)(test_random(&author->state) & most);
    }
    return count;
}

static void note_units(FILE *notes, const uint16_t *units, size_t count)
{
    fputc('"', notes);
    for (size_t i = 0; i < count; i++) {
        if (units[i] == '"' || units[i] == '\\') {
            fprintf(notes, "\\%c", units[i]);
        } else if (units[i] >= 0x20 && units[i] <= 0x7e) {
            fputc(units[i], notes);
        } else {
            fprintf(notes, "\\u%04x", units[i]);
        }
    }
    fputc('"', notes);
}

static void write_text(struct author *author)
{
    uint16_t units[32];
    char utf8[128];
    size_t count = random_units(author, units, 0);
    struct kol_string text = kol_string_of(units, count, KOL_UTF16);
    note_units(author->notes, units, count);
    size_t size = kol_string_copy(text, utf8, sizeof utf8);
    REQUIRE(size <= sizeof utf8);
    /* halves that meet are a pair in UTF-8, so both forms denote the same units */
    kol_write_string(author->writer,
                     choose(author, 2) ? text : kol_string_of(utf8, size, KOL_UTF8));
}

static void write_number(struct author *author)
{
    uint64_t bits = test_random(&author->state) >> choose(author, 64);
    double number;
    switch (choose(author, 3)) {
    case 0:
        fprintf(author->notes, "%" PRId32, (int32_t)bits);
        kol_write_int(author->writer, (int32_t)bits);
        break;
    case 1:
        fprintf(author->notes, "%" PRId64 "L", (int64_t)bits);
        kol_write_long(author->writer, (int64_t)bits);
        break;
    default:
        memcpy(&number, &bits, sizeof number);
        fprintf(author->notes, "d%016" PRIx64,
                number == number ? bits : UINT64_C(0x7ff8000000000000));
        kol_write_double(author->writer, number);
    }
}

static void write_array(struct author *author)
{
    uint8_t bytes[64];
    size_t count = choose(author, sizeof bytes);
    fputs("bytes(", author->notes);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)test_random(&author->state);
        fprintf(author->notes, "%02x", bytes[i]);
    }
    fputc(')', author->notes);
    kol_write_bytes(author->writer, bytes, count);
}

static void write_bigint(struct author *author)
{
    uint8_t magnitude[40];
    size_t size = choose(author, sizeof magnitude);
    int is_negative = size > 0 && choose(author, 2);
    for (size_t i = 0; i < size; i++) {
        magnitude[i] = (uint8_t)(test_random(&author->state) | (i + 1 == size));
    }
    fputs(is_negative ? "n-" : "n", author->notes);
    for (size_t i = size; i > 0; i--) {
        fprintf(author->notes, i == size ? "%x" : "%02x", magnitude[i - 1]);
    }
    fputs(size == 0 ? "0" : "", author->notes);
    kol_write_bigint(author->writer, (struct kol_bigint){magnitude, size, is_negative});
}

static void write_list(struct author *author, int depth, int is_set)
{
    size_t count = choose(author, 12), said = choose(author, 2) ? count : KOL_UNKNOWN;
    fputs(is_set ? "set(" : "[", author->notes);
    if (is_set) {
        kol_write_set(author->writer, said);
    } else {
        kol_write_list(author->writer, said);
    }
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", author->notes);
        write_any(author, depth - 1);
    }
    fputs(is_set ? ")" : "]", author->notes);
    kol_write_end(author->writer);
}

static void write_map(struct author *author, int depth)
{
    size_t count = choose(author, 6);
    fputs("map(", author->notes);
    kol_write_map(author->writer, choose(author, 2) ? count : KOL_UNKNOWN);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", author->notes);
        write_any(author, depth - 1);
        fputc('=', author->notes);
        write_any(author, depth - 1);
    }
    fputc(')', author->notes);
    kol_write_end(author->writer);
}

/* Objects, or lists of objects, of a shape if the table takes it. */
static void write_object(struct author *author, int depth)
{
    uint16_t units[8][8];
    struct kol_string keys[8];
    const struct kol_shape *shape = NULL;
    size_t count = choose(author, 8), rows = choose(author, 3) ? 0 : choose(author, 4);
    int is_shape = 0;
    for (size_t i = 0; i < count; i++) {
        keys[i] = kol_string_of(units[i], random_units(author, units[i], 1), KOL_UTF16);
    }
    if (choose(author, 3) > 0) {
        is_shape = kol_shape_of(author->shapes, keys, count, &shape) == KOL_OK;
    }
    if (!is_shape) {
        kol_write_object(author->writer, choose(author, 2) ? count : KOL_UNKNOWN);
    } else if (rows > 0 && count > 0) {
        kol_write_records(author->writer, shape, rows);
    } else {
        kol_write_record(author->writer, shape);
    }
    int is_list = is_shape && rows > 0 && count > 0;
    fputs(is_list ? "[" : "", author->notes);
    for (size_t row = 0; row < (is_list ? rows : 1); row++) {
        fputs(row > 0 ? ",{" : "{", author->notes);
        for (size_t i = 0; i < count; i++) {
            fputs(i > 0 ? "," : "", author->notes);
            note_units(author->notes, keys[i].data, keys[i].count);
            fputc(':', author->notes);
            if (!is_shape) {
                kol_write_key(author->writer, keys[i]);
            }
            write_any(author, depth - 1);
        }
        fputc('}', author->notes);
    }
    fputs(is_list ? "]" : "", author->notes);
    kol_write_end(author->writer);
}

static void write_any(struct author *author, int depth)
{
    static const char *const words[] = {"undefined", "null", "false", "true"};
    size_t word;
    switch (choose(author, depth > 0 ? 11 : 6)) {
    case 0:
        word = choose(author, 4);
        fputs(words[word], author->notes);
        if (word == 0) {
            kol_write_undefined(author->writer);
        } else if (word == 1) {
            kol_write_null(author->writer);
        } else {
            kol_write_bool(author->writer, word == 3);
        }
        break;
    case 1:
        write_array(author);
        break;
    case 2:
        write_bigint(author);
        break;
    case 3:
    case 4:
        write_text(author);
        break;
    case 6:
    case 7:
        write_list(author, depth, 0);
        break;
    case 8:
        write_list(author, depth, 1);
        break;
    case 9:
        write_map(author, depth);
        break;
    case 10:
        write_object(author, depth);
        break;
    default:
        write_number(author);
    }
}

TEST_LIMIT(random_values_survive, 120)
{
    struct kol_buffers *buffers[3];
    uint64_t state = test_seed();
    for (size_t i = 0; i < 3; i++) {
        REQUIRE_INT(kol_buffers_new((size_t)256 << (4 * i), 2, NULL, &buffers[i]), KOL_OK);
    }
    for (size_t round = 0; round < test_scale(20000); round++) {
        struct author author = {.state = test_random(&state)};
        struct kol_buffers *pool = buffers[test_random(&state) % 3];
        struct kol_message message;
        struct kol_reader reader;
        char *want = NULL;
        size_t size = 0;
        REQUIRE_INT(kol_writer_open(pool, NULL, &author.writer), KOL_OK);
        author.shapes = kol_buffers_sent(pool);
        author.notes = open_memstream(&want, &size);
        REQUIRE(author.notes != NULL);
        write_any(&author, (int)(test_random(&state) % 6));
        fclose(author.notes);
        REQUIRE_INT(kol_writer_finish(author.writer, &message), KOL_OK);
        uint8_t *copy = exact_copy(message.bytes, message.size);
        REQUIRE_INT(kol_reader_open(&reader, kol_buffers_received(pool),
                                    (struct kol_message){copy, message.size}),
                    KOL_OK);
        kol_writer_delivered(author.writer);
        char *got = tagged_print(kol_reader_root(&reader));
        if (!CHECK_STR(got, want)) {
            printf("round %zu of seed %" PRIu64 "\n", round, test_seed());
        }
        free(got);
        free(want);
        kol_reader_close(&reader);
        free(copy);
        kol_writer_close(author.writer);
    }
    for (size_t i = 0; i < 3; i++) {
        kol_buffers_close(buffers[i]);
    }
}
