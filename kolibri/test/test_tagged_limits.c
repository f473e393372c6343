/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The limits of the tagged format, each one below, at and above: depth, cycles, sizes, shapes.
 * Errors name the path of the value.
 */
#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

static struct kol_buffers *buffers;

static struct kol_writer *open_writer(void)
{
    struct kol_writer *writer;
    if (!buffers) {
        REQUIRE_INT(kol_buffers_new(0, 2, NULL, &buffers), KOL_OK);
    }
    REQUIRE_INT(kol_writer_open(buffers, NULL, &writer), KOL_OK);
    return writer;
}

static void check_failure(struct kol_writer *writer, kol_status want, const char *path)
{
    struct kol_message message;
    char text[KOL_PATH_MAX + 1];
    CHECK_INT(kol_writer_finish(writer, &message), want);
    CHECK(message.bytes == NULL && message.size == 0);
    kol_writer_path(writer, text, sizeof text);
    CHECK_STR(text, path);
    kol_writer_close(writer);
}

static kol_status reads(struct kol_writer *writer)
{
    struct kol_message message;
    struct kol_reader reader;
    REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
    kol_status status = kol_reader_open(&reader, kol_buffers_received(buffers), message);
    kol_reader_close(&reader);
    return status;
}

/* Containers in each other; kind 0: lists, 1: objects, 2: maps, 3: sets, 4: lists that grow. */
static void nest(struct kol_writer *writer, int kind, int depth)
{
    for (int i = 0; i < depth; i++) {
        if (kind == 0) {
            kol_write_list(writer, 1);
        } else if (kind == 1) {
            kol_write_object(writer, 1);
            kol_write_key(writer, KOL_STRING("a"));
        } else if (kind == 2) {
            kol_write_map(writer, 1);
            kol_write_null(writer);
        } else if (kind == 3) {
            kol_write_set(writer, 1);
        } else {
            kol_write_list(writer, KOL_UNKNOWN);
        }
    }
}

static void unnest(struct kol_writer *writer, int depth)
{
    for (int i = 0; i < depth; i++) {
        kol_write_end(writer);
    }
}

TEST(depth_511_and_512_work)
{
    for (int kind = 0; kind < 5; kind++) {
        for (int depth = 511; depth <= 512; depth++) {
            struct kol_writer *writer = open_writer();
            nest(writer, kind, depth);
            kol_write_int(writer, 1);
            unnest(writer, depth);
            CHECK_INT(reads(writer), KOL_OK);
            kol_writer_close(writer);
        }
    }
}

TEST(depth_513_is_an_error_with_its_path)
{
    char path[KOL_PATH_MAX + 1];
    for (int kind = 0; kind < 5; kind++) {
        struct kol_writer *writer = open_writer();
        nest(writer, kind, 513);
        CHECK_INT(kol_writer_status(writer), KOL_EDEPTH);
        CHECK_INT(kol_writer_path(writer, path, sizeof path), KOL_PATH_MAX);
        const char *step = kind == 1 ? "$.a.a" : kind == 2 ? "${0}{0}" : "$[0][0]";
        CHECK(strncmp(path, step, strlen(step)) == 0);
        CHECK(memcmp(path + 98, "...", 3) == 0);
        kol_writer_close(writer);
    }
}

TEST(control_characters_in_a_path_are_escaped)
{
    char path[KOL_PATH_MAX + 1];
    struct kol_writer *writer = open_writer();
    kol_write_object(writer, 1);
    kol_write_key(writer, kol_string_of("a\0b\n\x1f", 5, KOL_LATIN1));
    kol_write_list(writer, 1);
    kol_writer_path(writer, path, sizeof path);
    CHECK_STR(path, "$[\"a\\u0000b\\u000a\\u001f\"][0]");
    kol_writer_close(writer);
}

TEST(records_are_two_levels)
{
    const struct kol_string key = KOL_STRING("k");
    const struct kol_shape *shape;
    for (int depth = 509; depth <= 511; depth++) {
        struct kol_writer *writer = open_writer();
        REQUIRE_INT(kol_shape_of(kol_buffers_sent(buffers), &key, 1, &shape), KOL_OK);
        nest(writer, 0, depth);
        kol_write_records(writer, shape, 1);
        kol_write_null(writer);
        unnest(writer, depth + 1);
        CHECK_INT(kol_writer_status(writer), depth <= 510 ? KOL_OK : KOL_EDEPTH);
        CHECK(depth > 510 || reads(writer) == KOL_OK);
        kol_writer_close(writer);
    }
}

TEST(numbers_in_a_list_are_a_level)
{
    static const double numbers[] = {1, 2};
    for (int depth = 511; depth <= 512; depth++) {
        struct kol_writer *writer = open_writer();
        nest(writer, 0, depth);
        kol_write_doubles(writer, numbers, 2);
        unnest(writer, depth);
        CHECK_INT(kol_writer_status(writer), depth == 511 ? KOL_OK : KOL_EDEPTH);
        CHECK(depth > 511 || reads(writer) == KOL_OK);
        kol_writer_close(writer);
    }
}

