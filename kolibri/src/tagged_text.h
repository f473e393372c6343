/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Strings of the four forms seen as what they all are: runs of UTF-16 units. What UTF-8 means,
 * malformed parts too, is utf.c; strings of the VM are text.c.
 */
#ifndef KOLIBRI_SRC_TAGGED_TEXT_H
#define KOLIBRI_SRC_TAGGED_TEXT_H

#include <kolibri/tagged_value.h>

/* How many units a string has, and whether all are below 256: then it is written as Latin-1. */
struct text_extent {
    size_t units;
    int is_narrow;
};

KOL__HIDDEN struct text_extent kol__text_measure(struct kol_string string);

/* Writes all units, `units` many: as bytes, where all are below 256, or as pairs, little-endian. */
KOL__HIDDEN void kol__text_put8(struct kol_string string, size_t units, uint8_t *out);
KOL__HIDDEN void kol__text_put16(struct kol_string string, uint8_t *out);

/* A hash of the units, the same for every form. */
KOL__HIDDEN uint32_t kol__text_hash(struct kol_string string);

#endif
