/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Vector files, memory that fails, exact copies. The notation is written by tagged_notation.c and
 * read by tagged_parse.c. A vector file that cannot be understood ends the test.
 */
#define _XOPEN_SOURCE 700
#include "kolibri/test/tagged_kit.h"

#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

static void *counted_resize(void *user, void *block, size_t size)
{
    struct counted *counted = user;
    if (size == 0) {
        counted->live -= block != NULL;
        free(block);
        return NULL;
    }
    counted->taken++;
    if (counted->taken == counted->fail_at) {
        return NULL;
    }
    counted->live += block == NULL;
    counted->largest = size > counted->largest ? size : counted->largest;
    return realloc(block, size);
}

void counted_init(struct counted *counted, size_t fail_at)
{
    *counted = (struct counted){.memory = {counted_resize, counted}, .fail_at = fail_at};
}

uint8_t *exact_copy(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    REQUIRE(copy != NULL);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

FILE *vector_file(const char *source_dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/kolibri/test/vectors/tagged/%s", source_dir, name);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    return file;
}

static int hex_digit(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add_hex(struct vector *vector, const char *text)
{
    int high = -1;
    for (; *text != '\0'; text++) {
        int digit = hex_digit(*text);
        if (digit < 0) {
            continue;
        }
        if (high < 0) {
            high = digit;
            continue;
        }
        uint8_t *more = realloc(vector->bytes, vector->size + 1);
        REQUIRE(more != NULL);
        vector->bytes = more;
        vector->bytes[vector->size++] = (uint8_t)(high << 4 | digit);
        high = -1;
    }
    REQUIRE(high < 0);
}

static void take_line(struct vector *vector, const char *line)
{
    if (line[0] == ' ' || strncmp(line, "bytes:", 6) == 0) {
        add_hex(vector, line[0] == ' ' ? line : line + 6);
    } else if (strncmp(line, "name: ", 6) == 0) {
        snprintf(vector->name, sizeof vector->name, "%s", line + 6);
    } else if (strncmp(line, "problem: ", 9) == 0) {
        snprintf(vector->problem, sizeof vector->problem, "%s", line + 9);
    } else {
        vector->is_error = strncmp(line, "error: ", 7) == 0;
        REQUIRE(vector->is_error || strncmp(line, "value: ", 7) == 0);
        size_t size = strlen(line + 7) + 1;
        vector->want = malloc(size);
        REQUIRE(vector->want != NULL);
        memcpy(vector->want, line + 7, size);
    }
}

int vector_next(FILE *file, struct vector *out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    memset(out, 0, sizeof *out);
    while ((size = getline(&line, &room, file)) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' && out->want) {
            break;
        }
        if (line[0] != '#' && line[0] != '\0') {
            take_line(out, line);
        }
    }
    free(line);
    REQUIRE(out->want == NULL || out->name[0] != '\0');
    return out->want != NULL;
}

void vector_free(struct vector *vector)
{
    free(vector->want);
    free(vector->bytes);
}
