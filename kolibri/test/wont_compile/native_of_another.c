/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A native that passes its object where another type is needed.
 *
 * Expected: incompatible pointer
 */
#include "kolibri/test/wont_compile/rows.h"

#define COUNTER_NATIVES(X, C) X(C, M1, jint, add, "add", Other)
KOL_NATIVES(Counter, COUNTER_NATIVES)

static jint read_counter(struct counter *counter)
{
    return counter->n;
}

static jint Counter_add(JNIEnv *env, struct counter *self, struct other *other)
{
    (void)env;
    return self->n + read_counter(other);
}
