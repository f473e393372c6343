/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Channels, as far as they need no connection: PUBLISH and PUBSUB. Subscribing
 * is kevy_subscribe, or a connection's matter.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

void kv_run_publish(struct kv_call *call)
{
    int64_t receivers = kv_bus_publish(call->port, call->argv[1], call->argv[2]);
    if (kv_call_done(call, receivers)) {
        kv_reply_int(call->reply, receivers);
    }
}

static void run_channels(struct kv_call *call)
{
    struct kv_names names;
    const struct bytes *pattern = call->argc > 2 ? &call->argv[2] : NULL;
    if (call->argc > 3) {
        kv_call_refuse_subcommand(call);
        return;
    }
    if (!kv_call_done(call, kv_bus_channels(call->port->bus, pattern, &names))) {
        return;
    }
    kv_reply_array(call->reply, names.count);
    for (size_t at = 0; at < names.size;) {
        size_t size = load_u32(names.packed + at);
        kv_reply_bulk(call->reply, bytes_of(names.packed + at + 4, size));
        at += 4 + size;
    }
    kv_names_done(call->port->bus, &names);
}

static void run_numsub(struct kv_call *call)
{
    kv_reply_map(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        kv_reply_bulk(call->reply, call->argv[i]);
        kv_reply_int(call->reply, (int64_t)kv_bus_numsub(call->port->bus, call->argv[i]));
    }
}

static void run_numpat(struct kv_call *call)
{
    kv_reply_int(call->reply, (int64_t)kv_bus_numpat(call->port->bus));
}

static void run_pubsub_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "CHANNELS [<pattern>]",
        "    Return the channels that have subscribers, or those that match <pattern>.",
        "NUMPAT",
        "    Return the number of patterns that are subscribed to.",
        "NUMSUB [<channel> ...]",
        "    Return the number of subscribers of each channel, patterns not counted.",
        "HELP",
        "    Print this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_pubsub(struct kv_call *call)
{
    static const struct kv_subcommand list[] = {{"channels", -2, run_channels},
                                                {"numsub", -2, run_numsub},
                                                {"numpat", 2, run_numpat},
                                                {"help", 2, run_pubsub_help},
                                                {0}};
    kv_call_subcommand(call, list);
}
