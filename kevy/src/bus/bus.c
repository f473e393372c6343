/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The bus of a store and the ports of its handles: making, closing, dropping,
 * and the questions of PUBSUB NUMSUB and NUMPAT.
 *
 * The bus has its own counted memory, because it outlives its store while a
 * subscription is left open.
 */
#include "base/hash.h"
#include "kevy/src/bus/bus_inner.h"

struct kv_bus *kv_bus_new(const kevy_mem *table, struct kv_mem *bufs, uint64_t seed)
{
    struct kv_mem mem;
    kv_mem_init(&mem, table);
    struct kv_bus *bus = (struct kv_bus *)kv_mem_zeroed(&mem, sizeof *bus);
    if (bus == NULL) {
        return NULL;
    }
    kv_mutex_init(&bus->mutex);
    kv_mem_init(&bus->mem, table);
    bus->bufs = bufs;
    bus->seed = seed;
    bus->refs = 1;
    bus->buckets = bus->first_buckets;
    bus->bucket_count = KV_BUS_BUCKETS;
    list_init(&bus->patterns);
    return bus;
}

/* Frees a bus that nobody can reach any more. */
static void bus_free(struct kv_bus *bus)
{
    struct kv_hold hold;
    kv_hold_enter(&hold, bus);
    ASSERT(bus->channel_count == 0 && list_is_empty(&bus->patterns));
    kv_pool_trim(&bus->pool, &hold.trash);
    kv_hold_leave(&hold);
    if (bus->buckets != bus->first_buckets) {
        kv_mem_free(&bus->mem, bus->buckets, bus->bucket_count * sizeof bus->buckets[0]);
    }
    ASSERT(atomic_load(&bus->mem.used) == 0);
    /* The block was taken from a counter of its own, which is gone; only the table frees it. */
    bus->mem.table.resize(bus->mem.table.self, bus, sizeof *bus, 0);
}

void kv_bus_drop(struct kv_bus *bus)
{
    struct kv_hold hold;
    kv_hold_enter(&hold, bus);
    ASSERT(bus->refs > 0);
    bus->refs--;
    bool is_last = bus->refs == 0;
    kv_hold_leave(&hold);
    if (is_last) {
        bus_free(bus);
    }
}

size_t kv_bus_memory(const struct kv_bus *bus)
{
    return sizeof *bus + atomic_load_explicit(&bus->mem.used, memory_order_relaxed);
}

uint64_t kv_bus_wakes(struct kv_bus *bus)
{
    struct kv_hold hold;
    kv_hold_enter(&hold, bus);
    uint64_t wakes = bus->wakes;
    kv_hold_leave(&hold);
    return wakes;
}

void kv_bus_stats(struct kv_bus *bus, struct kv_bus_stats *out)
{
    struct kv_hold hold;
    kv_hold_enter(&hold, bus);
    *out = (struct kv_bus_stats){bus->deliveries, bus->dropped, bus->wakes};
    kv_hold_leave(&hold);
}

void kv_port_open(struct kv_port *port, struct kv_bus *bus)
{
    port->bus = bus;
    port->is_closed = false;
    list_init(&port->subs);
}

void kv_port_close(struct kv_port *port)
{
    struct kv_hold hold;
    kv_hold_enter(&hold, port->bus);
    port->is_closed = true;
    while (!list_is_empty(&port->subs)) {
        kv_sub_retire(&hold, LIST_OWNER(port->subs.next, struct kv_sub, port_node));
    }
    kv_hold_wake_all(&hold, &port->bus->room);
    kv_hold_leave(&hold);
}

uint64_t kv_bus_numsub(struct kv_bus *bus, struct bytes channel)
{
    struct kv_hold hold;
    uint64_t hash = hash_bytes(channel.data, channel.size, bus->seed);
    kv_hold_enter(&hold, bus);
    struct kv_topic *topic = kv_topics_find(bus, channel, hash, KV_SUB_CHANNEL);
    uint64_t count = topic == NULL ? 0 : topic->link_count;
    kv_hold_leave(&hold);
    return count;
}

uint64_t kv_bus_numpat(struct kv_bus *bus)
{
    return atomic_load_explicit(&bus->pattern_count, memory_order_relaxed);
}
