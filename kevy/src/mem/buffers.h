/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The buffers that the library hands out (KevyBuf). They are libc's memory, the
 * same for every store, since freeing one names no store; a header says what a
 * buffer is, so that nothing that its owner says is believed.
 *
 *   block   [ header, 16 bytes ][ bytes ... ]
 *                                ^ the pointer that callers see
 *
 * All small ones have one capacity. The thread that frees one keeps it for its
 * next, at most KV_BUFFER_KEPT of them, in its epoch slot: so a call and the
 * freeing of what it returned need no allocator. The next thread that claims
 * the slot takes them over. Hostile builds keep none, so that a tool sees every
 * late access.
 *
 * kv_mem_buffers is the same memory as a kv_mem, for those who are handed one.
 *
 * Threads: any; a buffer may be freed by another thread than got it.
 */
#ifndef KEVY_SRC_MEM_BUFFERS_H
#define KEVY_SRC_MEM_BUFFERS_H

#include "kevy/src/mem/mem.h"
#include "kevy/src/os/os_epoch.h"

#define KV_BUFFER_SMALL ((size_t)112) /* two cache lines with the header */
#ifdef KEVY_HOSTILE
#define KV_BUFFER_KEPT 0u
#else
#define KV_BUFFER_KEPT 8u
#endif

/* What a buffer is now. A second freeing of one that is kept is told by it and does
 * nothing; so does, as a rule, one of a buffer that went back to libc, whose first
 * bytes libc then uses. */
enum { KV_BUFFER_LIVE = 0x6b76624c, KV_BUFFER_FREE = 0x6b766246 };

struct kv_buffer {
    struct kv_buffer *next; /* among those that are kept */
    uint32_t state;
    bool is_small;
};

#define KV_BUFFER_HEADER ((size_t)16)

static inline struct kv_buffer *kv_buffer_of(uint8_t *bytes)
{
    return (struct kv_buffer *)(void *)(bytes - KV_BUFFER_HEADER);
}

static inline uint8_t *kv_buffer_bytes(struct kv_buffer *buffer)
{
    return (uint8_t *)buffer + KV_BUFFER_HEADER;
}

/* Returns a buffer of at least `size` bytes, which may be 0, and its capacity;
 * NULL without memory. Free with kv_buffer_free. */
uint8_t *kv_buffer_new_slow(size_t size, size_t *capacity_out);
static inline uint8_t *kv_buffer_new(size_t size, size_t *capacity_out)
{
    struct kv_epoch_slot *slot = kv_epoch_own;
    struct kv_buffer *kept = slot == NULL ? NULL : slot->kept;
    if (size > KV_BUFFER_SMALL || kept == NULL) {
        return kv_buffer_new_slow(size, capacity_out);
    }
    slot->kept = kept->next;
    slot->kept_count--;
    kept->state = KV_BUFFER_LIVE;
    *capacity_out = KV_BUFFER_SMALL;
    return kv_buffer_bytes(kept);
}

/* Frees a buffer, not NULL. */
void kv_buffer_free_slow(uint8_t *bytes);
static inline void kv_buffer_free(uint8_t *bytes)
{
    struct kv_epoch_slot *slot = kv_epoch_own;
    struct kv_buffer *buffer = kv_buffer_of(bytes);
    if (buffer->state != KV_BUFFER_LIVE) {
        return;
    }
    buffer->state = KV_BUFFER_FREE;
    if (!buffer->is_small || slot == NULL || slot->kept_count == KV_BUFFER_KEPT) {
        kv_buffer_free_slow(bytes);
        return;
    }
    buffer->next = slot->kept;
    slot->kept = buffer;
    slot->kept_count++;
}

#endif
