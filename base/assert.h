/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Asserts, in four prices. A failed one means that this code is wrong: bad
 * input, full disks and missing memory are statuses and never come here.
 *
 *   ASSERT(x)       development, sanitizer and fuzz builds; gone with NDEBUG
 *   ASSERT_SLOW(x)  whole-structure checks; hostile builds only
 *   ALWAYS(x)       must hold; ASSERT in development, a real branch in release
 *   NEVER(x)        must not hold; likewise
 *   STATIC_ASSERT   sizes, tags and table lengths, at compile time
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <assert.h>

#ifdef NDEBUG
#define ASSERT(x) ((void)0)
#define ALWAYS(x) (x)
#define NEVER(x) (x)
#else
#define ASSERT(x) assert(x)
#define ALWAYS(x) ((x) ? 1 : (assert(!"ALWAYS " #x), 0))
#define NEVER(x) ((x) ? (assert(!"NEVER " #x), 1) : 0)
#endif

#ifdef KEVY_HOSTILE
#define ASSERT_SLOW(x) assert(x)
#else
#define ASSERT_SLOW(x) ((void)0)
#endif

#define STATIC_ASSERT(x, text) _Static_assert(x, text)

#endif
