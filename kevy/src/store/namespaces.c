/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The namespace map as bytes, and back; see namespaces.h. A map that was read
 * gives each database a namespace of its own.
 */
#include "kevy/src/store/namespaces.h"

void kv_namespaces_first(struct kv_namespaces *map)
{
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        map->database[i] = i;
    }
    map->next = KV_NAMESPACE_DATABASES;
}

void kv_namespaces_encode(const struct kv_namespaces *map, uint8_t out[KV_NAMESPACES_SIZE])
{
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        store_u32(out + (size_t)i * 4, map->database[i]);
    }
    store_u32(out + (size_t)KV_NAMESPACE_DATABASES * 4, map->next);
}

static bool namespaces_are_valid(const struct kv_namespaces *map)
{
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        if (map->database[i] >= map->next) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (map->database[j] == map->database[i]) {
                return false;
            }
        }
    }
    return true;
}

bool kv_namespaces_decode(struct bytes from, struct kv_namespaces *out)
{
    if (from.size != KV_NAMESPACES_SIZE) {
        return false;
    }
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        out->database[i] = load_u32(from.data + (size_t)i * 4);
    }
    out->next = load_u32(from.data + (size_t)KV_NAMESPACE_DATABASES * 4);
    return namespaces_are_valid(out);
}

bool kv_namespaces_has(const struct kv_namespaces *map, uint32_t namespace_id)
{
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        if (map->database[i] == namespace_id) {
            return true;
        }
    }
    return false;
}
