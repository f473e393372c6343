/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A leaf that wants an env.
 *
 * Expected: conflicting types
 */
#include "kolibri/test/wont_compile/rows.h"

#define COUNTER_NATIVES(X, C) X(C, L0, jint, get, "get")
KOL_NATIVES(Counter, COUNTER_NATIVES)

static jint Counter_get(JNIEnv *env, struct counter *self)
{
    (void)env;
    return self->n;
}
