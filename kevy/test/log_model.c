/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The see-through keyspace; see log_model.h. What it gets wrong, or finds
 * wrong, fails the test at once.
 */
#include "kevy/test/log_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "kevy/src/store/segment.h"
#include "testing/harness.h"

enum { NAME_SIZE = 4 };

static void key_name(uint32_t key, char out[NAME_SIZE])
{
    (void)snprintf(out, NAME_SIZE, "k%02u", (unsigned)(key % 100));
}

static uint32_t key_number(struct bytes name)
{
    REQUIRE_INT(name.size, 3);
    uint32_t key = (uint32_t)(name.data[1] - '0') * 10 + (uint32_t)(name.data[2] - '0');
    REQUIRE(key < MODEL_KEYS);
    return key;
}

static void value_fill(uint64_t version, uint8_t *out, size_t size)
{
    store_u64(out, version);
    for (size_t i = 8; i < size; i++) {
        out[i] = (uint8_t)(version * 31 + i * 7 + i / 256);
    }
}

static bool value_holds(struct bytes value)
{
    uint64_t version = value.size < 8 ? 0 : load_u64(value.data);
    for (size_t i = 8; i < value.size; i++) {
        if (value.data[i] != (uint8_t)(version * 31 + i * 7 + i / 256)) {
            return false;
        }
    }
    return value.size >= 8;
}

/* ---- Applying ---- */

static void model_set_ref(struct model *model, uint32_t db, uint32_t key, uint32_t ref)
{
    struct kv_journal *journal = kv_log_journal(model->log);
    uint32_t old = model->refs[db][key];
    model->refs[db][key] = ref;
    if (old != 0) {
        journal->retire(journal->self, old);
    }
}

static void model_set_map(struct model *model, const struct kv_namespaces *map)
{
    uint32_t old[MODEL_DATABASES][MODEL_KEYS];
    struct kv_namespaces before = model->map;
    memcpy(old, model->refs, sizeof old);
    model->map = *map;
    for (uint32_t db = 0; db < MODEL_DATABASES; db++) {
        for (uint32_t key = 0; !kv_namespaces_has(map, before.database[db]) && key < MODEL_KEYS;
             key++) {
            model_set_ref(model, db, key, 0);
        }
    }
    memset(model->refs, 0, sizeof model->refs);
    for (uint32_t db = 0; db < MODEL_DATABASES; db++) {
        for (uint32_t from = 0; from < MODEL_DATABASES; from++) {
            if (map->database[db] == before.database[from]) {
                memcpy(model->refs[db], old[from], sizeof old[from]);
            }
        }
    }
}

static uint32_t database_of(const struct model *model, uint32_t namespace_id)
{
    uint32_t db = 0;
    while (db < MODEL_DATABASES && model->map.database[db] != namespace_id) {
        db++;
    }
    REQUIRE(db < MODEL_DATABASES);
    return db;
}

static int model_apply(void *user, const struct kv_log_record *record)
{
    struct model *model = (struct model *)user;
    struct kv_namespaces map;
    if (record->type == KV_RECORD_NAMESPACES) {
        REQUIRE(kv_namespaces_decode(record->value, &map));
        if (record->ref == 0) {
            model->map = map;
        } else {
            model_set_map(model, &map);
        }
        return 0;
    }
    uint32_t key = key_number(record->key);
    bool is_gone = record->type == KV_RECORD_TOMBSTONE;
    CHECK(is_gone || model->takes_any_value || value_holds(record->value));
    model_set_ref(model, database_of(model, record->namespace_id), key, is_gone ? 0 : record->ref);
    return 0;
}

static int model_move(void *user, uint32_t old_ref, uint32_t new_ref)
{
    struct model *model = (struct model *)user;
    const struct kv_space *space = kv_log_space(model->log);
    const uint8_t *record = kv_space_record(space, old_ref);
    if (kv_record_type(record) == KV_RECORD_TOMBSTONE) {
        return kv_namespaces_has(&model->map, kv_record_namespace(record)) &&
               model->refs[database_of(model, kv_record_namespace(record))]
                          [key_number(kv_record_key(space, record))] == 0;
    }
    for (uint32_t db = 0; db < MODEL_DATABASES; db++) {
        for (uint32_t key = 0; key < MODEL_KEYS; key++) {
            if (model->refs[db][key] == old_ref) {
                model->refs[db][key] = new_ref;
                model->move_count += new_ref != old_ref;
                return 1;
            }
        }
    }
    return 0;
}

