/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Frames, measured and written by the same walk: a pen without paper counts
 * the bytes, a pen with paper writes them, so size and content cannot differ.
 * The commands' replies are written elsewhere (text/reply.h); a frame is not a
 * reply, it must know its size before it may leave its queue.
 */
#include "kevy/src/bus/bus_frame.h"

#include "kevy/src/bus/bus_inner.h"

/* Where the next byte goes; `to` NULL only counts. */
struct frame_pen {
    uint8_t *to;
    size_t size;
};

static void pen_bytes(struct frame_pen *pen, struct bytes bytes)
{
    if (pen->to != NULL && bytes.size > 0) {
        memcpy(pen->to + pen->size, bytes.data, bytes.size);
    }
    pen->size += bytes.size;
}

/* A type byte, a number and the end of a line. */
static void pen_line(struct frame_pen *pen, char type, size_t number)
{
    char line[24];
    size_t at = sizeof line;
    line[--at] = '\n';
    line[--at] = '\r';
    do {
        line[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    line[--at] = type;
    pen_bytes(pen, bytes_of(line + at, sizeof line - at));
}

static void pen_bulk(struct frame_pen *pen, struct bytes bytes)
{
    pen_line(pen, '$', bytes.size);
    pen_bytes(pen, bytes);
    pen_bytes(pen, BYTES_LITERAL("\r\n"));
}

static void pen_message(struct frame_pen *pen, const struct kv_entry *entry)
{
    if (entry->pattern == NULL) {
        pen_bytes(pen, BYTES_LITERAL("*3\r\n$7\r\nmessage\r\n"));
    } else {
        pen_bytes(pen, BYTES_LITERAL("*4\r\n$8\r\npmessage\r\n"));
        pen_bulk(pen, kv_topic_name(entry->pattern));
    }
    pen_bulk(pen, kv_message_channel(entry->message));
    pen_bulk(pen, kv_message_payload(entry->message));
}

static void pen_ack(struct frame_pen *pen, const struct kv_ack *ack)
{
    static const char *const words[] = {
        [KV_ACK_SUBSCRIBE] = "subscribe",
        [KV_ACK_UNSUBSCRIBE] = "unsubscribe",
        [KV_ACK_PSUBSCRIBE] = "psubscribe",
        [KV_ACK_PUNSUBSCRIBE] = "punsubscribe",
    };
    const char *word = words[ack->kind];
    pen_line(pen, '*', 3);
    pen_bulk(pen, bytes_of(word, strlen(word)));
    pen_bulk(pen, bytes_of(ack->name, ack->name_size));
    pen_line(pen, ':', ack->remaining);
}

size_t kv_frame_message_size(const struct kv_entry *entry)
{
    struct frame_pen pen = {NULL, 0};
    pen_message(&pen, entry);
    return pen.size;
}

size_t kv_frame_ack_size(const struct kv_ack *ack)
{
    struct frame_pen pen = {NULL, 0};
    pen_ack(&pen, ack);
    return pen.size;
}

void kv_frame_write_message(const struct kv_entry *entry, uint8_t *to)
{
    struct frame_pen pen = {to, 0};
    pen_message(&pen, entry);
}

void kv_frame_write_ack(const struct kv_ack *ack, uint8_t *to)
{
    struct frame_pen pen = {to, 0};
    pen_ack(&pen, ack);
}
