/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row whose number is not its number of types.
 *
 * Expected: number of types
 */
#include "kolibri/test/wont_compile/rows.h"

#define LIST(X, C) X(C, F2, throws, jboolean, add, "add", java_lang_Object)
KOL_MEMBERS(List, LIST)