/* ---- Images ---- */

static uint64_t model_image_size(void *user)
{
    const struct model *model = (const struct model *)user;
    return sizeof model->refs;
}

static int model_image_save(void *user, struct kv_image *image)
{
    struct model *model = (struct model *)user;
    return kv_image_put(image, model->refs, sizeof model->refs);
}

static int model_image_load(void *user, struct kv_image *image, const struct kv_image_room *room)
{
    struct model *model = (struct model *)user;
    int status = kv_image_get(image, model->refs, sizeof model->refs);
    for (size_t i = 0; status == 0 && i < (size_t)MODEL_DATABASES * MODEL_KEYS; i++) {
        uint32_t ref = model->refs[i / MODEL_KEYS][i % MODEL_KEYS];
        if (ref != 0 && room->granules[kv_ref_slot(ref)] * KV_GRANULE <= kv_ref_offset(ref)) {
            status = KEVY_ECORRUPT;
        }
    }
    return status;
}

static void model_image_unload(void *user)
{
    struct model *model = (struct model *)user;
    memset(model->refs, 0, sizeof model->refs);
}

static void model_sizes(void *user, uint32_t out[KV_NAMESPACE_DATABASES])
{
    const struct model *model = (const struct model *)user;
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        out[i] = i + (model->refs[0][0] != 0);
    }
}

/* What is told is a mark's, cut down to what the log can fill. */
static void model_expect(void *user, const uint32_t sizes[KV_NAMESPACE_DATABASES])
{
    (void)user;
    for (uint32_t i = 0; i < KV_NAMESPACE_DATABASES; i++) {
        CHECK(sizes[i] <= i + 1);
    }
}

static const struct kv_log_image model_image = {model_image_size, model_image_save,
                                                model_image_load, model_image_unload,
                                                model_sizes,      model_expect};

/* ---- Opening ---- */

int model_open_sized(struct model *model, const kevy_os *os, const char *dir, uint8_t fsync,
                     size_t segment_size, bool is_threadless)
{
    bool takes_any_value = model->takes_any_value;
    memset(model, 0, sizeof *model);
    model->takes_any_value = takes_any_value;
    kv_mem_init(&model->mem, &kv_mem_libc);
    kv_namespaces_first(&model->map);
    struct kv_log_options options = {.mem = &model->mem,
                                     .os = os,
                                     .writer = &model->writer,
                                     .dir = bytes_of(dir, strlen(dir)),
                                     .fsync = fsync,
                                     .segment_size = segment_size,
                                     .is_threadless = is_threadless,
                                     .move = model_move,
                                     .move_user = model,
                                     .image = &model_image,
                                     .image_user = model};
    int status =
        kv_log_open(&model->log, &options, model_apply, model, &model->report, &model->error);
    CHECK_INT(model->error.status, status);
    if (status != 0) {
        CHECK_INT(model->mem.used, 0);
    }
    return status;
}

int model_open(struct model *model, const kevy_os *os, const char *dir, uint8_t fsync)
{
    return model_open_sized(model, os, dir, fsync, KV_SEGMENT_SIZE_MIN, true);
}

void model_close(struct model *model)
{
    kv_log_close(model->log);
    CHECK_INT(model->mem.used, 0);
    CHECK_INT(model->mem.blocks, 0);
    model->log = NULL;
}

/* ---- Writing ---- */

static int model_append(struct model *model, struct kv_draft *drafts, size_t count)
{
    struct kv_journal *journal = kv_log_journal(model->log);
    return journal->append(journal->self, drafts, count);
}

static int write_drafts(struct model *model, const struct model_change *changes,
                        struct kv_draft *drafts, size_t count, bool *is_appended)
{
    kv_mutex_lock(&model->writer);
    int status = model_append(model, drafts, count);
    *is_appended = status == 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        model_set_ref(model, changes[i].db, changes[i].key,
                      changes[i].version == 0 ? 0 : drafts[i].ref);
    }
    uint64_t lsn = kv_log_end(model->log);
    kv_mutex_unlock(&model->writer);
    return status == 0 ? kv_log_commit(model->log, lsn) : status;
}

