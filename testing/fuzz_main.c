/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Replays a corpus through a fuzz target without libFuzzer: main() for the
 * targets in the ordinary test run, where each file of the corpus is one
 * test. With libFuzzer (the fuzz preset) the same target is linked with its
 * main() instead.
 *
 * A target is a file fuzz_<name>.c that defines LLVMFuzzerTestOneInput and
 * states a property; its corpus is the folder corpus/<name> beside it. The
 * arguments of this program are files and folders. Inputs run in this
 * process, one after the other, the empty input first: the first crash ends
 * the run, and the last line printed names the input.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned passed;
static unsigned failed;

static void replay(const char *name, const uint8_t *data, size_t size)
{
    printf("input %s, %zu bytes\n", name, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    passed++;
}

/* A copy of exactly the input's size, so that a sanitizer sees a read past
 * its end. */
static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (file != NULL && data != NULL && fread(data, 1, size, file) == size) {
        replay(path, data, size);
    } else {
        printf("cannot read %s\n", path);
        failed++;
    }
    free(data);
    if (file != NULL) {
        fclose(file);
    }
}

static void replay_path(const char *path);

static void replay_folder(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[4096];
        int size = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && size > 0 && (size_t)size < sizeof name) {
            replay_path(name);
        }
        free(entries[i]);
    }
    free(entries);
}

static void replay_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        printf("cannot find %s\n", path);
        failed++;
    } else if (S_ISDIR(info.st_mode)) {
        replay_folder(path);
    } else {
        replay_file(path, (size_t)info.st_size);
    }
}

int main(int argc, char **argv)
{
    replay("(empty)", (const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        replay_path(argv[i]);
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0 ? 1 : 0;
}