/* A graph as a codec would walk it. */
struct node {
    const char *name;
    struct node *next;
};

static void write_node(struct kol_writer *writer, const struct node *node, int is_marked)
{
    if (!node || kol_writer_status(writer) != KOL_OK) {
        kol_write_null(writer);
        return;
    }
    kol_write_object(writer, 1);
    if (is_marked) {
        kol_write_mark(writer, node);
    }
    kol_write_key(writer, kol_string_of(node->name, strlen(node->name), KOL_UTF8));
    write_node(writer, node->next, is_marked);
    kol_write_end(writer);
}

TEST(a_cycle_is_found_where_it_closes)
{
    struct node c = {"c", NULL}, b = {"b", &c}, a = {"a", &b};
    struct kol_writer *writer = open_writer();
    write_node(writer, &a, 1);
    CHECK_INT(kol_writer_status(writer), KOL_OK);
    kol_writer_close(writer);
    c.next = &b;
    writer = open_writer();
    write_node(writer, &a, 1);
    check_failure(writer, KOL_ECYCLE, "$.a.b.c");
    c.next = &c;
    writer = open_writer();
    kol_write_list(writer, 1);
    write_node(writer, &c, 1);
    check_failure(writer, KOL_ECYCLE, "$[0].c");
    writer = open_writer();
    write_node(writer, &c, 0);
    CHECK_INT(kol_writer_status(writer), KOL_EDEPTH);
    kol_writer_close(writer);
}

TEST(the_same_object_twice_is_no_cycle)
{
    struct node a = {"a", NULL};
    struct kol_writer *writer = open_writer();
    kol_write_list(writer, 2);
    write_node(writer, &a, 1);
    write_node(writer, &a, 1);
    kol_write_end(writer);
    CHECK_INT(reads(writer), KOL_OK);
    kol_writer_close(writer);
}

TEST_LIMIT(a_message_has_256_mib, 120)
{
    /* header 32, head of the block 8 */
    const size_t most = ((size_t)1 << 28) - 40;
    uint8_t *bytes = calloc(1, most + 1);
    if (!bytes) {
        SKIP("no memory");
    }
    for (size_t i = 0; i < 3; i++) {
        struct kol_writer *writer = open_writer();
        struct kol_message message;
        kol_write_bytes(writer, bytes, most - 8 + i * 8 - (i == 2 ? 7 : 0));
        kol_status status = kol_writer_finish(writer, &message);
        if (status == KOL_ENOMEM) {
            SKIP("no memory");
        }
        CHECK_INT(status, i == 2 ? KOL_ERANGE : KOL_OK);
        CHECK(i != 1 || message.size == (size_t)1 << 28);
        CHECK(i == 2 || reads(writer) == KOL_OK);
        kol_writer_close(writer);
    }
    free(bytes);
}

TEST(absurd_counts_are_refused_before_memory_is_taken)
{
    struct counted counted;
    struct kol_buffers *few;
    static const size_t counts[] = {(1 << 28) / 8, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 8 + 1};
    counted_init(&counted, 0);
    REQUIRE_INT(kol_buffers_new(256, 1, &counted.memory, &few), KOL_OK);
    size_t taken = counted.taken;
    for (int i = 0; i < 4 * 7; i++) {
        struct kol_writer *writer;
        size_t count = counts[i / 7];
        REQUIRE_INT(kol_writer_open(few, NULL, &writer), KOL_OK);
        switch (i % 7) {
        case 0:
            kol_write_list(writer, count);
            break;
        case 1:
            kol_write_object(writer, count);
            break;
        case 2:
            kol_write_map(writer, count);
            break;
        case 3:
            kol_write_custom(writer, 1, count);
            break;
        case 4:
            kol_write_packed(writer, KOL_F64, NULL, count);
            break;
        case 5:
            kol_write_doubles(writer, NULL, count);
            break;
        default:
            kol_write_string(writer,
                             kol_string_of(NULL, count < (1 << 29) ? SIZE_MAX : count, KOL_LATIN1));
        }
        check_failure(writer, KOL_ERANGE, "$");
    }
    CHECK_INT(counted.taken, taken);
    kol_buffers_close(few);
    CHECK_INT(counted.live, 0);
}

static struct kol_string numbered(char *name, size_t size, size_t number)
{
    snprintf(name, size, "key%zu", number);
    return kol_string_of(name, strlen(name), KOL_UTF8);
}

static kol_status shape_with(struct kol_shapes *shapes, size_t first, size_t count)
{
    static char names[KOL_SHAPE_KEYS_MAX + 1][24];
    struct kol_string keys[KOL_SHAPE_KEYS_MAX + 1];
    const struct kol_shape *shape;
    for (size_t i = 0; i < count; i++) {
        keys[i] = numbered(names[i], sizeof names[i], first + i);
    }
    return kol_shape_of(shapes, keys, count, &shape);
}

