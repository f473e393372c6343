/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One store from its parts: made and replayed, flushed and freed. Who shares
 * it is in registry.c.
 */
#include "kevy/src/engine/engine.h"

#include "kevy/src/keyspace/keyspace_image.h"
#include "kevy/src/os/os_posix.h"

static void bind_keyspace(struct kv_engine *engine)
{
    kv_keyspace_init(&engine->keyspace, &engine->mem, kv_log_space(engine->log),
                     kv_log_journal(engine->log), &engine->clock, kv_log_seed(engine->log));
}

/* What replay does with a record. The first is the map that it starts from,
 * which has no place in the log: now the log is there to be bound. */
static int apply(void *user, const struct kv_log_record *record)
{
    struct kv_engine *engine = user;
    struct kv_namespaces map;
    if (record->ref != 0) {
        return kv_keyspace_apply(&engine->keyspace, record->ref);
    }
    if (!kv_namespaces_decode(record->value, &map)) {
        return KEVY_ECORRUPT;
    }
    bind_keyspace(engine);
    kv_keyspace_map(&engine->keyspace, &map);
    return 0;
}

static void ahead(void *user, const uint32_t *refs, size_t count)
{
    struct kv_engine *engine = user;
    kv_keyspace_fetch(&engine->keyspace, refs, count);
}

static int move(void *user, uint32_t old_ref, uint32_t new_ref)
{
    struct kv_engine *engine = user;
    return kv_keyspace_move(&engine->keyspace, old_ref, new_ref);
}

/* ---- What a close leaves for the next open ---- */

static uint64_t image_size(void *user)
{
    const struct kv_engine *engine = user;
    return kv_keyspace_image_size(&engine->keyspace);
}

static int image_save(void *user, struct kv_image *image)
{
    const struct kv_engine *engine = user;
    return kv_keyspace_save(&engine->keyspace, image);
}

static int image_load(void *user, struct kv_image *image, const struct kv_image_room *room)
{
    struct kv_engine *engine = user;
    return kv_keyspace_load(&engine->keyspace, image, room);
}

static void image_unload(void *user)
{
    struct kv_engine *engine = user;
    kv_keyspace_unload(&engine->keyspace);
}

static void image_sizes(void *user, uint32_t out[KV_DATABASE_COUNT])
{
    const struct kv_engine *engine = user;
    kv_keyspace_bucket_counts(&engine->keyspace, out);
}

static void image_expect(void *user, const uint32_t sizes[KV_DATABASE_COUNT])
{
    struct kv_engine *engine = user;
    kv_keyspace_expect(&engine->keyspace, sizes);
}

static const struct kv_log_image engine_image = {image_size,   image_save,  image_load,
                                                 image_unload, image_sizes, image_expect};

/* ---- Opening ---- */

static int open_memory(struct kv_engine *engine, KevyError *error)
{
    if (kv_log_open_memory(&engine->log, &engine->mem, engine->os) < 0) {
        return kv_error_set(error, KEVY_ENOMEM, "no memory for a store", (struct bytes){NULL, 0});
    }
    kv_log_collect_with(engine->log, move, engine);
    bind_keyspace(engine);
    return 0;
}

static bool keep_path(struct kv_engine *engine, struct bytes dir)
{
    engine->path = kv_mem_new(&engine->mem, dir.size + 1);
    if (engine->path != NULL) {
        memcpy(engine->path, dir.data, dir.size);
        engine->path[dir.size] = '\0';
    }
    return engine->path != NULL;
}

static int open_durable(struct kv_engine *engine, const struct kv_open *open, KevyError *error)
{
    struct kv_log_options options = {.mem = &engine->mem,
                                     .os = engine->os,
                                     .writer = &engine->writer,
                                     .dir = open->dir,
                                     .fsync = open->options->fsync,
                                     .segment_size = open->segment_size,
                                     .is_threadless = open->is_threadless,
                                     .ahead = ahead,
                                     .move = move,
                                     .move_user = engine,
                                     .image = &engine_image,
                                     .image_user = engine};
    uint64_t begin_ns = engine->os->boot_ns(engine->os->self);
    engine->is_durable = true;
    if (!keep_path(engine, open->dir)) {
        return kv_error_set(error, KEVY_ENOMEM, "no memory for a store", open->dir);
    }
    int status = kv_log_open(&engine->log, &options, apply, engine, &engine->report, error);
    engine->report.elapsed_ms = (engine->os->boot_ns(engine->os->self) - begin_ns) / 1000000;
    return status;
}

/* The engine's own block comes from the table that it will count itself. */
static struct kv_engine *engine_block(const struct kv_open *open)
{
    struct kv_engine *engine = open->mem->resize(open->mem->self, NULL, 0, sizeof *engine);
    if (engine != NULL) {
        memset(engine, 0, sizeof *engine);
        kv_mem_init(&engine->mem, open->mem);
        list_init(&engine->node);
        kv_mutex_init(&engine->writer);
        engine->os = open->os;
        kv_listen_init(engine);
        kv_clock_init(&engine->clock, open->os);
    }
    return engine;
}

int kv_engine_new(const struct kv_open *open, struct kv_engine **out, KevyError *error)
{
    struct kv_engine *engine = engine_block(open);
    *out = NULL;
    if (engine == NULL) {
        return kv_error_set(error, KEVY_ENOMEM, "no memory for a store", open->dir);
    }
    int status =
        open->dir.size == 0 ? open_memory(engine, error) : open_durable(engine, open, error);
    if (status == 0) {
        engine->bus = kv_bus_new(&engine->mem.table, &kv_mem_buffers, kv_log_seed(engine->log));
        if (engine->bus == NULL) {
            status = kv_error_set(error, KEVY_ENOMEM, "no memory for a store", open->dir);
        }
    }
    if (status < 0) {
        kv_engine_free(engine);
        return status;
    }
    *out = engine;
    return 0;
}

void kv_engine_free(struct kv_engine *engine)
{
    kv_listen_done(engine);
    if (engine->bus != NULL) {
        kv_bus_drop(engine->bus);
    }
    /* The log's thread collects, and asks the keyspace, until the log is closed. */
    kv_log_close(engine->log);
    if (engine->keyspace.mem != NULL) {
        kv_keyspace_done(&engine->keyspace);
    }
    if (engine->path != NULL) {
        kv_mem_free(&engine->mem, engine->path, strlen(engine->path) + 1);
    }
    kevy_mem table = engine->mem.table;
    table.resize(table.self, engine, sizeof *engine, 0);
}
