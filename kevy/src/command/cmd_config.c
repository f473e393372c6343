/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * CONFIG: the options that exist, under Redis's names. Each can be read; what
 * can be set has a function that does it. A CONFIG SET of several options
 * checks all of them before it sets the first.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/glob.h"
#include "kevy/src/text/number.h"

static const char *const fsync_names[] = {"everysec", "always", "no"};

static void read_appendonly(struct kv_call *call, const struct kv_facts *facts)
{
    kv_reply_bulk_text(call->reply, facts->dir.size > 0 ? "yes" : "no");
}

static void read_appendfsync(struct kv_call *call, const struct kv_facts *facts)
{
    kv_reply_bulk_text(call->reply, fsync_names[facts->fsync % 3]);
}

static void read_dir(struct kv_call *call, const struct kv_facts *facts)
{
    kv_reply_bulk(call->reply, facts->dir);
}

static void read_databases(struct kv_call *call, const struct kv_facts *facts)
{
    (void)facts;
    kv_reply_bulk_int(call->reply, KV_DATABASE_COUNT);
}

const char *const kv_evict_names[KV_EVICT_COUNT] = {
    "noeviction",   "allkeys-lru",  "allkeys-lfu",     "allkeys-random",
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"};

static void read_maxmemory(struct kv_call *call, const struct kv_facts *facts)
{
    kv_reply_bulk_uint(call->reply, facts->stats.memory_max);
}

static void read_policy(struct kv_call *call, const struct kv_facts *facts)
{
    kv_reply_bulk_text(call->reply, kv_evict_names[facts->policy % KV_EVICT_COUNT]);
}

static void read_bulk_max(struct kv_call *call, const struct kv_facts *facts)
{
    (void)facts;
    kv_reply_bulk_uint(call->reply, KEVY_SIZE_MAX);
}

static int fsync_of(struct bytes value)
{
    for (int i = 0; i < 3; i++) {
        if (kv_arg_is(value, fsync_names[i])) {
            return i;
        }
    }
    return -1;
}

static const char *check_appendfsync(const struct kv_call *call, struct bytes value)
{
    if (call->host->set_fsync == NULL) {
        return "can't set immutable config";
    }
    return fsync_of(value) >= 0 ? NULL
                                : "argument(s) must be one of the following: everysec, always, no";
}

static int set_appendfsync(struct kv_call *call, struct bytes value)
{
    return call->host->set_fsync(call->host->self, (uint8_t)fsync_of(value));
}

/* A number of bytes with a unit: k, m, g are powers of 1000, kb, mb, gb of 1024. */
static bool memory_of(struct bytes value, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t size;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    size_t digits = 0;
    int64_t number;
    while (digits < value.size && value.data[digits] >= '0' && value.data[digits] <= '9') {
        digits++;
    }
    struct bytes unit = bytes_of(value.data + digits, value.size - digits);
    if (!kv_number_parse_int(bytes_of(value.data, digits), &number)) {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (kv_arg_is(unit, units[i].name)) {
            *out = (uint64_t)number * units[i].size;
            return (uint64_t)number <= UINT64_MAX / units[i].size;
        }
    }
    return false;
}

static const char *check_maxmemory(const struct kv_call *call, struct bytes value)
{
    uint64_t bytes;
    if (call->host->set_memory == NULL || call->host->facts == NULL) {
        return "can't set immutable config";
    }
    return memory_of(value, &bytes) ? NULL : "argument must be a memory value";
}

static int set_maxmemory(struct kv_call *call, struct bytes value)
{
    struct kv_facts facts;
    uint64_t bytes = 0;
    (void)memory_of(value, &bytes);
    call->host->facts(call->host->self, false, &facts);
    return call->host->set_memory(call->host->self, bytes, facts.policy);
}

static int32_t policy_of(struct bytes value)
{
    for (int32_t i = 0; i < KV_EVICT_COUNT; i++) {
        if (kv_arg_is(value, kv_evict_names[i])) {
            return i;
        }
    }
    return -1;
}

static const char *check_policy(const struct kv_call *call, struct bytes value)
{
    if (call->host->set_memory == NULL || call->host->facts == NULL) {
        return "can't set immutable config";
    }
    return policy_of(value) >= 0
               ? NULL
               : "argument(s) must be one of the following: volatile-lru, volatile-lfu, "
                 "volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, "
                 "noeviction";
}

static int set_policy(struct kv_call *call, struct bytes value)
{
    struct kv_facts facts;
    call->host->facts(call->host->self, false, &facts);
    return call->host->set_memory(call->host->self, facts.stats.memory_max, policy_of(value));
}

static const struct config_option {
    const char *name;
    void (*read)(struct kv_call *call, const struct kv_facts *facts);
    const char *(*check)(const struct kv_call *call, struct bytes value); /* NULL: read-only */
    int (*set)(struct kv_call *call, struct bytes value);
} config_options[] = {{"appendfsync", read_appendfsync, check_appendfsync, set_appendfsync},
                      {"appendonly", read_appendonly, NULL, NULL},
                      {"databases", read_databases, NULL, NULL},
                      {"dir", read_dir, NULL, NULL},
                      {"maxmemory", read_maxmemory, check_maxmemory, set_maxmemory},
                      {"maxmemory-policy", read_policy, check_policy, set_policy},
                      {"proto-max-bulk-len", read_bulk_max, NULL, NULL}};

enum { OPTION_COUNT = sizeof config_options / sizeof *config_options };

/* ---- GET ---- */

/* Whether the option is asked for, and the name to answer with: the caller's
 * own, unless that is a pattern. */
static bool is_asked(const struct kv_call *call, const struct config_option *option,
                     struct bytes *name_out)
{
    struct bytes name = bytes_of(option->name, strlen(option->name));
    for (size_t i = 2; i < call->argc; i++) {
        if (kv_arg_is(call->argv[i], option->name)) {
            *name_out = call->argv[i];
            return true;
        }
        if (kv_glob_match(call->argv[i], name, true)) {
            *name_out = name;
            return true;
        }
    }
    return false;
}

static void run_config_get(struct kv_call *call)
{
    struct kv_facts facts = {0};
    struct bytes name;
    size_t count = 0;
    if (call->host->facts != NULL) {
        call->host->facts(call->host->self, false, &facts);
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        count += is_asked(call, &config_options[i], &name);
    }
    kv_reply_map(call->reply, count);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (is_asked(call, &config_options[i], &name)) {
            kv_reply_bulk(call->reply, name);
            config_options[i].read(call, &facts);
        }
    }
}

