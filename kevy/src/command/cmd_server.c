/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * About the server rather than the data: TIME and DEBUG. INFO is in
 * cmd_info.c, CONFIG in cmd_config.c, COMMAND in cmd_command.c.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

void kv_run_time(struct kv_call *call)
{
    uint64_t us = kv_clock_now_us(call->keyspace->clock);
    kv_reply_array(call->reply, 2);
    kv_reply_bulk_uint(call->reply, us / 1000000);
    kv_reply_bulk_uint(call->reply, us % 1000000);
}

/* ---- DEBUG ---- */

/* A day; a longer sleep is a mistake. */
#define SLEEP_MAX_SECONDS 86400

static void run_sleep(struct kv_call *call)
{
    long double seconds;
    if (!kv_number_parse_float(call->argv[2], &seconds) || !(seconds >= 0) ||
        seconds > SLEEP_MAX_SECONDS) {
        kv_call_refuse(call, KV_TEXT_FLOAT);
    } else if (call->host->sleep_ms == NULL) {
        kv_call_refuse(call, "ERR this host cannot sleep");
    } else {
        call->host->sleep_ms(call->host->self, (uint64_t)(seconds * 1000 + 0.5L));
        kv_reply_ok(call->reply);
    }
}

static void run_debug_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "SLEEP <seconds>",
        "    Return after <seconds>. Decimals allowed.",
        "HELP",
        "    Prints this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_debug(struct kv_call *call)
{
    bool is_sleep = kv_arg_is(call->argv[1], "sleep") && call->argc == 3;
    bool is_help = kv_arg_is(call->argv[1], "help") && call->argc == 2;
    if (is_sleep) {
        run_sleep(call);
    } else if (is_help) {
        run_debug_help(call);
    } else {
        kv_call_refuse_subcommand(call);
    }
}
