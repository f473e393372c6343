/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy: an embedded, Redis-compatible key-value store with expiry and
 * publish/subscribe. This header is the whole public C ABI.
 *
 * A tour. Open a store (`kevy_open`, `kevy_open_mem`), read and write single
 * values (`kevy_get`, `kevy_set`), run any Redis command (`kevy_cmd`, the
 * answer is a RESP2 reply), listen (`kevy_subscribe`, `kevy_sub_wait`) and
 * speak (`kevy_publish`), close (`kevy_close`). Every name up to
 * `kevy_sub_close` is KEVY_ABI 1: programs built for that ABI link and run
 * unchanged. What follows under "Beyond ABI 1" is ours. Looking at a store that
 * is closed, and saving what is left of a damaged one: kevy/check.h.
 *
 * Threads: any thread may call any function on a live handle. A call that
 * starts after `kevy_close` (or `kevy_sub_close`) of its handle returned is
 * misuse. In a forked child every call on an inherited handle returns -1.
 *
 * Results, unless a function says otherwise: 0 done, 1 hit, 0 miss or empty,
 * -1 the call was misused (NULL handle or pointer, closed handle),
 * -2 the store could not do it (wrong type, limit, full disk, I/O, no memory);
 * after a negative result the store is unchanged and every out-parameter is
 * zero. Sizes are bytes. Keys, values, channels and payloads are any bytes,
 * NUL included. Keys and values are at most KEVY_SIZE_MAX bytes.
 *
 * Buffers (KevyBuf) that a function fills are yours: free each once with
 * `kevy_buf_free` (or `kevy_buf_free_shared`, either frees either kind),
 * passing the three fields as they were given. What is freed is found by `ptr`
 * alone.
 */
#ifndef KEVY_H
#define KEVY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KEVY_API __attribute__((visibility("default")))
#else
#define KEVY_API
#endif

/* The ABI that this header describes; compare with kevy_abi() at start. */
#define KEVY_ABI 1

/* The largest key, and the largest value, in bytes. */
#define KEVY_SIZE_MAX ((size_t)536870912)

/* A handle on a store. Handles on one directory share one store. */
typedef struct KevyDb KevyDb;

/* A subscription: a queue of frames from channels and patterns. */
typedef struct KevySub KevySub;

/* A buffer of the library's; see "Buffers" above. An empty value has a
 * non-NULL ptr and len 0; no value is {NULL, 0, 0}. */
typedef struct KevyBuf {
    uint8_t *ptr;
    size_t len;
    size_t cap;
} KevyBuf;

/* Flush policies of KevyOpenOptions.fsync. A write is kill-safe on return
 * under each; they differ in what survives a power cut (docs/durability.md). */
#define KEVY_FSYNC_EVERYSEC 0 /* durable within a second plus one flush */
#define KEVY_FSYNC_ALWAYS 1   /* durable on return */
#define KEVY_FSYNC_NO 2       /* the system's pace */

/* How to open. `shards` and the `rewrite_` fields are accepted as hints: they
 * change nothing a caller can see but size and timing. */
typedef struct KevyOpenOptions {
    uint8_t fsync;
    uint32_t shards;
    uint32_t rewrite_pct;
    uint64_t rewrite_min_size;
    uint64_t rewrite_bytes;
    uint64_t rewrite_interval_secs;
} KevyOpenOptions;

#define KEVY_OPEN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        0, 0, 100, (uint64_t)64 << 20, 0, 0                                                        \
    }

/* Whether an open went by the index that the last close had left. */
#define KEVY_INDEX_NONE 0u    /* there was none: each record was applied */
#define KEVY_INDEX_USED 1u    /* the store was opened from it */
#define KEVY_INDEX_REFUSED 2u /* missing, damaged or out of date: each record was applied */

/* What an open found. dropped_bytes > 0 or corrupt != 0: the store holds less
 * than its files did. The torn end of a log, usual after a power cut, is cut
 * off and counted. Damage before what was durable sets `corrupt`, and the
 * damaged bytes lie beside the log as quarantine: docs/durability.md. */
typedef struct KevyOpenReport {
    uint64_t replayed_commands; /* records applied, or taken over with the index */
    uint64_t replayed_bytes;
    uint64_t elapsed_ms; /* the whole open */
    uint64_t dropped_bytes;
    uint8_t corrupt;
    uint8_t index; /* KEVY_INDEX_… */
    uint32_t quarantine_count;
} KevyOpenReport;

