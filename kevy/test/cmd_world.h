/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A keyspace for tests of commands from the inside: over a journal and a memory
 * that can be told to fail, and a clock that is set.
 */
#ifndef KEVY_TEST_CMD_WORLD_H
#define KEVY_TEST_CMD_WORLD_H

#include "kevy/src/command/command.h"
#include "kevy/test/fake_journal.h"

struct cmd_world {
    struct fake_journal journal;
    struct kv_keyspace ks;
    struct kv_clock clock;
    kevy_os os;
    uint64_t now_ms;
    struct kv_bus *bus;
    struct kv_port port;
    struct kv_mem mem;
    size_t allocations_left; /* before they fail */
    struct kv_session session;
    struct kv_host host;
    struct kv_reply reply;
};

void cmd_world_init(struct cmd_world *world);
void cmd_world_done(struct cmd_world *world);

/* Runs a command of words; the reply stays in world->reply. */
void cmd_world_run(struct cmd_world *world, const char *words, struct kv_session *session);

/* Runs, and returns the reply as text without its last line end, in a static
 * ring of four buffers. */
const char *cmd_say_as(struct cmd_world *world, const char *words, struct kv_session *session);
const char *cmd_say_in(struct cmd_world *world, const char *words);

#endif
