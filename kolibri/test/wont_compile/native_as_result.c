/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A native object as a result: its Java object is made in Java or by a constructor.
 *
 * Expected: kol__raw_Counter
 */
#include "kolibri/test/wont_compile/rows.h"

#define COUNTER_NATIVES(X, C) X(C, M0, Counter, twin, "twin")
KOL_NATIVES(Counter, COUNTER_NATIVES)

static struct counter *Counter_twin(JNIEnv *env, struct counter *self)
{
    (void)env;
    return self;
}