/* ---- The library ---- */

/* Returns the ABI of the loaded library, KEVY_ABI. Any thread. */
KEVY_API uint32_t kevy_abi(void);

/* Returns the version, "x.y.z"; static, do not free. Any thread. */
KEVY_API const char *kevy_version(void);

/* ---- Open and close ---- */

/* Opens the store in the directory `dir` (UTF-8, dir_len bytes), with default
 * options. Makes the directory and its parents, replays the log. Yours; free
 * with kevy_close. NULL on failure: `kevy_open_ex` tells why. An empty path
 * is a failure. A second open of the directory in this process shares the
 * store; in another process it fails. */
KEVY_API KevyDb *kevy_open(const uint8_t *dir, size_t dir_len);

/* Opens a store in memory; nothing of it survives its last handle. Starts no
 * thread. Yours; free with kevy_close. NULL without memory. */
KEVY_API KevyDb *kevy_open_mem(void);

/* Opens with options: NULL options are the defaults, dir NULL with dir_len 0
 * is a store in memory. Otherwise as kevy_open. */
KEVY_API KevyDb *kevy_open_with(const uint8_t *dir, size_t dir_len, const KevyOpenOptions *options);

/* Closes a handle: waits for calls in flight, wakes every waiter of its
 * subscriptions with a negative result, flushes. Subscriptions left open are
 * inert and still closed by their owner. NULL is fine. */
KEVY_API void kevy_close(KevyDb *db);

/* Flushes to the disk, after which writes through this handle fail and reads
 * go on. Idempotent. Returns 0, -1 misuse, -2 I/O. */
KEVY_API int32_t kevy_shutdown(KevyDb *db);

/* Writes what the open found to *out; all zero for memory. 0 or -1. */
KEVY_API int32_t kevy_open_report(KevyDb *db, KevyOpenReport *out);

/* ---- Commands and single values ---- */

/* Runs one command, argv[0] its name, and writes its RESP2 reply to *out.
 * Returns 0, also when the reply is an error reply; negative = the call was
 * misused, and *out is {NULL, 0, 0}. Commands that need a connection
 * (SUBSCRIBE, MULTI, …) answer with an error that says so. */
KEVY_API int32_t kevy_cmd(KevyDb *db, size_t argc, const uint8_t *const *argv,
                          const size_t *argv_len, KevyBuf *out);

/* Copies the value of `key` to *out. 1 hit, 0 miss, -1 misuse, -2 the key
 * holds no string, or no memory. */
KEVY_API int32_t kevy_get(KevyDb *db, const uint8_t *key, size_t key_len, KevyBuf *out);

/* As kevy_get, but the buffer may be a read-only view of the store's own
 * record: it stays as it is, whatever happens to the key, the store or its
 * files, until it is freed, also after kevy_close. Writing through it is
 * misuse: it faults, and never changes the store. A view costs the same at
 * every size; a value that is empty, that is small and was among the last
 * 16 KiB written to a memory store, or that would make views keep more than
 * 64 MiB of segments in this process comes as a copy. A view keeps its whole
 * segment, in a file store also its disk space: free it soon. */
KEVY_API int32_t kevy_get_shared(KevyDb *db, const uint8_t *key, size_t key_len, KevyBuf *out);

/* Sets `key` to `val`, whatever it held, and its time to live: ttl_ms
 * milliseconds from now, 0 none. val may be NULL when val_len is 0.
 * Returns 0, -1, -2. */
KEVY_API int32_t kevy_set(KevyDb *db, const uint8_t *key, size_t key_len, const uint8_t *val,
                          size_t val_len, uint64_t ttl_ms);

/* Sets `count` keys without a time to live, all or none: one crossing, one
 * append to the log, one flush. Returns 0, -1, -2. */
KEVY_API int32_t kevy_set_many(KevyDb *db, size_t count, const uint8_t *const *keys,
                               const size_t *key_lens, const uint8_t *const *vals,
                               const size_t *val_lens);

/* Frees a buffer of the library. NULL is fine. Any thread, also after the
 * store is closed. Misuse: freeing one twice. Of a small copy that nobody was
 * given since, that is noticed and does nothing. */
KEVY_API void kevy_buf_free(uint8_t *ptr, size_t len, size_t cap);
KEVY_API void kevy_buf_free_shared(uint8_t *ptr, size_t len, size_t cap);

