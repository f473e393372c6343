/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli: a store from the command line. What its files share: how it ends,
 * what it says on the way, and its commands, one file for each.
 *
 * What is asked for goes to the standard output, what is said about it to the
 * standard error, so that an export can be piped on.
 *
 * It sees public headers only. One thread.
 */
#ifndef DOORS_RESP_SRC_CLI_H
#define DOORS_RESP_SRC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes. */
enum cli_exit {
    CLI_OK = 0,
    CLI_REFUSED = 1, /* damage was found, or the store or a command said no */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_IO = 3       /* reading or writing failed, or there is no memory */
};

/* What the command line asked for. */
struct cli_options {
    uint32_t database; /* -n */
    bool is_forced;    /* --damaged: export what a damaged store would show */
    bool is_blind;     /* --unverified: salvage without proof */
    bool is_quiet;     /* -q: no summary */
};

enum cli_exit cli_check(const struct cli_options *options, const char *dir);
enum cli_exit cli_salvage(const struct cli_options *options, const char *from, const char *to);
enum cli_exit cli_export(const struct cli_options *options, const char *dir, const char *file);
enum cli_exit cli_import(const struct cli_options *options, const char *dir, const char *file);
enum cli_exit cli_run(const struct cli_options *options, const char *dir, int argc,
                      char *const *argv);

/* Says something on the standard error, with "kevy-cli: " before and a new line
 * behind it. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void cli_say(const char *format, ...);

/* Says why something failed, and returns how to end. */
struct KevyError;
enum cli_exit cli_fail(const struct KevyError *error);

#endif
