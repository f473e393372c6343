/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Folders that earlier builds wrote, good and damaged, and what must be found
 * in them: the promise that files stay readable. A change of the format adds a
 * vector and never edits one. How one is written is in vector_kit.h.
 */
#include <stdio.h>
#include <string.h>

#include "kevy/src/engine/engine.h"
#include "kevy/test/vector_kit.h"
#include "testing/harness.h"

static void vector_check(const struct vector *vector)
{
    static struct model model;
    struct model_state seen;
    const kevy_os *os = crash_os_table(vector->crash);
    if (!CHECK_INT(model_open(&model, os, "store", KEVY_FSYNC_NO), vector->status) ||
        vector->status != 0) {
        return;
    }
    CHECK_INT(model.report.replayed_commands, vector->replayed);
    CHECK_INT(model.report.corrupt, vector->corrupt);
    CHECK_INT(model.report.dropped_bytes, vector->dropped);
    CHECK(model_read(&model, &seen));
    CHECK(memcmp(&seen, &vector->state, sizeof seen) == 0);
    REQUIRE_INT(model_put(&model, 23, 1, 20), 0);
    model_close(&model);
    REQUIRE_INT(model_open(&model, os, "store", KEVY_FSYNC_NO), 0);
    CHECK_INT(model.report.corrupt, 0);
    CHECK_INT(model.report.dropped_bytes, 0);
    model_close(&model);
}

/* ---- By the engine, which knows what is in an index ---- */

static void swap_databases(KevyDb *db)
{
    const uint8_t *argv[] = {(const uint8_t *)"SWAPDB", (const uint8_t *)"0", (const uint8_t *)"1"};
    const size_t sizes[] = {6, 1, 1};
    KevyBuf reply;
    REQUIRE_INT(kevy_cmd(db, 3, argv, sizes, &reply), 0);
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

static void keys_check(KevyDb *db, const uint64_t *versions)
{
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        char name[8];
        KevyBuf value;
        int size = snprintf(name, sizeof name, "k%02u", key);
        int32_t found = kevy_get(db, (const uint8_t *)name, (size_t)size, &value);
        CHECK_INT(found, versions[key] != 0);
        if (found == 1) {
            CHECK_INT(load_u64(value.ptr), versions[key]);
            kevy_buf_free(value.ptr, value.len, value.cap);
        }
    }
}

static void index_check(const struct vector *vector)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(vector->crash),
                           .mem = &kv_mem_libc,
                           .is_threadless = true};
    KevyOpenReport report;
    KevyDb *db;
    if (vector->road < 0) {
        return;
    }
    REQUIRE_INT(kv_engine_open(&open, &db, NULL), 0);
    CHECK_INT(kevy_open_report(db, &report), 0);
    CHECK_INT(report.index, vector->road);
    CHECK_INT(report.corrupt, 0);
    CHECK(kv_keyspace_verify(&db->engine->keyspace));
    for (unsigned i = 0; i < MODEL_DATABASES; i++) {
        keys_check(db, vector->state.version[i]);
        swap_databases(db);
    }
    kevy_close(db);
}

TEST(log_vectors_by_their_index)
{
    CHECK(vectors_each(KV_SOURCE_DIR "/kevy/test/vectors", index_check) >= 12);
}

TEST(log_vectors)
{
    CHECK(vectors_each(KV_SOURCE_DIR "/kevy/test/vectors", vector_check) >= 8);
}
