/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Keys, whatever they hold: deleting, counting, naming anew, copying. Walking
 * over keys is in cmd_scan.c, expiry in cmd_expire.c, whole databases in
 * cmd_database.c.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

void kv_run_del(struct kv_call *call)
{
    int64_t removed;
    if (kv_call_remove(call, call->argv + 1, call->argc - 1, &removed)) {
        kv_reply_int(call->reply, removed);
    }
}

void kv_run_unlink(struct kv_call *call)
{
    kv_run_del(call);
}

void kv_run_exists(struct kv_call *call)
{
    int64_t count = 0;
    for (size_t i = 1; i < call->argc; i++) {
        struct kv_item item;
        count += kv_call_find(call, call->argv[i], &item);
    }
    kv_reply_int(call->reply, count);
}

void kv_run_touch(struct kv_call *call)
{
    kv_run_exists(call);
}

void kv_run_type(struct kv_call *call)
{
    struct kv_item item;
    kv_reply_status(call->reply, kv_call_find(call, call->argv[1], &item) ? "string" : "none");
}

/* ---- Naming anew ---- */

/* Renames argv[1] to a key of `to_db`; false when it failed or is missing,
 * which *found_out tells. */
static bool rename_to(struct kv_call *call, uint32_t to_db, struct bytes to, bool *found_out)
{
    int status = kv_keyspace_rename(call->keyspace, kv_call_db(call), call->argv[1], to_db, to);
    *found_out = status != 0;
    return kv_call_done(call, status) && status == 1;
}

void kv_run_rename(struct kv_call *call)
{
    bool found;
    if (rename_to(call, kv_call_db(call), call->argv[2], &found)) {
        kv_reply_ok(call->reply);
    } else if (!found) {
        kv_call_refuse(call, KV_TEXT_NO_KEY);
    }
}

void kv_run_renamenx(struct kv_call *call)
{
    struct kv_item item;
    bool found = kv_call_find(call, call->argv[1], &item);
    if (found && kv_call_find(call, call->argv[2], &item)) {
        kv_reply_int(call->reply, 0);
    } else if (rename_to(call, kv_call_db(call), call->argv[2], &found)) {
        kv_reply_int(call->reply, 1);
    } else if (!found) {
        kv_call_refuse(call, KV_TEXT_NO_KEY);
    }
}

static bool exists_in(const struct kv_call *call, uint32_t db, struct bytes key)
{
    struct kv_item item;
    return kv_keyspace_find(call->keyspace, db, key, &item) == 1;
}

void kv_run_move(struct kv_call *call)
{
    uint32_t db;
    bool found;
    if (!kv_arg_db(call, 2, &db)) {
        return;
    }
    if (db == kv_call_db(call)) {
        kv_call_refuse(call, "ERR source and destination objects are the same");
        return;
    }
    if (exists_in(call, db, call->argv[1])) {
        kv_reply_int(call->reply, 0);
        return;
    }
    if (rename_to(call, db, call->argv[1], &found)) {
        kv_reply_int(call->reply, 1);
    } else if (!found) {
        kv_reply_int(call->reply, 0);
    }
}

/* ---- Copying ---- */

struct copy_options {
    uint32_t db;
    bool replace;
};

static bool copy_parse(struct kv_call *call, struct copy_options *out)
{
    *out = (struct copy_options){.db = kv_call_db(call)};
    for (size_t i = 3; i < call->argc; i++) {
        if (kv_arg_is(call->argv[i], "replace")) {
            out->replace = true;
        } else if (kv_arg_is(call->argv[i], "db") && i + 1 < call->argc) {
            if (!kv_arg_db(call, ++i, &out->db)) {
                return false;
            }
        } else {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
    }
    return true;
}

void kv_run_copy(struct kv_call *call)
{
    struct copy_options options;
    struct kv_item item;
    struct bytes from = call->argv[1], to = call->argv[2];
    if (!copy_parse(call, &options)) {
        return;
    }
    if (options.db == kv_call_db(call) && bytes_equal(from, to)) {
        kv_call_refuse(call, "ERR source and destination objects are the same");
        return;
    }
    if (!kv_call_find(call, from, &item) || (!options.replace && exists_in(call, options.db, to))) {
        kv_reply_int(call->reply, 0);
        return;
    }
    struct kv_pair pair = {to, item.value, item.expiry_ms};
    if (kv_call_done(call, kv_keyspace_put(call->keyspace, options.db, &pair, 1))) {
        kv_reply_int(call->reply, 1);
    }
}