/* ---- SET ---- */

static const struct config_option *option_find(struct bytes name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (kv_arg_is(name, config_options[i].name)) {
            return &config_options[i];
        }
    }
    return NULL;
}

static bool refuse_option(struct kv_call *call, struct bytes name, const char *why)
{
    kv_reply_error_begin(call->reply, "ERR CONFIG SET failed (possibly related to argument '");
    kv_reply_error_part(call->reply, name);
    kv_reply_error_text(call->reply, "') - ");
    kv_reply_error_text(call->reply, why);
    kv_reply_error_end(call->reply);
    return false;
}

static bool option_check(struct kv_call *call, size_t index)
{
    struct bytes name = call->argv[index], value = call->argv[index + 1];
    const struct config_option *option = option_find(name);
    if (option == NULL) {
        kv_reply_error_begin(call->reply,
                             "ERR Unknown option or number of arguments for CONFIG SET - '");
        kv_reply_error_part(call->reply, name);
        kv_reply_error_text(call->reply, "'");
        kv_reply_error_end(call->reply);
        return false;
    }
    for (size_t i = 2; i < index; i += 2) {
        if (option_find(call->argv[i]) == option) {
            return refuse_option(call, name, "duplicate parameter");
        }
    }
    const char *why =
        option->check == NULL ? "can't set immutable config" : option->check(call, value);
    return why == NULL || refuse_option(call, name, why);
}

static void run_config_set(struct kv_call *call)
{
    if (call->argc % 2 != 0) {
        kv_call_refuse(call, KV_TEXT_SYNTAX);
        return;
    }
    for (size_t i = 2; i < call->argc; i += 2) {
        if (!option_check(call, i)) {
            return;
        }
    }
    for (size_t i = 2; i < call->argc; i += 2) {
        if (!kv_call_done(call, option_find(call->argv[i])->set(call, call->argv[i + 1]))) {
            return;
        }
    }
    kv_reply_ok(call->reply);
}

/* No statistic is kept that could be reset; the command is there for scripts
 * that call it first. */
static void run_resetstat(struct kv_call *call)
{
    kv_reply_ok(call->reply);
}

static void run_config_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GET <pattern> [<pattern> ...]",
        "    Return the options that match a pattern, and their values.",
        "SET <name> <value> [<name> <value> ...]",
        "    Set options.",
        "RESETSTAT",
        "    Do nothing.",
        "HELP",
        "    Print this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_config(struct kv_call *call)
{
    static const struct kv_subcommand list[] = {{"get", -3, run_config_get},
                                                {"set", -4, run_config_set},
                                                {"resetstat", 2, run_resetstat},
                                                {"help", 2, run_config_help},
                                                {0}};
    kv_call_subcommand(call, list);
}
