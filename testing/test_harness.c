/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The harness, tested by itself: this program runs itself again with tests
 * that fail, crash, hang, skip or check nothing, and reads what it says.
 * Those victims are registered only when HARNESS_VICTIMS is set.
 */
#define _XOPEN_SOURCE 700
#include "testing/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void passes(void)
{
    CHECK(true);
}

static void fails(void)
{
    CHECK_INT(1 + 1, 3);
    CHECK_STR("got", "want");
    CHECK_BYTES("a\0b", 3, "a\0c", 3);
    printf("went on\n");
    REQUIRE(1 > 2);
    printf("not reached\n");
}

static void crashes(void)
{
    raise(SIGKILL);
}

static void hangs(void)
{
    CHECK(true);
    printf("hangs from here on\n");
    for (;;) {
        pause();
    }
}

static void exits(void)
{
    CHECK(true);
    exit(7);
}

static void skips(void)
{
    SKIP("no such thing here");
}

static void checks_nothing(void) {}

/* Leaves a folder, a file that may not be read, and a process. */
static void leaves_things(void)
{
    FILE *file = fopen(test_path("file"), "w");
    REQUIRE(file != NULL);
    fclose(file);
    REQUIRE(mkdir(test_path("locked"), 0000) == 0);
    printf("dir=%s\n", test_dir());
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    printf("child=%d\n", (int)child);
    CHECK(child > 0);
}

__attribute__((constructor)) static void register_victims(void)
{
    static struct test victims[] = {
        {"victim_passes", passes, 0, NULL},        {"victim_fails", fails, 0, NULL},
        {"victim_crashes", crashes, 0, NULL},      {"victim_hangs", hangs, 1, NULL},
        {"victim_exits", exits, 0, NULL},          {"victim_skips", skips, 0, NULL},
        {"victim_empty", checks_nothing, 0, NULL}, {"victim_leaves", leaves_things, 0, NULL},
    };
    if (getenv("HARNESS_VICTIMS") == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof victims / sizeof victims[0]; i++) {
        test_register(&victims[i]);
    }
}

static char output[16384];

/* Runs this program with `options`; returns its exit code, its words are in
 * `output`. */
static int run_self(const char *options)
{
    char command[1024];
    snprintf(command, sizeof command, "HARNESS_VICTIMS=1 '%s/test/test_harness' %s 2>&1",
             KV_BINARY_DIR, options);
    FILE *from = popen(command, "r");
    REQUIRE(from != NULL);
    size_t used = fread(output, 1, sizeof output - 1, from);
    output[used] = '\0';
    int status = pclose(from);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool says(const char *text)
{
    if (strstr(output, text) != NULL) {
        return true;
    }
    printf("expected \"%s\" in:\n%s", text, output);
    return false;
}

TEST(harness_passing)
{
    CHECK_INT(run_self("--only=victim_passes"), 0);
    CHECK(says("ok   victim_passes"));
    CHECK(says("\n1 passed, 0 failed, 0 skipped\n"));
}

TEST(harness_failing)
{
    CHECK_INT(run_self("--only=victim_fails"), 1);
    CHECK(says("failed: 1 + 1 is 2, want 3"));
    CHECK(says("\"got\" is \"got\", want \"want\""));
    CHECK(says("differs at byte 2"));
    CHECK(says("\"a\\x00b\""));
    CHECK(says("went on"));
    CHECK(says("failed: 1 > 2"));
    CHECK(strstr(output, "not reached") == NULL);
    CHECK(says("FAIL victim_fails"));
    CHECK(says("\n0 passed, 1 failed, 0 skipped\n"));
}

TEST(harness_failing_without_fork)
{
    CHECK_INT(run_self("--no-fork --only=victim_fails --only=victim_passes"), 1);
    CHECK(strstr(output, "not reached") == NULL);
    CHECK(says("\n1 passed, 1 failed, 0 skipped\n"));
}

TEST(harness_crashing)
{
    CHECK_INT(run_self("--only=victim_crashes --only=victim_exits"), 1);
    CHECK(says("killed by SIGKILL"));
    CHECK(says("ended with code 7"));
    CHECK(says("\n0 passed, 2 failed, 0 skipped\n"));
}

TEST(harness_hanging)
{
    CHECK_INT(run_self("--only=victim_hangs"), 1);
    CHECK(says("still running after"));
    CHECK(says("hangs from here on"));
    CHECK(says("\n0 passed, 1 failed, 0 skipped\n"));
}

TEST(harness_skipping)
{
    CHECK_INT(run_self("--only=victim_skips"), 0);
    CHECK(says("skipped: no such thing here"));
    CHECK(says("\n0 passed, 0 failed, 1 skipped\n"));
}

TEST(harness_empty)
{
    CHECK_INT(run_self("--only=victim_empty"), 1);
    CHECK(says("made no check"));
    CHECK_INT(run_self("--only=no_such_test"), 1);
}

TEST(harness_options)
{
    CHECK_INT(run_self("--list"), 0);
    CHECK(says("victim_hangs\n"));
    CHECK_INT(run_self("--seed=12x"), 2);
    CHECK_INT(run_self("--nonsense"), 2);
}

static bool lives(long process)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        (void)!fscanf(file, "%*d %*s %c", &state);
        fclose(file);
    }
    return state != 'Z';
}

TEST(harness_leaves_nothing)
{
    CHECK_INT(run_self("--only=victim_leaves"), 0);
    const char *child = strstr(output, "child=");
    char *dir = strstr(output, "dir=");
    REQUIRE(child != NULL && dir != NULL);
    dir[strcspn(dir, "\n")] = '\0';
    CHECK(access(dir + 4, F_OK) != 0);
    /* The orphan was killed: it dies soon, and is gone when init has collected it. */
    long orphan = strtol(child + 6, NULL, 10);
    for (int i = 0; i < 3000 && lives(orphan); i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    CHECK(!lives(orphan));
}

TEST(harness_random_repeats)
{
    uint64_t a = test_seed();
    uint64_t b = test_seed();
    uint64_t first = test_random(&a);
    CHECK(first == test_random(&b));
    CHECK(first != test_random(&a));
}
