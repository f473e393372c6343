/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Counters of this copy of the library: what it holds, and what it has done. Counting costs nothing
 * on the paths of calls: only what is rare is counted.
 */
#ifndef KOLIBRI_STATS_H
#define KOLIBRI_STATS_H

#include <kolibri/status.h>

struct kol_stats {
    uint64_t tables_loaded;      /* member tables resolved now */
    uint64_t natives_registered; /* native methods registered so far */
    uint64_t threads_attached;   /* threads that Kolibri attached and has not detached */
    uint64_t attaches;           /* attaches so far */
    uint64_t exceptions_thrown;  /* exceptions made by kol_throw… so far */
    uint64_t misuses;            /* broken contracts that levels 2 and 3 saw so far */
    uint64_t scopes_open;        /* scopes of C objects that have not ended */
    uint64_t natives_checked;    /* live native objects that level 2 knows of */
    uint64_t one_offs;           /* buffers that no pool had room for, so far */
};

KOL__C_BEGIN

/* Reads all counters, each by itself: together they are no snapshot. Any thread. */
void kol_stats_read(struct kol_stats *out);

KOL__C_END

#endif
