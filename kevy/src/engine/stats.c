/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a store counts, gathered from its wings; kevy.h says what the numbers
 * mean. INFO and MEMORY USAGE (command/) tell the same ones.
 *
 * Memory: every block of the engine is counted where it is asked for (mem/),
 * every record where it lies (log/), so the parts add up to the whole.
 */
#include "kevy/src/engine/gate.h"

static void stats_keys(const struct kv_keyspace *ks, KevyStats *out)
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        out->keys += kv_keyspace_count(ks, db);
        out->expiring_keys += kv_keyspace_expiring(ks, db);
    }
    out->changes = ks->changes;
    out->expired_keys = ks->expired;
    out->evicted_keys = ks->evicted;
}

static void stats_memory(const struct kv_engine *engine, const struct kv_log_stats *log,
                         KevyStats *out)
{
    uint64_t counted = atomic_load_explicit(&engine->mem.used, memory_order_relaxed);
    out->memory_records = log->live_size;
    out->memory_dead = log->dead_size;
    out->memory_table = kv_keyspace_memory(&engine->keyspace);
    out->memory_bus = kv_bus_memory(engine->bus);
    out->memory_other = counted - out->memory_table + sizeof *engine;
    out->memory_max = engine->memory_max;
    out->memory_used =
        out->memory_records + out->memory_table + out->memory_bus + out->memory_other;
}

static void stats_log(const struct kv_log_stats *log, KevyStats *out)
{
    out->log_files = log->segment_count;
    out->log_size = log->file_size;
    out->log_flushes = log->flush_count;
    out->log_lsn_end = log->lsn_end;
    out->log_lsn_durable = log->lsn_durable;
    out->log_error = log->error;
}

void kv_engine_stats(const struct kv_engine *engine, KevyStats *out)
{
    struct kv_log_stats log;
    struct kv_bus_stats bus;
    *out = (KevyStats){.size = sizeof *out};
    kv_log_stats(engine->log, &log);
    kv_bus_stats(engine->bus, &bus);
    stats_keys(&engine->keyspace, out);
    stats_memory(engine, &log, out);
    if (engine->is_durable) {
        stats_log(&log, out);
    }
    out->bus_deliveries = bus.deliveries;
    out->bus_dropped = bus.dropped;
    out->bus_wakes = bus.wakes;
    out->changes_told = engine->listeners.told;
    out->changes_lost = engine->listeners.lost_all;
}

int32_t kevy_stats(KevyDb *db, KevyStats *stats)
{
    struct kv_epoch_slot *slot;
    KevyStats now;
    if (stats == NULL || stats->size < sizeof stats->size || stats->size > SIZE_MAX) {
        return -1;
    }
    size_t size = (size_t)stats->size;
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    kv_mutex_lock(&db->engine->writer);
    kv_engine_stats(db->engine, &now);
    kv_mutex_unlock(&db->engine->writer);
    kv_gate_leave(slot);
    now.size = size < sizeof now ? size : sizeof now;
    memset(stats, 0, size);
    memcpy(stats, &now, (size_t)now.size);
    return 0;
}
