/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Shapes over a connection: sent once, sent again when they were not delivered, or with every
 * message that stands alone.
 */
#include "kolibri/test/tagged_desk.h"
#include "testing/harness.h"

TEST(a_shape_is_sent_once)
{
    struct desk desk;
    size_t sizes[3];
    desk_open(&desk);
    const struct kol_shape *shape = desk_shape_xy(&desk);
    CHECK(shape == desk_shape_xy(&desk));
    for (int i = 0; i < 3; i++) {
        kol_write_record(desk.writer, shape);
        kol_write_int(desk.writer, i);
        kol_write_int(desk.writer, -i);
        kol_write_end(desk.writer);
        struct kol_value object = desk_read(&desk), y;
        int32_t got;
        sizes[i] = desk.message.size;
        CHECK(kol_value_get(object, KOL_STRING("y"), &y) == KOL_OK &&
              kol_value_as_int(y, &got) == KOL_OK && got == -i);
        CHECK_INT(kol_shape_find(kol_value_shape(object), KOL_STRING("x")), 0);
        desk_next(&desk);
    }
    CHECK(sizes[1] < sizes[0]);
    CHECK_INT(sizes[1], 32 + 16);
    CHECK_INT(sizes[2], sizes[1]);
    desk_close(&desk);
}

TEST(a_shape_that_was_not_delivered_is_sent_again)
{
    struct desk desk;
    desk_open(&desk);
    const struct kol_shape *shape = desk_shape_xy(&desk);
    struct kol_shapes *stranger;
    REQUIRE_INT(kol_shapes_new(NULL, &stranger), KOL_OK);
    for (int i = 0; i < 2; i++) {
        kol_write_records(desk.writer, shape, 2);
        for (int k = 0; k < 4; k++) {
            kol_write_int(desk.writer, k);
        }
        kol_write_end(desk.writer);
        REQUIRE_INT(kol_writer_finish(desk.writer, &desk.message), KOL_OK);
        REQUIRE_INT(kol_reader_open(&desk.reader, i == 0 ? NULL : stranger, desk.message),
                    i == 0 ? KOL_EFORMAT : KOL_OK);
        desk_next(&desk);
    }
    CHECK_INT(kol_shapes_count(stranger), 1);
    kol_shapes_free(stranger);
    desk_close(&desk);
}

TEST(a_message_that_stands_alone_needs_no_table)
{
    struct desk desk;
    struct kol_reader reader;
    desk_open(&desk);
    const struct kol_shape *shape = desk_shape_xy(&desk);
    for (int i = 0; i < 2; i++) {
        kol_writer_stand_alone(desk.writer);
        kol_write_record(desk.writer, shape);
        kol_write_null(desk.writer);
        kol_write_null(desk.writer);
        kol_write_end(desk.writer);
        desk_read(&desk);
        REQUIRE_INT(kol_reader_open(&reader, NULL, desk.message), KOL_OK);
        CHECK_INT(kol_value_count(kol_reader_root(&reader)), 2);
        kol_reader_close(&reader);
        desk_next(&desk);
    }
    CHECK_INT(kol_shapes_count(kol_buffers_received(desk.buffers)), 0);
    kol_write_null(desk.writer);
    kol_writer_stand_alone(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    desk_close(&desk);
}

TEST(a_number_that_a_message_gave_out_is_never_given_to_other_keys)
{
    struct kol_string x = KOL_STRING("x"), y = KOL_STRING("y"), z = KOL_STRING("z");
    const struct kol_shape *first, *second, *made;
    struct desk desk;
    desk_open(&desk);
    struct kol_shapes *sent = kol_buffers_sent(desk.buffers);
    struct kol_shapes *received = kol_buffers_received(desk.buffers);
    REQUIRE_INT(kol_shape_of(sent, &x, 1, &first), KOL_OK);
    REQUIRE_INT(kol_shape_of(sent, &y, 1, &second), KOL_OK);
    kol_write_record(desk.writer, second);
    kol_write_null(desk.writer);
    kol_write_end(desk.writer);
    const struct kol_shape *known = kol_value_shape(desk_read(&desk));
    REQUIRE_INT(kol_shape_id(known), 1);
    REQUIRE_INT(kol_shapes_count(received), 1);
    CHECK_INT(kol_shape_of(received, &z, 1, &made), KOL_NONE);
    CHECK(!made);
    CHECK_INT(kol_shapes_count(received), 1);
    CHECK(kol_value_shape(kol_reader_root(&desk.reader)) == known);
    desk_close(&desk);
}
