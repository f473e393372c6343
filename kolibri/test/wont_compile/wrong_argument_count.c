/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Not enough arguments.
 *
 * Expected: few arguments
 */
#include "kolibri/test/wont_compile/rows.h"

jboolean use(JNIEnv *env);

jboolean use(JNIEnv *env)
{
    return Iterator_hasNext(env);
}
