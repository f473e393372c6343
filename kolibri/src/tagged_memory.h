/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The memory of the tagged rooms: every allocation goes through one resize function, so that tests
 * can count them and let the n-th fail.
 */
#ifndef KOLIBRI_SRC_TAGGED_MEMORY_H
#define KOLIBRI_SRC_TAGGED_MEMORY_H

#include <kolibri/tagged_value.h>

#include <stdlib.h>

static inline void *libc_resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static inline struct kol_memory memory_or_libc(const struct kol_memory *memory)
{
    struct kol_memory libc = {libc_resize, NULL};
    return memory ? *memory : libc;
}

static inline void *memory_take(const struct kol_memory *memory, size_t size)
{
    return memory->resize(memory->user, NULL, size);
}

static inline void memory_free(const struct kol_memory *memory, void *block)
{
    if (block) {
        memory->resize(memory->user, block, 0);
    }
}

#endif
