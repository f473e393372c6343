/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Our own lanes: the public C ABI of libkevy, in memory, everysec and always.
 * The same calls that an application makes.
 */
#include <string.h>

#include "bench/engine/store.h"
#include "kevy.h"

static void *kevy_lane_open(const char *dir, enum store_mode mode)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    options.fsync = mode == MODE_DURABLE ? KEVY_FSYNC_ALWAYS : KEVY_FSYNC_EVERYSEC;
    return mode == MODE_MEMORY ? kevy_open_mem()
                               : kevy_open_with((const uint8_t *)dir, strlen(dir), &options);
}

static void kevy_lane_close(void *handle)
{
    kevy_close(handle);
}

static int kevy_lane_set(void *handle, const char *key, size_t key_size, const char *value,
                         size_t size)
{
    return kevy_set(handle, (const uint8_t *)key, key_size, (const uint8_t *)value, size, 0);
}

static long kevy_lane_get(void *handle, const char *key, size_t key_size, char *out,
                          size_t capacity)
{
    size_t size;
    int32_t hit =
        kevy_get_into(handle, (const uint8_t *)key, key_size, (uint8_t *)out, capacity, &size);
    return hit == 1 ? (long)size : -1;
}

#define KEVY_REST kevy_lane_open, kevy_lane_close, kevy_lane_set, kevy_lane_get

const struct store store_kevy_memory = {"kevy, memory", MODE_MEMORY, true, true, false, KEVY_REST};
const struct store store_kevy_lazy = {
    "kevy, file, everysec", MODE_LAZY, true, true, false, KEVY_REST};
const struct store store_kevy_durable = {
    "kevy, file, always", MODE_DURABLE, true, true, true, KEVY_REST};
