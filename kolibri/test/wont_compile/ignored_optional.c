/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A call of an optional member, its status ignored.
 *
 * Expected: unused-result
 */
#include "kolibri/test/wont_compile/rows.h"

void use(JNIEnv *env, Iterator it);

void use(JNIEnv *env, Iterator it)
{
    jint out;
    Iterator_rest(env, it, &out);
}