/* ---- Publish and subscribe ---- */

/* Gives `payload` to every subscriber of `chan` and of matching patterns.
 * Returns how many deliveries were made, -1 on misuse, -2 without memory. */
KEVY_API int64_t kevy_publish(KevyDb *db, const uint8_t *chan, size_t chan_len,
                              const uint8_t *payload, size_t payload_len);

/* Subscribes to a channel, or to a glob pattern. The acknowledging frame is
 * queued on return. Yours; free with kevy_sub_close. NULL on failure. */
KEVY_API KevySub *kevy_subscribe(KevyDb *db, const uint8_t *chan, size_t chan_len);
KEVY_API KevySub *kevy_psubscribe(KevyDb *db, const uint8_t *pat, size_t pat_len);

/* Takes the next frame, a RESP array as a Redis server pushes it. 1 a frame
 * in *out, 0 nothing queued, negative misuse or closed. */
KEVY_API int32_t kevy_sub_next(KevySub *sub, KevyBuf *out);

/* Takes the next message's payload, skipping acknowledgements. 1, 0,
 * negative, as kevy_sub_next. */
KEVY_API int32_t kevy_sub_next_raw(KevySub *sub, KevyBuf *out);

/* As kevy_sub_next, parked in the kernel until a frame comes, timeout_ms
 * milliseconds have passed (0: no limit), or the store or subscription is
 * closed. 1 a frame, 0 time-out, negative misuse or closed. */
KEVY_API int32_t kevy_sub_wait(KevySub *sub, uint64_t timeout_ms, KevyBuf *out);

/* As kevy_sub_next_raw, parked likewise. 0 also when an acknowledgement was
 * consumed: wait again. */
KEVY_API int32_t kevy_sub_wait_raw(KevySub *sub, uint64_t timeout_ms, KevyBuf *out);

/* Unsubscribes from everything, wakes the waiters and frees. NULL is fine. */
KEVY_API void kevy_sub_close(KevySub *sub);

/* ---- Beyond ABI 1 ---- */

/* Why something failed. value, name, text; the only list of them. */
#define KEVY_STATUS_LIST(X)                                                                        \
    X(0, OK, "ok")                                                                                 \
    X(-1, EMISUSE, "the call was misused")                                                         \
    X(-2, EIO, "input or output failed")                                                           \
    X(-3, ENOMEM, "out of memory")                                                                 \
    X(-4, ENOSPC, "no space left on the device")                                                   \
    X(-5, EINUSE, "the directory is in use by another process")                                    \
    X(-6, ECORRUPT, "a file is damaged")                                                           \
    X(-7, EVERSION, "a file was written by a version that this one cannot read")                   \
    X(-8, ELIMIT, "a limit was passed")                                                            \
    X(-9, ECLOSED, "the handle is closed")                                                         \
    X(-10, ETYPE, "the key holds a value of another type")                                         \
    X(-11, EPATH, "the path cannot be used as a store directory")                                  \
    X(-12, EACCESS, "permission denied")                                                           \
    X(-13, EMEMORY, "the store holds as much as its maxmemory allows")                             \
    X(-14, EFILES, "too many open files: close some, or raise the limit (ulimit -n)")

typedef enum kevy_status {
#define KEVY_STATUS_ENUM(value, name, text) KEVY_##name = (value),
    KEVY_STATUS_LIST(KEVY_STATUS_ENUM)
#undef KEVY_STATUS_ENUM
} kevy_status;

/* Returns the text of a status; static. Any thread. */
KEVY_API const char *kevy_status_text(int32_t status);

/* Why the last call on this thread that could not do it could not: the status
 * behind its -2, behind the NULL of kevy_open and kevy_subscribe, behind the error
 * reply of kevy_cmd where the store refused (memory, disk, limits, shut down). Ask
 * directly after such a call: calls that succeed, and misuse, leave it as it was;
 * KEVY_OK before the first. KEVY_ENOSPC, KEVY_ENOMEM and KEVY_EFILES heal by
 * themselves, as soon as there is room, memory or a file descriptor again. Any
 * thread: each has its own. */
KEVY_API int32_t kevy_last_status(void);

