/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The transcripts, through kevy_cmd on a store in memory, through kevy_cmd on
 * a store of files that is then closed and opened again, and through a real
 * redis-server, which proves the transcripts themselves.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "kevy/test/cmd_kit.h"
#include "testing/harness.h"
#include "testing/redis_server.h"

static const char *transcript_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, KV_SOURCE_DIR "/kevy/test/transcripts/%s.txt", name);
    return path;
}

static void run_memory(const char *name)
{
    KevyDb *db = kevy_open_mem();
    REQUIRE(db != NULL);
    struct transcript_target target = cmd_target(db);
    CHECK(transcript_run(transcript_path(name), &target) > 0);
    kevy_close(db);
}

static KevyDb *open_files(void)
{
    const char *dir = test_path("store");
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    return db;
}

/* What is there before the close is there after the open. */
static void run_files(const char *name)
{
    struct transcript_buffer before = {NULL, 0, 0}, after = {NULL, 0, 0};
    KevyDb *db = open_files();
    struct transcript_target target = cmd_target(db);
    CHECK(transcript_run(transcript_path(name), &target) > 0);
    cmd_dump(&target, true, &before);
    kevy_close(db);
    db = open_files();
    target = cmd_target(db);
    cmd_dump(&target, true, &after);
    CHECK_BYTES(after.data, after.size, before.data, before.size);
    kevy_close(db);
    transcript_free(&before);
    transcript_free(&after);
}

static void run_redis(const char *name)
{
    struct transcript_target target;
    redis_start(&target);
    CHECK(transcript_run(transcript_path(name), &target) > 0);
    redis_stop();
}

#define TRANSCRIPTS(X)                                                                             \
    X(strings) X(bytes) X(numbers) X(bits) X(bitfield) X(expire) X(keys) X(scan) X(server)

#define TRANSCRIPT_TESTS(name)                                                                     \
    TEST(name##_in_memory)                                                                         \
    {                                                                                              \
        run_memory(#name);                                                                         \
    }                                                                                              \
    TEST(name##_in_files)                                                                          \
    {                                                                                              \
        run_files(#name);                                                                          \
    }                                                                                              \
    TEST(name##_by_redis)                                                                          \
    {                                                                                              \
        run_redis(#name);                                                                          \
    }
TRANSCRIPTS(TRANSCRIPT_TESTS)

#define TRANSCRIPT_ONE(name) +1
enum { TRANSCRIPT_COUNT = TRANSCRIPTS(TRANSCRIPT_ONE) };

TEST(every_transcript_is_run)
{
    DIR *dir = opendir(KV_SOURCE_DIR "/kevy/test/transcripts");
    REQUIRE(dir != NULL);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        files += strstr(entry->d_name, ".txt") != NULL;
    }
    closedir(dir);
    CHECK_INT(files, TRANSCRIPT_COUNT);
}
