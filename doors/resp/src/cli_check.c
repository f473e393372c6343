/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli check and salvage: what kevy/check.h tells, as lines of text on the
 * standard output: a line for each thing found, "kind: file: bytes FROM to TO:
 * what", then the counts, then a verdict. docs/cli.md shows them.
 */
#include <kevy/check.h>
#include <stdio.h>
#include <string.h>

#include "doors/resp/src/cli.h"

#define U(number) (unsigned long long)(number)

static const char *kind_text(int32_t kind)
{
    switch (kind) {
    case KEVY_FOUND_DAMAGE:
        return "damage";
    case KEVY_FOUND_MISSING:
        return "missing";
    case KEVY_FOUND_VALUE:
        return "damaged value";
    case KEVY_FOUND_TORN:
        return "torn end";
    case KEVY_FOUND_MARK:
        return "mark";
    case KEVY_FOUND_QUARANTINE:
        return "quarantine";
    default:
        return "note";
    }
}

static void tell(void *user, const KevyFound *found)
{
    (void)user;
    if (found->from == found->to) {
        (void)printf("%s: %s: %s\n", kind_text(found->kind), found->file, found->text);
    } else {
        (void)printf("%s: %s: bytes %llu to %llu: %s\n", kind_text(found->kind), found->file,
                     U(found->from), U(found->to), found->text);
    }
}

static void tell_counts(const KevyCheckReport *report)
{
    (void)printf("keys: %llu, of them %llu with a time to live, from %llu records\n",
                 U(report->keys), U(report->expiring_keys), U(report->records));
    (void)printf(
        "log: %llu files, %llu bytes; record %llu is the last, %llu the last durable one\n",
        U(report->log_files), U(report->log_size), U(report->log_lsn_end),
        U(report->log_lsn_durable));
    (void)printf("left out: %llu bytes, of them %llu torn, %llu in %llu damaged ranges\n",
                 U(report->dropped_bytes), U(report->torn_bytes), U(report->damaged_bytes),
                 U(report->damaged_ranges));
}

enum cli_exit cli_check(const struct cli_options *options, const char *dir)
{
    KevyCheckOptions told = {.found = tell};
    KevyCheckReport report = {.size = sizeof report};
    KevyError error;
    int32_t status = kevy_check((const uint8_t *)dir, strlen(dir), &told, &report, &error);
    if (status < 0) {
        (void)printf("an open fails: %s\n", kevy_status_text(status));
        return cli_fail(&error);
    }
    if (!options->is_quiet) {
        tell_counts(&report);
    }
    (void)puts(status == 0 ? "an open finds all of it"
                           : "an open succeeds, with less than there was or with damaged values: "
                             "salvage first");
    return status == 0 ? CLI_OK : CLI_REFUSED;
}

enum cli_exit cli_salvage(const struct cli_options *options, const char *from, const char *to)
{
    KevyCheckOptions told = {.found = tell};
    KevyCheckReport report = {.size = sizeof report};
    KevyError error;
    int32_t status =
        kevy_salvage((const uint8_t *)from, strlen(from), (const uint8_t *)to, strlen(to),
                     options->is_blind ? KEVY_SALVAGE_UNVERIFIED : 0u, &told, &report, &error);
    if (status < 0) {
        enum cli_exit end = cli_fail(&error);
        if (status == KEVY_ECORRUPT && !options->is_blind) {
            cli_say("with --unverified it copies what has the form of records: check the values "
                    "yourself");
        }
        return end;
    }
    if (!options->is_quiet) {
        (void)printf("saved: %llu keys; %llu had expired\n", U(report.saved_keys),
                     U(report.expired_keys));
        (void)printf("lost: %llu bytes in %llu damaged ranges, %llu values, %llu files\n",
                     U(report.damaged_bytes), U(report.damaged_ranges), U(report.damaged_values),
                     U(report.missing_files));
    }
    (void)puts(status == 0 ? "the new store holds all of it"
                           : "the new store holds what could be saved");
    return status == 0 ? CLI_OK : CLI_REFUSED;
}
