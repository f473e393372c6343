/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row whose third word is none.
 *
 * Expected: KOL__OPTIONAL_never
 */
#include "kolibri/test/wont_compile/rows.h"

#define LIST(X, C) X(C, F0, never, jint, size, "size")
KOL_MEMBERS(List, LIST)
