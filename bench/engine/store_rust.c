/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Rust crates kevy-embedded and mmkv as peers, through the C functions of
 * rust/src/lib.rs, which `run` builds where there is a cargo that can.
 *
 * kevy-embedded in its own terms: without a log, with a log that is flushed
 * each second (its writes wait in a buffer of the process, so a kill loses
 * some), and with one that is flushed for each write. mmkv has one mode: a
 * mapped file.
 */
#include "bench/engine/store.h"

#ifdef HAVE_RUST_KEVY
void *bench_kevy_open(const char *dir, int mode);
void bench_kevy_close(void *handle);
int bench_kevy_set(void *handle, const char *key, size_t key_size, const char *value, size_t size);
long bench_kevy_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity);

static void *rust_kevy_open(const char *dir, enum store_mode mode)
{
    return bench_kevy_open(dir, mode == MODE_MEMORY ? 0 : mode == MODE_LAZY ? 1 : 2);
}
#define RUST_KEVY rust_kevy_open, bench_kevy_close, bench_kevy_set, bench_kevy_get
#else
#define RUST_KEVY NULL, NULL, NULL, NULL
#endif

#ifdef HAVE_RUST_MMKV
void *bench_mmkv_open(const char *dir, int mode);
void bench_mmkv_close(void *handle);
int bench_mmkv_set(void *handle, const char *key, size_t key_size, const char *value, size_t size);
long bench_mmkv_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity);

static void *rust_mmkv_open(const char *dir, enum store_mode mode)
{
    return bench_mmkv_open(dir, (int)mode);
}
#define RUST_MMKV rust_mmkv_open, bench_mmkv_close, bench_mmkv_set, bench_mmkv_get
#else
#define RUST_MMKV NULL, NULL, NULL, NULL
#endif

const struct store store_rust_kevy_memory = {
    "kevy-embedded (Rust), memory", MODE_MEMORY, false, true, false, RUST_KEVY};
const struct store store_rust_kevy_lazy = {
    "kevy-embedded (Rust), everysec", MODE_LAZY, false, true, false, RUST_KEVY};
const struct store store_rust_kevy_durable = {
    "kevy-embedded (Rust), always", MODE_DURABLE, false, true, true, RUST_KEVY};
const struct store store_rust_mmkv = {"mmkv (Rust)", MODE_LAZY, false, true, true, RUST_MMKV};
