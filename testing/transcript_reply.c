/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * RESP2 replies as the transcript runner sees them: how long they are, how to
 * show them, and how to put those without an order in order. See transcript.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "testing/transcript.h"

void transcript_append(struct transcript_buffer *buffer, const void *data, size_t size)
{
    if (buffer->capacity - buffer->size < size + 1) {
        buffer->capacity = (buffer->size + size + 64) * 2;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (buffer->data == NULL) {
            abort();
        }
    }
    if (size > 0) {
        memcpy(buffer->data + buffer->size, data, size);
    }
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void transcript_free(struct transcript_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct transcript_buffer){NULL, 0, 0};
}

size_t transcript_reply_size(struct bytes bytes)
{
    const uint8_t *lf = bytes.size == 0 ? NULL : memchr(bytes.data, '\n', bytes.size);
    if (lf == NULL) {
        return 0;
    }
    size_t line = (size_t)(lf - bytes.data) + 1;
    uint8_t type = bytes.data[0];
    if (line < 3 || lf[-1] != '\r' || memchr("+-:$*", type, 5) == NULL) {
        return SIZE_MAX;
    }
    long long number =
        type == '$' || type == '*' ? strtoll((const char *)bytes.data + 1, NULL, 10) : -1;
    if (number < 0) {
        return line;
    }
    if (type == '$') {
        size_t size = line + (size_t)number + 2;
        return bytes.size < size ? 0 : size;
    }
    size_t at = line;
    for (long long i = 0; i < number; i++) {
        size_t size = transcript_reply_size(bytes_of(bytes.data + at, bytes.size - at));
        if (size == 0 || size == SIZE_MAX) {
            return size;
        }
        at += size;
    }
    return at;
}

void transcript_show(struct bytes bytes, struct transcript_buffer *out)
{
    enum { SHOWN = 2000 };
    for (size_t i = 0; i < bytes.size && i < SHOWN; i++) {
        uint8_t c = bytes.data[i];
        char text[8];
        int size = c == '\r'           ? snprintf(text, sizeof text, "\\r")
                   : c == '\n'         ? snprintf(text, sizeof text, "\\n")
                   : c < 32 || c > 126 ? snprintf(text, sizeof text, "\\x%02x", c)
                                       : snprintf(text, sizeof text, "%c", c);
        transcript_append(out, text, (size_t)size);
    }
    transcript_append(out, bytes.size > SHOWN ? "…" : "", bytes.size > SHOWN ? 3 : 0);
}

static int compare_bytes(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->data, y->data, size);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

void transcript_sort(struct transcript_buffer *reply, size_t step)
{
    if (reply->size == 0 || reply->data[0] != '*') {
        return;
    }
    size_t head = (size_t)((uint8_t *)memchr(reply->data, '\n', reply->size) - reply->data) + 1;
    size_t count = (size_t)strtoll((const char *)reply->data + 1, NULL, 10) / step, at = head;
    struct bytes *parts = calloc(count + 1, sizeof *parts);
    struct transcript_buffer sorted = {NULL, 0, 0};
    if (parts == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        size_t start = at;
        for (size_t j = 0; j < step; j++) {
            at += transcript_reply_size(bytes_of(reply->data + at, reply->size - at));
        }
        parts[i] = bytes_of(reply->data + start, at - start);
    }
    qsort(parts, count, sizeof *parts, compare_bytes);
    transcript_append(&sorted, reply->data, head);
    for (size_t i = 0; i < count; i++) {
        transcript_append(&sorted, parts[i].data, parts[i].size);
    }
    transcript_append(&sorted, reply->data + at, reply->size - at);
    free(parts);
    transcript_free(reply);
    *reply = sorted;
}
