/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Requests: RESP as it comes from a socket, and the packed form of one call.
 *
 * A RESP request is a multibulk `*2\r\n$3\r\nGET\r\n$1\r\nk\r\n` or a line of
 * words with quotes (inline). The parser is fed the bytes that the caller has
 * not consumed yet, from the first byte of the request on, again with more
 * behind them until it is complete; it remembers where it was, so that every
 * byte is looked at once. The bytes may lie elsewhere at each call.
 *
 * Limits and texts are Redis 7's. Where Redis reads over a mistake (bulk data
 * that does not end in CR LF, a header whose CR is followed by another byte)
 * this parser reports it: a shifted stream must not be run as commands.
 * Memory grows with what has arrived, never with what a header claims.
 *
 * Packed: for each argument a u32 little-endian length and its bytes.
 *
 * Threads: one owner.
 */
#ifndef KEVY_SRC_TEXT_REQUEST_H
#define KEVY_SRC_TEXT_REQUEST_H

#include "base/bytes.h"
#include "kevy/src/mem/mem.h"

/* The longest line: an inline request, or a header. */
#define KV_REQUEST_LINE_MAX ((size_t)64 * 1024)

/* The longest bulk string (proto-max-bulk-len). */
#define KV_REQUEST_BULK_MAX ((int64_t)512 * 1024 * 1024)

enum kv_request_result {
    KV_REQUEST_MORE,    /* incomplete: call again with more bytes */
    KV_REQUEST_READY,   /* argv is there, argc > 0 */
    KV_REQUEST_NOTHING, /* an empty line or `*0`: consumed, nothing to run */
    KV_REQUEST_ERROR,   /* `error` is the text; the stream is of no more use */
    KV_REQUEST_NOMEM    /* no memory; the stream is of no more use */
};

/* Where an argument lies in the input, or in the unquoted line. */
struct kv_word {
    size_t offset;
    size_t size;
};

struct kv_request {
    struct kv_mem *mem;
    struct bytes *argv; /* borrowed from the input or from `line` */
    size_t argc;
    const char *error; /* "ERR Protocol error: …" */

    /* the parser's own */
    struct kv_word *words;
    size_t word_capacity;
    size_t argv_capacity;
    uint8_t *line; /* an inline request without its quotes */
    size_t line_size;
    size_t at;      /* parsed so far */
    size_t scanned; /* no line end before this */
    int64_t left;   /* arguments still to come, -1 before the header */
    int64_t bulk;   /* size of the argument to come, -1 before its header */
    bool is_done;   /* the next parse begins a new request */
    char error_text[48];
};

void kv_request_init(struct kv_request *request, struct kv_mem *mem);
void kv_request_done(struct kv_request *request);

/* Parses from the start of `input`. On READY and NOTHING *used_out is the size
 * of the request: drop that many bytes before the next parse, which begins a
 * new one. argv is borrowed until then. */
enum kv_request_result kv_request_parse(struct kv_request *request, struct bytes input,
                                        size_t *used_out);

/* Returns the number of arguments of a packed call, 0 if it holds none or a
 * length runs past the end. */
size_t kv_packed_count(struct bytes packed);

/* Fills argv, kv_packed_count elements, borrowed from `packed`. */
void kv_packed_parse(struct bytes packed, struct bytes *argv);

#endif
