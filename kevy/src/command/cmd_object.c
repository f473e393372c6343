/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a value is kept: OBJECT and MEMORY USAGE.
 *
 * A string's encoding is what Redis would give to a value set as a whole: it
 * follows from the bytes, not from how they came to be. No access times are
 * kept, so IDLETIME is 0. MEMORY USAGE is this engine's own figure: the record
 * and the key's share of the table.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

/* Bytes of the table that a key takes: 64-byte buckets of 12, about 3/4 full. */
enum { TABLE_SHARE = 7 };

/* Redis keeps strings up to this size in one block with their header, and
 * shares the objects of small integers. */
enum { EMBEDDED_MAX = 44, SHARED_MAX = 9999 };
#define SHARED_REFCOUNT INT32_MAX

static void run_encoding(struct kv_call *call)
{
    struct kv_item item;
    int64_t number;
    if (!kv_call_find(call, call->argv[2], &item)) {
        kv_reply_null(call->reply);
    } else if (kv_number_parse_int(item.value, &number)) {
        kv_reply_bulk_text(call->reply, "int");
    } else {
        kv_reply_bulk_text(call->reply, item.value.size <= EMBEDDED_MAX ? "embstr" : "raw");
    }
}

static void run_refcount(struct kv_call *call)
{
    struct kv_item item;
    int64_t number;
    if (!kv_call_find(call, call->argv[2], &item)) {
        kv_reply_null(call->reply);
        return;
    }
    bool is_shared =
        kv_number_parse_int(item.value, &number) && number >= 0 && number <= SHARED_MAX;
    kv_reply_int(call->reply, is_shared ? SHARED_REFCOUNT : 1);
}

static void run_idletime(struct kv_call *call)
{
    struct kv_item item;
    if (kv_call_find(call, call->argv[2], &item)) {
        kv_reply_int(call->reply, 0);
    } else {
        kv_reply_null(call->reply);
    }
}

static void run_freq(struct kv_call *call)
{
    struct kv_item item;
    int frequency = kv_keyspace_frequency(call->keyspace, call->argv[2]);
    if (frequency >= 0 && kv_call_find(call, call->argv[2], &item)) {
        kv_reply_int(call->reply, frequency);
    } else if (kv_call_find(call, call->argv[2], &item)) {
        kv_call_refuse(call, "ERR An LFU maxmemory policy is not selected, access frequency not "
                             "tracked. Please note that when switching between policies at "
                             "runtime LRU and LFU data will take some time to adjust.");
    } else {
        kv_reply_null(call->reply);
    }
}

static void run_object_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "ENCODING <key>",
        "    Return the kind of internal representation used in order to store the value",
        "    associated with a <key>.",
        "FREQ <key>",
        "    Return the access frequency index of the <key>. The returned integer is",
        "    proportional to the logarithm of the recent access frequency of the key.",
        "IDLETIME <key>",
        "    Return the idle time of the <key>, that is the approximated number of",
        "    seconds elapsed since the last access to the key.",
        "REFCOUNT <key>",
        "    Return the number of references of the value associated with the specified",
        "    <key>.",
        "HELP",
        "    Prints this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_object(struct kv_call *call)
{
    static const struct kv_subcommand list[] = {
        {"encoding", 3, run_encoding}, {"refcount", 3, run_refcount}, {"idletime", 3, run_idletime},
        {"freq", 3, run_freq},         {"help", 2, run_object_help},  {0}};
    kv_call_subcommand(call, list);
}

/* ---- MEMORY ---- */

static bool usage_parse(struct kv_call *call)
{
    for (size_t i = 3; i < call->argc; i += 2) {
        int64_t samples;
        if (!kv_arg_is(call->argv[i], "samples") || i + 1 >= call->argc) {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
        if (!kv_arg_int(call, i + 1, &samples)) {
            return false;
        }
        if (samples < 0) {
            return kv_call_refuse(call, KV_TEXT_SYNTAX);
        }
    }
    return true;
}

static void run_usage(struct kv_call *call)
{
    if (!usage_parse(call)) {
        return;
    }
    size_t size = kv_keyspace_record_size(call->keyspace, kv_call_db(call), call->argv[2]);
    if (size == 0) {
        kv_reply_null(call->reply);
    } else {
        kv_reply_int(call->reply, (int64_t)(size + TABLE_SHARE));
    }
}

static void run_memory_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "USAGE <key> [SAMPLES <count>]",
        "    Return memory in bytes used by <key> and its value.",
        "HELP",
        "    Prints this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_memory(struct kv_call *call)
{
    static const struct kv_subcommand list[] = {
        {"usage", -3, run_usage}, {"help", 2, run_memory_help}, {0}};
    kv_call_subcommand(call, list);
}
