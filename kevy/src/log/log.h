/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The log: every record of a store, in files or in memory; what the rest of
 * the engine sees of this wing.
 *
 * What lives here: opening with replay, the journal that the keyspace writes
 * to, waiting for durability, closing. What does not: the bytes (store/, and
 * docs/log-format.md), who is the newest record of a key (keyspace/), the
 * writer lock itself (engine/ owns it and lends it).
 *
 * A file store is killed or loses power at any instant; what then survives is
 * in docs/durability.md. A write is one call of the journal's append under the
 * writer lock, then, after the lock was left, one kv_log_commit.
 *
 * Threads: each function says which. "Under the writer lock" means that the
 * caller holds the mutex that it named at open. A memory log has no thread of
 * its own; a file log has at most two, which sleep while nothing waits to be
 * flushed, and while no burst needs a segment made ahead.
 */
#ifndef KEVY_SRC_LOG_LOG_H
#define KEVY_SRC_LOG_LOG_H

#include <stdbool.h>

#include "kevy.h"
#include "kevy/os.h"
#include "kevy/src/os/os_thread.h"
#include "kevy/src/store/image.h"
#include "kevy/src/store/journal.h"
#include "kevy/src/store/namespaces.h"
#include "kevy/src/store/space.h"
#include "kevy/src/store/view.h"

struct kv_log;
struct kv_look;

/* One record as replay finds it. Everything is borrowed until apply returns;
 * `ref` stays good until it is retired. */
struct kv_log_record {
    enum kv_record_type type; /* VALUE, EXTENT, TOMBSTONE or NAMESPACES */
    uint32_t namespace_id;
    uint64_t expiry_ms; /* absolute wall milliseconds, 0 none */
    uint64_t lsn;
    uint32_t ref; /* 0 only for the map that replay starts from */
    struct bytes key;
    struct bytes value; /* of NAMESPACES: see store/namespaces.h */
};

/* Applies a record: first the map that replay starts from, then each record in
 * log order, except those of a namespace that no database has. *out of
 * kv_log_open is set before the first of them, for its space, journal and
 * seed. A record that this one replaces is retired by the callee. 0, or a kevy_status < 0, which
 * ends the open with that status. */
typedef int kv_log_apply_fn(void *user, const struct kv_log_record *record);

/* Replay is about to apply these records, of which none is an extent's: a
 * chance to fetch what that will touch. */
typedef void kv_log_ahead_fn(void *user, const uint32_t *refs, size_t count);

/* Collection found the record at old_ref; the same record now also lies at
 * new_ref. Returns 1 when old_ref is still the newest of its key, which then
 * is new_ref; else 0. With new_ref = old_ref it only asks; of a tombstone it is
 * only asked, and the answer is 1 when a database has its namespace and its key
 * is not there. Called under the writer lock; must not call the journal. */
typedef int kv_log_move_fn(void *user, uint32_t old_ref, uint32_t new_ref);

/* What the log's owner makes of its records, as an image (store/image.h), so
 * that an open after a clean close need not apply them all. */
struct kv_log_image {
    /* Bytes of the image, about; 0: now there is none to be made. */
    uint64_t (*size)(void *user);

    /* Called at close, when nobody else uses the log. 0, or what writing said. */
    int (*save)(void *user, struct kv_image *image);

    /* Called at open instead of applying records, but for the map that replay
     * starts from, which comes first. A status; then, or when the image is
     * found to be bad behind what load has read, unload makes the owner as
     * empty as before, and the records are applied after all. */
    int (*load)(void *user, struct kv_image *image, const struct kv_image_room *room);
    void (*unload)(void *user);

    /* What a mark tells of each database, so that a replay that begins with that
     * mark has the memory it needs from the start: asked under the writer lock,
     * told behind the map that replay starts from. NULL: nothing. */
    void (*sizes)(void *user, uint32_t out[KV_NAMESPACE_DATABASES]);
    void (*expect)(void *user, const uint32_t sizes[KV_NAMESPACE_DATABASES]);
};

struct kv_log_options {
    struct kv_mem *mem;
    const kevy_os *os;
    struct kv_mutex *writer; /* the writer lock; lent until close */
    struct bytes dir;        /* UTF-8, no NUL inside; used during open only */
    uint8_t fsync;           /* KEVY_FSYNC_… */
    size_t segment_size;     /* 0: 4 MiB; a power of two from 64 KiB up to that */
    bool is_threadless;      /* what a thread would do is done in kv_log_commit */
    kv_log_ahead_fn *ahead;  /* NULL: not needed; its user is that of apply */
    struct kv_look *look;    /* NULL; else the files are only looked at (log_check.h) */
    kv_log_move_fn *move;    /* NULL: no collection */
    void *move_user;
    const struct kv_log_image *image; /* NULL: every open applies all records */
    void *image_user;
};

