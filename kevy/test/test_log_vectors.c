/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Folders that earlier builds wrote, good and damaged, and what must be found
 * in them: the promise that files stay readable. A change of the format adds a
 * vector and never edits one.
 *
 * A vector is a text file, kevy/test/vectors/NAME.txt:
 *
 *   # a comment
 *   file NAME SIZE            then lines "OFFSET: hex bytes"; the rest is zero
 *   open STATUS               what opening gives (kevy_status)
 *   report REPLAYED CORRUPT DROPPED
 *   key DB KEY VERSION        what the key holds; all others hold nothing
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

#define VECTORS KV_SOURCE_DIR "/kevy/test/vectors"

struct vector {
    struct crash_os *crash;
    int file; /* the file that is being filled, -1 none */
    int status;
    unsigned long replayed, corrupt, dropped;
    struct model_state state;
};

static void file_begin(struct vector *vector, const char *name, unsigned long size)
{
    const kevy_os *os = crash_os_table(vector->crash);
    vector->file = os->file_open(os->self, 0, name, KEVY_OS_WRITE | KEVY_OS_CREATE);
    REQUIRE(vector->file >= 0);
    REQUIRE_INT(os->file_resize(os->self, vector->file, size), 0);
}

/* A line "OFFSET: hex hex …". */
static void bytes_line(struct vector *vector, const char *line)
{
    const kevy_os *os = crash_os_table(vector->crash);
    uint8_t bytes[64];
    size_t count = 0;
    char *at;
    unsigned long offset = strtoul(line, &at, 16);
    REQUIRE(*at == ':' && vector->file >= 0);
    for (at++; *at == ' ' && count < sizeof bytes; count++) {
        bytes[count] = (uint8_t)strtoul(at, &at, 16);
    }
    REQUIRE_INT(os->file_write(os->self, vector->file, bytes, count, offset), (int64_t)count);
}

static void vector_line(struct vector *vector, const char *line)
{
    char name[32];
    unsigned long size, version;
    unsigned db, key;
    if (line[0] == '#' || line[0] == '\n') {
        return;
    }
    if (sscanf(line, "file %31s %lu", name, &size) == 2) {
        file_begin(vector, name, size);
    } else if (sscanf(line, "open %d", &vector->status) == 1) {
        vector->file = -1;
    } else if (sscanf(line, "key %u %u %lu", &db, &key, &version) == 3) {
        REQUIRE(db < MODEL_DATABASES && key < MODEL_KEYS);
        vector->state.version[db][key] = version;
    } else if (sscanf(line, "report %lu %lu %lu", &vector->replayed, &vector->corrupt,
                      &vector->dropped) != 3) {
        bytes_line(vector, line);
    }
}

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

static void vector_run(const char *name)
{
    char path[1024], line[512];
    (void)snprintf(path, sizeof path, "%s/%s", VECTORS, name);
    FILE *in = fopen(path, "r");
    REQUIRE(in != NULL);
    struct vector *vector = (struct vector *)calloc(1, sizeof *vector);
    REQUIRE(vector != NULL);
    vector->crash = crash_os_new(1);
    vector->file = -1;
    while (fgets(line, sizeof line, in) != NULL) {
        vector_line(vector, line);
    }
    (void)fclose(in);
    printf("%s\n", name);
    vector_check(vector);
    crash_os_free(vector->crash);
    free(vector);
}

TEST(log_vectors)
{
    DIR *dir = opendir(VECTORS);
    struct dirent *entry;
    unsigned count = 0;
    REQUIRE(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".txt") == 0) {
            vector_run(entry->d_name);
            count++;
        }
    }
    (void)closedir(dir);
    CHECK(count >= 8);
}