/* A reason, owned by the caller. */
typedef struct KevyError {
    int32_t status;    /* kevy_status */
    int32_t sys_errno; /* errno of the system call that failed, 0 none */
    uint64_t offset;   /* where in the file, when status is KEVY_ECORRUPT */
    char text[256];    /* what failed and what to do, UTF-8, NUL-terminated */
    char path[512];    /* the file it is about, cut if longer, or "" */
} KevyError;

/* As kevy_open_with, but says why it failed: returns a kevy_status, the same
 * as error->status; *out is the handle or NULL. error may be NULL. */
KEVY_API int32_t kevy_open_ex(const uint8_t *dir, size_t dir_len, const KevyOpenOptions *options,
                              KevyDb **out, KevyError *error);

/* Copies the value of `key` into the caller's buffer. 1 hit and copied;
 * 2 hit, but the value is larger than cap: nothing copied; 0 miss; -1; -2.
 * *len_out is the size of the value on 1 and 2, else 0. */
KEVY_API int32_t kevy_get_into(KevyDb *db, const uint8_t *key, size_t key_len, uint8_t *buf,
                               size_t cap, size_t *len_out);

/* Copies the values of `count` keys into one buffer, in the order of the keys:
 * for each a u32 little-endian size and the bytes of its value, or
 * KEVY_MISSING and nothing where the key is missing or holds no string. Each
 * key is read by itself: a write that comes between may be seen for one and
 * not for another. Returns how many were found, -1 or -2. One crossing, and
 * about half of what as many calls of kevy_get_into cost in a large store. */
#define KEVY_MISSING UINT32_MAX
KEVY_API int64_t kevy_get_many(KevyDb *db, size_t count, const uint8_t *const *keys,
                               const size_t *key_lens, KevyBuf *out);

/* Runs one command given as packed arguments: for each a u32 little-endian
 * length and its bytes. The pack is validated whole before anything runs:
 * -1 when a length runs past the end, or no argument is there. Otherwise as
 * kevy_cmd. */
KEVY_API int32_t kevy_cmd_packed(KevyDb *db, const uint8_t *packed, size_t packed_len,
                                 KevyBuf *out);

/* What lasts from one command to the next, as for a client of a Redis server: the
 * database that SELECT chose. */
typedef struct KevySession KevySession;

/* Begins a session, in database 0, of a handle; end it before the handle is closed.
 * Yours; free with kevy_session_free. NULL on misuse or without memory. */
KEVY_API KevySession *kevy_session_new(KevyDb *db);

/* As kevy_cmd, within the session. One call at a time for each session. */
KEVY_API int32_t kevy_session_cmd(KevySession *session, size_t argc, const uint8_t *const *argv,
                                  const size_t *argv_len, KevyBuf *out);

/* Ends it. NULL is fine. */
KEVY_API void kevy_session_free(KevySession *session);

/* Returns 0 when everything written before the call is durable, or -2. */
KEVY_API int32_t kevy_sync(KevyDb *db);

/* Gives back what superseded and deleted records take, in memory or on the
 * disk, as far as it is worth the work. The store does that by itself when it
 * is over its bounds (twice the live bytes and a little); this is for the moment
 * when a host knows better. Other calls go on meanwhile. 0, -1, -2. */
KEVY_API int32_t kevy_compact(KevyDb *db);

/* Removes the store in `dir`: all files that are its, and none else; the folder
 * and its empty lock file stay. Returns a kevy_status, the same as
 * error->status: 0, and error->text says what else is left in the folder, with
 * error->path one of those files; KEVY_EINUSE while any process, this one
 * included, has it open; KEVY_EPATH where there is no store. error may be NULL.
 * If it fails in between, call it again: until then the store cannot be opened. */
KEVY_API int32_t kevy_destroy(const uint8_t *dir, size_t dir_len, KevyError *error);

/* What gives way when a store has reached its maxmemory; Redis's policies. */
#define KEVY_EVICT_NONE 0        /* nothing: writes that need room fail (default) */
#define KEVY_EVICT_ALLKEYS_LRU 1 /* keys not used for long */
#define KEVY_EVICT_ALLKEYS_LFU 2 /* keys used rarely */
#define KEVY_EVICT_ALLKEYS_RANDOM 3
#define KEVY_EVICT_VOLATILE_LRU 4 /* the same, among keys with a time to live */
#define KEVY_EVICT_VOLATILE_LFU 5
#define KEVY_EVICT_VOLATILE_RANDOM 6
#define KEVY_EVICT_VOLATILE_TTL 7 /* the key that expires next */

