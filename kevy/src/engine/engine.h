/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The engine: one store, whatever number of handles point at it. It binds the
 * wings (keyspace, log, bus) and owns the writer lock.
 *
 *     KevyDb ---+
 *     KevyDb ---+--> kv_engine --> keyspace --> journal of the log
 *     KevyDb ---+        |-------> log
 *                        +-------> bus
 *
 * What lives here: the structures behind the public handles. Opening and
 * sharing is in registry.c, entering a call in gate.h, the public functions in
 * the files api_*.c.
 *
 * Threads: any thread calls through any handle. The keyspace is read and
 * written under `writer`. A handle outlives every call that began before its
 * close returned (gate.h).
 */
#ifndef KEVY_SRC_ENGINE_ENGINE_H
#define KEVY_SRC_ENGINE_ENGINE_H

#include "kevy.h"

#include "base/list.h"
#include "kevy/src/bus/bus.h"
#include "kevy/src/command/host.h"
#include "kevy/src/engine/listen.h"
#include "kevy/src/keyspace/keyspace.h"
#include "kevy/src/log/log.h"
#include "kevy/src/os/os_thread.h"

struct kv_engine {
    struct kv_mem mem;
    const kevy_os *os;
    struct kv_mutex writer;
    struct kv_clock clock;
    struct kv_log *log;
    struct kv_keyspace keyspace;
    struct kv_bus *bus;
    const KevyDb *writing; /* the handle that holds the lock to write, or the last that did */
    struct kv_listeners listeners;
    uint64_t memory_max; /* maxmemory, 0 none; under the writer lock */
    KevyOpenReport report;
    bool is_durable; /* file-backed */
    char *path;      /* as it was opened, NUL-terminated; NULL in memory */

    /* under the registry's lock */
    struct list node; /* in the list of file-backed engines */
    uint64_t identity[2];
    uint32_t handle_count;
    uint32_t policy_counts[3]; /* handles by KEVY_FSYNC_… */
    bool is_opening;
};

struct KevyDb {
    struct kv_engine *engine;
    struct kv_port port;
    struct kv_host host; /* for commands */
    unsigned fork_count; /* of the process that opened it */
    uint8_t fsync;
    _Atomic uint32_t is_closed;
    _Atomic uint32_t is_shut; /* kevy_shutdown: writes fail */
    _Atomic uint32_t pins;    /* calls that left the epoch but not the handle, see gate.h */
    KevyDb *close_next;       /* in a list of listen.c */
};

/* How a store is opened; tests bring their own os and memory. */
struct kv_open {
    struct bytes dir; /* empty: in memory */
    const KevyOpenOptions *options;
    const kevy_os *os;
    const kevy_mem *mem;
    size_t segment_size; /* these two are the log's, see kv_log_options */
    bool is_threadless;
};

/* Opens or shares a store. 0 and a handle that is yours (free with
 * kevy_close), or a status < 0 with *error filled. Any thread. */
int kv_engine_open(const struct kv_open *open, KevyDb **out, KevyError *error);

/* Ends a handle that kv_gate_close marked: waits for its calls and listeners,
 * and leaves. */
void kv_handle_end(KevyDb *db);

/* Gives a handle's share up; the last one closes the store. */
void kv_engine_leave(KevyDb *db);

/* Changes the flush policy that a handle asks for. */
void kv_engine_set_fsync(KevyDb *db, uint8_t fsync);

/* Makes a store that nobody shares yet, and replays it; 0 or a status < 0. */
int kv_engine_new(const struct kv_open *open, struct kv_engine **out, KevyError *error);

/* Flushes, closes and frees a store. */
void kv_engine_free(struct kv_engine *engine);

/* Before a write that needs room: evicts if the store is above its maxmemory. 0,
 * KEVY_EMEMORY, or why evicting failed. Under the writer lock, in an epoch. */
int kv_room_make_slow(struct kv_engine *engine);
static inline int kv_room_make(struct kv_engine *engine)
{
    return engine->memory_max == 0 ? 0 : kv_room_make_slow(engine);
}

/* Sets maxmemory and policy, and evicts. 0, KEVY_EMISUSE, KEVY_ENOMEM. Not under
 * the lock. */
int kv_room_set(struct kv_engine *engine, uint64_t bytes, int32_t policy);

/* Counts and measures everything. Under the writer lock. */
void kv_engine_stats(const struct kv_engine *engine, KevyStats *out);

/* Fills *error (may be NULL) and returns `status`. `path` may be empty. */
int kv_error_set(KevyError *error, int status, const char *text, struct bytes path);

/* What the functions of ABI 1 return for a status: 0, -1 or -2; that is then what
 * kevy_last_status says. */
int32_t kv_result(int status);

/* Notes what kevy_last_status says. */
void kv_status_note(int status);

/* Whether pointer and size, as a caller gave them, are bytes that a key, a value,
 * a channel or a message may have: asked before the first of them is read. */
static inline bool kv_is_bytes(const uint8_t *data, size_t size)
{
    return size == 0 || (data != NULL && size <= KEVY_SIZE_MAX);
}

/* What a function returns for what is not: -1, or -2 when it is only too long. */
static inline int32_t kv_not_bytes(const uint8_t *data)
{
    return data == NULL ? -1 : kv_result(KEVY_ELIMIT);
}

#endif