/* Bytes by fate. In a memory log file_size is what the segments take. */
struct kv_log_stats {
    uint64_t live_size; /* of records that are the newest of their key */
    uint64_t dead_size; /* of all others */
    uint64_t file_size; /* of all segments and extents */
    uint64_t segment_count;
    uint64_t lsn_end;     /* of the newest record */
    uint64_t lsn_durable; /* up to here everything is durable */
    uint64_t flush_count;
    int32_t error; /* KEVY_EIO when a flush has failed for good, else 0 */
};

/* Makes an empty log in memory: no file, no thread, no check sums. Yours;
 * close with kv_log_close. 0 or KEVY_ENOMEM. */
int kv_log_open_memory(struct kv_log **out, struct kv_mem *mem, const kevy_os *os);

/* Lets a memory log collect: without it only segments that are wholly dead are
 * given back. Before the first append. */
void kv_log_collect_with(struct kv_log *log, kv_log_move_fn *move, void *user);

/* Opens the log in a folder, which is made with its parents if it is missing:
 * locks it, recovers it and hands every record to `apply`. The caller does not
 * hold the writer lock, and nobody else uses the log yet. Yours; close with
 * kv_log_close. Returns 0 or a status < 0 with *error saying which file and
 * why; then files that were damaged or foreign are as they were. `report`
 * tells what was found, also on failure; elapsed_ms is the caller's to set. */
int kv_log_open(struct kv_log **out, const struct kv_log_options *options, kv_log_apply_fn *apply,
                void *user, KevyOpenReport *report, KevyError *error);

/* Writes two numbers that are the same for each path of one folder, making the
 * folder and its parents first. 0 or a status < 0. */
int kv_log_identity(const kevy_os *os, struct bytes dir, uint64_t out[2], KevyError *error);

/* The journal of this log. Its functions are called under the writer lock.
 * Borrowed until close. */
struct kv_journal *kv_log_journal(struct kv_log *log);

/* Where its records are read. Borrowed until close. */
struct kv_space *kv_log_space(struct kv_log *log);

/* Makes the memory around a value a view that reaches it and returns it, or
 * NULL: it is still being written to, or there is no memory. Under the writer
 * lock. Borrowed until the epoch is left. */
struct kv_view *kv_log_view(struct kv_log *log, struct bytes value);

/* Says that kv_log_view need not be asked: the answer is NULL. Any thread. */
bool kv_log_is_open_at(const struct kv_log *log, struct bytes value);

/* The secret seed of the key hash: random for each memory log, the same for
 * ever for a folder. Any thread. */
uint64_t kv_log_seed(const struct kv_log *log);

/* Bytes of the records that are the newest of their key. Under the writer lock. */
uint64_t kv_log_live_size(const struct kv_log *log);

/* The LSN of the newest append, 0 for none. Under the writer lock. */
uint64_t kv_log_end(const struct kv_log *log);

/* Returns when the promise of the fsync policy holds for everything up to
 * `lsn`. Not under the writer lock. 0; KEVY_EIO or KEVY_ENOSPC: whether the
 * write is durable is unknown. */
int kv_log_commit(struct kv_log *log, uint64_t lsn);

/* Says whether a commit after an append has something to do or to wait for; else the
 * promise is kept already, and none is needed. No lock. */
bool kv_log_owes(const struct kv_log *log);

/* Returns when everything appended before the call is durable. Not under the
 * writer lock. 0, KEVY_EIO or KEVY_ENOSPC. */
int kv_log_sync(struct kv_log *log);

/* Gives back what dead records take, as far as it is worth moving live ones, in
 * steps that hold the writer lock (that of the engine, also of a memory log)
 * for a moment each. Not under it. 0, KEVY_ENOMEM, KEVY_ENOSPC, KEVY_EIO. */
int kv_log_compact(struct kv_log *log, struct kv_mutex *writer);

/* Removes the store in a folder that nobody has open: every file that a store
 * makes, but for the lock file. 0 or a status < 0; *error says what stays, or
 * why nothing was done. */
int kv_log_destroy(const kevy_os *os, struct bytes dir, KevyError *error);

/* Sets the policy, the strictest of those that the open handles ask for. Not
 * under the writer lock. */
void kv_log_set_policy(struct kv_log *log, uint8_t fsync);

/* Flushes and writes the mark, so that the next open has nothing to do. Not
 * under the writer lock. As kv_log_sync. */
int kv_log_shutdown(struct kv_log *log);

/* Flushes, closes, unlocks and frees. Nobody else uses the log. NULL is fine. */
void kv_log_close(struct kv_log *log);

/* Says whether this process is a forked child of the one that opened the log.
 * Then every other function must be left alone. Any thread. */
bool kv_log_forked(const struct kv_log *log);

/* Under the writer lock. */
void kv_log_stats(struct kv_log *log, struct kv_log_stats *out);

/* Checks every invariant that can be seen; for tests. Under the writer lock. */
bool kv_log_verify(struct kv_log *log);

#endif
