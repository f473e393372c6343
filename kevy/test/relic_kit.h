/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stores with a past, to be damaged: what the tests of kevy_check and
 * kevy_salvage share. A life writes, deletes, flushes, swaps, collects and
 * reopens by chance, and ends by a close, a kill or a power cut.
 *
 * A value tells its key and version and is filled with bytes that follow from
 * both; its size and its expiry do too. So whatever a store holds can be judged
 * by itself: it was written like this, or it was invented.
 */
#ifndef KEVY_TEST_RELIC_KIT_H
#define KEVY_TEST_RELIC_KIT_H

#include "kevy/src/engine/api_check.h"
#include "testing/crash_os.h"

enum { RELIC_KEYS = 24, RELIC_DATABASES = 3, RELIC_VERSIONS = 2000, RELIC_BATCH = 8 };

/* Versions by database and key, 0 for none. */
struct relic_state {
    uint64_t version[RELIC_DATABASES][RELIC_KEYS];
};

/* What a life did. */
struct relic_past {
    uint64_t random;
    uint64_t clock; /* the newest version; deletions take one too */
    struct relic_state now;
    struct relic_state gone; /* when each key was last deleted, or moved by a swap */
    struct {
        uint32_t db, key, batch;
    } written[RELIC_VERSIONS]; /* by version; batch 0: written alone */
    uint32_t batches;
    bool is_intact; /* nothing was collected: what was written together lies together */
};

/* Lives on a fresh disk; a calm life is short and mostly collects nothing. Yours;
 * free with crash_os_free. */
struct crash_os *relic_live(uint64_t seed, bool is_calm, struct relic_past *past);

/* The same of a store in which each key of database 0 was written once. */
struct crash_os *relic_one_each(struct relic_past *past);

/* Opens the store of a disk. A status. */
int relic_open(struct crash_os *crash, KevyDb **out, KevyError *error);

/* What an open store holds; what a look at a disk finds. False: something that
 * was not written. */
bool relic_read(KevyDb *db, struct relic_state *out);
int32_t relic_check(struct crash_os *crash, struct relic_state *out, KevyCheckReport *report,
                    KevyError *error);

/* Salvages a disk into a fresh store and reads that. */
int32_t relic_salvage(struct crash_os *crash, bool is_blind, struct relic_state *out,
                      KevyCheckReport *report, KevyError *error);

/* Says whether each batch of which anything is left is there as a whole, but for
 * what was superseded or deleted later. */
bool relic_batches_hold(const struct relic_past *past, const struct relic_state *state);

/* Says whether everything in `least` is also in `state`, or something newer, or
 * was deleted later. */
bool relic_holds(const struct relic_past *past, const struct relic_state *state,
                 const struct relic_state *least);

/* A hash over names, sizes and bytes of all files. */
uint64_t relic_hash(struct crash_os *crash);

/* The names of the files but for the lock; returns how many. */
struct relic_names {
    char at[64][20];
    size_t count;
};
void relic_list(struct crash_os *crash, struct relic_names *out);

/* Damages one file by chance: flips, zeros, cuts, removes, swaps, copies. */
void relic_damage(struct crash_os *crash, uint64_t *random);

#endif
