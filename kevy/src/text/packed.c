/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packed arguments: for each a u32 little-endian length and its bytes. The
 * pack is walked twice, once to check and count, once to fill, so that nothing
 * of a damaged pack is ever used. Declared in request.h.
 */
#include "base/assert.h"
#include "kevy/src/text/request.h"

size_t kv_packed_count(struct bytes packed)
{
    size_t count = 0, at = 0;
    while (at < packed.size) {
        if (packed.size - at < 4) {
            return 0;
        }
        size_t size = load_u32(packed.data + at);
        at += 4;
        if (size > packed.size - at) {
            return 0;
        }
        at += size;
        count++;
    }
    return count;
}

void kv_packed_parse(struct bytes packed, struct bytes *argv)
{
    for (size_t at = 0; at < packed.size;) {
        size_t size = load_u32(packed.data + at);
        ASSERT(size <= packed.size - at - 4);
        *argv++ = bytes_of(packed.data + at + 4, size);
        at += 4 + size;
    }
}
