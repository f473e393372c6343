/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Temporary folders of the harness. The run has one folder, made by its
 * parent process; a test that asks gets a folder in it, which the parent
 * removes when the test's process is gone, however it went.
 *
 * The run's folder can be passed by everyone (0711), so that a test may give
 * up its privileges and still reach its own files.
 */
#define _XOPEN_SOURCE 700
#include "testing/harness_internal.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char run_dir[512];
static char own_dir[1024];

bool harness_dir_open(void)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] == '\0') {
        tmp = "/tmp";
    }
    int size = snprintf(run_dir, sizeof run_dir, "%s/kevy-test.XXXXXX", tmp);
    if (size < 0 || (size_t)size >= sizeof run_dir || mkdtemp(run_dir) == NULL ||
        chmod(run_dir, 0711) != 0) {
        printf("cannot make a folder in %s: %s\n", tmp, strerror(errno));
        return false;
    }
    return true;
}

void harness_dir_name(const char *test)
{
    snprintf(own_dir, sizeof own_dir, "%s/%s", run_dir, test);
}

const char *test_dir(void)
{
    if (mkdir(own_dir, 0755) != 0 && errno != EEXIST) {
        printf("cannot make %s: %s\n", own_dir, strerror(errno));
        harness_end(TEST_FAILED);
    }
    return own_dir;
}

const char *test_path(const char *name)
{
    static char ring[4][2048];
    static unsigned turn;
    char *path = ring[turn++ % 4];
    snprintf(path, sizeof ring[0], "%s/%s", test_dir(), name);
    return path;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* A test may have left folders that may not be listed or changed. */
static int unlock_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)where;
    if (kind == FTW_D || kind == FTW_DNR) {
        (void)chmod(path, 0755);
    }
    return 0;
}

void harness_dir_clear(void)
{
    if (access(own_dir, F_OK) != 0) {
        return;
    }
    (void)nftw(own_dir, unlock_entry, 32, FTW_PHYS);
    if (nftw(own_dir, remove_entry, 32, FTW_PHYS | FTW_DEPTH) != 0) {
        printf("cannot remove %s: %s\n", own_dir, strerror(errno));
    }
}

void harness_dir_close(void)
{
    (void)rmdir(run_dir);
}
