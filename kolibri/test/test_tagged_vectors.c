/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The vectors of docs/tagged-format.md: good ones mean what they say and survive being written
 * again, damaged ones are refused with nothing allocated that was not there, and whatever becomes
 * of a good one by damage is refused or is another valid message.
 */
#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

static struct kol_message message_of(const uint8_t *bytes, size_t size)
{
    return (struct kol_message){bytes, size};
}

/* Reads a message and checks what it says; what it says survives being copied. */
static void check_reads(const struct vector *vector, struct kol_shapes *shapes,
                        struct kol_buffers *buffers)
{
    struct kol_reader reader, again;
    struct kol_writer *writer;
    struct kol_message copied;
    kol_status status = kol_reader_open(&reader, shapes, message_of(vector->bytes, vector->size));
    if (!CHECK_INT(status, KOL_OK)) {
        printf("vector: %s\n", vector->name);
        return;
    }
    char *text = tagged_print(kol_reader_root(&reader));
    if (!CHECK_STR(text, vector->want)) {
        printf("vector: %s\n", vector->name);
    }
    free(text);
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    kol_writer_stand_alone(writer);
    kol_write_value(writer, kol_reader_root(&reader));
    kol_reader_close(&reader);
    REQUIRE_INT(kol_writer_finish(writer, &copied), KOL_OK);
    REQUIRE_INT(kol_reader_open(&again, NULL, copied), KOL_OK);
    text = tagged_print(kol_reader_root(&again));
    CHECK_STR(text, vector->want);
    free(text);
    kol_reader_close(&again);
    kol_writer_close(writer);
}

/* Writes what a vector says from its notation, and reads it back. */
static void check_writes(const struct vector *vector, struct kol_shapes *shapes,
                         struct kol_buffers *buffers)
{
    struct kol_writer *writer;
    struct kol_message message;
    struct kol_reader reader;
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    kol_writer_stand_alone(writer);
    const char *end = tagged_parse(writer, vector->want, shapes);
    REQUIRE(end != NULL && *end == '\0');
    REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
    uint8_t *copy = exact_copy(message.bytes, message.size);
    REQUIRE_INT(kol_reader_open(&reader, NULL, message_of(copy, message.size)), KOL_OK);
    char *text = tagged_print(kol_reader_root(&reader));
    if (!CHECK_STR(text, vector->want)) {
        printf("vector: %s\n", vector->name);
    }
    free(text);
    kol_reader_close(&reader);
    free(copy);
    kol_writer_close(writer);
}

TEST(good_vectors_mean_what_they_say)
{
    struct kol_buffers *buffers;
    struct vector vector;
    size_t count = 0;
    REQUIRE_INT(kol_buffers_new(256, 2, NULL, &buffers), KOL_OK);
    FILE *file = vector_file(KV_SOURCE_DIR, "good.txt");
    for (; vector_next(file, &vector); count++) {
        REQUIRE(!vector.is_error);
        check_reads(&vector, NULL, buffers);
        check_writes(&vector, NULL, buffers);
        check_writes(&vector, kol_buffers_sent(buffers), buffers);
        vector_free(&vector);
    }
    fclose(file);
    CHECK(count > 100);
    CHECK_INT(kol_buffers_leases(buffers), 0);
    kol_buffers_close(buffers);
}

TEST(a_session_is_read_in_order)
{
    struct kol_buffers *buffers;
    struct kol_shapes *received;
    struct vector vector;
    REQUIRE_INT(kol_buffers_new(0, 0, NULL, &buffers), KOL_OK);
    REQUIRE_INT(kol_shapes_new(NULL, &received), KOL_OK);
    FILE *file = vector_file(KV_SOURCE_DIR, "session.txt");
    while (vector_next(file, &vector)) {
        check_reads(&vector, received, buffers);
        vector_free(&vector);
    }
    fclose(file);
    CHECK_INT(kol_shapes_count(received), 4);
    kol_shapes_free(received);
    kol_buffers_close(buffers);
}

TEST(damaged_vectors_are_refused)
{
    struct vector vector;
    size_t count = 0;
    FILE *file = vector_file(KV_SOURCE_DIR, "damaged.txt");
    for (; vector_next(file, &vector); count++) {
        struct kol_reader reader;
        REQUIRE(vector.is_error);
        uint8_t *copy = exact_copy(vector.bytes, vector.size);
        kol_status status = kol_reader_open(&reader, NULL, message_of(copy, vector.size));
        kol_status want = strcmp(vector.want, "KOL_EDEPTH") == 0 ? KOL_EDEPTH : KOL_EFORMAT;
        char problem[KOL_PROBLEM_MAX + 1];
        size_t size = kol_reader_problem(&reader, problem, sizeof problem);
        if (!CHECK_INT(status, want) || !CHECK_STR(problem, vector.problem)) {
            printf("vector: %s\n", vector.name);
        }
        CHECK_INT(size, strlen(problem));
        CHECK_INT(kol_value_type(kol_reader_root(&reader)), KOL_UNDEFINED);
        kol_reader_close(&reader);
        CHECK_INT(kol_reader_problem(&reader, problem, sizeof problem), 0);
        free(copy);
        vector_free(&vector);
    }
    fclose(file);
    CHECK(count > 150);
}

