/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A handle of another class.
 *
 * Expected: incompatible type
 */
#include "kolibri/test/wont_compile/rows.h"

jboolean use(JNIEnv *env, List list);

jboolean use(JNIEnv *env, List list)
{
    return Iterator_hasNext(env, list);
}
