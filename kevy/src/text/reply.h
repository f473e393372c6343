/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A reply under construction: RESP bytes in one growing block.
 *
 * Writers check nothing call by call: memory that runs out sets `failed`, from
 * then on every write is skipped, and whoever began the reply looks once, at
 * the end. A command that changes the store reserves the room for its answer
 * before it does, so that a change is never followed by a failed reply.
 *
 * `protocol` is 2 or 3. Where RESP3 has a type of its own (null, map, set,
 * double, push) a function here chooses, so commands never ask.
 *
 * What does not live here: the texts of errors that several commands share
 * (command/error.h). Threads: one owner.
 */
#ifndef KEVY_SRC_TEXT_REPLY_H
#define KEVY_SRC_TEXT_REPLY_H

#include "base/bytes.h"
#include "kevy/src/mem/mem.h"

struct kv_reply {
    struct kv_mem *mem;
    uint8_t *data; /* a kv_mem block of `capacity` bytes, NULL while it is 0 */
    size_t size;
    size_t capacity;
    uint8_t protocol;
    bool failed;
    int refusal; /* the status < 0 with which the store refused, if that is the reply; else 0 */
};

/* Begins an empty reply, without memory yet. End with done or take. */
void kv_reply_init(struct kv_reply *reply, struct kv_mem *mem, uint8_t protocol);
void kv_reply_done(struct kv_reply *reply);

/* Hands out the block; the reply is empty again. Yours; free with kv_mem_free
 * and *capacity_out. NULL when the reply failed or is empty. */
uint8_t *kv_reply_take(struct kv_reply *reply, size_t *size_out, size_t *capacity_out);

/* Makes room for `size` more bytes; false, and failed set, without memory. */
bool kv_reply_reserve(struct kv_reply *reply, size_t size);

/* Forgets what was written behind `size`, and a failure. */
void kv_reply_rewind(struct kv_reply *reply, size_t size);

/* Appends bytes as they are. */
void kv_reply_raw(struct kv_reply *reply, struct bytes bytes);

void kv_reply_ok(struct kv_reply *reply);
void kv_reply_pong(struct kv_reply *reply);
void kv_reply_status(struct kv_reply *reply, const char *text);
void kv_reply_int(struct kv_reply *reply, int64_t number);
void kv_reply_int_text(struct kv_reply *reply, struct bytes digits); /* written already */
void kv_reply_bulk(struct kv_reply *reply, struct bytes value);
void kv_reply_bulk_text(struct kv_reply *reply, const char *text);
void kv_reply_bulk_int(struct kv_reply *reply, int64_t number);
void kv_reply_bulk_uint(struct kv_reply *reply, uint64_t number);

/* No value; in RESP2 as a bulk string, or as an array. */
void kv_reply_null(struct kv_reply *reply);
void kv_reply_null_array(struct kv_reply *reply);

/* The header of a collection, to be followed by `count` elements (of a map:
 * pairs). */
void kv_reply_array(struct kv_reply *reply, size_t count);
void kv_reply_map(struct kv_reply *reply, size_t count);
void kv_reply_set(struct kv_reply *reply, size_t count);

/* An array whose count is known only at its end: begin says where it starts,
 * end puts the header there. */
size_t kv_reply_array_begin(const struct kv_reply *reply);
void kv_reply_array_end(struct kv_reply *reply, size_t begin, size_t count);

/* An error whose text is a constant, code word included ("ERR syntax error"). */
void kv_reply_error(struct kv_reply *reply, const char *text);

/* An error that is put together: begin, parts, end. Line breaks in a part
 * become blanks, and a NUL ends it, as Redis has it. */
void kv_reply_error_begin(struct kv_reply *reply, const char *text);
void kv_reply_error_part(struct kv_reply *reply, struct bytes part);
void kv_reply_error_text(struct kv_reply *reply, const char *text);
void kv_reply_error_end(struct kv_reply *reply);

/* Returns whether the reply so far is an error. */
bool kv_reply_is_error(const struct kv_reply *reply);

#endif
