/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Glob patterns as KEYS, SCAN MATCH and PSUBSCRIBE understand them.
 *
 *   *        any bytes, also none          ?        one byte
 *   [abc]    one of these                  [^abc]   one byte but these
 *   [a-z]    one of a range, whose ends may be given in either order
 *   \x       the byte x itself, also inside a class
 *
 * Edges, all as in Redis 7: a class without its `]` ends with the pattern; an
 * empty class `[]` matches nothing, `[^]` and a final `[^` match any byte; a
 * final `\` is itself; the ends of a range are compared as signed bytes; a
 * class takes an escaped byte exactly even if case is ignored. The empty text
 * is matched by the empty pattern only, so callers for whom `*` means "all"
 * test for it first.
 *
 * Time: at most size of pattern times size of text, however many stars there
 * are, and a long class is read once, not once a position. No recursion, no
 * allocation. Any thread.
 */
#ifndef KEVY_SRC_TEXT_GLOB_H
#define KEVY_SRC_TEXT_GLOB_H

#include "base/bytes.h"

/* Returns whether the whole of `text` matches; `nocase` ignores ASCII case. */
bool kv_glob_match(struct bytes pattern, struct bytes text, bool nocase);

/* Returns whether `pattern` is just `*`. */
static inline bool kv_glob_is_all(struct bytes pattern)
{
    return pattern.size == 1 && pattern.data[0] == '*';
}

#endif