int model_write(struct model *model, const struct model_change *changes, size_t count,
                bool *is_appended)
{
    struct kv_draft drafts[MODEL_BATCH_MAX];
    char names[MODEL_BATCH_MAX][NAME_SIZE];
    uint8_t *values[MODEL_BATCH_MAX] = {NULL};
    REQUIRE(count <= MODEL_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct model_change *change = &changes[i];
        key_name(change->key, names[i]);
        drafts[i] =
            (struct kv_draft){.type = change->version == 0 ? KV_RECORD_TOMBSTONE : KV_RECORD_VALUE,
                              .namespace_id = model->map.database[change->db],
                              .key = bytes_of(names[i], 3)};
        if (change->version != 0) {
            values[i] = (uint8_t *)malloc(change->size);
            REQUIRE(values[i] != NULL);
            value_fill(change->version, values[i], change->size);
            drafts[i].value = bytes_of(values[i], change->size);
        }
    }
    int status = write_drafts(model, changes, drafts, count, is_appended);
    for (size_t i = 0; i < count; i++) {
        free(values[i]);
    }
    return status;
}

static int write_map(struct model *model, const struct kv_namespaces *map, bool *is_appended)
{
    uint8_t encoded[KV_NAMESPACES_SIZE];
    kv_namespaces_encode(map, encoded);
    struct kv_draft draft = {.type = KV_RECORD_NAMESPACES,
                             .value = bytes_of(encoded, sizeof encoded)};
    kv_mutex_lock(&model->writer);
    int status = model_append(model, &draft, 1);
    *is_appended = status == 0;
    if (status == 0) {
        model_set_map(model, map);
    }
    uint64_t lsn = kv_log_end(model->log);
    kv_mutex_unlock(&model->writer);
    return status == 0 ? kv_log_commit(model->log, lsn) : status;
}

int model_flush(struct model *model, uint32_t db, bool *is_appended)
{
    struct kv_namespaces map = model->map;
    map.database[db] = map.next++;
    return write_map(model, &map, is_appended);
}

int model_swap(struct model *model, bool *is_appended)
{
    struct kv_namespaces map = model->map;
    uint32_t first = map.database[0];
    map.database[0] = map.database[1];
    map.database[1] = first;
    return write_map(model, &map, is_appended);
}

int model_put(struct model *model, uint32_t key, uint64_t version, size_t size)
{
    bool is_appended;
    struct model_change change = {0, key, version, size};
    return model_write(model, &change, 1, &is_appended);
}

struct crash_os *model_start(struct model *model, uint8_t fsync)
{
    struct crash_os *crash = crash_os_new(test_seed());
    crash_os_windows(crash, false);
    REQUIRE_INT(model_open(model, crash_os_table(crash), "store", fsync), 0);
    return crash;
}

void model_reopen(struct model *model, struct crash_os *crash, uint8_t fsync)
{
    model_close(model);
    crash_os_kill(crash);
    REQUIRE_INT(model_open(model, crash_os_table(crash), "store", fsync), 0);
}

/* ---- Reading ---- */

bool model_read(struct model *model, struct model_state *out)
{
    const struct kv_space *space = kv_log_space(model->log);
    bool is_good = true;
    memset(out, 0, sizeof *out);
    kv_mutex_lock(&model->writer); /* collection may be moving records */
    for (uint32_t db = 0; db < MODEL_DATABASES; db++) {
        for (uint32_t key = 0; key < MODEL_KEYS; key++) {
            if (model->refs[db][key] != 0) {
                char name[NAME_SIZE];
                const uint8_t *record = kv_space_record(space, model->refs[db][key]);
                struct bytes value = kv_record_value(space, record);
                key_name(key, name);
                is_good = value_holds(value) && is_good &&
                          bytes_equal(kv_record_key(space, record), bytes_of(name, 3));
                out->version[db][key] = load_u64(value.data);
            }
        }
    }
    kv_mutex_unlock(&model->writer);
    return is_good;
}

uint64_t model_version(struct model *model, uint32_t key)
{
    struct model_state state;
    CHECK(model_read(model, &state));
    return state.version[0][key];
}
