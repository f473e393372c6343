/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The prototypes of all commands, from commands.def: a command that is in the
 * list but not written does not link, one that is written otherwise does not
 * compile. Each family includes this; nobody else needs it.
 */
#ifndef KEVY_SRC_COMMAND_CMD_RUN_H
#define KEVY_SRC_COMMAND_CMD_RUN_H

#include "kevy/src/command/command.h"

#define KV_COMMAND(id, ...) void kv_run_##id(struct kv_call *call);
#include "kevy/src/command/commands.def"
#undef KV_COMMAND

#endif
