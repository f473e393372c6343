/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Facts and settings of a handle's store for INFO, CONFIG and DEBUG.
 * See host.h.
 */
#include "kevy/src/engine/host.h"

#include "kevy/src/os/os_park.h"

static void host_facts(void *self, bool is_locked, struct kv_facts *out)
{
    KevyDb *db = self;
    struct kv_engine *engine = db->engine;
    *out = (struct kv_facts){
        .version = kevy_version(),
        .dir = {(const uint8_t *)engine->path, engine->path == NULL ? 0 : strlen(engine->path)},
        .fsync = db->fsync,
        .opened_ms = engine->clock.opened_ms,
    };
    if (!is_locked) {
        kv_mutex_lock(&engine->writer);
    }
    kv_engine_stats(engine, &out->stats);
    out->policy = engine->keyspace.policy;
    if (!is_locked) {
        kv_mutex_unlock(&engine->writer);
    }
}

static int host_set_fsync(void *self, uint8_t fsync)
{
    kv_engine_set_fsync(self, fsync);
    return 0;
}

static int host_set_memory(void *self, uint64_t bytes, int32_t policy)
{
    return kv_room_set(((KevyDb *)self)->engine, bytes, policy);
}

static void host_sleep(void *self, uint64_t ms)
{
    _Atomic uint32_t nobody_wakes = 0;
    (void)self;
    uint64_t deadline = kv_mono_after(ms > UINT64_MAX / 1000000 ? UINT64_MAX : ms * 1000000);
    while (kv_mono_ns() < deadline) {
        (void)kv_park_wait(&nobody_wakes, 0, deadline);
    }
}

struct kv_host kv_host_of(KevyDb *db)
{
    return (struct kv_host){.self = db,
                            .facts = host_facts,
                            .set_fsync = host_set_fsync,
                            .set_memory = host_set_memory,
                            .sleep_ms = host_sleep};
}
