/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of a salvage share. log_salvage.c gathers the segments,
 * log_salvage_mend.c finds out what a damaged header said, log_salvage_survey.c
 * reads what was gathered once ahead of replay: for the namespace map, and for
 * extents whose headers are damaged.
 *
 * Threads: one.
 */
#ifndef KEVY_SRC_LOG_LOG_SALVAGE_H
#define KEVY_SRC_LOG_LOG_SALVAGE_H

#include "kevy/src/log/log_check.h"

/* One file of a slot. */
struct kv_relic {
    uint32_t slot;
    size_t size;   /* as far as it is looked at */
    bool is_good;  /* the header is */
    bool is_taken; /* it is part of what is read */
    struct kv_segment_header header;
};

struct kv_relics {
    struct kv_relic *at;
    size_t count;
    size_t capacity;
};

struct kv_salvage {
    struct kv_opening *opening;
    struct kv_looking *looking;
    bool has_mark;       /* one slot of it is valid */
    bool is_certain;     /* all of it is: the files that it does not name are of no use */
    struct kv_mark mark; /* as it was read */
    bool has_guess;      /* no slot is valid, but one of them has the form of a map */
    struct kv_namespaces guess;
    uint64_t guess_lsn;
    struct kv_relics relics;
};

/* Opens and maps a relic as a segment that is not entered; the file is closed
 * again. 0 or a status. */
int kv_relic_map(struct kv_salvage *salvage, const struct kv_relic *relic,
                 const struct kv_segment_header *header, struct kv_segment **out);

/* Enters it if its slots are free and no other segment has its key; else frees
 * it. 1 entered, 0, or a status < 0. */
int kv_relic_enter(struct kv_salvage *salvage, struct kv_relic *relic, struct kv_segment *segment);

/* Finds out the header of a log segment from its records. 1 found, 0, or < 0. */
int kv_relic_mend(struct kv_salvage *salvage, const struct kv_relic *relic,
                  struct kv_segment_header *out);

/* Returns the LSN of the record at the cursor: what a stamp or the seal behind an
 * unbroken run of records tells, less those; else `otherwise` less those. */
uint64_t kv_relic_number(struct kv_cursor cursor, uint64_t otherwise);

/* Reads all log segments: adds extents with damaged headers, and sets the map
 * that replay starts from. 0 or a status. */
int kv_salvage_survey(struct kv_salvage *salvage);

#endif
