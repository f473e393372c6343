/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Compiles every program of wont_compile/ with each compiler of this machine: right.c must compile,
 * the others must fail with what their card expects, with no warning option but the defaults. One
 * that only fails to link leaves the name it needs undefined.
 */
#define _POSIX_C_SOURCE 200809L
#include "testing/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FOLDER KV_SOURCE_DIR "/kolibri/test/wont_compile"

static char output[1 << 16];

/* Runs a shell command; its output is in `output`, its exit code returned. */
static int shell(const char *command)
{
    FILE *pipe = popen(command, "r");
    REQUIRE(pipe != NULL);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = 0;
    while (fgetc(pipe) != EOF) {
    }
    int code = pclose(pipe);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void read_expected(const char *path, char *expected, size_t size)
{
    char line[256];
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    expected[0] = 0;
    while (fgets(line, sizeof line, file)) {
        const char *found = strstr(line, "Expected: ");
        if (found) {
            snprintf(expected, size, "%.*s", (int)strcspn(found + 10, "\n"), found + 10);
            break;
        }
    }
    fclose(file);
    REQUIRE(expected[0] != 0);
}

static void check_program(const char *compiler, const char *name)
{
    char path[512];
    char command[2048];
    char expected[128];
    const char *object = test_path("out.o");
    snprintf(path, sizeof path, FOLDER "/%s", name);
    read_expected(path, expected, sizeof expected);
    snprintf(command, sizeof command,
             "%s -std=c17 -I'%s' -I'%s/kolibri/include' %s -c '%s' -o '%s' 2>&1", compiler,
             KV_SOURCE_DIR, KV_SOURCE_DIR, KOL_TEST_CC_FLAGS, path, object);
    int code = shell(command);
    int is_right = strcmp(expected, "nothing") == 0;
    int is_undefined = strncmp(expected, "undefined ", 10) == 0;
    if (is_undefined && code == 0) {
        snprintf(command, sizeof command, "nm -u '%s'", object);
        shell(command);
    }
    int is_as_expected = is_right       ? code == 0
                         : is_undefined ? strstr(output, expected + 10) != NULL
                                        : code != 0 && strstr(output, expected) != NULL;
    if (!CHECK(is_as_expected)) {
        printf("%s %s: expected `%s`, exit code %d\n%.1500s\n", compiler, name, expected, code,
               output);
    }
}

static void check_all(const char *compiler)
{
    char command[256];
    int count = 0;
    snprintf(command, sizeof command, "command -v %s", compiler);
    if (shell(command) != 0) {
        SKIP("this compiler is not installed");
    }
    DIR *folder = opendir(FOLDER);
    REQUIRE(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        size_t size = strlen(entry->d_name);
        if (size > 2 && strcmp(entry->d_name + size - 2, ".c") == 0) {
            check_program(compiler, entry->d_name);
            count++;
        }
    }
    closedir(folder);
    CHECK(count >= 20);
}

TEST_LIMIT(gcc_refuses_each, 300)
{
    check_all("gcc");
}

TEST_LIMIT(clang_refuses_each, 300)
{
    check_all("clang");
}
