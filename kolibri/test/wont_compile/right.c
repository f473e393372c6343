/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Breaks no rule: shows that the others fail for their own reason.
 *
 * Expected: nothing
 */
#include "kolibri/test/wont_compile/rows.h"

jint use(JNIEnv *env, Iterator it);

jint use(JNIEnv *env, Iterator it)
{
    java_lang_Object out;
    if (!Iterator_hasNext(env, it)) {
        return 0;
    }
    return Iterator_next(env, it, &out);
}
