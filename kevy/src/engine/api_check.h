/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A store that is looked at: the files of a directory, replayed into a keyspace
 * that nobody writes to (log/log_check.h). What kevy_check and kevy_salvage
 * share.
 *
 * It is no engine: there is no handle, no thread, no bus, and the registry does
 * not know of it; the directory's lock keeps it and opens apart.
 *
 * Threads: one.
 */
#ifndef KEVY_SRC_ENGINE_API_CHECK_H
#define KEVY_SRC_ENGINE_API_CHECK_H

#include "kevy/src/engine/engine.h"
#include "kevy/src/log/log_check.h"

struct kv_viewing {
    struct kv_mem mem;
    struct kv_clock clock;
    struct kv_log *log;
    struct kv_keyspace keyspace;
    struct kv_looking looking;
};

/* How to look; tests bring their own os and memory. */
struct kv_view_of {
    struct bytes dir;
    const kevy_os *os;
    const kevy_mem *mem;
    const KevyCheckOptions *options; /* may be NULL */
    bool is_salvage;
    bool is_blind;
};

/* Replays the files. A status; on 0 *out is yours, free with kv_viewing_free. The
 * report (may be NULL) is filled in either way. */
int kv_viewing_new(const struct kv_view_of *of, struct kv_viewing **out, KevyCheckReport *report,
                   KevyError *error);
void kv_viewing_free(struct kv_viewing *viewing);

/* The same as the public functions; `to` says how the new store is opened. */
int32_t kv_check_run(const struct kv_view_of *of, KevyCheckReport *report, KevyError *error);
int32_t kv_salvage_run(const struct kv_view_of *of, const struct kv_open *to,
                       KevyCheckReport *report, KevyError *error);

/* Copies as much of the report as the caller knows. */
void kv_report_give(const KevyCheckReport *from, KevyCheckReport *to);

/* What a caller can get wrong about a path: a text, or NULL. */
const char *kv_path_misuse(struct bytes path);

/* Says whether the report tells of a loss. */
static inline bool kv_report_has_loss(const KevyCheckReport *report)
{
    return report->damaged_ranges != 0 || report->damaged_values != 0 || report->missing_files != 0;
}

#endif
