/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The dispatcher: from a name to a command, the checks that all commands
 * share, and the errors of a failing store.
 *
 * Finding a name costs no table that would have to be built first: the name is
 * folded to lower case, and for each possible length the compiler makes a row
 * of word compares against the names of that length, in the order of
 * commands.def.
 */
#include "kevy/src/command/command.h"

#include "base/assert.h"
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"

/* No name is longer. */
enum { NAME_MAX_SIZE = 16 };

/* Room for the answer of a command that may change something; see command.h. */
enum { EFFECT_REPLY = 64 };

/* How much of unknown names and arguments an error quotes. */
enum { QUOTE_MAX = 128 };

enum command_id {
#define KV_COMMAND(id, ...) ID_##id,
#include "kevy/src/command/commands.def"
#undef KV_COMMAND
    ID_COUNT
};

const struct kv_command kv_commands[] = {
#define KV_COMMAND(id, name, arity, flags, first, last, step, group, summary, syntax)              \
    {name, arity, flags, first, last, step, kv_run_##id, group, summary, syntax},
#include "kevy/src/command/commands.def"
#undef KV_COMMAND
};

size_t kv_command_count(void)
{
    return ID_COUNT;
}

/* Eight bytes at once: letters lose their case, others stay as they are. */
static inline uint64_t fold_case(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t low = x & (ones * 0x7f);
    uint64_t from_a = low + ones * (0x80 - 'A'), past_z = low + ones * (0x7f - 'Z');
    uint64_t upper = (from_a & ~past_z & ~x & (ones * 0x80)) >> 7;
    return x + upper * ('a' - 'A');
}

/* The first 8 bytes of a name as one number, zeros behind its end; read in
 * pieces that overlap, so that nothing is stored and loaded again. */
static inline uint64_t name_word(const uint8_t *p, size_t size)
{
    if (size >= 8) {
        return load_u64(p);
    }
    if (size >= 4) {
        return load_u32(p) | (uint64_t)load_u32(p + size - 4) << (8 * (size - 4));
    }
    if (size >= 2) {
        return load_u16(p) | (uint64_t)load_u16(p + size - 2) << (8 * (size - 2));
    }
    return size == 0 ? 0 : *p;
}

/* The next 8 bytes. */
static inline uint64_t name_rest(const uint8_t *p, size_t size)
{
    return size > 8 ? name_word(p + 8, size - 8) : 0;
}

/* Compares against the names of one length; `size` is a constant here, and so
 * are the words of a name: the compiler makes a search of them. */
static inline const struct kv_command *find_of_size(uint64_t low, uint64_t high, size_t size)
{
#define KV_COMMAND(id, name, ...)                                                                  \
    if (sizeof(name) - 1 == size && low == name_word((const uint8_t *)(name), size) &&             \
        (size <= 8 || high == name_rest((const uint8_t *)(name), size))) {                         \
        return &kv_commands[ID_##id];                                                              \
    }
#include "kevy/src/command/commands.def"
#undef KV_COMMAND
    return NULL;
}

const struct kv_command *kv_command_find(struct bytes name)
{
    if (name.size == 0 || name.size > NAME_MAX_SIZE) {
        return NULL;
    }
    uint64_t low = fold_case(name_word(name.data, name.size));
    uint64_t high = fold_case(name_rest(name.data, name.size));
    switch (name.size) {
#define OF_SIZE(n)                                                                                 \
    case n:                                                                                        \
        return find_of_size(low, high, n);
        OF_SIZE(3)
        OF_SIZE(4)
        OF_SIZE(5)
        OF_SIZE(6)
        OF_SIZE(7)
        OF_SIZE(8)
        OF_SIZE(9)
        OF_SIZE(10)
        OF_SIZE(11)
        OF_SIZE(12)
        OF_SIZE(13)
        OF_SIZE(14)
        OF_SIZE(15)
        OF_SIZE(16)
#undef OF_SIZE
    default:
        return NULL;
    }
}

/* ---- Checks ---- */

static struct bytes quoted_part(struct bytes text, size_t max)
{
    size_t size = text.size < max ? text.size : max;
    const uint8_t *nul = size == 0 ? NULL : memchr(text.data, 0, size);
    return bytes_of(text.data, nul == NULL ? size : (size_t)(nul - text.data));
}

static void refuse_unknown(struct kv_reply *reply, size_t argc, const struct bytes *argv)
{
    kv_reply_error_begin(reply, "ERR unknown command '");
    kv_reply_error_part(reply, quoted_part(argv[0], QUOTE_MAX));
    kv_reply_error_text(reply, "', with args beginning with: ");
    size_t quoted = 0;
    for (size_t i = 1; i < argc && quoted < QUOTE_MAX; i++) {
        struct bytes part = quoted_part(argv[i], QUOTE_MAX - quoted);
        kv_reply_error_text(reply, "'");
        kv_reply_error_part(reply, part);
        kv_reply_error_text(reply, "' ");
        quoted += part.size + 3;
    }
    kv_reply_error_end(reply);
}

static void refuse_arity(struct kv_reply *reply, const struct kv_command *command)
{
    kv_reply_error_begin(reply, "ERR wrong number of arguments for '");
    kv_reply_error_text(reply, command->name);
    kv_reply_error_text(reply, "' command");
    kv_reply_error_end(reply);
}

static void refuse_without_session(struct kv_reply *reply, const char *name)
{
    kv_reply_error_begin(reply, "ERR '");
    kv_reply_error_text(reply, name);
    kv_reply_error_text(reply, "' needs a connection of its own; this call has none");
    kv_reply_error_end(reply);
}

/* Returns the name of a command that means something only on a connection, so
 * that it is not in the list, or NULL. */
static const char *connection_name(struct bytes name)
{
    static const char *const names[] = {
        "subscribe", "unsubscribe", "psubscribe", "punsubscribe", "ssubscribe", "sunsubscribe",
        "multi",     "exec",        "discard",    "watch",        "unwatch",    "hello",
        "auth",      "client",      "quit",       "reset",        "monitor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (kv_arg_is(name, names[i])) {
            return names[i];
        }
    }
    return NULL;
}

bool kv_command_takes(const struct kv_command *command, size_t argc)
{
    return command->arity < 0 ? argc >= (size_t)-command->arity : argc == (size_t)command->arity;
}

static bool has_long_argument(size_t argc, const struct bytes *argv)
{
    for (size_t i = 1; i < argc; i++) {
        if (argv[i].size > KEVY_SIZE_MAX) {
            return true;
        }
    }
    return false;
}

const struct kv_command *kv_command_resolve(struct kv_reply *reply, size_t argc,
                                            const struct bytes *argv)
{
    ASSERT(argc > 0);
    const struct kv_command *command = kv_command_find(argv[0]);
    if (command == NULL) {
        const char *name = connection_name(argv[0]);
        if (name != NULL) {
            refuse_without_session(reply, name);
        } else {
            refuse_unknown(reply, argc, argv);
        }
        return NULL;
    }
    if (!kv_command_takes(command, argc)) {
        refuse_arity(reply, command);
        return NULL;
    }
    size_t all = 0;
    for (size_t i = 1; i < argc; i++) {
        all |= argv[i].size;
    }
    if (all > KEVY_SIZE_MAX && has_long_argument(argc, argv)) {
        kv_reply_error(reply, "ERR an argument is longer than 512 MiB");
        return NULL;
    }
    return command;
}

void kv_command_run(const struct kv_command *command, struct kv_call *call)
{
    call->command = command;
    call->reply_start = call->reply->size;
    if ((command->flags & KV_SESSION) != 0 && call->session == NULL) {
        refuse_without_session(call->reply, command->name);
        return;
    }
    if ((command->flags & KV_READ) == 0 && !kv_reply_reserve(call->reply, EFFECT_REPLY)) {
        return;
    }
    command->run(call);
}

/* ---- Errors of the store ---- */

void kv_command_store_error(struct kv_reply *reply, int status)
{
    reply->refusal = status;
    switch (status) {
    case KEVY_ENOMEM:
        kv_reply_error(reply, KV_TEXT_NOMEM);
        return;
    case KEVY_ENOSPC:
        kv_reply_error(reply, "MISCONF the disk of the store is full, nothing was changed; free "
                              "some space and repeat, reads and deletes still work");
        return;
    case KEVY_EFILES:
        kv_reply_error(reply, "MISCONF too many files are open in this process or on this machine, "
                              "nothing was changed; close some or raise the limit (ulimit -n) and "
                              "repeat");
        return;
    case KEVY_EIO:
        kv_reply_error(reply, "MISCONF the log could not be written (input/output error); if "
                              "writes stay refused, open the store anew");
        return;
    case KEVY_ELIMIT:
        kv_reply_error(reply, "ERR a limit of the store was passed, nothing was changed");
        return;
    case KEVY_EMEMORY:
        kv_reply_error(reply, "OOM command not allowed when used memory > 'maxmemory'.");
        return;
    case KEVY_ECLOSED:
        kv_reply_error(reply, "ERR the store is shut down, writes are refused");
        return;
    default:
        kv_reply_error_begin(reply, "ERR the store refused: ");
        kv_reply_error_text(reply, kevy_status_text(status));
        kv_reply_error_end(reply);
        return;
    }
}
