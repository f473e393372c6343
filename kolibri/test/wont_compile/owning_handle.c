/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An owning handle where a borrowed one is wanted.
 *
 * Expected: incompatible type
 */
#include "kolibri/test/wont_compile/rows.h"

jboolean use(JNIEnv *env, Iterator__global global);

jboolean use(JNIEnv *env, Iterator__global global)
{
    return Iterator_hasNext(env, global);
}
