/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The parser of request.h: multibulk and inline. The packed form is in
 * packed.c.
 *
 * State between two calls is only numbers (how far, how much is left), never
 * a pointer into the input, so the caller may move its buffer.
 */
#include "kevy/src/text/request.h"

#include "base/assert.h"
#include "kevy/src/text/number.h"

#ifdef KEVY_HOSTILE
enum { WORDS_FIRST = 1 };
#else
enum { WORDS_FIRST = 8 };
#endif

/* MULTIBULK_MAX is the largest count that a header may claim. */
#define MULTIBULK_MAX INT32_MAX

/* A line is complete, is incomplete, or is too long. */
enum line_state { LINE_MORE, LINE_READY, LINE_LONG };

void kv_request_init(struct kv_request *request, struct kv_mem *mem)
{
    *request = (struct kv_request){.mem = mem, .left = -1, .bulk = -1};
}

void kv_request_done(struct kv_request *request)
{
    struct kv_mem *mem = request->mem;
    kv_mem_free(mem, request->words, request->word_capacity * sizeof *request->words);
    kv_mem_free(mem, request->argv, request->argv_capacity * sizeof *request->argv);
    kv_mem_free(mem, request->line, request->line_size);
    kv_request_init(request, mem);
}

static void request_restart(struct kv_request *request)
{
    kv_mem_free(request->mem, request->line, request->line_size);
    request->line = NULL;
    request->line_size = 0;
    request->argc = 0;
    request->at = 0;
    request->scanned = 0;
    request->left = -1;
    request->bulk = -1;
    request->is_done = false;
}

static enum kv_request_result request_error(struct kv_request *request, const char *text)
{
    request->error = text;
    return KV_REQUEST_ERROR;
}

static bool request_push(struct kv_request *request, size_t offset, size_t size)
{
    if (request->argc == request->word_capacity) {
        size_t old = request->word_capacity, new = old == 0 ? WORDS_FIRST : old * 2;
        size_t each = sizeof *request->words;
        void *words = kv_mem_resize(request->mem, request->words, old * each, new *each);
        if (words == NULL) {
            return false;
        }
        request->words = words;
        request->word_capacity = new;
    }
    request->words[request->argc++] = (struct kv_word){offset, size};
    return true;
}

/* Turns the words into argv over `base`. */
static enum kv_request_result request_finish(struct kv_request *request, const uint8_t *base)
{
    size_t old = request->argv_capacity, new = request->argc, each = sizeof *request->argv;
    if (new > old) {
        void *argv = kv_mem_resize(request->mem, request->argv, old * each, new *each);
        if (argv == NULL) {
            return KV_REQUEST_NOMEM;
        }
        request->argv = argv;
        request->argv_capacity = new;
    }
    for (size_t i = 0; i < request->argc; i++) {
        request->argv[i] = bytes_of(base + request->words[i].offset, request->words[i].size);
    }
    request->is_done = true;
    return KV_REQUEST_READY;
}

/* Finds the line that starts at request->at; *line_out is without its LF. */
static enum line_state request_line(struct kv_request *request, struct bytes input,
                                    struct bytes *line_out)
{
    size_t from = request->scanned > request->at ? request->scanned : request->at;
    size_t limit = request->at + KV_REQUEST_LINE_MAX + 1;
    size_t end = input.size < limit ? input.size : limit;
    const uint8_t *lf = from < end ? memchr(input.data + from, '\n', end - from) : NULL;
    if (lf == NULL) {
        request->scanned = end;
        return end == limit ? LINE_LONG : LINE_MORE;
    }
    size_t size = (size_t)(lf - input.data) - request->at;
    *line_out = bytes_of(input.data + request->at, size);
    request->at += size + 1;
    return LINE_READY;
}

/* The number of a header line, its type byte and CR taken off. */
static bool header_number(struct bytes line, int64_t *out)
{
    if (line.size < 2 || line.data[line.size - 1] != '\r') {
        return false;
    }
    return kv_number_parse_int(bytes_of(line.data + 1, line.size - 2), out);
}

/* ---- Inline ---- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads one escape behind a backslash in double quotes; returns its size. */
static size_t escape_read(const uint8_t *p, size_t size, uint8_t *out)
{
    static const char from[] = "nrtba", to[] = "\n\r\t\b\a";
    if (size >= 3 && *p == 'x' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
        *out = (uint8_t)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
        return 3;
    }
    const char *known = memchr(from, *p, sizeof from - 1);
    *out = known == NULL ? *p : (uint8_t)to[known - from];
    return 1;
}

/* Copies a quoted part that starts behind its quote at p[*at]; false when it
 * does not close, or closes before something else than a blank. */
static bool quoted_read(struct bytes line, size_t *at, uint8_t quote, uint8_t *out, size_t *size)
{
    const uint8_t *p = line.data;
    size_t i = *at;
    while (i < line.size && p[i] != quote) {
        bool escaped = p[i] == '\\' && i + 1 < line.size;
        if (escaped && quote == '"') {
            i++;
            i += escape_read(p + i, line.size - i, &out[*size]);
        } else {
            i += escaped && p[i + 1] == '\'';
            out[*size] = p[i++];
        }
        *size += 1;
    }
    *at = i + 1;
    return i < line.size && (i + 1 == line.size || is_space(p[i + 1]));
}

