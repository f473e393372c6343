/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a store must hold after its process was killed: the model of
 * test_kills.c, in memory that the killed process shares with the next one.
 *
 * Each writing thread owns names of its own: keys, a group of keys that is
 * only ever written as one batch, and a counter. For each it notes a version
 * before it calls the store, and the same version as acknowledged when the
 * call has returned. What a version is (set, delete, expire, which bytes, how
 * many) follows from name and version alone. So after a kill each name must
 * show either its acknowledged version or the one that was under way, whole.
 *
 * Threads: each owner is used by one thread; verify by one with no other.
 */
#ifndef KEVY_TEST_KILL_MODEL_H
#define KEVY_TEST_KILL_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "kevy.h"

enum { KILL_OWNERS = 3, KILL_KEYS = 40, KILL_GROUP = 8 };

struct kill_versions {
    _Atomic uint64_t begun;
    _Atomic uint64_t acked;
};

struct kill_owner {
    struct kill_versions keys[KILL_KEYS];
    struct kill_versions group;
    struct kill_versions counter;
};

struct kill_model {
    struct kill_owner owners[KILL_OWNERS];
    _Atomic uint64_t salt;     /* so that each store has other values */
    _Atomic uint64_t acked;    /* calls that returned, in all rounds */
    _Atomic uint64_t verified; /* rounds whose state was looked at */
    _Atomic uint64_t wrong;
    char first_wrong[300];
};

/* Makes a model that children of this process share, for an empty store. */
struct kill_model *kill_model_new(uint64_t salt);
void kill_model_reset(struct kill_model *model, uint64_t salt);
void kill_model_free(struct kill_model *model);

/* Makes one call that writes, chosen by `random`. False: the call failed. */
bool kill_model_write(struct kill_model *model, KevyDb *db, unsigned owner, uint64_t random);

/* Checks every name, and takes what it finds as acknowledged: from now on that
 * must stay. */
void kill_model_verify(struct kill_model *model, KevyDb *db);

#endif
