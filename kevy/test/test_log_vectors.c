/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Folders that earlier builds wrote, good and damaged, and what must be found
 * in them: the promise that files stay readable. A change of the format adds a
 * vector and never edits one. How one is written is in vector_kit.h.
 */
#include <string.h>

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

TEST(log_vectors)
{
    CHECK(vectors_each(KV_SOURCE_DIR "/kevy/test/vectors", vector_check) >= 8);
}
