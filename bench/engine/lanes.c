/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The lanes in the order in which they are measured: ours before the peers of
 * the same mode, so that a peer's row can print its ratio.
 */
#include "bench/engine/store.h"

const struct store *const store_lanes[] = {
    &store_kevy_memory,  &store_rust_kevy_memory, &store_sqlite_memory,  &store_redis_memory,
    &store_kevy_lazy,    &store_rust_kevy_lazy,   &store_rust_mmkv,      &store_lmdb_lazy,
    &store_leveldb_lazy, &store_sqlite_lazy,      &store_kevy_durable,   &store_rust_kevy_durable,
    &store_lmdb_durable, &store_leveldb_durable,  &store_sqlite_durable, &store_redis_durable,
};

const size_t store_lane_count = sizeof store_lanes / sizeof store_lanes[0];
