/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A call that cannot throw, used as if it could.
 *
 * Expected: many arguments
 */
#include "kolibri/test/wont_compile/rows.h"

kol_status use(JNIEnv *env, Iterator it);

kol_status use(JNIEnv *env, Iterator it)
{
    jboolean out;
    return Iterator_hasNext(env, it, &out);
}
