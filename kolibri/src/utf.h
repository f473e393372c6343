/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the rooms that know no VM use of utf.c: code points of UTF-8, one at a time. Whole arrays
 * are in text.h, which knows jni.h.
 */
#ifndef KOLIBRI_SRC_UTF_H
#define KOLIBRI_SRC_UTF_H

#include <kolibri/config.h>

/*
 * Reads one code point, or one maximal subpart that is none as -1, from `room` > 0 bytes; returns
 * how many bytes it takes. `flags` is KOL_TEXT_EXACT or KOL_TEXT_STRICT of text.h.
 */
KOL__HIDDEN size_t kol__utf8_point(const unsigned char *at, size_t room, int flags, int32_t *out);

/* Writes one code point, half of a pair too; returns how many bytes, at most 4. */
KOL__HIDDEN size_t kol__utf8_put(int32_t point, unsigned char *out);

#endif
