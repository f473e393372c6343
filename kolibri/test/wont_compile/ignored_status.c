/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A call that may throw, its status ignored.
 *
 * Expected: unused-result
 */
#include "kolibri/test/wont_compile/rows.h"

void use(JNIEnv *env, Iterator it);

void use(JNIEnv *env, Iterator it)
{
    java_lang_Object out;
    Iterator_next(env, it, &out);
}
