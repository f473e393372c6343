/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The builder used wrongly, and the paths that its errors name.
 *
 * What the limits forbid is test_tagged_limits.c.
 */
#include "kolibri/test/tagged_desk.h"
#include "testing/harness.h"

#include <string.h>

TEST(misuse_is_reported_with_its_path)
{
    struct desk desk;
    desk_open(&desk);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_null(desk.writer);
    kol_write_null(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_list(desk.writer, 2);
    kol_write_null(desk.writer);
    kol_write_end(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$[1]");
    kol_write_list(desk.writer, 1);
    kol_write_null(desk.writer);
    kol_write_null(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$[1]");
    kol_write_list(desk.writer, KOL_UNKNOWN);
    desk_check_fails(&desk, KOL_EMISUSE, "$[0]");
    kol_write_object(desk.writer, 1);
    kol_write_null(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_object(desk.writer, 1);
    kol_write_key(desk.writer, KOL_STRING("a"));
    kol_write_key(desk.writer, KOL_STRING("b"));
    desk_check_fails(&desk, KOL_EMISUSE, "$.a");
    kol_write_object(desk.writer, KOL_UNKNOWN);
    kol_write_key(desk.writer, KOL_STRING("a"));
    kol_write_end(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$.a");
    kol_write_object(desk.writer, 0);
    kol_write_key(desk.writer, KOL_STRING("a"));
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_end(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_key(desk.writer, KOL_STRING("a"));
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_packed(desk.writer, (kol_packed)3, NULL, 0);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_map(desk.writer, KOL_UNKNOWN);
    kol_write_null(desk.writer);
    kol_write_end(desk.writer);
    desk_check_fails(&desk, KOL_EMISUSE, "${0}");
    kol_write_record(desk.writer, NULL);
    desk_check_fails(&desk, KOL_EMISUSE, "$");
    kol_write_list(desk.writer, 1);
    kol_write_failure(desk.writer, KOL_EJAVA);
    kol_write_null(desk.writer);
    desk_check_fails(&desk, KOL_EJAVA, "$[0]");
    desk_close(&desk);
}

TEST(paths_name_every_step)
{
    struct desk desk;
    char path[KOL_PATH_MAX + 1];
    desk_open(&desk);
    struct kol_writer *writer = desk.writer;
    const struct kol_shape *shape = desk_shape_xy(&desk);
    kol_write_object(writer, 2);
    kol_write_key(writer, KOL_STRING("users_1"));
    kol_write_list(writer, KOL_UNKNOWN);
    kol_write_null(writer);
    kol_write_object(writer, KOL_UNKNOWN);
    kol_write_key(writer, KOL_STRING("a \"b\" \xe2\x82\xac"));
    kol_write_map(writer, 1);
    kol_write_record(writer, shape);
    kol_write_null(writer);
    kol_write_records(writer, shape, 2);
    for (int i = 0; i < 3; i++) {
        kol_write_null(writer);
    }
    kol_write_error(writer);
    for (int i = 0; i < 3; i++) {
        kol_write_string(writer, KOL_STRING("s"));
    }
    kol_write_custom(writer, 1, 2);
    kol_write_null(writer);
    CHECK_INT(kol_writer_status(writer), KOL_OK);
    size_t size = kol_writer_path(writer, path, sizeof path);
    CHECK_STR(path, "$.users_1[1][\"a \\\"b\\\" \xe2\x82\xac\"]{0}key.y[1].y.cause[1]");
    CHECK_INT(size, strlen(path));
    CHECK_INT(kol_writer_path(writer, path, 4), size);
    CHECK_STR(path, "$.u");
    desk_next(&desk);
    desk_close(&desk);
}
