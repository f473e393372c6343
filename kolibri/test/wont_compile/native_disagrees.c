/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A native whose definition is not what its row says.
 *
 * Expected: conflicting types
 */
#include "kolibri/test/wont_compile/rows.h"

#define COUNTER_NATIVES(X, C) X(C, M1, jint, add, "add", jint)
KOL_NATIVES(Counter, COUNTER_NATIVES)

static jint Counter_add(JNIEnv *env, struct counter *self, jlong by)
{
    (void)env;
    return self->n += (jint)by;
}
