/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the programs of this folder share: two handles, some rows of each kind, one native table.
 * Each program breaks one rule; the line "Expected:" of its card names what the compiler must say.
 */
#ifndef KOLIBRI_TEST_WONT_COMPILE_ROWS_H
#define KOLIBRI_TEST_WONT_COMPILE_ROWS_H

#include <kolibri/kolibri.h>

KOL_HANDLE(Iterator, "java/util/Iterator", java_lang_Object)
KOL_HANDLE(List, "java/util/List", java_lang_Object)
#define ITERATOR(X, C)                                                                             \
    X(C, F0, nothrow, jboolean, hasNext, "hasNext")                                                \
    X(C, F0, throws, java_lang_Object, next, "next")                                               \
    X(C, F0, optional, jint, rest, "rest")
KOL_MEMBERS(Iterator, ITERATOR)
KOL_MEMBERS_DEFINE(Iterator, ITERATOR)

struct counter {
    int n;
};
struct other {
    int n;
};
KOL_NATIVE(Counter, "io/example/Counter", struct counter)
KOL_NATIVE(Other, "io/example/Other", struct other)

#endif
