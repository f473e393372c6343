/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli: its command line. What each command does is in its own file; the
 * manual is docs/cli.md.
 */
#include <kevy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doors/resp/src/cli.h"

static const char help[] =
    "kevy-cli: a kevy store from the command line\n"
    "\n"
    "  kevy-cli check DIR             say what an open would find; changes nothing\n"
    "  kevy-cli salvage FROM TO       copy what can be proved of a damaged store to a new one\n"
    "  kevy-cli export DIR [FILE|-]   write all keys as a stream of RESP commands, which\n"
    "                                 redis-server loads as an AOF and redis-cli --pipe takes\n"
    "  kevy-cli import DIR [FILE|-]   run the commands of such a stream, of an AOF of Redis, or\n"
    "                                 of the manifest of one\n"
    "  kevy-cli DIR COMMAND [ARG...]  run one command and print the reply\n"
    "\n"
    "  -n DB          database of the one command, 0 to 15\n"
    "  --damaged      export: write what a damaged store would show\n"
    "  --unverified   salvage: go on although the secret that proves records is lost\n"
    "  -q             no summary\n"
    "  --help, --version\n"
    "\n"
    "A directory named like a command is written ./check. No file, or -, is the standard\n"
    "input or output. The store must not be open in another process.\n"
    "\n"
    "Ends with 0 done; 1 damage was found, or the store, a command or a stream was refused;\n"
    "2 the command line is wrong; 3 reading or writing failed.\n";

void cli_say(const char *format, ...)
{
    va_list args;
    (void)fputs("kevy-cli: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

/* What to do about it, where the reason does not say so itself. */
static const char *advice(int32_t status)
{
    switch (status) {
    case KEVY_EINUSE:
        return ": close it there first";
    case KEVY_EACCESS:
        return ": run it as the user who owns the files";
    default:
        return "";
    }
}

enum cli_exit cli_fail(const KevyError *error)
{
    char errno_text[64] = "";
    if (error->sys_errno != 0) {
        (void)snprintf(errno_text, sizeof errno_text, " (%s)", strerror(error->sys_errno));
    }
    if (error->status == KEVY_ECORRUPT && error->offset != 0) {
        cli_say("%s: at byte %llu: %s%s%s", error->path, (unsigned long long)error->offset,
                error->text, errno_text, advice(error->status));
    } else {
        cli_say("%s%s%s%s%s", error->path, *error->path == '\0' ? "" : ": ", error->text,
                errno_text, advice(error->status));
    }
    if (error->status == KEVY_ECORRUPT) {
        cli_say("`kevy-cli salvage` copies what can still be read to a new store");
    }
    switch (error->status) {
    case KEVY_EMISUSE:
        return CLI_USAGE;
    case KEVY_EIO:
    case KEVY_ENOMEM:
    case KEVY_ENOSPC:
    case KEVY_EACCESS:
        return CLI_IO;
    default:
        return CLI_REFUSED;
    }
}

static enum cli_exit usage(const char *what)
{
    cli_say("%s; kevy-cli --help tells how", what);
    return CLI_USAGE;
}

/* Takes options off the front; *argc and *argv then begin with what follows. NULL,
 * or what is wrong. */
static const char *options_take(struct cli_options *options, int *argc, char ***argv)
{
    while (*argc > 0 && (*argv)[0][0] == '-' && (*argv)[0][1] != '\0') {
        const char *word = (*argv)[0];
        if (strcmp(word, "-n") == 0 && *argc > 1) {
            char *end;
            unsigned long database = strtoul((*argv)[1], &end, 10);
            if (*end != '\0' || (*argv)[1][0] < '0' || (*argv)[1][0] > '9' || database > 15) {
                return "a database is a number from 0 to 15";
            }
            options->database = (uint32_t)database;
            ++*argv, --*argc;
        } else if (strcmp(word, "--damaged") == 0) {
            options->is_forced = true;
        } else if (strcmp(word, "--unverified") == 0) {
            options->is_blind = true;
        } else if (strcmp(word, "-q") == 0) {
            options->is_quiet = true;
        } else {
            return "there is no such option";
        }
        ++*argv, --*argc;
    }
    return NULL;
}

static bool is_word(int argc, char *const *argv, const char *word)
{
    return argc > 0 && strcmp(argv[0], word) == 0;
}

/* The command and what it needs, options before or behind its name. */
static enum cli_exit dispatch(struct cli_options *options, int argc, char **argv)
{
    static const char *const names[] = {"check", "salvage", "export", "import"};
    size_t command = 0;
    while (command < 4 && !is_word(argc, argv, names[command])) {
        command++;
    }
    if (command == 4) {
        return argc < 2 ? usage(argc == 0 ? "name a command" : "name a command for the store")
                        : cli_run(options, argv[0], argc - 1, argv + 1);
    }
    argc--, argv++;
    const char *wrong = options_take(options, &argc, &argv);
    if (wrong != NULL) {
        return usage(wrong);
    }
    if (argc < 1 || argc > 2 || (command == 0 && argc == 2)) {
        return usage(argc < 1 ? "name a store" : "too many arguments");
    }
    const char *second = argc == 2 ? argv[1] : "-";
    switch (command) {
    case 0:
        return cli_check(options, argv[0]);
    case 1:
        return argc == 2 ? cli_salvage(options, argv[0], second)
                         : usage("name the store and a folder for the new one");
    case 2:
        return cli_export(options, argv[0], second);
    default:
        return cli_import(options, argv[0], second);
    }
}

int main(int argc, char **argv)
{
    struct cli_options options = {.database = 0};
    argc--, argv++;
    if (is_word(argc, argv, "--help") || is_word(argc, argv, "-h")) {
        return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? CLI_IO : CLI_OK;
    }
    if (is_word(argc, argv, "--version")) {
        return printf("kevy-cli %s\n", kevy_version()) < 0 || fflush(stdout) != 0 ? CLI_IO : CLI_OK;
    }
    const char *wrong = options_take(&options, &argc, &argv);
    enum cli_exit end = wrong != NULL ? usage(wrong) : dispatch(&options, argc, argv);
    if (fflush(stdout) != 0 && end == CLI_OK) {
        cli_say("the standard output cannot be written");
        end = CLI_IO;
    }
    return (int)end;
}
