/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What concerns a connection: PING, ECHO, and SELECT for callers that have a
 * session.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

void kv_run_ping(struct kv_call *call)
{
    if (call->argc == 1) {
        kv_reply_pong(call->reply);
    } else if (call->argc == 2) {
        kv_reply_bulk(call->reply, call->argv[1]);
    } else {
        kv_call_refuse(call, "ERR wrong number of arguments for 'ping' command");
    }
}

void kv_run_echo(struct kv_call *call)
{
    kv_reply_bulk(call->reply, call->argv[1]);
}

void kv_run_select(struct kv_call *call)
{
    uint32_t db;
    if (kv_arg_db(call, 1, &db)) {
        call->session->db = db;
        kv_reply_ok(call->reply);
    }
}
