/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Commands: the table of them, finding one by name, and running it.
 *
 * What lives here: commands.def is the only list; each family of commands is a
 * file (cmd_string.c, cmd_expire.c, …). A command gets all that it may touch in
 * a kv_call and writes its answer into the call's reply, in Redis's words. What
 * does not: locks (engine/ takes the store's lock unless the command says
 * NOLOCK), sockets, how records are kept.
 *
 * A command that fails has changed nothing: it reads, checks and composes
 * first, then makes one change of the keyspace. Room for the answer is reserved
 * before that change. So a reply is either the whole answer of what happened,
 * or an error after which nothing happened, or `failed` (no memory for the
 * reply) after which nothing happened.
 *
 * To run one: kv_command_resolve, take the lock as its flags say,
 * kv_command_run. One that reads a single key may run without the lock; if it
 * says that it is torn, its reply is nothing. Threads: the table is constant; a call has one owner.
 */
#ifndef KEVY_SRC_COMMAND_COMMAND_H
#define KEVY_SRC_COMMAND_COMMAND_H

#include "kevy/src/bus/bus.h"
#include "kevy/src/command/host.h"
#include "kevy/src/keyspace/keyspace.h"
#include "kevy/src/text/reply.h"

enum kv_command_flag {
    KV_READ = 1,      /* reads keys */
    KV_WRITE = 2,     /* may change keys */
    KV_GROWS = 4,     /* may use more memory (Redis's denyoom) */
    KV_FAST = 8,      /* O(1) or O(log n) */
    KV_ADMIN = 16,    /* about the server, not the data */
    KV_PUBSUB = 32,   /* about channels */
    KV_NOLOCK = 64,   /* touches no keys: runs without the store's lock */
    KV_SESSION = 128, /* needs a session */
    KV_PEEK = 256     /* reads one key and little of it: may run without the store's lock */
};

struct kv_call;

struct kv_command {
    const char *name; /* lower case */
    int32_t arity;    /* with the name; negative: at least that many */
    uint32_t flags;
    int32_t first_key; /* 0: no keys; last_key -1: to the end */
    int32_t last_key;
    int32_t key_step;
    void (*run)(struct kv_call *call);
    const char *group;
    const char *summary;
    const char *syntax; /* of the arguments */
};

/* What lasts from one command of a connection to the next. */
struct kv_session {
    uint32_t db;
};

struct kv_call {
    struct kv_keyspace *keyspace;
    struct kv_port *port;       /* publishes and asks about channels */
    struct kv_session *session; /* NULL: none, database 0 */
    struct kv_reply *reply;
    struct kv_mem *mem;
    const struct kv_host *host;
    size_t argc;
    const struct bytes *argv;

    bool is_peeking; /* runs without the lock, inside an epoch */
    bool is_torn;    /* and met a table under change: to be run again, under the lock */
    uint64_t now_ms; /* 0: the clock was not read, see kv_call_now */

    /* set by kv_command_run */
    const struct kv_command *command;
    size_t reply_start; /* where the answer begins in the reply */
};

/* Returns the command of that name, in any case, or NULL. No allocation. */
const struct kv_command *kv_command_find(struct bytes name);

/* Returns whether the command takes so many arguments, its name included. */
bool kv_command_takes(const struct kv_command *command, size_t argc);

/* Returns the command that argv (argc > 0) calls; or NULL, and the error is
 * the reply: unknown command, wrong number of arguments, too long argument. */
const struct kv_command *kv_command_resolve(struct kv_reply *reply, size_t argc,
                                            const struct bytes *argv);

/* Says whether it may be run without the lock. */
static inline bool kv_command_may_peek(const struct kv_command *command, size_t argc)
{
    return (command->flags & KV_PEEK) != 0 &&
           (command->last_key == command->first_key || argc == 2);
}

/* Runs a resolved command. Under the store's lock unless it is KV_NOLOCK. */
void kv_command_run(const struct kv_command *command, struct kv_call *call);

/* Writes the error of a failed store: what happened and what to do. */
void kv_command_store_error(struct kv_reply *reply, int status);

/* All commands, in the order of commands.def. */
extern const struct kv_command kv_commands[];
size_t kv_command_count(void);

#endif
