/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Getting, growing and giving back the memory behind buffers; see buffers.h.
 *
 * What a thread keeps is in its epoch slot and is never counted; a buffer that
 * grows past the small capacity is an ordinary block from then on.
 */
#include "kevy/src/mem/buffers.h"

#include "base/assert.h"

STATIC_ASSERT(sizeof(struct kv_buffer) <= KV_BUFFER_HEADER, "the header fits before the bytes");

/* Makes or resizes the block of a buffer. */
static uint8_t *buffer_resize(uint8_t *bytes, size_t size)
{
    bool is_small = size <= KV_BUFFER_SMALL;
    size_t capacity = is_small ? KV_BUFFER_SMALL : size;
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    struct kv_buffer *buffer =
        kv_mem_libc.resize(kv_mem_libc.self, bytes == NULL ? NULL : kv_buffer_of(bytes),
                           bytes == NULL ? 0 : KV_BUFFER_HEADER, KV_BUFFER_HEADER + capacity);
    if (buffer == NULL) {
        return NULL;
    }
    *buffer = (struct kv_buffer){.state = KV_BUFFER_LIVE, .is_small = is_small};
    return kv_buffer_bytes(buffer);
}

static void *buffers_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    (void)old_size;
    if (new_size == 0) {
        kv_buffer_free(ptr);
        return NULL;
    }
    return buffer_resize(ptr, new_size);
}

struct kv_mem kv_mem_buffers = {{NULL, buffers_resize}, 0, 0, true};

uint8_t *kv_buffer_new_slow(size_t size, size_t *capacity_out)
{
    size_t capacity = size <= KV_BUFFER_SMALL ? KV_BUFFER_SMALL : size;
    *capacity_out = capacity;
    return kv_mem_new(&kv_mem_buffers, capacity);
}

void kv_buffer_free_slow(uint8_t *bytes)
{
    (void)kv_mem_libc.resize(kv_mem_libc.self, kv_buffer_of(bytes), KV_BUFFER_HEADER, 0);
}
