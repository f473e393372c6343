/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Builds cpp/use_kolibri.cpp, pedantic and without a warning, against the single-file library, and
 * runs it; skipped where there is no C++ compiler or no libjvm.
 */
#define _POSIX_C_SOURCE 200809L
#include "testing/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char output[1 << 14];

static int shell(const char *command)
{
    FILE *pipe = popen(command, "r");
    REQUIRE(pipe != NULL);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = 0;
    int code = pclose(pipe);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

TEST_LIMIT(kolibri_hpp, 300)
{
    char command[4096];
    const char *folder = test_dir();
    if (shell("command -v g++") != 0) {
        SKIP("no C++ compiler");
    }
    if (strlen(KOL_TEST_LIBJVM) == 0) {
        SKIP("no libjvm");
    }
    snprintf(command, sizeof command,
             "cd '%s' && gcc -std=c17 -O1 -I. -Ikolibri/include %s -c kolibri/src/kolibri_one.c "
             "-o '%s/one.o' 2>&1 && g++ -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wshadow "
             "-Wconversion -Werror -Ikolibri/include %s kolibri/test/cpp/use_kolibri.cpp "
             "'%s/one.o' '%s' -Wl,-rpath,\"$(dirname '%s')\" -lpthread -o '%s/use' 2>&1",
             KV_SOURCE_DIR, KOL_TEST_CC_FLAGS, folder, KOL_TEST_CC_FLAGS, folder, KOL_TEST_LIBJVM,
             KOL_TEST_LIBJVM, folder);
    int code = shell(command);
    if (!CHECK_INT(code, 0)) {
        printf("%.4000s\n", output);
        return;
    }
    snprintf(command, sizeof command, "'%s/use' 2>&1", folder);
    CHECK_INT(shell(command), 0);
    CHECK_STR(output, "right\n");
}