TEST(a_problem_is_cut_to_its_room_and_none_when_there_is_none)
{
    static const _Alignas(8) uint8_t good[] = "KOLT\1\0\0\0\40\0\0\0\40\0\0\0"
                                              "\0\0\0\0\0\0\0\0\5\0\0\0\0\0\xf2\xff";
    struct kol_reader reader;
    char text[16] = "?";
    REQUIRE_INT(kol_reader_open(&reader, NULL, message_of(good, 32)), KOL_OK);
    CHECK_INT(kol_reader_problem(&reader, text, sizeof text), 0);
    CHECK_STR(text, "");
    kol_reader_close(&reader);
    CHECK_INT(kol_reader_open(&reader, NULL, message_of(good, 24)), KOL_EFORMAT);
    CHECK_INT(kol_reader_problem(&reader, NULL, 0), 42);
    CHECK_INT(kol_reader_problem(&reader, text, sizeof text), 42);
    CHECK_STR(text, "a message that ");
}

/* Reads bytes that may be anything; what is valid is walked to its last value. */
static int read_anything(const uint8_t *bytes, size_t size, struct counted *counted)
{
    struct kol_shapes *shapes;
    struct kol_reader reader;
    REQUIRE_INT(kol_shapes_new(&counted->memory, &shapes), KOL_OK);
    counted->largest = 0;
    kol_status status = kol_reader_open(&reader, shapes, message_of(bytes, size));
    REQUIRE(status == KOL_OK || status == KOL_EFORMAT || status == KOL_EDEPTH);
    if (status == KOL_OK) {
        char *text = tagged_print(kol_reader_root(&reader));
        REQUIRE(text != NULL);
        free(text);
    }
    REQUIRE(counted->largest <= 24 * 1024 + 8 * size);
    kol_reader_close(&reader);
    kol_shapes_free(shapes);
    return status == KOL_OK;
}

TEST_LIMIT(every_flipped_bit_is_refused_or_valid, 120)
{
    struct vector vector;
    struct counted counted;
    size_t valid = 0, refused = 0;
    counted_init(&counted, 0);
    FILE *file = vector_file(KV_SOURCE_DIR, "good.txt");
    while (vector_next(file, &vector)) {
        size_t step = vector.size < 400 ? 1 : 61;
        for (size_t bit = 0; bit < vector.size * 8; bit += step) {
            uint8_t *copy = exact_copy(vector.bytes, vector.size);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            *(read_anything(copy, vector.size, &counted) ? &valid : &refused) += 1;
            free(copy);
        }
        vector_free(&vector);
    }
    fclose(file);
    CHECK(valid > 1000);
    CHECK(refused > 1000);
    CHECK_INT(counted.live, 0);
}

TEST_LIMIT(every_truncation_is_refused, 120)
{
    struct vector vector;
    struct counted counted;
    counted_init(&counted, 0);
    FILE *file = vector_file(KV_SOURCE_DIR, "good.txt");
    while (vector_next(file, &vector)) {
        size_t step = vector.size < 400 ? 1 : 61;
        for (size_t size = 0; size < vector.size; size += step) {
            uint8_t *copy = exact_copy(vector.bytes, size);
            CHECK(!read_anything(copy, size, &counted));
            free(copy);
        }
        vector_free(&vector);
    }
    fclose(file);
    CHECK_INT(counted.live, 0);
}

/* A slot, with what is in it replaced by what hurts most. */
TEST_LIMIT(hostile_slots_are_refused_or_valid, 120)
{
    enum { HEADS = 5 };
    static const uint64_t heads[HEADS] = {0, 1, UINT64_MAX, UINT64_C(1) << 31, UINT64_C(1) << 61};
    struct vector vector;
    struct counted counted;
    uint64_t state = test_seed();
    counted_init(&counted, 0);
    FILE *file = vector_file(KV_SOURCE_DIR, "good.txt");
    while (vector_next(file, &vector)) {
        for (size_t i = 0; i < test_scale(400); i++) {
            uint8_t *copy = exact_copy(vector.bytes, vector.size);
            size_t slot = 3 + test_random(&state) % (vector.size / 8 - 3);
            uint64_t random = test_random(&state);
            uint64_t tag = 0xfff1 + random % 10, small = random >> 8 & 0x1ff;
            uint64_t value = random % 3 == 0 ? heads[(random >> 20) % HEADS]
                                             : tag << 48 | (random >> 40 & 31) << 28 | small;
            memcpy(copy + slot * 8, &value, 8);
            read_anything(copy, vector.size, &counted);
            free(copy);
        }
        vector_free(&vector);
    }
    fclose(file);
    CHECK_INT(counted.live, 0);
}
