/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading vectors; see vector_kit.h. A line that is none of those named there
 * ends the test.
 */
#include "kevy/test/vector_kit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/harness.h"

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
    } else if (sscanf(line, "index %d", &vector->road) == 1) {
        vector->file = -1;
    } else if (sscanf(line, "key %u %u %lu", &db, &key, &version) == 3) {
        REQUIRE(db < MODEL_DATABASES && key < MODEL_KEYS);
        vector->state.version[db][key] = version;
    } else if (sscanf(line, "report %lu %lu %lu", &vector->replayed, &vector->corrupt,
                      &vector->dropped) != 3) {
        bytes_line(vector, line);
    }
}

static void vector_run(const char *folder, const char *name,
                       void (*judge)(const struct vector *vector))
{
    char path[1024], line[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    REQUIRE(in != NULL);
    struct vector *vector = (struct vector *)calloc(1, sizeof *vector);
    REQUIRE(vector != NULL);
    vector->crash = crash_os_new(1);
    vector->file = vector->road = -1;
    while (fgets(line, sizeof line, in) != NULL) {
        vector_line(vector, line);
    }
    (void)fclose(in);
    printf("%s\n", name);
    judge(vector);
    crash_os_free(vector->crash);
    free(vector);
}

unsigned vectors_each(const char *folder, void (*judge)(const struct vector *vector))
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    unsigned count = 0;
    REQUIRE(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".txt") == 0) {
            vector_run(folder, entry->d_name, judge);
            count++;
        }
    }
    (void)closedir(dir);
    return count;
}
