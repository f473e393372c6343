/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Databases as wholes: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB. Each change is one
 * record of the log and takes effect at once; ASYNC and SYNC make no
 * difference.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

void kv_run_dbsize(struct kv_call *call)
{
    kv_reply_int(call->reply, (int64_t)kv_keyspace_count(call->keyspace, kv_call_db(call)));
}

static bool flush_parse(struct kv_call *call)
{
    bool fits = call->argc == 1 || (call->argc == 2 && (kv_arg_is(call->argv[1], "sync") ||
                                                        kv_arg_is(call->argv[1], "async")));
    return fits || kv_call_refuse(call, KV_TEXT_SYNTAX);
}

void kv_run_flushdb(struct kv_call *call)
{
    if (flush_parse(call) &&
        kv_call_done(call, kv_keyspace_flush(call->keyspace, kv_call_db(call)))) {
        kv_reply_ok(call->reply);
    }
}

void kv_run_flushall(struct kv_call *call)
{
    if (flush_parse(call) && kv_call_done(call, kv_keyspace_flush_all(call->keyspace))) {
        kv_reply_ok(call->reply);
    }
}

void kv_run_swapdb(struct kv_call *call)
{
    int32_t first, second;
    const int32_t end = KV_DATABASE_COUNT;
    if (!kv_arg_int32_or(call, 1, "ERR invalid first DB index", &first) ||
        !kv_arg_int32_or(call, 2, "ERR invalid second DB index", &second)) {
        return;
    }
    if (first < 0 || first >= end || second < 0 || second >= end) {
        kv_call_refuse(call, KV_TEXT_DB);
    } else if (kv_call_done(call,
                            kv_keyspace_swap(call->keyspace, (uint32_t)first, (uint32_t)second))) {
        kv_reply_ok(call->reply);
    }
}
