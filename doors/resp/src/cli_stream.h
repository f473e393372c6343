/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A stream of commands, read one by one: RESP arrays of bulk strings as clients
 * send them and as an AOF holds them, or lines of words separated by blanks.
 * Lines that begin with # (an AOF's notes of time) and empty lines are passed
 * over.
 *
 * One command is in memory at a time. Every byte may be anything: what is no
 * command is an error with its place.
 *
 * One thread.
 */
#ifndef DOORS_RESP_SRC_CLI_STREAM_H
#define DOORS_RESP_SRC_CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_read {
    CLI_READ_COMMAND,
    CLI_READ_END,    /* after a whole command */
    CLI_READ_TORN,   /* within a command */
    CLI_READ_BAD,    /* stream.at is no command; stream.why says what it is */
    CLI_READ_FAILED, /* errno says why */
    CLI_READ_MEMORY
};

struct cli_stream {
    FILE *in;
    uint64_t start; /* of the last command, in the stream */
    uint64_t at;    /* of the next byte that was not taken */
    const char *why;
    uint8_t *bytes; /* of the command */
    size_t size;
    size_t room;
    size_t *ends; /* where in them each argument ends */
    size_t ends_room;
    const uint8_t **argv; /* the arguments */
    size_t *lens;
    size_t argc;
};

/* Reads the next command: argc, argv and lens are its, borrowed until the next
 * call. */
enum cli_read cli_stream_next(struct cli_stream *stream);

/* Frees what it holds; `in` is the caller's. */
void cli_stream_done(struct cli_stream *stream);

#endif
