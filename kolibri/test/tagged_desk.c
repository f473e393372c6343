/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The desk of the tests of tagged values: a pool, a writer, a reader. Its reader has the table of
 * the pool's own received shapes, as the other side of a connection would.
 */
#include "kolibri/test/tagged_desk.h"

#include "kolibri/test/tagged_kit.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

void desk_open(struct desk *desk)
{
    memset(desk, 0, sizeof *desk);
    REQUIRE_INT(kol_buffers_new(0, 2, NULL, &desk->buffers), KOL_OK);
    REQUIRE_INT(kol_writer_open(desk->buffers, NULL, &desk->writer), KOL_OK);
}

struct kol_value desk_read(struct desk *desk)
{
    REQUIRE_INT(kol_writer_finish(desk->writer, &desk->message), KOL_OK);
    REQUIRE_INT(kol_reader_open(&desk->reader, kol_buffers_received(desk->buffers), desk->message),
                KOL_OK);
    kol_writer_delivered(desk->writer);
    return kol_reader_root(&desk->reader);
}

void desk_next(struct desk *desk)
{
    kol_reader_close(&desk->reader);
    kol_writer_close(desk->writer);
    REQUIRE_INT(kol_writer_open(desk->buffers, NULL, &desk->writer), KOL_OK);
}

void desk_close(struct desk *desk)
{
    kol_reader_close(&desk->reader);
    kol_writer_close(desk->writer);
    CHECK_INT(kol_buffers_leases(desk->buffers), 0);
    kol_buffers_close(desk->buffers);
}

void desk_check_says(struct desk *desk, const char *want)
{
    char *text = tagged_print(desk_read(desk));
    CHECK_STR(text, want);
    free(text);
    desk_next(desk);
}

void desk_check_fails(struct desk *desk, kol_status want, const char *path)
{
    char text[KOL_PATH_MAX + 1];
    CHECK_INT(kol_writer_finish(desk->writer, &desk->message), want);
    CHECK(desk->message.bytes == NULL);
    CHECK_INT(kol_writer_status(desk->writer), want);
    size_t size = kol_writer_path(desk->writer, text, sizeof text);
    CHECK_STR(text, path);
    CHECK_INT(size, strlen(path));
    desk_next(desk);
}

const struct kol_shape *desk_shape_xy(struct desk *desk)
{
    const struct kol_string keys[] = {KOL_STRING("x"), KOL_STRING("y")};
    const struct kol_shape *shape;
    REQUIRE_INT(kol_shape_of(kol_buffers_sent(desk->buffers), keys, 2, &shape), KOL_OK);
    return shape;
}