TEST(a_shape_has_256_keys)
{
    struct kol_shapes *shapes;
    REQUIRE_INT(kol_shapes_new(NULL, &shapes), KOL_OK);
    CHECK_INT(shape_with(shapes, 0, 0), KOL_OK);
    CHECK_INT(shape_with(shapes, 0, 255), KOL_OK);
    CHECK_INT(shape_with(shapes, 0, 256), KOL_OK);
    CHECK_INT(shape_with(shapes, 0, 257), KOL_NONE);
    CHECK_INT(kol_shapes_count(shapes), 3);
    kol_shapes_free(shapes);
}

TEST(a_key_has_1024_units)
{
    char *key = malloc(1025);
    const struct kol_shape *shape;
    struct kol_shapes *shapes;
    REQUIRE(key != NULL);
    memset(key, 'k', 1025);
    REQUIRE_INT(kol_shapes_new(NULL, &shapes), KOL_OK);
    for (size_t size = 1023; size <= 1025; size++) {
        struct kol_string one = kol_string_of(key, size, KOL_UTF8);
        CHECK_INT(kol_shape_of(shapes, &one, 1, &shape), size <= 1024 ? KOL_OK : KOL_NONE);
    }
    kol_shapes_free(shapes);
    free(key);
}

TEST(a_key_is_once_in_a_shape)
{
    const struct kol_string keys[] = {KOL_STRING("a"), KOL_STRING("b"),
                                      kol_string_of("a", 1, KOL_LATIN1)};
    const struct kol_shape *shape;
    struct kol_shapes *shapes;
    REQUIRE_INT(kol_shapes_new(NULL, &shapes), KOL_OK);
    CHECK_INT(kol_shape_of(shapes, keys, 3, &shape), KOL_NONE);
    CHECK_INT(kol_shape_of(shapes, keys, 2, &shape), KOL_OK);
    CHECK_INT(kol_shapes_count(shapes), 1);
    kol_shapes_free(shapes);
}

TEST(a_table_has_1024_shapes)
{
    struct kol_shapes *shapes;
    REQUIRE_INT(kol_shapes_new(NULL, &shapes), KOL_OK);
    for (size_t i = 0; i < 1024; i++) {
        REQUIRE_INT(shape_with(shapes, i, 2), KOL_OK);
    }
    CHECK_INT(shape_with(shapes, 2000, 2), KOL_NONE);
    CHECK_INT(shape_with(shapes, 1023, 2), KOL_OK);
    CHECK_INT(kol_shapes_count(shapes), 1024);
    kol_shapes_free(shapes);
}

TEST(a_table_has_so_many_units)
{
    char key[1024];
    struct kol_string one = kol_string_of(key, sizeof key, KOL_LATIN1);
    const struct kol_shape *shape;
    struct kol_shapes *shapes;
    memset(key, 'k', sizeof key);
    REQUIRE_INT(kol_shapes_new(NULL, &shapes), KOL_OK);
    for (size_t i = 0; i < 256; i++) {
        key[0] = (char)i;
        REQUIRE_INT(kol_shape_of(shapes, &one, 1, &shape), KOL_OK);
    }
    key[1] = 'x';
    CHECK_INT(kol_shape_of(shapes, &one, 1, &shape), KOL_NONE);
    CHECK_INT(kol_shape_of(shapes, NULL, 0, &shape), KOL_OK);
    kol_shapes_free(shapes);
}

/* A receiver keeps to the same limits, whoever the sender is. */
TEST(a_receiver_does_not_take_more_shapes_than_a_table_has)
{
    struct kol_shapes *received;
    struct kol_buffers *many[2];
    kol_status last = KOL_OK;
    REQUIRE_INT(kol_shapes_new(NULL, &received), KOL_OK);
    for (size_t pool = 0; pool < 2; pool++) {
        REQUIRE_INT(kol_buffers_new(0, 1, NULL, &many[pool]), KOL_OK);
        for (size_t i = 0; i < 257 && last == KOL_OK; i++) {
            char key[1024];
            struct kol_string one = kol_string_of(key, sizeof key, KOL_LATIN1);
            const struct kol_shape *shape;
            struct kol_writer *writer;
            struct kol_message message;
            struct kol_reader reader;
            memset(key, (int)pool + 'a', sizeof key);
            key[0] = (char)i;
            one.count = (uint32_t)(pool == 0 ? sizeof key : 1 + i / 256);
            if (kol_shape_of(kol_buffers_sent(many[pool]), &one, 1, &shape) != KOL_OK) {
                break;
            }
            REQUIRE_INT(kol_writer_open(many[pool], NULL, &writer), KOL_OK);
            kol_write_record(writer, shape);
            kol_write_null(writer);
            kol_write_end(writer);
            REQUIRE_INT(kol_writer_finish(writer, &message), KOL_OK);
            last = kol_reader_open(&reader, received, message);
            kol_reader_close(&reader);
            kol_writer_close(writer);
        }
        CHECK_INT(last, pool == 0 ? KOL_OK : KOL_EFORMAT);
    }
    CHECK_INT(kol_shapes_count(received), 256);
    kol_buffers_close(many[0]);
    kol_buffers_close(many[1]);
    kol_shapes_free(received);
}
