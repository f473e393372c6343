/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Looking at the files of a log that nobody has open, and writing nothing.
 *
 * A look is an open that ends where a real one would begin to write: the same
 * functions find the mark, the segments and the end, and hand every record to
 * apply. So what a look says is what an open does. It sees the folder through a
 * table that cannot write (log_check_os.c), and takes the folder's lock as an
 * open does: while it lasts, others are told "in use", and the other way round.
 * A lock file that is missing is made, empty: the one thing that a look makes.
 *
 * A salvage differs in one step: it gathers whatever segments can be read, with
 * or without the mark's word (log_salvage.c), and replays those.
 *
 * What does not live here: what is done with the records (engine/).
 *
 * Threads: one.
 */
#ifndef KEVY_SRC_LOG_LOG_CHECK_H
#define KEVY_SRC_LOG_LOG_CHECK_H

#include "kevy/check.h"
#include "kevy/src/log/log_opening.h"

/* A kevy_os through which nothing can be written; see log_check_os.c. */
struct kv_still {
    kevy_os table; /* its self is this structure */
    const kevy_os *os;
};

void kv_still_init(struct kv_still *still, const kevy_os *os);

/* A bit for each slot. */
typedef uint8_t kv_slot_set[KV_SLOT_COUNT / 8];

static inline bool kv_slot_set_has(const uint8_t *set, uint32_t slot)
{
    return (set[slot / 8] >> (slot % 8) & 1) != 0;
}

static inline void kv_slot_set_add(uint8_t *set, uint32_t slot)
{
    set[slot / 8] = (uint8_t)(set[slot / 8] | 1u << (slot % 8));
}

/* A look under way. The first part is the caller's, zeroed but for what is
 * needed; it must outlive the log. */
struct kv_looking {
    struct kv_look look; /* must be first: an opening leads back to the rest by it */
    struct kv_mem *mem;
    const kevy_os *os;
    struct bytes dir;
    kv_log_apply_fn *apply;
    kv_log_ahead_fn *ahead;
    void *user;
    kevy_found_fn *found; /* NULL: nobody */
    void *found_user;
    bool is_salvage;
    bool is_blind; /* a salvage may go on without the secret */

    /* Filled in. */
    KevyCheckReport report;
    KevyOpenReport opened;
    struct kv_still still;
    kv_slot_set extents_seen;
    kv_slot_set extents_bad;
    kv_slot_set extents_batch; /* of salvage: what the first record took it for */
};

static inline struct kv_looking *kv_looking_of(const struct kv_opening *opening)
{
    return (struct kv_looking *)(void *)opening->look;
}

/* Looks. 0, and *out is the log as an open would have found it, for reading
 * only: yours, free with kv_log_look_end. Or the status with which an open
 * would fail, with *error saying why. The report is filled in either way, but
 * for what only a keyspace knows. */
int kv_log_look(struct kv_log **out, struct kv_looking *looking, KevyError *error);

/* Unlocks and frees. NULL is fine. */
void kv_log_look_end(struct kv_log *log);

/* Tells of something that was found, in a slot's file or in another one. */
void kv_look_found(struct kv_looking *looking, int32_t kind, const char *file, uint64_t from,
                   uint64_t to, const char *text);
void kv_look_found_slot(struct kv_looking *looking, int32_t kind, uint32_t slot, uint64_t from,
                        uint64_t to, const char *text);

/* What a salvage does instead of kv_gather and kv_damage_resume, and what it takes
 * of extents. */
int kv_salvage_gather(struct kv_opening *opening);
bool kv_salvage_resume(const struct kv_segment *segment, struct kv_cursor *cursor);
bool kv_salvage_takes(struct kv_opening *opening, const struct kv_segment *extent,
                      const uint8_t *record);

/* Whether the bytes in an extent are those that the record tells. */
bool kv_look_extent_holds(const struct kv_opening *opening, const struct kv_segment *extent,
                          const uint8_t *record);

#endif
