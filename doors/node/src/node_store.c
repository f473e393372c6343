/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening and closing, and the ids by which TypeScript names a store.
 *
 * A store's id is its place in the environment's table. The place stays taken
 * until the JavaScript object has been collected, so an id in use never names
 * another store; what the store holds open goes with dispose, with the
 * collection, or with the environment, whichever comes first.
 */
#include "node_door.h"

#include <string.h>

kn_store *kn_store_of(kn_door *door, napi_value id)
{
    uint32_t index;
    if (napi_get_value_uint32(door->env, id, &index) == napi_ok && index < door->store_count &&
        door->stores[index] != NULL && door->stores[index]->db != NULL) {
        return door->stores[index];
    }
    (void)kn_fail(door->env, KN_ERROR, "KEVY_ECLOSED", "the store is not open: it was disposed");
    return NULL;
}

static void lanes_close(kn_store *store)
{
    kn_push_stop(store);
    kn_changes_stop(store);
    kevy_sub_close(store->sub);
    store->sub = NULL;
}

void kn_store_close(kn_store *store)
{
    lanes_close(store);
    kevy_close(store->db);
    store->db = NULL;
}

void kn_store_limit(const kn_store *store, KevySub *sub)
{
    if (store->count_max != 0 || store->bytes_max != 0 || store->policy != 0) {
        (void)kevy_sub_limit(sub, store->count_max, store->bytes_max, store->policy);
    }
}

/* The JavaScript object is gone. */
static void store_finalize(napi_env env, void *data, void *hint)
{
    kn_store *store = data;
    (void)env;
    (void)hint;
    kn_store_close(store);
    store->door->stores[store->index] = NULL;
    kn_door_drop(store->door);
    free(store);
}

/* Takes the first free place, growing the table when there is none. */
static bool place_take(kn_door *door, uint32_t *index_out)
{
    for (uint32_t i = 0; i < door->store_count; i++) {
        if (door->stores[i] == NULL) {
            *index_out = i;
            return true;
        }
    }
    uint32_t count = door->store_count > 0 ? 2 * door->store_count : 8;
    kn_store **stores = realloc(door->stores, count * sizeof(kn_store *));
    if (stores == NULL) {
        return kn_fail_memory(door->env);
    }
    memset(stores + door->store_count, 0, (count - door->store_count) * sizeof(kn_store *));
    *index_out = door->store_count;
    door->stores = stores;
    door->store_count = count;
    return true;
}

/* Options come as an array of six numbers, in the order of the struct. */
static bool options_read(kn_door *door, napi_value array, KevyOpenOptions *out)
{
    double numbers[6];
    for (uint32_t i = 0; i < 6; i++) {
        napi_value value;
        if (napi_get_element(door->env, array, i, &value) != napi_ok ||
            napi_get_value_double(door->env, value, &numbers[i]) != napi_ok) {
            return kn_fail(door->env, KN_TYPE_ERROR, "KEVY_EMISUSE", "open options: six numbers");
        }
    }
    out->fsync = (uint8_t)numbers[0];
    out->shards = (uint32_t)numbers[1];
    out->rewrite_pct = (uint32_t)numbers[2];
    out->rewrite_min_size = (uint64_t)numbers[3];
    out->rewrite_bytes = (uint64_t)numbers[4];
    out->rewrite_interval_secs = (uint64_t)numbers[5];
    return true;
}

/* Opens `dir`, a string, or with undefined a store in memory. */
static bool db_open(kn_door *door, napi_value dir, napi_value options, KevyDb **out)
{
    kn_bytes path = {NULL, 0, NULL};
    KevyOpenOptions how = KEVY_OPEN_OPTIONS_INIT;
    KevyError error = {0};
    napi_valuetype type = napi_undefined;
    (void)napi_typeof(door->env, dir, &type);
    if (!options_read(door, options, &how) ||
        (type != napi_undefined && !kn_item_read(door, dir, &path))) {
        return false;
    }
    int32_t status = kevy_open_ex(path.ptr, path.len, &how, out, &error);
    kn_bytes_done(&path);
    if (status == 0) {
        return true;
    }
    error.status = status;
    return kn_fail_open(door->env, &error);
}

