/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Values of any shape in one message: what C, Java or Kotlin and JavaScript hand each other. The
 * bytes are specified in docs/tagged-format.md. Nothing here knows jni.h; crossing to Java is
 * shared_buffer.h.
 *
 *     tagged_value.h    types, limits, strings            tagged_shape.h   key lists, sent once
 *     tagged_buffer.h   the pool and its writers          tagged_write.h   the builder
 *     tagged_read.h     validate once, then read
 *
 * Writing:
 *
 *     struct kol_writer *writer;
 *     struct kol_message message;
 *     if (kol_writer_open(buffers, NULL, &writer) != KOL_OK) …
 *     kol_write_object(writer, 2);
 *     kol_write_key(writer, KOL_STRING("name"));
 *     kol_write_string(writer, KOL_STRING("Ada"));
 *     kol_write_key(writer, KOL_STRING("born"));
 *     kol_write_int(writer, 1815);
 *     kol_write_end(writer);
 *     status = kol_writer_finish(writer, &message);      the first thing that failed, with its path
 *     … hand the message over …
 *     kol_writer_close(writer);
 *
 * Reading:
 *
 *     struct kol_reader reader;
 *     status = kol_reader_open(&reader, shapes, message);
 *     struct kol_value person = kol_reader_root(&reader), born;
 *     if (kol_value_get(person, KOL_STRING("born"), &born) == KOL_OK &&
 *         kol_value_as_int(born, &year) == KOL_OK) …
 *     kol_reader_close(&reader);
 */
#ifndef KOLIBRI_TAGGED_H
#define KOLIBRI_TAGGED_H

#include <kolibri/tagged_buffer.h>
#include <kolibri/tagged_read.h>
#include <kolibri/tagged_shape.h>
#include <kolibri/tagged_value.h>
#include <kolibri/tagged_write.h>

#endif
