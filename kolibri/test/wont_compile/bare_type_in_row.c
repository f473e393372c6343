/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row with a raw reference for a type.
 *
 * Expected: jstring
 */
#include "kolibri/test/wont_compile/rows.h"

#define LIST(X, C) X(C, F1, throws, jboolean, add, "add", jstring)
KOL_MEMBERS(List, LIST)
