/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A new global reference that nobody keeps.
 *
 * Expected: unused-result
 */
#include "kolibri/test/wont_compile/rows.h"

void use(JNIEnv *env, Iterator it);

void use(JNIEnv *env, Iterator it)
{
    Iterator__keep(env, it);
}
