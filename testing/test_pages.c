/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The pages that tie faults to tests, docs/faults.md and docs/hazards.md: each
 * fault has a row, and each row names tests that exist.
 *
 * The last cell of a row is a list of quoted things: a path opens a file, what
 * follows it are names of tests in that file.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/harness.h"

static char *text_of(const char *path)
{
    char full[1000];
    (void)snprintf(full, sizeof full, "%s/%s", KV_SOURCE_DIR, path);
    FILE *file = fopen(full, "rb");
    if (file == NULL) {
        printf("%s: is not there\n", full);
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    REQUIRE(text != NULL && fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

/* Checks the quoted things of a row: a path opens a file, a name is in it. */
static unsigned check_row(char *row)
{
    char *save = NULL, *text = NULL;
    unsigned names = 0;
    (void)strtok_r(row, "`", &save);
    for (char *quoted; (quoted = strtok_r(NULL, "`", &save)) != NULL;) {
        if (strchr(quoted, '/') != NULL) {
            free(text);
            text = text_of(quoted);
            CHECK(text != NULL);
        } else if (text == NULL || strstr(text, quoted) == NULL) {
            printf("no test is called %s\n", quoted);
            CHECK(false);
        } else {
            names++;
        }
        (void)strtok_r(NULL, "`", &save);
    }
    free(text);
    return names;
}

/* Checks a page: rows that begin with a number, one for each up to `count`. */
static void check_page(const char *path, unsigned count)
{
    char *page = text_of(path), *save = NULL;
    unsigned row = 0;
    REQUIRE(page != NULL);
    for (char *line = strtok_r(page, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '|' && isdigit((unsigned char)line[2])) {
            CHECK_INT(strtoul(line + 2, NULL, 10), ++row);
            char *tests = strrchr(line, '|');
            *tests = '\0';
            tests = strrchr(line, '|');
            CHECK(check_row(tests) > 0);
        }
    }
    CHECK_INT(row, count);
    free(page);
}

TEST(each_fault_of_the_engine_has_tests)
{
    check_page("docs/faults.md", 20);
}

TEST(each_hazard_of_the_boundary_has_tests)
{
    check_page("docs/hazards.md", 25);
}
