/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A store under measurement, ours or a peer's, as a table of functions. Each
 * lane is one store in one mode; lanes.c lists them.
 *
 * The stores stand behind the same calls and do the same work: a get copies the
 * value into the caller's buffer, a set takes the caller's bytes. A store that
 * was not there when this was built has a NULL open.
 */
#ifndef BENCH_ENGINE_STORE_H
#define BENCH_ENGINE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_mode {
    MODE_MEMORY, /* nothing on disk */
    MODE_LAZY,   /* on disk; the store's own pace */
    MODE_DURABLE /* on disk before a set returns */
};

struct store {
    const char *lane;
    enum store_mode mode;
    bool is_ours;
    bool is_shared; /* one handle for many threads */
    bool is_slow;   /* fewer operations a round */

    /* Opens in an empty folder; NULL: it cannot. */
    void *(*open)(const char *dir, enum store_mode mode);
    void (*close)(void *handle);
    int (*set)(void *handle, const char *key, size_t key_size, const char *value, size_t size);

    /* The size of the value, or -1. */
    long (*get)(void *handle, const char *key, size_t key_size, char *out, size_t capacity);
};

/* All lanes, in the order in which they are measured; ours first. */
extern const struct store *const store_lanes[];
extern const size_t store_lane_count;

extern const struct store store_kevy_memory, store_kevy_lazy, store_kevy_durable;
extern const struct store store_lmdb_lazy, store_lmdb_durable;
extern const struct store store_sqlite_memory, store_sqlite_lazy, store_sqlite_durable;
extern const struct store store_leveldb_lazy, store_leveldb_durable;
extern const struct store store_redis_memory, store_redis_durable;
extern const struct store store_rust_kevy_memory, store_rust_kevy_lazy, store_rust_kevy_durable;
extern const struct store store_rust_mmkv;

#endif