/* Copies the word at line[*at]; false with unbalanced quotes. */
static bool word_read(struct bytes line, size_t *at, uint8_t *out, size_t *size)
{
    while (*at < line.size && !is_space(line.data[*at])) {
        uint8_t c = line.data[*at];
        *at += 1;
        if (c == '"' || c == '\'') {
            if (!quoted_read(line, at, c, out, size)) {
                return false;
            }
            return true;
        }
        out[*size] = c;
        *size += 1;
    }
    return true;
}

static enum kv_request_result inline_parse(struct kv_request *request, struct bytes line)
{
    if (line.size > 0 && line.data[line.size - 1] == '\r') {
        line.size--;
    }
    if (line.size > 0) {
        request->line = kv_mem_new(request->mem, line.size);
        if (request->line == NULL) {
            return KV_REQUEST_NOMEM;
        }
        request->line_size = line.size;
    }
    size_t at = 0, written = 0;
    for (;;) {
        while (at < line.size && is_space(line.data[at])) {
            at++;
        }
        if (at == line.size) {
            break;
        }
        size_t size = 0;
        if (!word_read(line, &at, request->line + written, &size)) {
            return request_error(request, "ERR Protocol error: unbalanced quotes in request");
        }
        if (!request_push(request, written, size)) {
            return KV_REQUEST_NOMEM;
        }
        written += size;
    }
    request->is_done = true;
    return request->argc == 0 ? KV_REQUEST_NOTHING : request_finish(request, request->line);
}

/* ---- Multibulk ---- */

static enum kv_request_result expected_dollar(struct kv_request *request, uint8_t got)
{
    static const char text[] = "ERR Protocol error: expected '$', got '?'";
    STATIC_ASSERT(sizeof text <= sizeof request->error_text, "room for the text");
    memcpy(request->error_text, text, sizeof text);
    request->error_text[sizeof text - 3] = (char)(got == '\r' || got == '\n' ? ' ' : got);
    return request_error(request, request->error_text);
}

/* Reads `$size`, when it is complete, into request->bulk. */
static enum kv_request_result bulk_header(struct kv_request *request, struct bytes input)
{
    struct bytes line;
    switch (request_line(request, input, &line)) {
    case LINE_MORE:
        return KV_REQUEST_MORE;
    case LINE_LONG:
        return request_error(request, "ERR Protocol error: too big bulk count string");
    case LINE_READY:
        break;
    }
    uint8_t first = line.size == 0 ? '\n' : line.data[0];
    if (first != '$') {
        return expected_dollar(request, first);
    }
    if (!header_number(line, &request->bulk) || request->bulk < 0 ||
        request->bulk > KV_REQUEST_BULK_MAX) {
        return request_error(request, "ERR Protocol error: invalid bulk length");
    }
    return KV_REQUEST_READY;
}

/* Reads the argument whose size is known, when it is complete. */
static enum kv_request_result bulk_data(struct kv_request *request, struct bytes input)
{
    size_t size = (size_t)request->bulk, there = input.size - request->at;
    const uint8_t *data = input.data + request->at;
    if ((there > size && data[size] != '\r') || (there > size + 1 && data[size + 1] != '\n')) {
        return request_error(request, "ERR Protocol error: invalid bulk terminator");
    }
    if (there < size + 2) {
        return KV_REQUEST_MORE;
    }
    if (!request_push(request, request->at, size)) {
        return KV_REQUEST_NOMEM;
    }
    request->at += size + 2;
    request->bulk = -1;
    request->left--;
    return KV_REQUEST_READY;
}

static enum kv_request_result multibulk_header(struct kv_request *request, struct bytes input)
{
    struct bytes line;
    switch (request_line(request, input, &line)) {
    case LINE_MORE:
        return KV_REQUEST_MORE;
    case LINE_LONG:
        return request_error(request, "ERR Protocol error: too big mbulk count string");
    case LINE_READY:
        break;
    }
    int64_t count;
    if (!header_number(line, &count) || count > MULTIBULK_MAX) {
        return request_error(request, "ERR Protocol error: invalid multibulk length");
    }
    request->left = count;
    if (count <= 0) {
        request->is_done = true;
        return KV_REQUEST_NOTHING;
    }
    return KV_REQUEST_READY;
}

static enum kv_request_result multibulk_parse(struct kv_request *request, struct bytes input)
{
    enum kv_request_result result = KV_REQUEST_READY;
    if (request->left < 0) {
        result = multibulk_header(request, input);
    }
    while (result == KV_REQUEST_READY && request->left > 0) {
        if (request->bulk < 0) {
            result = bulk_header(request, input);
        }
        if (result == KV_REQUEST_READY) {
            result = bulk_data(request, input);
        }
    }
    return result == KV_REQUEST_READY ? request_finish(request, input.data) : result;
}

static enum kv_request_result first_line(struct kv_request *request, struct bytes input)
{
    struct bytes line;
    switch (request_line(request, input, &line)) {
    case LINE_MORE:
        return KV_REQUEST_MORE;
    case LINE_LONG:
        return request_error(request, "ERR Protocol error: too big inline request");
    case LINE_READY:
        break;
    }
    return inline_parse(request, line);
}

enum kv_request_result kv_request_parse(struct kv_request *request, struct bytes input,
                                        size_t *used_out)
{
    *used_out = 0;
    if (request->is_done) {
        request_restart(request);
    }
    if (input.size == 0) {
        return KV_REQUEST_MORE;
    }
    ASSERT(request->at <= input.size);
    enum kv_request_result result =
        input.data[0] == '*' ? multibulk_parse(request, input) : first_line(request, input);
    if (result == KV_REQUEST_READY || result == KV_REQUEST_NOTHING) {
        *used_out = request->at;
    }
    return result;
}
