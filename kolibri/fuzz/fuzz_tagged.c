/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Property: any bytes are refused, or are a message whose every value can be read, looked up and
 * written into another message that is valid and says the same.
 *
 * The sizes in the header are put right first, as far as they can be, so that the body is what is
 * tried; the byte behind the flags says whether. The table of shapes is small and comes with the
 * input: it is what earlier messages of a connection defined.
 */
#include <kolibri/tagged.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int held)
{
    if (!held) {
        abort();
    }
}

static struct kol_shapes *some_shapes(void)
{
    const struct kol_string keys[] = {KOL_STRING("a"), KOL_STRING("b"), KOL_STRING("\xe2\x82\xac")};
    const struct kol_shape *shape;
    struct kol_shapes *shapes;
    require(kol_shapes_new(NULL, &shapes) == KOL_OK);
    require(kol_shape_of(shapes, keys, 2, &shape) == KOL_OK);
    require(kol_shape_of(shapes, keys + 1, 2, &shape) == KOL_OK);
    return shapes;
}

static void same(struct kol_value a, struct kol_value b);

static void same_scalars(struct kol_value a, struct kol_value b)
{
    int64_t x = 0, y = 0;
    double d = 0, e = 0;
    struct kol_bigint m, n;
    struct kol_string s, t;
    struct kol_array p, q;
    const uint8_t *data, *other;
    size_t size, other_size;
    require(kol_value_as_long(a, &x) == kol_value_as_long(b, &y) && x == y);
    require(kol_value_as_double(a, &d) == kol_value_as_double(b, &e) &&
            (d == e || (d != d && e != e)));
    require(kol_value_as_date(a, &d) == kol_value_as_date(b, &e) && d == e);
    require(kol_value_as_bigint(a, &m) == kol_value_as_bigint(b, &n) && m.size == n.size &&
            m.is_negative == n.is_negative &&
            (m.size == 0 || memcmp(m.magnitude, n.magnitude, m.size) == 0));
    require(kol_value_as_text(a, &s) == kol_value_as_text(b, &t) && kol_string_equal(s, t));
    require(kol_value_as_bytes(a, &data, &size) == kol_value_as_bytes(b, &other, &other_size) &&
            size == other_size && (size == 0 || memcmp(data, other, size) == 0));
    require(kol_value_as_packed(a, &p) == kol_value_as_packed(b, &q) && p.count == q.count &&
            p.kind == q.kind);
}

static void same_objects(struct kol_value a, struct kol_value b)
{
    for (size_t i = 0; i < kol_value_count(a); i++) {
        struct kol_string key, other;
        struct kol_value found, again;
        require(kol_value_key_at(a, i, &key) == KOL_OK);
        require(kol_value_key_at(b, i, &other) == KOL_OK && kol_string_equal(key, other));
        same(kol_value_at(a, i), kol_value_at(b, i));
        if (i < 8) {
            require(kol_value_get(a, key, &found) == KOL_OK);
            require(kol_value_get(b, other, &again) == KOL_OK);
            require(kol_value_type(found) == kol_value_type(again));
        }
    }
}

static void same(struct kol_value a, struct kol_value b)
{
    kol_type type = kol_value_type(a);
    require(type == kol_value_type(b) && kol_value_count(a) == kol_value_count(b));
    require(kol_value_schema(a) == kol_value_schema(b));
    if (type == KOL_OBJECT) {
        same_objects(a, b);
        return;
    }
    same_scalars(a, b);
    for (size_t i = 0; i < kol_value_count(a) && type != KOL_BYTES && type != KOL_PACKED; i++) {
        same(kol_value_at(a, i), kol_value_at(b, i));
        same(kol_value_map_key_at(a, i), kol_value_map_key_at(b, i));
    }
}

/* Writes what was read into a pool so small that every path of growth is taken. */
static void write_again(struct kol_value value)
{
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    struct kol_reader reader;
    require(kol_buffers_new(256, 1, NULL, &buffers) == KOL_OK);
    require(kol_writer_open(buffers, NULL, &writer) == KOL_OK);
    kol_writer_stand_alone(writer);
    kol_write_value(writer, value);
    require(kol_writer_finish(writer, &message) == KOL_OK);
    require(kol_reader_open(&reader, NULL, message) == KOL_OK);
    same(value, kol_reader_root(&reader));
    kol_reader_close(&reader);
    kol_writer_close(writer);
    kol_buffers_close(buffers);
}

static void put32(uint8_t *at, size_t number)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(number >> (8 * i));
    }
}

/* Makes the header fit the size: magic, version, size, and a text area of at most what is there. */
static void put_right(uint8_t *bytes, size_t size)
{
    size_t text_size = (size_t)bytes[16] + ((size_t)bytes[17] << 8);
    text_size = text_size > size - 32 ? size - 32 : text_size;
    memcpy(bytes, "KOLT\1", 5);
    bytes[5] &= 1;
    bytes[6] = 0;
    bytes[7] = 0;
    put32(bytes + 8, size);
    put32(bytes + 12, size - ((text_size + 7) & ~(size_t)7));
    put32(bytes + 16, text_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kol_reader reader;
    if (size > 1 << 16) {
        return 0;
    }
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    require(bytes != NULL);
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    if (size >= 32 && size % 8 == 0 && (bytes[6] & 1) != 0) {
        put_right(bytes, size);
    }
    struct kol_shapes *shapes = some_shapes();
    kol_status status = kol_reader_open(&reader, shapes, (struct kol_message){bytes, size});
    require(status == KOL_OK || status == KOL_EFORMAT || status == KOL_EDEPTH);
    if (status == KOL_OK) {
        write_again(kol_reader_root(&reader));
    }
    kol_reader_close(&reader);
    kol_shapes_free(shapes);
    free(bytes);
    return 0;
}