/* (object, dir, options) => id */
napi_value kn_js_open(napi_env env, napi_callback_info info)
{
    napi_value argv[3], id = NULL;
    size_t argc = 3;
    uint32_t index = 0;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    if (!place_take(door, &index)) {
        return NULL;
    }
    kn_store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        (void)kn_fail_memory(env);
        return NULL;
    }
    store->door = door;
    store->index = index;
    if (!db_open(door, argv[1], argv[2], &store->db)) {
        free(store);
        return NULL;
    }
    napi_status status = napi_create_uint32(env, index, &id);
    if (status == napi_ok) {
        status = napi_add_finalizer(env, argv[0], store, store_finalize, NULL, NULL);
    }
    if (status != napi_ok) {
        kevy_close(store->db);
        free(store);
        (void)kn_fail_napi(env, status, "opening a store");
        return NULL;
    }
    door->stores[index] = store;
    door->refs++;
    return id;
}

/* (id, dir, options): the object goes over to another store. Also after
 * dispose; after a failure it is as it was. */
napi_value kn_js_openAt(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    size_t argc = 3;
    uint32_t index;
    KevyDb *db;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    if (napi_get_value_uint32(env, argv[0], &index) != napi_ok || index >= door->store_count ||
        door->stores[index] == NULL) {
        (void)kn_fail(env, KN_ERROR, "KEVY_EMISUSE", "not a store");
        return NULL;
    }
    if (db_open(door, argv[1], argv[2], &db)) {
        kn_store_close(door->stores[index]);
        door->stores[index]->db = db;
    }
    return NULL;
}

/* (id): idempotent */
napi_value kn_js_dispose(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    uint32_t index;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    if (napi_get_value_uint32(env, argv[0], &index) == napi_ok && index < door->store_count &&
        door->stores[index] != NULL) {
        kn_store_close(door->stores[index]);
    }
    return NULL;
}

static void flush_fail(napi_env env, int32_t status)
{
    if (status != 0) {
        (void)kn_fail(env, KN_ERROR, "KEVY_EIO", "flushing to the disk failed");
    }
}

/* (id) */
napi_value kn_js_shutdown(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store != NULL) {
        flush_fail(env, kevy_shutdown(store->db));
    }
    return NULL;
}

/* (id) */
napi_value kn_js_sync(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    size_t argc = 1;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store != NULL) {
        flush_fail(env, kevy_sync(store->db));
    }
    return NULL;
}

/* (id) => the report's six numbers, in the order of the struct */
napi_value kn_js_openReport(napi_env env, napi_callback_info info)
{
    napi_value argv[1], array, value;
    size_t argc = 1;
    KevyOpenReport report;
    kn_store *store = kn_store_arguments(env, info, &argc, argv);
    if (store == NULL) {
        return NULL;
    }
    if (kevy_open_report(store->db, &report) != 0) {
        (void)kn_fail(env, KN_ERROR, "KEVY_EMISUSE", kevy_status_text(KEVY_EMISUSE));
        return NULL;
    }
    double numbers[] = {(double)report.replayed_commands, (double)report.replayed_bytes,
                        (double)report.elapsed_ms,        (double)report.dropped_bytes,
                        (double)report.corrupt,           (double)report.quarantine_count};
    napi_status status = napi_create_array_with_length(env, 6, &array);
    for (uint32_t i = 0; status == napi_ok && i < 6; i++) {
        status = napi_create_double(env, numbers[i], &value);
        if (status == napi_ok) {
            status = napi_set_element(env, array, i, value);
        }
    }
    if (status != napi_ok) {
        (void)kn_fail_napi(env, status, "making the open report");
        return NULL;
    }
    return array;
}
