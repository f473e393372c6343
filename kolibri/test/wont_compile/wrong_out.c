/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A result of another type than the row says.
 *
 * Expected: incompatible pointer
 */
#include "kolibri/test/wont_compile/rows.h"

kol_status use(JNIEnv *env, Iterator it);

kol_status use(JNIEnv *env, Iterator it)
{
    List out;
    return Iterator_next(env, it, &out);
}
