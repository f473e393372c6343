/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the families of commands share; see cmd_args.h. The texts are those of
 * Redis 7 where Redis has the error; those of a store that fails are our own.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/keyspace/peek.h"

#include "base/assert.h"
#include "kevy/src/text/number.h"

/* ---- Arguments ---- */

bool kv_arg_is(struct bytes arg, const char *word)
{
    for (size_t i = 0; i < arg.size; i++) {
        uint8_t c = arg.data[i];
        c = c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
        if (c == 0 || c != (uint8_t)word[i]) {
            return false;
        }
    }
    return word[arg.size] == '\0';
}

bool kv_arg_int_or(struct kv_call *call, size_t index, const char *text, int64_t *out)
{
    ASSERT(index < call->argc);
    return kv_number_parse_int(call->argv[index], out) || kv_call_refuse(call, text);
}

bool kv_arg_int32_or(struct kv_call *call, size_t index, const char *text, int32_t *out)
{
    int64_t number;
    if (!kv_arg_int_or(call, index, text, &number)) {
        return false;
    }
    if (number < INT32_MIN || number > INT32_MAX) {
        return kv_call_refuse(call, text);
    }
    *out = (int32_t)number;
    return true;
}

bool kv_arg_int(struct kv_call *call, size_t index, int64_t *out)
{
    return kv_arg_int_or(call, index, KV_TEXT_INT, out);
}

bool kv_arg_db(struct kv_call *call, size_t index, uint32_t *out)
{
    int64_t db;
    if (!kv_arg_int(call, index, &db)) {
        return false;
    }
    if (db < INT32_MIN || db > INT32_MAX) {
        return kv_call_refuse(call, KV_TEXT_INT32);
    }
    if (db < 0 || db >= (int64_t)KV_DATABASE_COUNT) {
        return kv_call_refuse(call, KV_TEXT_DB);
    }
    *out = (uint32_t)db;
    return true;
}

/* ---- Subcommands ---- */

enum { QUOTE_MAX_SIZE = 128 };

static void error_upper(struct kv_reply *reply, const char *name)
{
    for (; *name != '\0'; name++) {
        uint8_t c = (uint8_t)(*name >= 'a' && *name <= 'z' ? *name - ('a' - 'A') : *name);
        kv_reply_error_part(reply, bytes_of(&c, 1));
    }
}

static void refuse_subcommand(struct kv_call *call, const char *text)
{
    struct bytes name = call->argv[1];
    name.size = name.size > QUOTE_MAX_SIZE ? QUOTE_MAX_SIZE : name.size;
    kv_reply_error_begin(call->reply, text);
    kv_reply_error_part(call->reply, name);
    kv_reply_error_text(call->reply, "'. Try ");
    error_upper(call->reply, call->command->name);
    kv_reply_error_text(call->reply, " HELP.");
    kv_reply_error_end(call->reply);
}

void kv_call_refuse_subcommand(struct kv_call *call)
{
    refuse_subcommand(call, "ERR unknown subcommand or wrong number of arguments for '");
}

static void refuse_subcommand_arity(struct kv_call *call, const char *name)
{
    kv_reply_error_begin(call->reply, "ERR wrong number of arguments for '");
    kv_reply_error_text(call->reply, call->command->name);
    kv_reply_error_text(call->reply, "|");
    kv_reply_error_text(call->reply, name);
    kv_reply_error_text(call->reply, "' command");
    kv_reply_error_end(call->reply);
}

void kv_call_subcommand(struct kv_call *call, const struct kv_subcommand *list)
{
    for (const struct kv_subcommand *sub = list; sub->name != NULL; sub++) {
        if (!kv_arg_is(call->argv[1], sub->name)) {
            continue;
        }
        if (sub->arity < 0 ? call->argc < (size_t)-sub->arity : call->argc != (size_t)sub->arity) {
            refuse_subcommand_arity(call, sub->name);
        } else {
            sub->run(call);
        }
        return;
    }
    refuse_subcommand(call, "ERR unknown subcommand '");
}

void kv_call_help(struct kv_call *call, const char *const *lines)
{
    size_t count = 0;
    while (lines[count] != NULL) {
        count++;
    }
    kv_reply_array(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        kv_reply_status(call->reply, lines[i]);
    }
}

/* ---- Keys ---- */

bool kv_call_find(struct kv_call *call, struct bytes key, struct kv_item *out)
{
    struct kv_key hashed = kv_keyspace_key(call->keyspace, key);
    int found = kv_keyspace_peek(call->keyspace, kv_call_db(call), hashed, out);
    if (found < 0 && call->is_peeking) {
        call->is_torn = true;
        return false;
    }
    /* Under the lock nothing changes, so the second try is sure. */
    return (found < 0 ? kv_keyspace_find_slow(call->keyspace, kv_call_db(call), &hashed, out)
                      : found) == 1;
}

bool kv_call_done(struct kv_call *call, int64_t status)
{
    if (status >= 0) {
        return true;
    }
    kv_reply_rewind(call->reply, call->reply_start);
    kv_command_store_error(call->reply, (int)status);
    return false;
}

bool kv_call_put(struct kv_call *call, const struct kv_pair *pairs, size_t count)
{
    if (call->reply->failed) {
        return false;
    }
    return kv_call_done(call, kv_keyspace_put(call->keyspace, kv_call_db(call), pairs, count));
}

bool kv_call_put_edit(struct kv_call *call, struct kv_edit *edit, struct bytes value,
                      uint64_t expiry_ms)
{
    if (call->reply->failed) {
        return false;
    }
    return kv_call_done(call, kv_keyspace_edit_put(call->keyspace, edit, value, expiry_ms));
}

bool kv_call_put_one(struct kv_call *call, struct bytes key, struct bytes value, uint64_t expiry_ms)
{
    struct kv_key hashed = kv_keyspace_key(call->keyspace, key);
    if (call->reply->failed) {
        return false;
    }
    return kv_call_done(
        call, kv_keyspace_put_key(call->keyspace, kv_call_db(call), &hashed, value, expiry_ms));
}

bool kv_call_remove(struct kv_call *call, const struct bytes *keys, size_t count,
                    int64_t *removed_out)
{
    if (call->reply->failed) {
        return false;
    }
    *removed_out = kv_keyspace_remove(call->keyspace, kv_call_db(call), keys, count);
    return kv_call_done(call, *removed_out);
}

bool kv_call_remove_one(struct kv_call *call, struct bytes key)
{
    int64_t removed;
    return kv_call_remove(call, &key, 1, &removed);
}

/* ---- Scratch ---- */

bool kv_scratch_new(struct kv_call *call, struct kv_scratch *scratch, size_t size)
{
    scratch->mem = call->mem;
    scratch->size = size;
    scratch->data = scratch->small;
    if (size > sizeof scratch->small) {
        scratch->data = kv_mem_new(call->mem, size);
        if (scratch->data == NULL) {
            scratch->data = scratch->small;
            return kv_call_done(call, KEVY_ENOMEM);
        }
    }
    return true;
}

void kv_scratch_fill(struct kv_scratch *scratch, struct bytes value)
{
    ASSERT(value.size <= scratch->size);
    if (value.size > 0) {
        memcpy(scratch->data, value.data, value.size);
    }
    memset(scratch->data + value.size, 0, scratch->size - value.size);
}

void kv_scratch_done(struct kv_scratch *scratch)
{
    if (scratch->data != scratch->small) {
        kv_mem_free(scratch->mem, scratch->data, scratch->size);
    }
}
