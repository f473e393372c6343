/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The only malloc of the engine: libc behind the one-function table, and the
 * counting wrapper around any table. See mem.h.
 *
 * Counters are relaxed: they are read for statistics and by tests that have
 * no other thread running.
 */
#include "kevy/src/mem/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static void *libc_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    (void)self;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

const kevy_mem kv_mem_libc = {NULL, libc_resize};

void kv_mem_init(struct kv_mem *mem, const kevy_mem *table)
{
    mem->table = *table;
    atomic_init(&mem->used, 0);
    atomic_init(&mem->blocks, 0);
    mem->is_uncounted = false;
}

/* Adds to the counts; a decrease is an increase that wraps. */
static void count(struct kv_mem *mem, size_t size, size_t blocks)
{
    if (!mem->is_uncounted) {
        atomic_fetch_add_explicit(&mem->used, size, memory_order_relaxed);
        atomic_fetch_add_explicit(&mem->blocks, blocks, memory_order_relaxed);
    }
}

void *kv_mem_resize(struct kv_mem *mem, void *ptr, size_t old_size, size_t new_size)
{
    ASSERT(new_size > 0);
    ASSERT((ptr == NULL) == (old_size == 0));
    void *block = mem->table.resize(mem->table.self, ptr, old_size, new_size);
    if (block == NULL) {
        return NULL;
    }
    count(mem, new_size - old_size, ptr == NULL);
    return block;
}

void *kv_mem_new(struct kv_mem *mem, size_t size)
{
    return kv_mem_resize(mem, NULL, 0, size);
}

void *kv_mem_zeroed(struct kv_mem *mem, size_t size)
{
    void *block = kv_mem_new(mem, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

void kv_mem_free(struct kv_mem *mem, void *ptr, size_t size)
{
    if (ptr == NULL) {
        return;
    }
    ASSERT(size > 0);
    mem->table.resize(mem->table.self, ptr, size, 0);
    count(mem, (size_t)0 - size, (size_t)0 - 1);
}