/* Bounds what the store holds to `bytes` of KevyStats.memory_used, 0 no bound,
 * for all its handles and until it is closed. A write that needs room, and
 * finds the store above its bound, first makes keys give way, a bounded number
 * of them: they are deleted, in the log too. If none can, it fails with nothing
 * changed: -2, or the error reply that Redis gives. "Least used" is Redis's
 * approximation: the best of a few chosen by chance, by a byte for each key
 * that only these policies have. Evicts what is too much before it returns.
 * 0, -1 no such policy, -2 no memory for the bytes. */
KEVY_API int32_t kevy_set_maxmemory(KevyDb *db, uint64_t bytes, int32_t policy);

/* What happened to a key, or to a whole database. */
#define KEVY_CHANGE_SET 1    /* its value or its time to live was set */
#define KEVY_CHANGE_DEL 2    /* it was deleted, or renamed away */
#define KEVY_CHANGE_EXPIRE 3 /* its time to live has passed, or was set to a past time */
#define KEVY_CHANGE_CLEAR 4  /* the database was emptied, or swapped with another; no key */
#define KEVY_CHANGE_EVICT 5  /* it was deleted for the sake of maxmemory */
#define KEVY_CHANGE_LOST 6   /* so many changes are missing here: read anew what matters; no key */

/* One change, borrowed until the listener returns. */
typedef struct KevyChange {
    int32_t cause;      /* KEVY_CHANGE_… */
    int32_t is_other;   /* not 0: made through another handle, or by none (expired, evicted) */
    uint32_t database;  /* 0 unless a command named another */
    const uint8_t *key; /* NULL where there is none */
    size_t key_len;
    uint64_t lost; /* of KEVY_CHANGE_LOST: how many changes */
} KevyChange;

typedef void kevy_listen_fn(void *user, const KevyChange *change);

/* Calls `callback` for every change of the store that is made from now on,
 * through whichever handle: once for each key that changes, in the order of the
 * changes, after the change can be read. A key that expires is told once, and
 * at its time, not when it is looked at: within milliseconds, also where
 * 100,000 keys expire in a second. Returns a number > 0 that kevy_unlisten
 * takes, -1, or -2 without memory.
 *
 * The callback is run by one thread at a time: by a thread that is returning
 * from a write, which may also bring what others wrote meanwhile, or by one of
 * the library's, which sleeps until the next key expires; it starts with the
 * first listener and ends with the store. No lock is held: any function may be
 * called from inside. What a callback writes is told after it has returned.
 * Closing a handle from inside closes it for further calls at once, and ends it
 * when the call that brought the change returns. A slow callback delays no
 * writer but the one that runs it; when 16 MiB of changes wait, further ones
 * are counted and told as one KEVY_CHANGE_LOST. While nobody listens a write
 * pays one load. */
KEVY_API int64_t kevy_listen(KevyDb *db, kevy_listen_fn *callback, void *user);

/* Ends a listener of this handle: its callback is not running when this returns,
 * unless this is called from inside one, and is not called again. A number that
 * is none, or ended, is fine. Closing the handle ends its listeners likewise.
 * 0 or -1. */
KEVY_API int32_t kevy_unlisten(KevyDb *db, int64_t listener);

/* What a store is and does, in counts since it was opened and bytes of now.
 * New fields are only ever added at the end. Memory is counted as it was asked
 * for; buffers that were handed out (KevyBuf) are not. */
