/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Examples of every write: what to run first, and then the write itself. A test
 * walks commands.def and names the command that has none, so a command that is
 * added comes with examples or fails.
 *
 * Words are separated by spaces, commands by semicolons; a word @N is N bytes,
 * and `kevy_…` calls the public function instead of a command:
 *   kevy_set key value ttl-ms      kevy_set_many key value key value …
 */
#ifndef KEVY_TEST_WRITE_EXAMPLES_H
#define KEVY_TEST_WRITE_EXAMPLES_H

#include <stdbool.h>

#include "kevy.h"

struct write_example {
    const char *setup;
    const char *write;
};

extern const struct write_example write_examples[];
size_t write_example_count(void);

/* Runs a list of commands. True: each of them succeeded; else the first that
 * did not is the last that was run. */
bool write_run(KevyDb *db, const char *commands);

/* Says whether the first word of the text is this name, in any case. */
bool write_is_of(const char *text, const char *name);

#endif
