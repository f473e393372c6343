/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A native subclass whose base struct is not the first member.
 *
 * Expected: first member
 */
#include "kolibri/test/wont_compile/rows.h"

struct derived {
    int more;
    struct counter base;
};
KOL_NATIVE_SUB(Derived, "io/example/Derived", struct derived, Counter, base)