typedef struct KevyStats {
    uint64_t size; /* bytes of this structure; set by the caller */

    /* Keys of all databases, those included that expired and were not yet reclaimed. */
    uint64_t keys;
    uint64_t expiring_keys; /* with a time to live */
    uint64_t changes;       /* keys set or deleted, databases emptied or swapped */
    uint64_t expired_keys;  /* reclaimed after their time to live had passed */
    uint64_t evicted_keys;  /* deleted for the sake of maxmemory */

    /* memory_used is the sum of the four behind it. Records are the newest of
     * their keys, wherever they lie: those of a store in a directory are mapped
     * from its files, and the system may drop them from memory. */
    uint64_t memory_used;
    uint64_t memory_records;
    uint64_t memory_table; /* the hash tables */
    uint64_t memory_bus;   /* channels, subscriptions, queued messages */
    uint64_t memory_other;
    uint64_t memory_dead; /* records that were superseded and not yet collected */
    uint64_t memory_max;  /* of kevy_set_maxmemory, 0 none */

    /* The log of a store in a directory; zero for one in memory. */
    uint64_t log_files; /* segments and extents */
    uint64_t log_size;  /* bytes of them, dead ones included */
    uint64_t log_flushes;
    uint64_t log_lsn_end;     /* records appended in the life of the store */
    uint64_t log_lsn_durable; /* of these, how many are durable */
    int64_t log_error;        /* kevy_status: why writes fail, 0 they do not */

    /* Publish and subscribe. */
    uint64_t bus_deliveries; /* messages queued, once for each receiver */
    uint64_t bus_dropped;    /* deliveries that full queues dropped or refused */
    uint64_t bus_wakes;      /* sleeping threads that were woken */

    /* Listeners. */
    uint64_t changes_told; /* queued for listeners, once for all of them */
    uint64_t changes_lost; /* for which the queue had no room */
} KevyStats;

/* Fills *stats. Before the call stats->size is sizeof(KevyStats); a library
 * that knows fewer fields zeroes the rest, one that knows more fills in only
 * that many bytes. 0; or -1, also when the size is none. */
KEVY_API int32_t kevy_stats(KevyDb *db, KevyStats *stats);

/* Waits as kevy_sub_wait_raw, then drains the queue into one buffer: for each
 * message a u32 little-endian length and the payload; with
 * KEVY_BATCH_CHANNELS first length and bytes of the channel. A batch ends
 * before bytes_max (0: 1 MiB) is passed, but holds at least one message.
 * Acknowledgements are skipped. *count_out is the number of messages,
 * *dropped_out (may be NULL) how many the queue had to drop since the last
 * batch, before the first of these. 1 a batch, 0 time-out, negative misuse
 * or closed.
 *
 * With KEVY_BATCH_PATTERNS, which asks for the channels too, each message begins
 * with length and bytes of the pattern by which it came: KEVY_MISSING and no
 * bytes where it came by the name of its channel. With KEVY_BATCH_ACKS an
 * acknowledgement comes in its place among the messages, as a batch of none:
 * *count_out is 0 and *out is {NULL, 0, 0}. */
#define KEVY_BATCH_CHANNELS 1u
#define KEVY_BATCH_NOWAIT 2u /* do not park: 0 when nothing is queued */
#define KEVY_BATCH_PATTERNS (4u | KEVY_BATCH_CHANNELS)
#define KEVY_BATCH_ACKS 8u
KEVY_API int32_t kevy_sub_wait_batch(KevySub *sub, uint64_t timeout_ms, uint32_t flags,
                                     size_t bytes_max, KevyBuf *out, uint32_t *count_out,
                                     uint64_t *dropped_out);

/* Adds a channel, or with is_pattern != 0 a pattern, to a subscription, or
 * removes one; the acknowledging frame is queued on return. 0, -1, -2. */
KEVY_API int32_t kevy_sub_add(KevySub *sub, const uint8_t *name, size_t name_len,
                              int32_t is_pattern);
KEVY_API int32_t kevy_sub_remove(KevySub *sub, const uint8_t *name, size_t name_len,
                                 int32_t is_pattern);

/* What a full queue does with the next message. With KEVY_SUB_BLOCK a thread
 * that is the only one to drain the queue must not publish to it: it would wait
 * for itself until the subscription or the store is closed. Under every policy
 * a message that alone is larger than bytes_max is dropped and counted. */
#define KEVY_SUB_DROP_OLDEST 0 /* drops the oldest and counts it (default) */
#define KEVY_SUB_BLOCK 1       /* the publisher waits for room */
#define KEVY_SUB_FAIL 2        /* drops the new message and counts it */

/* Bounds the queue: at most count_max messages and bytes_max bytes of channel
 * and payload (0 keeps a bound as it is; at the start 65,536 and 64 MiB).
 * 0 or -1. */
KEVY_API int32_t kevy_sub_limit(KevySub *sub, uint32_t count_max, size_t bytes_max, int32_t policy);

/* Returns how many messages the queue has dropped in all. */
KEVY_API uint64_t kevy_sub_dropped(KevySub *sub);

/* Wakes the threads that wait on `sub` now, or the next one that comes to
 * wait: their call returns 0. 0 or -1. */
KEVY_API int32_t kevy_sub_wake(KevySub *sub);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
