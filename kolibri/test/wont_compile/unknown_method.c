/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A method that no row declares.
 *
 * Expected: implicit
 */
#include "kolibri/test/wont_compile/rows.h"

jint use(JNIEnv *env, Iterator it);

jint use(JNIEnv *env, Iterator it)
{
    return Iterator_size(env, it);
}
