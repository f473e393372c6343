/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A bridge that takes an object.
 *
 * Expected: kol__p_Iterator
 */
#include "kolibri/test/wont_compile/rows.h"

#define LIST(X, C) X(C, B1, visit, "visit", Iterator)
KOL_MEMBERS(List, LIST)
