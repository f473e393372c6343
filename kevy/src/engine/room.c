/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * maxmemory: making room before a write that needs it. What is counted is
 * KevyStats.memory_used; which key goes is chosen in keyspace/.
 *
 * One write evicts at most ROOM_EVICTIONS keys, so that none waits for long
 * after the bound was lowered; whoever lowers it evicts the rest.
 *
 * Threads: under the writer lock, inside an epoch, but for what says otherwise.
 */
#include "kevy/src/engine/gate.h"

#define ROOM_EVICTIONS 1024u

/* As stats_memory in stats.c, without the parts. */
static uint64_t memory_used(const struct kv_engine *engine)
{
    return kv_log_live_size(engine->log) + kv_bus_memory(engine->bus) + sizeof *engine +
           atomic_load_explicit(&engine->mem.used, memory_order_relaxed);
}

/* While a flushed database is being retired, room is coming: nothing is evicted. */
static bool is_over(const struct kv_engine *engine)
{
    return engine->memory_max != 0 && engine->keyspace.dropped == NULL &&
           memory_used(engine) > engine->memory_max;
}

int kv_room_make_slow(struct kv_engine *engine)
{
    for (unsigned i = 0; i < ROOM_EVICTIONS && is_over(engine); i++) {
        int evicted =
            engine->keyspace.policy == KEVY_EVICT_NONE ? 0 : kv_keyspace_evict(&engine->keyspace);
        if (evicted <= 0) {
            return evicted == 0 ? KEVY_EMEMORY : evicted;
        }
    }
    return 0;
}

/* Evicts what is too much, the lock given up now and then. */
static int room_settle(struct kv_engine *engine)
{
    int status = 0;
    for (bool goes_on = true; goes_on;) {
        struct kv_epoch_slot *slot = kv_epoch_enter();
        if (slot == NULL) {
            return KEVY_ENOMEM;
        }
        kv_mutex_lock(&engine->writer);
        status = kv_room_make_slow(engine);
        goes_on = status == 0 && is_over(engine);
        uint64_t lsn = engine->is_durable ? kv_log_end(engine->log) : 0;
        kv_mutex_give(&engine->writer);
        kv_epoch_leave(slot);
        if (lsn != 0) {
            status = kv_log_commit(engine->log, lsn) < 0 ? KEVY_EIO : status;
        }
    }
    return status;
}

int kv_room_set(struct kv_engine *engine, uint64_t bytes, int32_t policy)
{
    if (policy < KEVY_EVICT_NONE || policy > KEVY_EVICT_VOLATILE_TTL) {
        return KEVY_EMISUSE;
    }
    kv_mutex_lock(&engine->writer);
    int status = kv_keyspace_set_policy(&engine->keyspace, policy);
    if (status == 0) {
        engine->memory_max = bytes;
    }
    kv_mutex_unlock(&engine->writer);
    if (status < 0) {
        return status;
    }
    if (policy != KEVY_EVICT_NONE) {
        /* What cannot go now is told to the writes that come. */
        (void)room_settle(engine);
        kv_listen_clock_ask(&engine->listeners);
    }
    return 0;
}

int32_t kevy_set_maxmemory(KevyDb *db, uint64_t bytes, int32_t policy)
{
    struct kv_epoch_slot *slot;
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    kv_gate_pin(db);
    kv_gate_leave(slot);
    status = kv_room_set(db->engine, bytes, policy);
    kv_gate_unpin(db);
    return kv_result(status);
}
