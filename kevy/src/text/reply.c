/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing of reply.h. The block starts at REPLY_FIRST bytes or what the first
 * write needs, and grows by doubling; a lone bulk string gets what it needs
 * and no more.
 */
#include "kevy/src/text/reply.h"

#include "base/assert.h"
#include "kevy/src/text/number.h"

#ifdef KEVY_HOSTILE
enum { REPLY_FIRST = 1 };
#else
enum { REPLY_FIRST = 64 };
#endif

/* A type byte, a number, CR LF. */
enum { HEADER_MAX = 1 + KV_INT_TEXT + 2 };

void kv_reply_init(struct kv_reply *reply, struct kv_mem *mem, uint8_t protocol)
{
    ASSERT(protocol == 2 || protocol == 3);
    *reply = (struct kv_reply){.mem = mem, .protocol = protocol};
}

void kv_reply_done(struct kv_reply *reply)
{
    kv_mem_free(reply->mem, reply->data, reply->capacity);
    kv_reply_init(reply, reply->mem, reply->protocol);
}

uint8_t *kv_reply_take(struct kv_reply *reply, size_t *size_out, size_t *capacity_out)
{
    uint8_t *data = reply->data;
    if (reply->failed || reply->size == 0) {
        kv_reply_done(reply);
        data = NULL;
    }
    *size_out = reply->size;
    *capacity_out = reply->capacity;
    kv_reply_init(reply, reply->mem, reply->protocol);
    return data;
}

static bool reply_grow(struct kv_reply *reply, size_t size)
{
    size_t capacity = reply->capacity == 0 ? REPLY_FIRST : reply->capacity;
    if (reply->failed || size > SIZE_MAX / 2 - reply->size) {
        reply->failed = true;
        return false;
    }
    if (reply->capacity != 0) {
        capacity = reply->capacity * 2;
    }
    if (capacity < reply->size + size) {
        capacity = reply->size + size;
    }
    uint8_t *data = kv_mem_resize(reply->mem, reply->data, reply->capacity, capacity);
    if (data == NULL) {
        reply->failed = true;
        return false;
    }
    reply->data = data;
    reply->capacity = capacity;
    return true;
}

static inline bool reply_reserve(struct kv_reply *reply, size_t size)
{
    return (reply->capacity - reply->size >= size && !reply->failed) || reply_grow(reply, size);
}

bool kv_reply_reserve(struct kv_reply *reply, size_t size)
{
    return reply_reserve(reply, size);
}

void kv_reply_rewind(struct kv_reply *reply, size_t size)
{
    ASSERT(size <= reply->size);
    reply->size = size;
    reply->failed = false;
}

/* Copies to reserved room. Inline, so that constants are stores. */
static inline void reply_put(struct kv_reply *reply, const void *data, size_t size)
{
    ASSERT(reply->capacity - reply->size >= size);
    if (size > 0) {
        memcpy(reply->data + reply->size, data, size);
        reply->size += size;
    }
}

static inline void reply_raw(struct kv_reply *reply, struct bytes bytes)
{
    if (reply_reserve(reply, bytes.size)) {
        reply_put(reply, bytes.data, bytes.size);
    }
}

void kv_reply_raw(struct kv_reply *reply, struct bytes bytes)
{
    reply_raw(reply, bytes);
}

/* Writes type, number, CR LF to `out` (HEADER_MAX bytes); returns the size. */
static size_t header_format(uint8_t *out, char type, int64_t number)
{
    out[0] = (uint8_t)type;
    size_t size = 1 + kv_number_format_int(number, out + 1);
    out[size] = '\r';
    out[size + 1] = '\n';
    return size + 2;
}

/* As above, straight into the reply, with room for `more` bytes behind it. */
static bool reply_header(struct kv_reply *reply, char type, int64_t number, size_t more)
{
    if (!reply_reserve(reply, HEADER_MAX + more)) {
        return false;
    }
    reply->size += header_format(reply->data + reply->size, type, number);
    return true;
}

static void reply_line(struct kv_reply *reply, char type, const char *text)
{
    size_t size = strlen(text);
    if (kv_reply_reserve(reply, size + 3)) {
        reply_put(reply, &type, 1);
        reply_put(reply, text, size);
        reply_put(reply, "\r\n", 2);
    }
}

void kv_reply_ok(struct kv_reply *reply)
{
    reply_raw(reply, BYTES_LITERAL("+OK\r\n"));
}

