/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A raw reference where a handle is needed.
 *
 * Expected: incompatible type
 */
#include "kolibri/test/wont_compile/rows.h"

jboolean use(JNIEnv *env, jobject raw);

jboolean use(JNIEnv *env, jobject raw)
{
    return Iterator_hasNext(env, raw);
}
