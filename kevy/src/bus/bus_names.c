/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The names in use, for PUBSUB CHANNELS. The list is measured under the lock,
 * allocated without it and filled under it, again if names came meanwhile.
 */
#include "kevy/src/bus/bus_inner.h"
#include "kevy/src/text/glob.h"

/* Adds a name to the list if it fits; counts its size either way. */
static void names_add(struct kv_names *names, struct bytes name)
{
    size_t size = 4 + name.size;
    if (names->size + size <= names->capacity) {
        store_u32(names->packed + names->size, (uint32_t)name.size);
        if (name.size > 0) {
            memcpy(names->packed + names->size + 4, name.data, name.size);
        }
    }
    names->size += size;
    names->count++;
}

static void names_fill(struct kv_bus *bus, const struct bytes *pattern, struct kv_names *names)
{
    names->size = 0;
    names->count = 0;
    for (uint32_t i = 0; i < bus->bucket_count; i++) {
        for (struct kv_topic *topic = bus->buckets[i]; topic != NULL; topic = topic->next) {
            struct bytes name = kv_topic_name(topic);
            if (pattern == NULL || kv_glob_is_all(*pattern) ||
                kv_glob_match(*pattern, name, false)) {
                names_add(names, name);
            }
        }
    }
}

int32_t kv_bus_channels(struct kv_bus *bus, const struct bytes *pattern, struct kv_names *out)
{
    struct kv_hold hold;
    *out = (struct kv_names){NULL, 0, 0, 0};
    kv_hold_enter(&hold, bus);
    names_fill(bus, pattern, out);
    while (out->size > out->capacity) {
        size_t size = out->size;
        kv_hold_leave(&hold);
        uint8_t *packed = (uint8_t *)kv_mem_resize(&bus->mem, out->packed, out->capacity, size);
        if (packed == NULL) {
            kv_names_done(bus, out);
            return KEVY_ENOMEM;
        }
        out->packed = packed;
        out->capacity = size;
        kv_hold_again(&hold);
        names_fill(bus, pattern, out);
    }
    kv_hold_leave(&hold);
    return KEVY_OK;
}

void kv_names_done(struct kv_bus *bus, struct kv_names *names)
{
    kv_mem_free(&bus->mem, names->packed, names->capacity);
    *names = (struct kv_names){NULL, 0, 0, 0};
}
