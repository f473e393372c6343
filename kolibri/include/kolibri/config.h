/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The settings and the few compiler words that every room of Kolibri uses.
 *
 * KOL_CHECK is chosen for each file of yours that includes Kolibri; the library itself always
 * carries the code of every level:
 *   0  raw: no check of ours. Only for code whose Java calls cannot throw.
 *   1  exceptions (default): calls marked `throws` report a pending exception by their status,
 *      a null receiver is refused with a NullPointerException.
 *   2  misuse: also a wrong thread's env, a pending exception on entry, a native pointer that is
 *      no live object of its type, a broken `nothrow` promise, each reported by name.
 *   3  types: also IsInstanceOf for every handle that goes into a call.
 *
 * What does not live here: jni.h (rooms that speak of the VM include it themselves),
 * status values (status.h), the macros that generate code (class_gen.h).
 */
#ifndef KOLIBRI_CONFIG_H
#define KOLIBRI_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#ifndef KOL_CHECK
#define KOL_CHECK 1
#endif

/* Misuse that C compilers only warn about is an error in every file that includes Kolibri. */
#ifdef __GNUC__
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
#pragma GCC diagnostic error "-Wint-conversion"
#endif
#pragma GCC diagnostic error "-Wunused-result"
#endif

#ifdef __cplusplus
#define KOL__C_BEGIN extern "C" {
#define KOL__C_END }
#define KOL__STATIC_ASSERT(condition, text) static_assert(condition, text)
#define kol__jni(env) ((env)->functions)
#else
#define KOL__C_BEGIN
#define KOL__C_END
#define KOL__STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define kol__jni(env) (*(env))
#endif

#ifdef __GNUC__
#define KOL__MUST __attribute__((warn_unused_result))
#define KOL__UNUSED __attribute__((unused))
#define KOL__HIDDEN __attribute__((visibility("hidden")))
#define KOL__FORMAT(text, first) __attribute__((format(printf, text, first)))
#define KOL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define KOL__MUST
#define KOL__UNUSED
#define KOL__HIDDEN
#define KOL__FORMAT(text, first)
#define KOL__UNLIKELY(x) (x)
#endif

#define KOL__INLINE static inline KOL__UNUSED

#endif
