/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The registry: which directories this process has open, so that a second open
 * of one shares its store. It is the one global of the engine, since the
 * directory lock it stands for is the process's too.
 *
 * An engine that is being opened or closed stays listed and is waited for, with
 * the lock given up meanwhile: opening one directory never delays another.
 *
 * Threads: any; under registry_lock.
 */
#include "kevy/src/engine/gate.h"
#include "kevy/src/engine/host.h"
#include "kevy/src/os/os_epoch.h"

static struct kv_mutex registry_lock;
static struct kv_cond registry_moved;
static struct list registry_engines = {&registry_engines, &registry_engines};

/* One that is being opened, by its directory alone. */
struct opening {
    struct list node;
    uint64_t identity[2];
};
static struct list registry_busy = {&registry_busy, &registry_busy};

/* In a forked child: the parent's stores are not ours, and its lock may have
 * been held. */
static void registry_reset(void)
{
    kv_mutex_init(&registry_lock);
    kv_cond_init(&registry_moved);
    list_init(&registry_engines);
    list_init(&registry_busy);
    kv_view_reset();
}

static bool is_busy(const uint64_t identity[2])
{
    LIST_EACH(link, &registry_busy)
    {
        struct opening *opening = LIST_OWNER(link, struct opening, node);
        if (memcmp(opening->identity, identity, sizeof opening->identity) == 0) {
            return true;
        }
    }
    return false;
}

/* Waits until nobody opens or closes the directory; the open store, or NULL. */
static struct kv_engine *find(const struct kv_open *open, const uint64_t identity[2])
{
    while (is_busy(identity)) {
        (void)kv_cond_wait(&registry_moved, &registry_lock, KV_FOREVER);
    }
    LIST_EACH(link, &registry_engines)
    {
        struct kv_engine *engine = LIST_OWNER(link, struct kv_engine, node);
        if (engine->os == open->os &&
            memcmp(engine->identity, identity, sizeof engine->identity) == 0) {
            return engine;
        }
    }
    return NULL;
}

static void busy_begin(struct opening *opening, const uint64_t identity[2])
{
    memcpy(opening->identity, identity, sizeof opening->identity);
    list_init(&opening->node);
    list_add(&registry_busy, &opening->node);
}

static void busy_end(struct opening *opening)
{
    list_remove(&opening->node);
    kv_cond_broadcast(&registry_moved);
}

/* The strictest policy of the open handles: always, everysec, no. */
static uint8_t strictest(const struct kv_engine *engine)
{
    static const uint8_t order[] = {KEVY_FSYNC_ALWAYS, KEVY_FSYNC_EVERYSEC, KEVY_FSYNC_NO};
    for (size_t i = 0; i < sizeof order; i++) {
        if (engine->policy_counts[order[i]] != 0) {
            return order[i];
        }
    }
    return KEVY_FSYNC_EVERYSEC;
}

static void share(struct kv_engine *engine, KevyDb *db)
{
    db->engine = engine;
    engine->handle_count++;
    engine->policy_counts[db->fsync]++;
    kv_log_set_policy(engine->log, strictest(engine));
}

static int share_durable(const struct kv_open *open, KevyDb *db, KevyError *error)
{
    uint64_t identity[2];
    struct opening opening;
    int status = kv_log_identity(open->os, open->dir, identity, error);
    if (status < 0) {
        return status;
    }
    kv_mutex_lock(&registry_lock);
    struct kv_engine *engine = find(open, identity);
    if (engine == NULL) {
        busy_begin(&opening, identity);
        kv_mutex_unlock(&registry_lock);
        status = kv_engine_new(open, &engine, error);
        kv_mutex_lock(&registry_lock);
        busy_end(&opening);
        if (status == 0) {
            memcpy(engine->identity, identity, sizeof identity);
            list_add(&registry_engines, &engine->node);
        }
    }
    if (status == 0) {
        share(engine, db);
    }
    kv_mutex_unlock(&registry_lock);
    return status;
}

static int share_memory(const struct kv_open *open, KevyDb *db, KevyError *error)
{
    int status = kv_engine_new(open, &db->engine, error);
    if (status == 0) {
        db->engine->handle_count = 1;
        db->engine->policy_counts[db->fsync] = 1;
    }
    return status;
}

static KevyDb *handle_new(const struct kv_open *open)
{
    kv_epoch_prepare();
    if (kv_fork_reset(registry_reset) < 0) {
        return NULL;
    }
    KevyDb *db = open->mem->resize(open->mem->self, NULL, 0, sizeof *db);
    if (db != NULL) {
        memset(db, 0, sizeof *db);
        db->fsync = open->options->fsync;
        db->fork_count = kv_fork_count();
    }
    return db;
}

int kv_engine_open(const struct kv_open *open, KevyDb **out, KevyError *error)
{
    KevyDb *db = handle_new(open);
    *out = NULL;
    if (db == NULL) {
        return kv_error_set(error, KEVY_ENOMEM, "no memory for a handle", open->dir);
    }
    int status =
        open->dir.size == 0 ? share_memory(open, db, error) : share_durable(open, db, error);
    if (status < 0) {
        open->mem->resize(open->mem->self, db, sizeof *db, 0);
        return status;
    }
    kv_port_open(&db->port, db->engine->bus);
    db->host = kv_host_of(db);
    *out = db;
    return 0;
}

void kv_engine_set_fsync(KevyDb *db, uint8_t fsync)
{
    struct kv_engine *engine = db->engine;
    kv_mutex_lock(&registry_lock);
    engine->policy_counts[db->fsync]--;
    engine->policy_counts[fsync]++;
    db->fsync = fsync;
    kv_log_set_policy(engine->log, strictest(engine));
    kv_mutex_unlock(&registry_lock);
}

/* True when this was the last share; the directory is then busy. */
static bool leave_share(struct kv_engine *engine, uint8_t fsync, struct opening *closing)
{
    kv_mutex_lock(&registry_lock);
    ASSERT(engine->handle_count > 0);
    engine->policy_counts[fsync]--;
    bool is_last = --engine->handle_count == 0;
    if (is_last) {
        list_remove(&engine->node);
        busy_begin(closing, engine->identity);
    } else {
        kv_log_set_policy(engine->log, strictest(engine));
    }
    kv_mutex_unlock(&registry_lock);
    return is_last;
}

void kv_engine_leave(KevyDb *db)
{
    struct kv_engine *engine = db->engine;
    struct opening closing;
    kevy_mem table = engine->mem.table;
    uint8_t fsync = db->fsync;
    table.resize(table.self, db, sizeof *db, 0);
    if (!engine->is_durable) {
        kv_engine_free(engine);
    } else if (leave_share(engine, fsync, &closing)) {
        kv_engine_free(engine);
        kv_mutex_lock(&registry_lock);
        busy_end(&closing);
        kv_mutex_unlock(&registry_lock);
    }
}
