/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli import: runs the commands of a stream on a store, which is made if it
 * is not there.
 *
 * What is read: an export, the commands that a client would send, an AOF of
 * Redis, or the manifest of one (appendonlydir/….manifest), whose files are read
 * in turn. What is between MULTI and EXEC is run only once the EXEC was read. A
 * command that the store refuses is told and counted, and the rest goes on; a
 * byte that begins no command ends the import.
 *
 * The store is flushed once, at the end: what was imported is durable when the
 * program ends with 0 or 1.
 */
#include <errno.h>
#include <kevy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doors/resp/src/cli.h"
#include "doors/resp/src/cli_stream.h"

enum { REFUSALS_TOLD = 10 };

/* Commands between MULTI and EXEC, packed: count, then size and bytes of each
 * argument. */
struct waiting {
    uint8_t *bytes;
    size_t size;
    size_t room;
    bool is_open;
};

struct import {
    const struct cli_options *options;
    KevyDb *db;
    KevySession *session;
    const char *name; /* of the file that is read */
    uint64_t applied;
    uint64_t refused;
    struct waiting waiting;
};

/* ---- Running ---- */

static enum cli_exit no_memory(void)
{
    cli_say("no memory");
    return CLI_IO;
}

static enum cli_exit apply(struct import *import, uint64_t offset, size_t argc,
                           const uint8_t *const *argv, const size_t *lens)
{
    KevyBuf reply;
    int32_t status = kevy_session_cmd(import->session, argc, argv, lens, &reply);
    if (status < 0) {
        return no_memory();
    }
    bool is_refused = reply.len > 0 && reply.ptr[0] == '-';
    import->applied += !is_refused;
    import->refused += is_refused;
    if (is_refused && import->refused <= REFUSALS_TOLD) {
        int size = reply.len > 200 ? 200 : (int)reply.len;
        cli_say("%s: at byte %llu: %.*s: %.*s", import->name, (unsigned long long)offset,
                lens[0] > 40 ? 40 : (int)lens[0], (const char *)argv[0], size < 3 ? 0 : size - 3,
                (const char *)reply.ptr + 1);
    }
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return CLI_OK;
}

static bool wait_bytes(struct waiting *waiting, const void *data, size_t size)
{
    while (waiting->room - waiting->size < size) {
        size_t room = waiting->room == 0 ? 4096 : waiting->room * 2;
        uint8_t *grown = realloc(waiting->bytes, room);
        if (grown == NULL) {
            return false;
        }
        waiting->bytes = grown;
        waiting->room = room;
    }
    if (size > 0) {
        memcpy(waiting->bytes + waiting->size, data, size);
        waiting->size += size;
    }
    return true;
}

static bool wait_command(struct waiting *waiting, const struct cli_stream *stream)
{
    bool is_kept = wait_bytes(waiting, &stream->start, sizeof stream->start) &&
                   wait_bytes(waiting, &stream->argc, sizeof stream->argc);
    for (size_t i = 0; is_kept && i < stream->argc; i++) {
        is_kept = wait_bytes(waiting, &stream->lens[i], sizeof stream->lens[i]) &&
                  wait_bytes(waiting, stream->argv[i], stream->lens[i]);
    }
    return is_kept;
}

/* Runs what waited for the EXEC. */
static enum cli_exit apply_waiting(struct import *import)
{
    struct waiting *waiting = &import->waiting;
    enum cli_exit end = CLI_OK;
    size_t at = 0;
    while (end == CLI_OK && at < waiting->size) {
        uint64_t offset;
        size_t argc;
        memcpy(&offset, waiting->bytes + at, sizeof offset);
        memcpy(&argc, waiting->bytes + at + sizeof offset, sizeof argc);
        at += sizeof offset + sizeof argc;
        const uint8_t **argv = malloc(argc * sizeof *argv);
        size_t *lens = malloc(argc * sizeof *lens);
        for (size_t i = 0; argv != NULL && lens != NULL && i < argc; i++) {
            memcpy(&lens[i], waiting->bytes + at, sizeof lens[i]);
            argv[i] = waiting->bytes + at + sizeof lens[i];
            at += sizeof lens[i] + lens[i];
        }
        end = argv == NULL || lens == NULL ? no_memory() : apply(import, offset, argc, argv, lens);
        free((void *)argv);
        free(lens);
    }
    waiting->size = 0;
    waiting->is_open = false;
    return end;
}

static bool is_name(const struct cli_stream *stream, const char *name)
{
    size_t size = strlen(name);
    return stream->lens[0] == size && strncasecmp((const char *)stream->argv[0], name, size) == 0;
}

static enum cli_exit take(struct import *import, const struct cli_stream *stream)
{
    struct waiting *waiting = &import->waiting;
    if (is_name(stream, "EXEC") && waiting->is_open) {
        return apply_waiting(import);
    }
    if (is_name(stream, "MULTI") && !waiting->is_open) {
        waiting->is_open = true;
        return CLI_OK;
    }
    if (waiting->is_open) {
        return wait_command(waiting, stream) ? CLI_OK : no_memory();
    }
    return apply(import, stream->start, stream->argc, stream->argv, stream->lens);
}

