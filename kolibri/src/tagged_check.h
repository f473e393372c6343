/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The validate pass: what makes reading without checks safe. It is called by kol_reader_open only;
 * what it guarantees to the rooms that read is section 4 of docs/tagged-format.md. Any thread.
 */
#ifndef KOLIBRI_SRC_TAGGED_CHECK_H
#define KOLIBRI_SRC_TAGGED_CHECK_H

#include <kolibri/tagged_read.h>

/*
 * Checks a whole message by section 4 of docs/tagged-format.md. Definitions go into reader->shapes,
 * for which a table of the message's own is made if it stands alone (reader->own). On success the
 * reader's fields are set; on failure what is wrong, and where.
 */
KOL__HIDDEN kol_status kol__message_check(struct kol_reader *reader, struct kol_message message);

/*
 * Notes the path to a slot whose containers are checked: its number in each run, from the innermost
 * one out to the root, which is number 0 of the header. In tagged_path.c.
 */
KOL__HIDDEN void kol__reader_note_path(struct kol_reader *reader, const uint32_t *steps,
                                       size_t count);

#endif
