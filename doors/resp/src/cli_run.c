/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli DIR COMMAND ARG…: one command, and its reply as redis-cli prints it
 * into a pipe: a value as its bytes and a new line, a missing one as an empty
 * line, an array one element a line, an error on the standard error.
 */
#include <errno.h>
#include <kevy.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doors/resp/src/cli.h"

/* What is left of a reply. */
struct rest {
    const uint8_t *at;
    size_t size;
};

/* Takes a line off the front, without its end; the library writes whole ones. */
static size_t line_take(struct rest *rest, const char **line)
{
    size_t size = 0;
    *line = (const char *)rest->at;
    while (size < rest->size && rest->at[size] != '\r') {
        size++;
    }
    size_t taken = size + 2 < rest->size ? size + 2 : rest->size;
    rest->at += taken;
    rest->size -= taken;
    return size;
}

/* The number that a line tells after its type; the reply has no NUL to stop at. */
static long long line_number(const char *line, size_t size)
{
    bool is_negative = size > 1 && line[1] == '-';
    long long number = 0;
    for (size_t i = is_negative ? 2 : 1; i < size && number < LLONG_MAX / 16; i++) {
        number = number * 10 + (line[i] - '0');
    }
    return is_negative ? -number : number;
}

static void bulk_print(struct rest *rest, long long size)
{
    if (size >= 0 && (size_t)size + 2 <= rest->size) {
        (void)fwrite(rest->at, 1, (size_t)size, stdout);
        rest->at += size + 2;
        rest->size -= (size_t)size + 2;
    }
    (void)putchar('\n');
}

/* Prints a reply and what is in it; false: it is, or has, an error. */
static bool reply_print(struct rest *rest)
{
    bool is_good = true;
    uint64_t left = 1;
    while (left > 0 && rest->size > 0) {
        const char *line;
        size_t size = line_take(rest, &line);
        char type = size > 0 ? line[0] : '\0';
        left--;
        if (type == '$') {
            bulk_print(rest, line_number(line, size));
        } else if (type == '*') {
            long long count = line_number(line, size);
            left += count > 0 ? (uint64_t)count : 0;
            (void)fputs(count < 0 ? "\n" : "", stdout);
        } else if (type == '-') {
            cli_say("%.*s", (int)size - 1, line + 1);
            is_good = false;
        } else {
            (void)printf("%.*s\n", (int)size - 1, line + 1);
        }
    }
    return is_good;
}

/* A name that is mistyped is no store: nothing is made. */
static bool has_store(const char *dir)
{
    size_t room = strlen(dir) + sizeof "/mark";
    char *path = malloc(room);
    if (path == NULL) {
        return true;
    }
    (void)snprintf(path, room, "%s/mark", dir);
    bool answer = access(path, F_OK) == 0 || errno != ENOENT;
    free(path);
    return answer;
}

static enum cli_exit run_one(KevySession *session, size_t argc, char *const *argv)
{
    size_t *lens = malloc(argc * sizeof *lens);
    const uint8_t **args = malloc(argc * sizeof *args);
    KevyBuf reply = {NULL, 0, 0};
    enum cli_exit end = CLI_IO;
    for (size_t i = 0; lens != NULL && args != NULL && i < argc; i++) {
        args[i] = (const uint8_t *)argv[i];
        lens[i] = strlen(argv[i]);
    }
    if (lens != NULL && args != NULL && kevy_session_cmd(session, argc, args, lens, &reply) == 0) {
        struct rest rest = {reply.ptr, reply.len};
        end = reply_print(&rest) ? CLI_OK : CLI_REFUSED;
    } else {
        cli_say("no memory");
    }
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    free(lens);
    free((void *)args);
    return end;
}

static bool select_database(KevySession *session, uint32_t database)
{
    char number[16];
    KevyBuf reply = {NULL, 0, 0};
    int size = snprintf(number, sizeof number, "%lu", (unsigned long)database);
    const uint8_t *args[] = {(const uint8_t *)"SELECT", (const uint8_t *)number};
    size_t lens[] = {6, (size_t)size};
    bool is_good = kevy_session_cmd(session, 2, args, lens, &reply) == 0 && reply.len > 0 &&
                   reply.ptr[0] == '+';
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return is_good;
}

enum cli_exit cli_run(const struct cli_options *options, const char *dir, int argc,
                      char *const *argv)
{
    KevyDb *db;
    KevyError error;
    if (!has_store(dir)) {
        cli_say("%s: there is no store; `kevy-cli import` makes one", dir);
        return CLI_REFUSED;
    }
    if (kevy_open_ex((const uint8_t *)dir, strlen(dir), NULL, &db, &error) < 0) {
        return cli_fail(&error);
    }
    KevySession *session = kevy_session_new(db);
    enum cli_exit end = CLI_IO;
    if (session != NULL && select_database(session, options->database)) {
        end = run_one(session, (size_t)argc, argv);
    } else {
        cli_say("no memory");
    }
    if (kevy_shutdown(db) < 0) {
        cli_say("the store cannot be flushed: what was written may not be durable");
        end = CLI_IO;
    }
    kevy_session_free(session);
    kevy_close(db);
    return end;
}
