/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli export: every key of every database as a command that makes it again,
 * in RESP: SELECT before the first key of a database, then
 * SET key value [PXAT milliseconds].
 *
 * The store is read as kevy_check reads it, and not opened: nothing in it
 * changes. Keys go out as they are met; nothing is gathered in memory. A file is
 * written under the name FILE.part and then renamed, so that a FILE is whole.
 */
#include <errno.h>
#include <kevy/check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doors/resp/src/cli.h"

struct export
{
    const struct cli_options *options;
    FILE *out;
    uint32_t database; /* that the stream is in */
    bool is_begun;
    bool is_damaged;
    uint64_t keys;
};

enum { EXPORT_FAILED = 1000, EXPORT_DAMAGED };

static void bulk(FILE *out, const void *data, size_t size)
{
    (void)fprintf(out, "$%zu\r\n", size);
    (void)fwrite(data, 1, size, out);
    (void)fputs("\r\n", out);
}

static void bulk_number(FILE *out, unsigned long long number)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%llu", number);
    bulk(out, text, (size_t)size);
}

static int32_t export_entry(void *user, const KevyEntry *entry)
{
    struct export *export = user;
    FILE *out = export->out;
    if (export->is_damaged && !export->options->is_forced) {
        return EXPORT_DAMAGED;
    }
    if (!export->is_begun || entry->database != export->database) {
        (void)fputs("*2\r\n$6\r\nSELECT\r\n", out);
        bulk_number(out, entry->database);
        export->database = entry->database;
        export->is_begun = true;
    }
    (void)fprintf(out, "*%d\r\n$3\r\nSET\r\n", entry->expiry_ms == 0 ? 3 : 5);
    bulk(out, entry->key, entry->key_len);
    bulk(out, entry->value, entry->value_len);
    if (entry->expiry_ms != 0) {
        bulk(out, "PXAT", 4);
        bulk_number(out, entry->expiry_ms);
    }
    export->keys++;
    return ferror(out) ? EXPORT_FAILED : 0;
}

static void export_found(void *user, const KevyFound *found)
{
    struct export *export = user;
    if (found->kind <= KEVY_FOUND_VALUE) {
        export->is_damaged = true;
        cli_say("%s: bytes %llu to %llu: %s", found->file, (unsigned long long)found->from,
                (unsigned long long)found->to, found->text);
    }
}

static enum cli_exit export_to(struct export *export, const char *dir, const char *name)
{
    KevyCheckOptions told = {.user = export, .found = export_found, .entry = export_entry};
    KevyError error;
    int32_t status = kevy_check((const uint8_t *)dir, strlen(dir), &told, NULL, &error);
    if (status < 0) {
        return cli_fail(&error);
    }
    if (export->is_damaged && !export->options->is_forced) {
        cli_say("the store is damaged: salvage it and export that, or export what it would show "
                "with --damaged");
        return CLI_REFUSED;
    }
    if (fflush(export->out) != 0 || ferror(export->out) != 0) {
        cli_say("%s cannot be written: %s", name, strerror(errno));
        return CLI_IO;
    }
    if (!export->options->is_quiet) {
        cli_say("%llu keys written", (unsigned long long)export->keys);
    }
    return export->is_damaged ? CLI_REFUSED : CLI_OK;
}

/* The bytes, then the name. */
static enum cli_exit file_finish(FILE *out, const char *part, const char *file)
{
    if (fsync(fileno(out)) != 0 || rename(part, file) != 0) {
        cli_say("%s cannot be written: %s", file, strerror(errno));
        return CLI_IO;
    }
    return CLI_OK;
}

/* A device or a pipe is written as it is. */
static bool is_special(const char *file)
{
    struct stat info;
    return stat(file, &info) == 0 && !S_ISREG(info.st_mode);
}

static enum cli_exit export_file(struct export *export, const char *dir, const char *file,
                                 const char *part)
{
    export->out = fopen(part, "wb");
    if (export->out == NULL) {
        cli_say("%s cannot be written: %s", part, strerror(errno));
        return CLI_IO;
    }
    bool is_same = strcmp(part, file) == 0;
    enum cli_exit end = export_to(export, dir, part);
    bool is_kept = end == CLI_OK || (end == CLI_REFUSED && export->options->is_forced);
    if (is_kept && !is_same && file_finish(export->out, part, file) != CLI_OK) {
        end = CLI_IO;
        is_kept = false;
    }
    (void)fclose(export->out);
    if (!is_kept && !is_same) {
        (void)remove(part);
    }
    return end;
}

enum cli_exit cli_export(const struct cli_options *options, const char *dir, const char *file)
{
    struct export export = {.options = options, .out = stdout};
    size_t room = strlen(file) + sizeof ".part";
    char *part = malloc(room);
    enum cli_exit end;
    if (part == NULL) {
        cli_say("no memory");
        return CLI_IO;
    }
    if (strcmp(file, "-") == 0) {
        end = export_to(&export, dir, "the standard output");
    } else if (is_special(file)) {
        end = export_file(&export, dir, file, file);
    } else {
        (void)snprintf(part, room, "%s.part", file);
        end = export_file(&export, dir, file, part);
    }
    free(part);
    return end;
}
