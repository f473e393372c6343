/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading commands; see cli_stream.h. Limits are those of a Redis server: a
 * million arguments, 512 MiB each, lines of 64 KiB.
 */
#include <stdlib.h>
#include <string.h>

#include "doors/resp/src/cli_stream.h"

enum { LINE_MAX_SIZE = 64 << 10, BULK_MAX = 512 << 20, ARGS_MAX = 1 << 20 };

/* ---- Memory ---- */

static bool room_for(struct cli_stream *stream, size_t more)
{
    if (stream->room - stream->size >= more) {
        return true;
    }
    size_t room = stream->room < 512 ? 512 : stream->room;
    while (room - stream->size < more) {
        room *= 2;
    }
    uint8_t *grown = realloc(stream->bytes, room);
    if (grown != NULL) {
        stream->bytes = grown;
        stream->room = room;
    }
    return grown != NULL;
}

/* The argument ends where the bytes now do. */
static bool argument_end(struct cli_stream *stream)
{
    if (stream->argc == stream->ends_room) {
        size_t room = stream->ends_room == 0 ? 16 : stream->ends_room * 2;
        size_t *ends = realloc(stream->ends, room * sizeof *ends);
        size_t *lens = ends == NULL ? NULL : realloc(stream->lens, room * sizeof *lens);
        const uint8_t **argv =
            lens == NULL ? NULL : realloc((void *)stream->argv, room * sizeof *argv);
        stream->ends = ends != NULL ? ends : stream->ends;
        stream->lens = lens != NULL ? lens : stream->lens;
        stream->argv = argv != NULL ? argv : stream->argv;
        if (argv == NULL) {
            return false;
        }
        stream->ends_room = room;
    }
    stream->ends[stream->argc++] = stream->size;
    return true;
}

/* ---- Pieces ---- */

static enum cli_read bad(struct cli_stream *stream, uint64_t at, const char *why)
{
    stream->at = at;
    stream->why = why;
    return CLI_READ_BAD;
}

static enum cli_read ended(struct cli_stream *stream)
{
    return ferror(stream->in) != 0 ? CLI_READ_FAILED : CLI_READ_TORN;
}

/* Reads a line into `out`, without its end. */
static enum cli_read line_read(struct cli_stream *stream, char *out, size_t room, size_t *size)
{
    uint64_t start = stream->at;
    *size = 0;
    for (;;) {
        int c = getc(stream->in);
        if (c == EOF) {
            return ended(stream);
        }
        stream->at++;
        if (c == '\n') {
            *size -= *size > 0 && out[*size - 1] == '\r';
            out[*size] = '\0';
            return CLI_READ_COMMAND;
        }
        if (*size + 1 >= room) {
            return bad(stream, start, "a line without an end");
        }
        out[(*size)++] = (char)c;
    }
}

/* Reads "<sign>number" and the end of the line. */
static enum cli_read number_read(struct cli_stream *stream, char sign, uint64_t max, uint64_t *out)
{
    char line[32];
    size_t size;
    uint64_t start = stream->at;
    enum cli_read result = line_read(stream, line, sizeof line, &size);
    if (result != CLI_READ_COMMAND) {
        return result;
    }
    *out = 0;
    for (size_t i = 1; i < size; i++) {
        if (line[i] < '0' || line[i] > '9') {
            return bad(stream, start, "a size that is no number");
        }
        *out = *out > max ? *out : *out * 10 + (uint64_t)(line[i] - '0');
    }
    if (size < 2 || line[0] != sign) {
        return bad(stream, start,
                   sign == '$' ? "an argument that does not begin with $"
                               : "an array that does not begin with *");
    }
    return *out <= max ? CLI_READ_COMMAND : bad(stream, start, "a size that is too large");
}

/* Reads one argument. Memory is taken as bytes come, whatever size is claimed. */
static enum cli_read bulk_read(struct cli_stream *stream)
{
    uint64_t left;
    enum cli_read result = number_read(stream, '$', BULK_MAX, &left);
    while (result == CLI_READ_COMMAND && left > 0) {
        size_t piece = left < (1 << 20) ? (size_t)left : (size_t)1 << 20;
        if (!room_for(stream, piece)) {
            return CLI_READ_MEMORY;
        }
        size_t count = fread(stream->bytes + stream->size, 1, piece, stream->in);
        stream->size += count;
        stream->at += count;
        left -= count;
        result = count == piece ? CLI_READ_COMMAND : ended(stream);
    }
    if (result != CLI_READ_COMMAND) {
        return result;
    }
    for (int i = 0; i < 2; i++) {
        int c = getc(stream->in);
        if (c == EOF) {
            return ended(stream);
        }
        if (c != "\r\n"[i]) {
            return bad(stream, stream->at, "an argument that is longer than it says");
        }
        stream->at++;
    }
    return argument_end(stream) ? CLI_READ_COMMAND : CLI_READ_MEMORY;
}

static enum cli_read array_read(struct cli_stream *stream)
{
    uint64_t count;
    enum cli_read result = number_read(stream, '*', ARGS_MAX, &count);
    for (uint64_t i = 0; result == CLI_READ_COMMAND && i < count; i++) {
        result = bulk_read(stream);
    }
    return result;
}

/* A line of words. */
static enum cli_read words_read(struct cli_stream *stream)
{
    size_t size, at = 0;
    if (!room_for(stream, LINE_MAX_SIZE)) {
        return CLI_READ_MEMORY;
    }
    char *line = (char *)stream->bytes;
    enum cli_read result = line_read(stream, line, LINE_MAX_SIZE, &size);
    if (result != CLI_READ_COMMAND || line[0] == '#') {
        return result;
    }
    if (size >= 6 && memcmp(line, "REDIS0", 6) == 0) {
        return bad(
            stream, stream->start,
            "an RDB file, which is not read: have Redis write commands instead with "
            "CONFIG SET aof-use-rdb-preamble no, CONFIG SET appendonly yes (or BGREWRITEAOF)");
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)line[i] < 32 && line[i] != '\t') {
            return bad(stream, stream->start + i, "a byte that begins no command");
        }
    }
    while (at < size) {
        size_t from = at + strspn(line + at, " \t");
        size_t word = strcspn(line + from, " \t");
        at = from + word;
        if (word > 0) {
            memmove(line + stream->size, line + from, word);
            stream->size += word;
            if (!argument_end(stream)) {
                return CLI_READ_MEMORY;
            }
        }
    }
    return CLI_READ_COMMAND;
}

/* ---- A command ---- */

static void arguments_set(struct cli_stream *stream)
{
    size_t from = 0;
    for (size_t i = 0; i < stream->argc; i++) {
        stream->argv[i] = stream->bytes + from;
        stream->lens[i] = stream->ends[i] - from;
        from = stream->ends[i];
    }
}

enum cli_read cli_stream_next(struct cli_stream *stream)
{
    enum cli_read result = CLI_READ_COMMAND;
    stream->argc = 0;
    while (result == CLI_READ_COMMAND && stream->argc == 0) {
        stream->size = 0;
        stream->start = stream->at;
        int c = getc(stream->in);
        if (c == EOF) {
            return ferror(stream->in) != 0 ? CLI_READ_FAILED : CLI_READ_END;
        }
        (void)ungetc(c, stream->in);
        result = c == '*' ? array_read(stream) : words_read(stream);
    }
    if (result == CLI_READ_COMMAND) {
        arguments_set(stream);
    }
    return result;
}

void cli_stream_done(struct cli_stream *stream)
{
    free(stream->bytes);
    free(stream->ends);
    free(stream->lens);
    free((void *)stream->argv);
}
