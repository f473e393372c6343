/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The host: what INFO, CONFIG and DEBUG want to know of and do to the engine
 * around the commands, as a table that engine/ fills. Tests put in their own.
 *
 * A function that is NULL is something the host cannot do; the command then
 * answers with an error.
 */
#ifndef KEVY_SRC_COMMAND_HOST_H
#define KEVY_SRC_COMMAND_HOST_H

#include "base/bytes.h"
#include "kevy.h"

/* What the engine knows of itself. Times are wall milliseconds. */
struct kv_facts {
    const char *version;
    struct bytes dir; /* empty: in memory */
    uint8_t fsync;    /* KEVY_FSYNC_… */
    uint64_t opened_ms;
    int32_t policy; /* KEVY_EVICT_…, what gives way at stats.memory_max */
    KevyStats stats;
};

struct kv_host {
    void *self;

    /* Fills the facts. Called with and without the store's lock held, which
     * is_locked says. */
    void (*facts)(void *self, bool is_locked, struct kv_facts *out);

    /* Sets the flush policy. 0 or a kevy_status < 0. Without the store's lock. */
    int (*set_fsync)(void *self, uint8_t fsync);

    /* Sets maxmemory and its policy, and evicts. 0 or a kevy_status < 0. Without
     * the store's lock. */
    int (*set_memory)(void *self, uint64_t bytes, int32_t policy);

    /* Returns after that time. Without the store's lock. */
    void (*sleep_ms)(void *self, uint64_t ms);
};

#endif
