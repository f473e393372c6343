/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For the tests of tagged values: a desk with a pool, one writer of it, and a reader of what that
 * wrote. What goes wrong ends the test.
 */
#ifndef KOLIBRI_TEST_TAGGED_DESK_H
#define KOLIBRI_TEST_TAGGED_DESK_H

#include <kolibri/tagged.h>

struct desk {
    struct kol_buffers *buffers;
    struct kol_writer *writer;
    struct kol_message message;
    struct kol_reader reader;
};

void desk_open(struct desk *desk);
void desk_close(struct desk *desk);

/* Finishes and reads the message, and notes that it was delivered. */
struct kol_value desk_read(struct desk *desk);

/* The message is done with; another one can be written. */
void desk_next(struct desk *desk);

/* The message says this, in the notation of the vectors. Goes to the next. */
void desk_check_says(struct desk *desk, const char *want);

/* There is no message, but this failure at this path. Goes to the next. */
void desk_check_fails(struct desk *desk, kol_status want, const char *path);

/* The shape with the keys x and y. */
const struct kol_shape *desk_shape_xy(struct desk *desk);

#endif
