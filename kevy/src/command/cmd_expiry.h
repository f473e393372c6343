/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Expiries as commands give them: a number, a unit, from now or from 1970.
 * One rule for all commands, in cmd_expire.c: whatever would overflow on its
 * way to absolute milliseconds is "invalid expire time", and nothing changes.
 */
#ifndef KEVY_SRC_COMMAND_CMD_EXPIRY_H
#define KEVY_SRC_COMMAND_CMD_EXPIRY_H

#include "kevy/src/command/command.h"

struct kv_expiry_unit {
    bool is_seconds;
    bool is_absolute;
};

/* Reads an argument that must be a positive time (SET, SETEX, GETEX) into
 * absolute wall milliseconds, never 0. False: the error is the reply. */
bool kv_expiry_positive(struct kv_call *call, struct bytes arg, struct kv_expiry_unit unit,
                        uint64_t *out);

/* As above; the time may be 0, negative or past: then *out <= now. */
bool kv_expiry_any(struct kv_call *call, struct bytes arg, struct kv_expiry_unit unit,
                   int64_t *out);

#endif
