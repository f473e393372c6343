/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the families of commands share: reading arguments, the texts of common
 * errors, and the steps of a command that go to the keyspace.
 *
 * A function here that returns false has written the error reply; the command
 * just returns.
 */
#ifndef KEVY_SRC_COMMAND_CMD_ARGS_H
#define KEVY_SRC_COMMAND_CMD_ARGS_H

#include "kevy/src/command/command.h"

#define KV_TEXT_SYNTAX "ERR syntax error"
#define KV_TEXT_INT "ERR value is not an integer or out of range"
#define KV_TEXT_INT32 "ERR value is out of range, value must between -2147483648 and 2147483647"
#define KV_TEXT_FLOAT "ERR value is not a valid float"
#define KV_TEXT_NO_KEY "ERR no such key"
#define KV_TEXT_DB "ERR DB index is out of range"
#define KV_TEXT_TOO_LONG "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
#define KV_TEXT_NOMEM "OOM out of memory, nothing was changed"

/* ---- Arguments ---- */

/* Returns whether an argument is `word` (lower case), in any case. */
bool kv_arg_is(struct bytes arg, const char *word);

/* Reads an integer argument; `text` is the error if it is none. */
bool kv_arg_int(struct kv_call *call, size_t index, int64_t *out);
bool kv_arg_int_or(struct kv_call *call, size_t index, const char *text, int64_t *out);
bool kv_arg_int32_or(struct kv_call *call, size_t index, const char *text, int32_t *out);

/* Reads a number of a database. */
bool kv_arg_db(struct kv_call *call, size_t index, uint32_t *out);

/* Writes an error and returns false; inline so that compilers see the false. */
static inline bool kv_call_refuse(struct kv_call *call, const char *text)
{
    kv_reply_error(call->reply, text);
    return false;
}

/* Redis's names of the policies KEVY_EVICT_…, by their numbers. */
#define KV_EVICT_COUNT 8
extern const char *const kv_evict_names[KV_EVICT_COUNT];

/* ---- Subcommands ---- */

struct kv_subcommand {
    const char *name; /* lower case */
    int32_t arity;    /* with both names; negative: at least that many */
    void (*run)(struct kv_call *call);
};

/* Runs the subcommand that argv[1] names, from a list that ends with a NULL
 * name, or refuses. */
void kv_call_subcommand(struct kv_call *call, const struct kv_subcommand *list);

/* "ERR unknown subcommand or wrong number of arguments for 'x'. Try NAME HELP." */
void kv_call_refuse_subcommand(struct kv_call *call);

/* Answers a HELP subcommand with its lines; the last is NULL. */
void kv_call_help(struct kv_call *call, const char *const *lines);

/* ---- Keys ---- */

static inline uint32_t kv_call_db(const struct kv_call *call)
{
    return call->session == NULL ? 0 : call->session->db;
}

/* The time at which the call happens. */
static inline uint64_t kv_call_now(struct kv_call *call)
{
    if (call->now_ms == 0) {
        call->now_ms = kv_keyspace_now(call->keyspace);
    }
    return call->now_ms;
}

/* Finds a key of the call's database. Borrowed until the next change. */
bool kv_call_find(struct kv_call *call, struct bytes key, struct kv_item *out);

/* Finds a key that is then written: kv_keyspace_edit. */
static inline bool kv_call_edit(struct kv_call *call, struct bytes key, struct kv_edit *edit,
                                struct kv_item *out)
{
    return kv_keyspace_edit(call->keyspace, kv_call_db(call), key, call->now_ms, edit, out) == 1;
}

/* Change the keyspace, whole or not at all. What the reply holds by then must
 * be complete but for an answer of at most 64 bytes; if it failed, nothing is
 * changed. On failure the reply is an error. */
bool kv_call_put(struct kv_call *call, const struct kv_pair *pairs, size_t count);
bool kv_call_put_one(struct kv_call *call, struct bytes key, struct bytes value,
                     uint64_t expiry_ms);
bool kv_call_put_edit(struct kv_call *call, struct kv_edit *edit, struct bytes value,
                      uint64_t expiry_ms);
bool kv_call_remove(struct kv_call *call, const struct bytes *keys, size_t count,
                    int64_t *removed_out);
bool kv_call_remove_one(struct kv_call *call, struct bytes key);

/* Returns whether a status of the keyspace is no failure. */
bool kv_call_done(struct kv_call *call, int64_t status);

/* ---- Memory for a value under construction ---- */

struct kv_scratch {
    struct kv_mem *mem;
    uint8_t *data;
    size_t size;
    uint8_t small[256];
};

/* Gets `size` bytes, not zeroed. End with kv_scratch_done. */
bool kv_scratch_new(struct kv_call *call, struct kv_scratch *scratch, size_t size);

/* Copies a value that is no longer to its start and fills up with zeros. */
void kv_scratch_fill(struct kv_scratch *scratch, struct bytes value);
void kv_scratch_done(struct kv_scratch *scratch);

#endif
