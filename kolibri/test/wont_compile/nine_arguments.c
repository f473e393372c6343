/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row of nine arguments.
 *
 * Expected: KOL__EACH_jint
 */
#include "kolibri/test/wont_compile/rows.h"

#define LIST(X, C)                                                                                 \
    X(C, SF, throws, jint, nine, "nine", jint, jint, jint, jint, jint, jint, jint, jint, jint)
KOL_MEMBERS(List, LIST)
