/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy/mem.h: the memory that a store uses, for embedders who bring their own
 * and for tests that make allocations fail.
 *
 * One function does it all: it allocates (ptr NULL), resizes, and frees
 * (new_size 0, returns NULL). It gets the old size, so that an allocator need
 * not keep it. On failure it returns NULL and the old block stays as it was.
 * Blocks are aligned for any type. Any thread may call it.
 */
#ifndef KEVY_MEM_H
#define KEVY_MEM_H

#include <stddef.h>

typedef struct kevy_mem {
    void *self;
    void *(*resize)(void *self, void *ptr, size_t old_size, size_t new_size);
} kevy_mem;

#endif
