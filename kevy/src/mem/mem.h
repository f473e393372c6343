/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory: every block of the engine comes from here. What lives here: the
 * default kevy_mem over libc, and a counted wrapper that the engine passes
 * down. What does not: value bytes, which lie in segments (store/).
 *
 * A failed allocation is a NULL that the caller turns into KEVY_ENOMEM with
 * its state unchanged; nothing here aborts. Any thread.
 */
#ifndef KEVY_SRC_MEM_MEM_H
#define KEVY_SRC_MEM_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kevy/mem.h"

/* A counted allocator. `used` is the sum of the sizes that were asked for.
 * Counting is two atomic adds a call, so memory that is handed out and freed
 * on a hot path goes uncounted. */
struct kv_mem {
    kevy_mem table;
    _Atomic size_t used;
    _Atomic size_t blocks;
    bool is_uncounted;
};

/* The process's own memory: libc's realloc and free. */
extern const kevy_mem kv_mem_libc;

/* The buffers that the library hands out (KevyBuf), uncounted; see buffers.h. */
extern struct kv_mem kv_mem_buffers;

void kv_mem_init(struct kv_mem *mem, const kevy_mem *table);

/* Returns `size` bytes, zeroed or not, or NULL. Free with kv_mem_free and the same size. */
void *kv_mem_new(struct kv_mem *mem, size_t size);
void *kv_mem_zeroed(struct kv_mem *mem, size_t size);

/* Resizes a block; NULL leaves it as it was. ptr NULL allocates. */
void *kv_mem_resize(struct kv_mem *mem, void *ptr, size_t old_size, size_t new_size);

/* Frees a block of `size` bytes; NULL is fine. */
void kv_mem_free(struct kv_mem *mem, void *ptr, size_t size);

#endif
