/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The builder: values are pushed, in order, into a writer (tagged_buffer.h opens one).
 *
 * The functions that push return nothing. The first failure stays: from then on they do nothing,
 * and kol_writer_finish reports it with the path of the value that failed. Failures are KOL_ENOMEM,
 * KOL_ERANGE (over 256 MiB, an impossible date), KOL_EDEPTH, KOL_ECYCLE and KOL_EMISUSE (too many
 * or too few values, no key where one is due). Every write is checked against the container that it
 * goes into, at each level of KOL_CHECK.
 *
 * A container is begun with its count of values, where it is known, and is ended by kol_write_end.
 * KOL_UNKNOWN costs some copies and room. Objects take a key before each value, maps key and value
 * by turns; records take the values only, in the order of the shape's keys.
 *
 * Owner thread only.
 */
#ifndef KOLIBRI_TAGGED_WRITE_H
#define KOLIBRI_TAGGED_WRITE_H

#include <kolibri/tagged_buffer.h>
#include <kolibri/tagged_read.h>

#define KOL_UNKNOWN SIZE_MAX

KOL__C_BEGIN

void kol_write_undefined(struct kol_writer *writer);
void kol_write_null(struct kol_writer *writer);
void kol_write_bool(struct kol_writer *writer, int is_true);
void kol_write_int(struct kol_writer *writer, int32_t number);
void kol_write_long(struct kol_writer *writer, int64_t number);
void kol_write_double(struct kol_writer *writer, double number);
void kol_write_bigint(struct kol_writer *writer, struct kol_bigint number);
void kol_write_string(struct kol_writer *writer, struct kol_string string);
void kol_write_date(struct kol_writer *writer, double milliseconds);
void kol_write_bytes(struct kol_writer *writer, const void *bytes, size_t size);

/* An array of numbers of one kind, and lists of numbers from an array. data is any alignment's. */
void kol_write_packed(struct kol_writer *writer, kol_packed kind, const void *data, size_t count);
void kol_write_doubles(struct kol_writer *writer, const double *numbers, size_t count);
void kol_write_ints(struct kol_writer *writer, const int32_t *numbers, size_t count);

/* Containers of `count` values; pairs for objects and maps. */
void kol_write_list(struct kol_writer *writer, size_t count);
void kol_write_set(struct kol_writer *writer, size_t count);
void kol_write_object(struct kol_writer *writer, size_t pair_count);
void kol_write_map(struct kol_writer *writer, size_t pair_count);
void kol_write_custom(struct kol_writer *writer, uint32_t schema_id, size_t count);

/* Five values follow: name, message, stack, cause, data. The last three may be undefined. */
void kol_write_error(struct kol_writer *writer);

/*
 * An object of a shape: as many values as it has keys. A list of `count` objects of one shape with
 * at least one key: count times as many, object by object. The shape is one of the pool's
 * kol_buffers_sent.
 */
void kol_write_record(struct kol_writer *writer, const struct kol_shape *shape);
void kol_write_records(struct kol_writer *writer, const struct kol_shape *shape, size_t count);

/* The next key of an object. */
void kol_write_key(struct kol_writer *writer, struct kol_string key);

/*
 * Says that the container begun last stands for the object at `identity`. If a container around it
 * stands for the same one, the value contains itself: KOL_ECYCLE. Without marks a cycle ends as
 * KOL_EDEPTH.
 */
void kol_write_mark(struct kol_writer *writer, const void *identity);

/* Ends the container begun last. */
void kol_write_end(struct kol_writer *writer);

/* Writes a value of another message, with everything in it. */
void kol_write_value(struct kol_writer *writer, struct kol_value value);

/* Ends the message with a failure of the caller's own, for example an exception of a getter. */
void kol_write_failure(struct kol_writer *writer, kol_status status);

/*
 * Makes every message stand alone: it carries the definitions of all shapes that it uses, and its
 * reader needs no table. Before the first value.
 */
void kol_writer_stand_alone(struct kol_writer *writer);

/* The first failure, KOL_OK if there was none. */
kol_status kol_writer_status(const struct kol_writer *writer);

/*
 * Finishes the message. It is contiguous: in the leased chunk if it fits, else in memory of the
 * writer. Borrowed until the writer is closed. After a failure it is that failure and there is no
 * message. KOL_EMISUSE while a container is open or nothing was written. Calling it again gives the
 * same.
 */
kol_status kol_writer_finish(struct kol_writer *writer, struct kol_message *out) KOL__MUST;

/*
 * Says that the receiver has validated the message: the shapes defined in it need not be defined
 * again. Without it every message defines what it uses.
 */
void kol_writer_delivered(struct kol_writer *writer);

/*
 * Where the failure was, or where the next value goes: "$.users[3].name". Writes at most `size`
 * bytes with a NUL; the text is at most KOL_PATH_MAX characters. Returns its length before cutting
 * to size.
 */
size_t kol_writer_path(const struct kol_writer *writer, char *text, size_t size);

KOL__C_END

#endif