/* ---- Reading ---- */

/* Why reading ended, if not as it should. */
static enum cli_exit tell_end(const struct import *import, const struct cli_stream *stream,
                              enum cli_read result)
{
    switch (result) {
    case CLI_READ_COMMAND:
    case CLI_READ_END:
        if (import->waiting.is_open) {
            cli_say("%s: ends within a transaction, which was not run", import->name);
            return CLI_REFUSED;
        }
        return CLI_OK;
    case CLI_READ_TORN:
        cli_say("%s: the last command, from byte %llu on, is cut short; all before it was run%s",
                import->name, (unsigned long long)stream->start,
                import->waiting.is_open ? ", but for the transaction that it is in" : "");
        return CLI_REFUSED;
    case CLI_READ_BAD:
        cli_say("%s: at byte %llu: %s", import->name, (unsigned long long)stream->at, stream->why);
        return CLI_REFUSED;
    case CLI_READ_FAILED:
        cli_say("%s cannot be read: %s", import->name, strerror(errno));
        return CLI_IO;
    case CLI_READ_MEMORY:
        return no_memory();
    }
    return CLI_IO;
}

static enum cli_exit import_stream(struct import *import, FILE *in)
{
    struct cli_stream stream = {.in = in};
    enum cli_read result = CLI_READ_COMMAND;
    enum cli_exit end = CLI_OK;
    while (end == CLI_OK && (result = cli_stream_next(&stream)) == CLI_READ_COMMAND) {
        end = take(import, &stream);
    }
    end = end == CLI_OK ? tell_end(import, &stream, result) : end;
    cli_stream_done(&stream);
    import->waiting.size = 0;
    import->waiting.is_open = false;
    return end;
}

static enum cli_exit import_manifest(struct import *import, FILE *in, const char *path);

/* What comes through a pipe is a stream: it could not be read once more. */
static bool is_manifest(FILE *in)
{
    char start[5] = "";
    if (fseek(in, 0, SEEK_SET) != 0) {
        return false;
    }
    size_t size = fread(start, 1, sizeof start, in);
    rewind(in);
    return size == sizeof start && memcmp(start, "file ", 5) == 0;
}

static enum cli_exit import_file(struct import *import, const char *path, bool may_be_manifest)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        cli_say("%s cannot be read: %s", path, strerror(errno));
        return CLI_IO;
    }
    import->name = path;
    enum cli_exit end = may_be_manifest && is_manifest(in) ? import_manifest(import, in, path)
                                                           : import_stream(import, in);
    (void)fclose(in);
    return end;
}

/* One line: file NAME seq NUMBER type b|i|h, the name relative to the manifest. */
static enum cli_exit import_named(struct import *import, const char *line, const char *path)
{
    char name[256], type = '\0', full[4096];
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path + 1);
    if (sscanf(line, "file %255s seq %*u type %c", name, &type) != 2) {
        cli_say("%s: a line that is none of a manifest: %s", path, line);
        return CLI_REFUSED;
    }
    if (type == 'h') {
        return CLI_OK;
    }
    if (strchr(name, '/') != NULL ||
        (size_t)snprintf(full, sizeof full, "%.*s%s", folder, path, name) >= sizeof full) {
        cli_say("%s: a name that is no file beside it: %s", path, name);
        return CLI_REFUSED;
    }
    return import_file(import, full, false);
}

static enum cli_exit import_manifest(struct import *import, FILE *in, const char *path)
{
    char line[512];
    enum cli_exit end = CLI_OK;
    while (end == CLI_OK && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0') {
            end = import_named(import, line, path);
        }
    }
    return end;
}

/* ---- The command ---- */

static enum cli_exit finish(struct import *import, enum cli_exit end)
{
    if (kevy_shutdown(import->db) < 0) {
        cli_say("the store cannot be flushed: what was imported may not be durable");
        end = CLI_IO;
    }
    if (!import->options->is_quiet) {
        cli_say("%llu commands run, %llu refused", (unsigned long long)import->applied,
                (unsigned long long)import->refused);
    }
    return end == CLI_OK && import->refused != 0 ? CLI_REFUSED : end;
}

enum cli_exit cli_import(const struct cli_options *options, const char *dir, const char *file)
{
    KevyOpenOptions open_options = KEVY_OPEN_OPTIONS_INIT;
    struct import import = {.options = options, .name = "the standard input"};
    KevyError error;
    open_options.fsync = KEVY_FSYNC_NO;
    if (kevy_open_ex((const uint8_t *)dir, strlen(dir), &open_options, &import.db, &error) < 0) {
        return cli_fail(&error);
    }
    enum cli_exit end = CLI_IO;
    import.session = kevy_session_new(import.db);
    if (import.session == NULL) {
        end = no_memory();
    } else {
        end = strcmp(file, "-") == 0 ? import_stream(&import, stdin)
                                     : import_file(&import, file, true);
        end = finish(&import, end);
    }
    kevy_session_free(import.session);
    kevy_close(import.db);
    free(import.waiting.bytes);
    return end;
}