void kv_reply_pong(struct kv_reply *reply)
{
    reply_raw(reply, BYTES_LITERAL("+PONG\r\n"));
}

void kv_reply_status(struct kv_reply *reply, const char *text)
{
    reply_line(reply, '+', text);
}

void kv_reply_int(struct kv_reply *reply, int64_t number)
{
    reply_header(reply, ':', number, 0);
}

void kv_reply_int_text(struct kv_reply *reply, struct bytes digits)
{
    if (reply_reserve(reply, HEADER_MAX)) {
        ASSERT(digits.size <= KV_INT_TEXT);
        reply_put(reply, ":", 1);
        reply_put(reply, digits.data, digits.size);
        reply_put(reply, "\r\n", 2);
    }
}

void kv_reply_bulk(struct kv_reply *reply, struct bytes value)
{
    if (value.size > SIZE_MAX / 4) {
        reply->failed = true;
    } else if (reply_header(reply, '$', (int64_t)value.size, value.size + 2)) {
        reply_put(reply, value.data, value.size);
        reply_put(reply, "\r\n", 2);
    }
}

void kv_reply_bulk_text(struct kv_reply *reply, const char *text)
{
    kv_reply_bulk(reply, bytes_of(text, strlen(text)));
}

void kv_reply_bulk_int(struct kv_reply *reply, int64_t number)
{
    uint8_t text[KV_INT_TEXT];
    kv_reply_bulk(reply, bytes_of(text, kv_number_format_int(number, text)));
}

void kv_reply_bulk_uint(struct kv_reply *reply, uint64_t number)
{
    uint8_t text[KV_INT_TEXT];
    kv_reply_bulk(reply, bytes_of(text, kv_number_format_uint(number, text)));
}

void kv_reply_null(struct kv_reply *reply)
{
    kv_reply_raw(reply, reply->protocol == 2 ? BYTES_LITERAL("$-1\r\n") : BYTES_LITERAL("_\r\n"));
}

void kv_reply_null_array(struct kv_reply *reply)
{
    kv_reply_raw(reply, reply->protocol == 2 ? BYTES_LITERAL("*-1\r\n") : BYTES_LITERAL("_\r\n"));
}

void kv_reply_array(struct kv_reply *reply, size_t count)
{
    reply_header(reply, '*', (int64_t)count, 0);
}

void kv_reply_map(struct kv_reply *reply, size_t count)
{
    bool flat = reply->protocol == 2;
    reply_header(reply, flat ? '*' : '%', (int64_t)(flat ? count * 2 : count), 0);
}

void kv_reply_set(struct kv_reply *reply, size_t count)
{
    reply_header(reply, reply->protocol == 2 ? '*' : '~', (int64_t)count, 0);
}

size_t kv_reply_array_begin(const struct kv_reply *reply)
{
    return reply->size;
}

void kv_reply_array_end(struct kv_reply *reply, size_t begin, size_t count)
{
    uint8_t header[HEADER_MAX];
    size_t size = header_format(header, '*', (int64_t)count);
    if (!kv_reply_reserve(reply, size)) {
        return;
    }
    ASSERT(begin <= reply->size);
    memmove(reply->data + begin + size, reply->data + begin, reply->size - begin);
    memcpy(reply->data + begin, header, size);
    reply->size += size;
}

void kv_reply_error(struct kv_reply *reply, const char *text)
{
    reply_line(reply, '-', text);
}

void kv_reply_error_begin(struct kv_reply *reply, const char *text)
{
    kv_reply_raw(reply, BYTES_LITERAL("-"));
    kv_reply_error_text(reply, text);
}

void kv_reply_error_part(struct kv_reply *reply, struct bytes part)
{
    if (!kv_reply_reserve(reply, part.size)) {
        return;
    }
    for (size_t i = 0; i < part.size && part.data[i] != 0; i++) {
        uint8_t c = part.data[i];
        reply->data[reply->size++] = c == '\r' || c == '\n' ? ' ' : c;
    }
}

void kv_reply_error_text(struct kv_reply *reply, const char *text)
{
    kv_reply_error_part(reply, bytes_of(text, strlen(text)));
}

void kv_reply_error_end(struct kv_reply *reply)
{
    kv_reply_raw(reply, BYTES_LITERAL("\r\n"));
}

bool kv_reply_is_error(const struct kv_reply *reply)
{
    return reply->size > 0 && reply->data[0] == '-';
}
