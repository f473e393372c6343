/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * COMMAND: the table of commands, told to callers. It says what commands.def
 * says and no more: key specifications, tips and subcommands are empty.
 */
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/glob.h"

struct flag_name {
    uint32_t flag; /* 0: in the group `group` */
    const char *group;
    const char *name;
};

/* In Redis's order. */
static const struct flag_name flag_names[] = {{KV_WRITE, NULL, "write"},
                                              {KV_READ, NULL, "readonly"},
                                              {KV_GROWS, NULL, "denyoom"},
                                              {KV_ADMIN, NULL, "admin"},
                                              {KV_PUBSUB, NULL, "pubsub"},
                                              {KV_FAST, NULL, "fast"},
                                              {0, NULL, NULL}};

static const struct flag_name category_names[] = {
    {0, "generic", "@keyspace"},      {KV_READ, NULL, "@read"},
    {KV_WRITE, NULL, "@write"},       {0, "string", "@string"},
    {0, "bitmap", "@bitmap"},         {KV_PUBSUB, NULL, "@pubsub"},
    {KV_ADMIN, NULL, "@admin"},       {KV_FAST, NULL, "@fast"},
    {0, "connection", "@connection"}, {0, NULL, NULL}};

static void reply_names(struct kv_call *call, const struct kv_command *command,
                        const struct flag_name *names)
{
    size_t begin = kv_reply_array_begin(call->reply), count = 0;
    for (; names->name != NULL; names++) {
        bool fits = names->group == NULL ? (command->flags & names->flag) != 0
                                         : strcmp(command->group, names->group) == 0;
        if (fits) {
            kv_reply_status(call->reply, names->name);
            count++;
        }
    }
    if (names[-1].group != NULL && (command->flags & KV_FAST) == 0) {
        kv_reply_status(call->reply, "@slow");
        count++;
    }
    kv_reply_array_end(call->reply, begin, count);
}

static void reply_info(struct kv_call *call, const struct kv_command *command)
{
    kv_reply_array(call->reply, 10);
    kv_reply_bulk_text(call->reply, command->name);
    kv_reply_int(call->reply, command->arity);
    reply_names(call, command, flag_names);
    kv_reply_int(call->reply, command->first_key);
    kv_reply_int(call->reply, command->last_key);
    kv_reply_int(call->reply, command->key_step);
    reply_names(call, command, category_names);
    for (int i = 0; i < 3; i++) {
        kv_reply_array(call->reply, 0);
    }
}

static void run_all(struct kv_call *call)
{
    kv_reply_array(call->reply, kv_command_count());
    for (size_t i = 0; i < kv_command_count(); i++) {
        reply_info(call, &kv_commands[i]);
    }
}

static void run_count(struct kv_call *call)
{
    kv_reply_int(call->reply, (int64_t)kv_command_count());
}

static void run_info(struct kv_call *call)
{
    if (call->argc == 2) {
        run_all(call);
        return;
    }
    kv_reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        const struct kv_command *command = kv_command_find(call->argv[i]);
        if (command == NULL) {
            kv_reply_null(call->reply);
        } else {
            reply_info(call, command);
        }
    }
}

static void reply_docs(struct kv_call *call, const struct kv_command *command)
{
    kv_reply_bulk_text(call->reply, command->name);
    kv_reply_map(call->reply, 3);
    kv_reply_bulk_text(call->reply, "summary");
    kv_reply_bulk_text(call->reply, command->summary);
    kv_reply_bulk_text(call->reply, "group");
    kv_reply_bulk_text(call->reply, command->group);
    kv_reply_bulk_text(call->reply, "syntax");
    kv_reply_bulk_text(call->reply, command->syntax);
}

static void run_docs(struct kv_call *call)
{
    size_t known = 0;
    for (size_t i = 2; i < call->argc; i++) {
        known += kv_command_find(call->argv[i]) != NULL;
    }
    kv_reply_map(call->reply, call->argc == 2 ? kv_command_count() : known);
    for (size_t i = 0; call->argc == 2 && i < kv_command_count(); i++) {
        reply_docs(call, &kv_commands[i]);
    }
    for (size_t i = 2; i < call->argc; i++) {
        const struct kv_command *command = kv_command_find(call->argv[i]);
        if (command != NULL) {
            reply_docs(call, command);
        }
    }
}

static void run_list(struct kv_call *call)
{
    bool has_pattern = call->argc == 5 && kv_arg_is(call->argv[2], "filterby") &&
                       kv_arg_is(call->argv[3], "pattern");
    if (call->argc != 2 && !has_pattern) {
        kv_call_refuse(call, KV_TEXT_SYNTAX);
        return;
    }
    size_t begin = kv_reply_array_begin(call->reply), count = 0;
    for (size_t i = 0; i < kv_command_count(); i++) {
        const char *name = kv_commands[i].name;
        if (!has_pattern || kv_glob_match(call->argv[4], bytes_of(name, strlen(name)), true)) {
            kv_reply_bulk_text(call->reply, name);
            count++;
        }
    }
    kv_reply_array_end(call->reply, begin, count);
}

/* The keys of the call that argv[2] and what follows would be. */
static void run_getkeys(struct kv_call *call)
{
    const struct kv_command *command = kv_command_find(call->argv[2]);
    size_t argc = call->argc - 2, count = 0;
    if (command == NULL) {
        kv_call_refuse(call, "ERR Invalid command specified");
        return;
    }
    if (command->first_key == 0) {
        kv_call_refuse(call, "ERR The command has no key arguments");
        return;
    }
    if (!kv_command_takes(command, argc) || (size_t)command->first_key >= argc) {
        kv_call_refuse(call, "ERR Invalid number of arguments specified for command");
        return;
    }
    size_t last = command->last_key < 0 ? argc - 1 : (size_t)command->last_key;
    size_t begin = kv_reply_array_begin(call->reply);
    for (size_t i = (size_t)command->first_key; i <= last; i += (size_t)command->key_step) {
        kv_reply_bulk(call->reply, call->argv[2 + i]);
        count++;
    }
    kv_reply_array_end(call->reply, begin, count);
}

static void run_command_help(struct kv_call *call)
{
    static const char *const lines[] = {
        "COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "(no subcommand)",
        "    Return details about all commands.",
        "COUNT",
        "    Return the number of commands.",
        "GETKEYS <full-command>",
        "    Return the keys of a call.",
        "LIST [FILTERBY PATTERN <pattern>]",
        "    Return the names of all commands, or of those that match.",
        "INFO [<name> ...]",
        "    Return details about some commands, or all.",
        "DOCS [<name> ...]",
        "    Return what some commands do, or all.",
        "HELP",
        "    Print this help.",
        NULL};
    kv_call_help(call, lines);
}

void kv_run_command(struct kv_call *call)
{
    static const struct kv_subcommand list[] = {{"count", 2, run_count},
                                                {"info", -2, run_info},
                                                {"docs", -2, run_docs},
                                                {"list", -2, run_list},
                                                {"getkeys", -4, run_getkeys},
                                                {"help", 2, run_command_help},
                                                {0}};
    if (call->argc == 1) {
        run_all(call);
    } else {
        kv_call_subcommand(call, list);
    }
}
