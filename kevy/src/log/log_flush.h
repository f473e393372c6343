/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Durability, as the rest of the log sees it: flushing (log_flush.c), the mark
 * (log_mark.c), what goes on its word (log_remove.c), and the thread that does
 * all of it in time (log_thread.c).
 *
 * Threads: each function says which.
 */
#ifndef KEVY_SRC_LOG_LOG_FLUSH_H
#define KEVY_SRC_LOG_LOG_FLUSH_H

#include <stdbool.h>
#include <stddef.h>

#include "kevy/src/store/mark.h"

struct kv_log;
struct kv_point;
struct kv_segment;

/* ---- Removal (log_remove.c) ---- */

/* Says whether nothing that the segment holds is needed by a reader who begins
 * with a mark that tells `point`, its tombstones aside. Under the writer lock. */
bool kv_remove_is_dead(const struct kv_log *log, const struct kv_segment *segment,
                       const struct kv_point *point);

/* Chooses what a mark at `point` lets go; returns how many. Under the writer
 * lock and mark_lock. */
size_t kv_remove_choose(struct kv_log *log, const struct kv_point *point);

/* Takes that back. */
void kv_remove_give_up(struct kv_log *log);

/* Unlinks what was chosen, after the mark was flushed, and frees it. 0 or a
 * status: then some of it may be unlinked. */
int kv_remove_run(struct kv_log *log);

/* ---- Durability (log_flush.c, log_mark.c, log_thread.c) ---- */

/* Flushes everything appended before the call, alone or in turn with others,
 * until `lsn` is durable. Not under the writer lock. */
int kv_flush_until(struct kv_log *log, uint64_t lsn);

/* A flush has failed: nothing is written from now on. */
void kv_log_break(struct kv_log *log, int status);

/* Notes that everything up to `point` is durable. Not under the writer lock. */
void kv_flush_reach(struct kv_log *log, const struct kv_point *point);

/* Writes and flushes a mark that tells the durable point, and unlinks what is
 * dead by it. Not under the writer lock. */
int kv_mark_write(struct kv_log *log);

/* The same for a point that becomes the durable one by this mark. KEVY_ENOSPC:
 * nothing has changed. */
int kv_mark_write_at(struct kv_log *log, const struct kv_point *point);

/* Fills in a mark that tells `point`; under the writer lock. */
void kv_mark_fill(const struct kv_log *log, const struct kv_point *point, struct kv_mark *out);

/* Writes the mark's bytes to the slot of its sequence number and flushes. */
int kv_mark_put(const struct kv_log *log, const struct kv_mark *mark);

/* Leaves an index for the next open, if it is worth it. Nobody else uses the
 * log, all of which is durable and marked so (log_index_save.c). */
void kv_index_save(struct kv_log *log);

/* Removes an index file that is out of date, if there is one. */
void kv_index_drop(struct kv_log *log);

/* Makes the thread look for what is due, starting it if there is none. */
void kv_thread_wake(struct kv_log *log);

/* Returns when it has done so once. */
void kv_thread_wait(struct kv_log *log);

/* Ends it. Nobody else uses the log. */
void kv_thread_stop(struct kv_log *log);

#endif
