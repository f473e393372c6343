/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A native without a definition: it does not link.
 *
 * Expected: undefined Counter_add
 */
#include "kolibri/test/wont_compile/rows.h"

#define COUNTER_NATIVES(X, C) X(C, M1, jint, add, "add", jint)
KOL_NATIVES(Counter, COUNTER_NATIVES)

const struct kol_natives *use(void);

const struct kol_natives *use(void)
{
    return &Counter__natives;
}
