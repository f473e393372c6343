/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy/check.h: looking at a store that nobody has open, and saving what can be
 * read of one that is damaged. `kevy-cli` shows both (docs/cli.md).
 *
 * kevy_check says what an open would find, and shows each key; kevy_salvage
 * copies what can be proved to a new store. Neither changes a byte of what it
 * reads. Results, sizes and threads as in kevy.h.
 */
#ifndef KEVY_CHECK_H
#define KEVY_CHECK_H

#include "kevy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of KevyFound. The first three are losses: an open finds less than was
 * there, or, for the third, hands out bytes that were not written. */
#define KEVY_FOUND_DAMAGE 1     /* bytes of the log from before the durable mark */
#define KEVY_FOUND_MISSING 2    /* a file that the mark names is not there */
#define KEVY_FOUND_VALUE 3      /* a large value, which an open does not verify */
#define KEVY_FOUND_TORN 4       /* the end of the log: usual after a power cut */
#define KEVY_FOUND_MARK 5       /* a copy of the mark, of which there is another */
#define KEVY_FOUND_QUARANTINE 6 /* a file of bytes that an earlier open put aside */
#define KEVY_FOUND_NOTE 7       /* of kevy_salvage: what it had to guess or could mend */

/* Something found in a file of a store; borrowed until the callback returns. */
typedef struct KevyFound {
    int32_t kind;     /* KEVY_FOUND_… */
    const char *file; /* its name in the directory */
    uint64_t from;    /* from which byte on */
    uint64_t to;      /* before which */
    const char *text; /* what it is, in a sentence */
} KevyFound;

/* A key and its value; borrowed until the callback returns. */
typedef struct KevyEntry {
    uint32_t database;
    const uint8_t *key;
    size_t key_len;
    const uint8_t *value;
    size_t value_len;
    uint64_t expiry_ms; /* absolute wall milliseconds, 0 none */
} KevyEntry;

typedef void kevy_found_fn(void *user, const KevyFound *found);

/* 0 goes on, anything else ends the visit. */
typedef int32_t kevy_entry_fn(void *user, const KevyEntry *entry);

/* Whom kevy_check and kevy_salvage tell what; any callback may be NULL. They are
 * run by the calling thread and must not use the same directory. */
typedef struct KevyCheckOptions {
    void *user;
    kevy_found_fn *found; /* each thing that is not as it should be, while reading */
    kevy_entry_fn *entry; /* of kevy_check: then each key that an open would find, database by
                             database, in an order that is the same each time */
} KevyCheckOptions;

/* What kevy_check and kevy_salvage found. New fields are only ever added at the
 * end. */
typedef struct KevyCheckReport {
    uint64_t size; /* bytes of this structure; set by the caller */
    uint64_t keys; /* of all databases, expired ones included */
    uint64_t expiring_keys;
    uint64_t records;        /* applied to find them */
    uint64_t log_files;      /* segments and extents */
    uint64_t log_size;       /* bytes of them, dead ones included */
    uint64_t damaged_ranges; /* KEVY_FOUND_DAMAGE: an open makes a quarantine file of each */
    uint64_t damaged_bytes;
    uint64_t damaged_values;   /* KEVY_FOUND_VALUE */
    uint64_t damaged_marks;    /* KEVY_FOUND_MARK */
    uint64_t missing_files;    /* KEVY_FOUND_MISSING */
    uint64_t torn_bytes;       /* KEVY_FOUND_TORN */
    uint64_t dropped_bytes;    /* all that an open leaves out, whole batches included */
    uint64_t quarantine_files; /* KEVY_FOUND_QUARANTINE */
    uint64_t log_lsn_end;      /* records appended in the life of the store */
    uint64_t log_lsn_durable;  /* of these, how many are durable by the mark's word */
    uint64_t saved_keys;       /* of kevy_salvage: in the new store */
    uint64_t expired_keys;     /* of kevy_salvage: left out, their time has passed */
} KevyCheckReport;

/* Reads the store in `dir` as kevy_open would, by the same code, verifies every
 * record and every large value, and tells what it found. Writes nothing, and
 * needs no permission to; makes no directory, and no file but an empty `lock` where
 * that is missing: if it cannot, KEVY_EACCESS, but on a read-only file system it
 * needs none. Returns
 *   0   whole; a torn end, which an open cuts off, counts as that
 *   1   an open succeeds, but a range of the log or a large value is damaged
 *   <0  what kevy_open_ex would return, with the same *error, whose path and
 *       offset say where; or KEVY_EPATH where there is no store, KEVY_EINUSE
 *       while any process, this one included, has it open or is checking it
 * or what options->entry returned, if that was not 0. Meanwhile others that open
 * it get KEVY_EINUSE. An index file is not read. options, report and error may be
 * NULL; before the call report->size is sizeof(KevyCheckReport). Any thread. Costs
 * what an open costs without an index, and a read of all large values. */
KEVY_API int32_t kevy_check(const uint8_t *dir, size_t dir_len, const KevyCheckOptions *options,
                            KevyCheckReport *report, KevyError *error);

/* For kevy_salvage: go on where no copy of the mark's head is left. The secret
 * that proves records is lost with it, so bytes that were changed cannot be told
 * from others: check the values yourself. */
#define KEVY_SALVAGE_UNVERIFIED 1u

/* Copies what can be read of the store in `from`, whether it can be opened or
 * not, into a new one in `to`, which is made and must be empty or missing; `from`
 * is not changed. Kept is each record that can be proved to have been written:
 * of each key the newest, with its expiry; a key whose deletion can be read stays
 * deleted; a batch of which any part is lost is left out whole. Goes on over
 * damaged ranges, damaged segment headers, files that are missing or cut short, a
 * mark of which both slots are lost. What cannot be known without the mark is
 * told as KEVY_FOUND_NOTE: which files were current, so that something that was
 * deleted long ago may be back, and which database a namespace was, if that is in
 * no record either; then it gets one that is free. Returns
 *   0   all there was is in the new store
 *   1   it holds what could be saved; what was lost was told to options->found
 *   <0  nothing was made: KEVY_ECORRUPT needs KEVY_SALVAGE_UNVERIFIED, KEVY_EPATH
 *       no store in `from` or something in `to`, KEVY_EINUSE, or why `to` could
 *       not be written
 * options, report and error as for kevy_check; the report's counts are those of
 * `from`. Any thread. */
KEVY_API int32_t kevy_salvage(const uint8_t *from, size_t from_len, const uint8_t *to,
                              size_t to_len, uint32_t flags, const KevyCheckOptions *options,
                              KevyCheckReport *report, KevyError *error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
