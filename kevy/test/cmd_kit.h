/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests of commands share: a store as a transcript target, and one
 * command with its reply as text.
 */
#ifndef KEVY_TEST_CMD_KIT_H
#define KEVY_TEST_CMD_KIT_H

#include "kevy.h"
#include "testing/transcript.h"

/* The store answers through kevy_cmd. */
struct transcript_target cmd_target(KevyDb *db);

/* Runs a command given as words; returns its reply, shown as a C string, in a
 * static buffer. */
const char *cmd_say(KevyDb *db, const char *words);

/* Asks for every key of database 0 with its value and, if wanted, its expiry
 * in milliseconds, sorted by key, and appends all of it. */
void cmd_dump(const struct transcript_target *target, bool with_expiry,
              struct transcript_buffer *out);

#endif
