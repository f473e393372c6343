/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of log/ share: the log itself and its segments.
 *
 * A segment is 64 bytes of header and records behind it, in one address slot;
 * an extent is a header and one large key with its value (or one large batch
 * of records), in k adjacent slots. Both are a struct kv_segment, found by any
 * of their slots.
 *
 *   segments[slot] -> kv_segment: base | header | record record … seal |
 *                                      0        64                   used
 *
 * `live` counts the bytes of records that are the newest of their key; a
 * sealed segment without any is dead. An extent lives as long as a record
 * that names it is the newest.
 *
 * Reading order: log_open.c (both kinds), log_memory.c, log_sweep.c (in memory),
 * then for files: log_append.c, log_short.c, log_window.c, log_ahead.c,
 * log_file.c, log_extent.c (writing),
 * log_flush.c, log_mark.c, log_remove.c, log_thread.c (durability), log_start.c,
 * log_adopt.c, log_tail.c, log_replay.c, log_damage.c, log_recover.c (opening),
 * log_collect.c. Declared in headers of their own: log_ahead.h, log_flush.h.
 *
 * Threads: all of it under the writer lock, but for what is grouped under
 * another lock below.
 */
#ifndef KEVY_SRC_LOG_LOG_INSIDE_H
#define KEVY_SRC_LOG_LOG_INSIDE_H

#include "kevy/src/log/log.h"
#include "kevy/src/log/log_ahead.h"
#include "kevy/src/log/log_flush.h"
#include "kevy/src/mem/grave.h"
#include "kevy/src/store/mark.h"
#include "kevy/src/store/segment.h"
#include "kevy/src/store/view.h"

/* The largest record and batch that go into a segment; anything larger gets an
 * extent: a sixteenth of a segment. */
#define KV_EXTENT_SHARE 16u

/* A batch id with this bit is of records that collection moved: each of them
 * stands for itself. */
#define KV_BATCH_MOVED 0x80000000u

/* Bytes of a batch at most. */
#define KV_BATCH_SIZE_MAX ((size_t)512 << 20)

/* Segments by which a store that is written to may be over twice its live
 * bytes before collection starts, and before writers wait for it. */
#define KV_COLLECT_SEGMENTS 24u
#define KV_WAIT_SEGMENTS 64u

/* A flush starts when so many bytes are not durable, or the oldest of them are
 * this old; writers wait for it only when they are older than that. */
#define KV_PENDING_MAX ((uint64_t)16 << 20)
#define KV_FLUSH_AFTER_NS UINT64_C(500000000)
#define KV_WAIT_AFTER_NS UINT64_C(1000000000)

/* What tells that nobody has written to a file: its size, and the numbers of
 * kevy/os.h's file_stamp. All ones: nothing tells it. */
struct kv_stamp {
    uint64_t size;
    uint64_t at[3];
};

struct kv_segment {
    uint8_t *base; /* read-only memory in file logs */
    size_t map_size;
    size_t used; /* bytes from the header on, seal included */
    size_t live;
    uint32_t slot;
    uint32_t slot_count;
    enum kv_segment_kind kind;
    bool is_sealed;
    struct kv_view *view; /* NULL: no value in it was ever asked for as a view */
    uint8_t *dead_bits;   /* memory only, see kv_memory_kill */

    /* Files only. */
    bool is_dirty;      /* on the list of what the next flush must cover */
    bool is_in_flush;   /* on a list of the flush under way */
    bool is_cut_due;    /* that flush ends its window */
    bool is_skipped;    /* that flush leaves it out; it goes with the mark that ends it */
    bool is_flushed;    /* header and directory entry are durable */
    bool is_leaving;    /* its bit is being cleared, its file unlinked */
    bool is_held;       /* an extent that goes with it must stay; of the last choice of what goes */
    bool is_stuck;      /* collection could not empty it */
    bool is_damaged;    /* some of its bytes were put aside; it is to be emptied */
    int file;           /* -1: closed, all of it is durable */
    uint8_t *window;    /* of the active segment, see log_window.c; NULL: none */
    size_t backed_size; /* bytes of it that have room on the disk ahead of their time */
    size_t touched_size; /* bytes of it whose pages are ready */
    uint32_t number;     /* in its incarnation */
    uint32_t name_count; /* of an extent: newest records that name it */
    uint64_t incarnation;
    uint64_t key; /* what its records' checks mix in */
    uint64_t first_lsn;
    uint64_t last_lsn;      /* of the last record, first_lsn - 1: none */
    uint64_t death_lsn;     /* what superseded its records lies at or below this */
    uint64_t tombstone_lsn; /* the highest first LSN of a tombstone in it, 0: none */
    size_t tombstone_size;  /* bytes of its tombstones */
    size_t resume_offset;   /* behind damage reading goes on here with this LSN, if not at a */
    uint64_t resume_lsn;    /* stamp before: where a mark lay; marks tell it; 0 otherwise */
    uint32_t named_by;      /* of a batch's extent with live records: the record that names it */
    struct kv_segment *named_in; /* of a batch's extent: where that record lies */
    struct kv_segment *dirty_next;
    struct kv_segment *flush_next;
    struct kv_stamp stamp; /* at the open that found the file, where an index asks for it */
    struct kv_grave grave; /* once it is dead and readers may still see it */
};

/* A place in the log up to which something holds, with the namespace map as
 * of there. */
struct kv_point {
    uint64_t lsn;
    uint32_t slot; /* KV_MARK_NO_SLOT: no segment yet */
    size_t offset;
    uint64_t map_lsn;
    struct kv_namespaces map;
};

/* Where collection of a file log stands, beside log->victim. */
struct kv_collect {
    uint64_t lsn;          /* of the record at log->victim_offset */
    uint64_t oldest_other; /* the lowest first LSN outside the victim when it was chosen */
    uint64_t run_lsn;      /* the end of the log when the run began */
    uint64_t awaited_lsn;  /* first LSN of a dead segment that a mark must let go first; 0: none */
};

/* What a file log has beyond a memory log. */
struct kv_files {
    int dir;
    int lock_file;
    int mark_file;
    struct kv_identity identity;
    struct kv_check check;
    uint64_t incarnation;
    uint64_t incarnation_lsn;
    uint64_t log_end; /* the last LSN of the incarnation before */
    const struct kv_log_image *image;
    void *image_user;
    _Atomic bool has_old_index; /* an index file lies in the folder that is of no use any more */

    /* Writing, under the writer lock. */
    uint8_t *scratch;
    size_t scratch_size;
    uint32_t segment_number; /* of the next segment or extent */
    uint32_t batch_id;       /* of the newest batch */
    size_t stamp_at;         /* the active segment's next stamp is due from here on */
    uint64_t map_lsn;
    struct kv_namespaces map;
    struct kv_segment *dirty; /* list of segments that have bytes to flush */
    bool is_dir_dirty;
    bool is_end_dirty;             /* a failed write may have left something behind the end */
    _Atomic bool is_reserve_lent;  /* some were given back, for what makes room alone */
    size_t reserve_size;           /* bytes of room that are set aside */
    uint32_t end_slot;             /* where the record after lsn_end would begin if nothing came */
    size_t end_offset;             /* between; KV_MARK_NO_SLOT: no segment yet */
    _Atomic uint64_t pending_size; /* bytes appended since the last flush began */
    _Atomic uint64_t pending_since_ns; /* when the first of them were; 0: none */
    _Atomic bool is_wake_due;          /* the thread must hear of it */
    _Atomic bool is_crowded;           /* writers must wait until something was removed */
    uint8_t taken[KV_SLOT_COUNT / 8];  /* slots that are passed over, see kv_slot_is_taken */
    uint32_t taken_count;
    struct kv_collect collect;
    struct kv_ahead ahead;

    /* Durability, under flush_lock. */
    struct kv_mutex flush_lock;
    struct kv_cond flush_moved; /* a flush ended */
    _Atomic bool is_flushing;   /* read without the lock as a hint */
    uint64_t flush_count;
    struct kv_point durable;
    uint64_t unmarked_since_ns;   /* when the first flush ended that no mark tells; 0: none */
    _Atomic uint64_t durable_lsn; /* of `durable`, to be read without the lock */
    _Atomic uint64_t marked_lsn;  /* of `durable` as the flushed mark tells it */
    _Atomic int error;            /* a status < 0 once a flush has failed */
    _Atomic uint8_t policy;
    bool has_no_window;       /* this file system wants file_write */
    _Atomic bool has_no_skip; /* marks cannot be written now: a flush covers every file */

    /* The thread, under thread_lock. */
    struct kv_mutex thread_lock;
    struct kv_cond thread_wake;
    struct kv_cond pass_end;
    uint64_t pass_count; /* of looks for what is due */
    bool is_woken;
    bool is_stopping;
    bool has_thread;
    bool is_threadless; /* never has one */
    struct kv_thread thread;

    /* The mark, under mark_lock, which is held while it is written. */
    struct kv_mutex mark_lock;
    uint64_t mark_sequence; /* of the flushed mark */
    uint64_t remove_looks;  /* at segments, to find out which may go; counted for tests */
};

struct kv_log {
    struct kv_journal journal;
    struct kv_mem *mem;
    const kevy_os *os;
    struct kv_mutex *writer;  /* NULL in memory logs, which never take it */
    struct kv_graveyard yard; /* dead segments, until their readers have left */
    struct kv_space space;
    uint64_t seed;
    unsigned forks;      /* kv_fork_count at open */
    size_t segment_size; /* at most; a power of two */

    struct kv_segment **segments; /* by slot, capacity as the space's; NULL: free */
    uint32_t segment_capacity;
    uint32_t slot_hint; /* no slot below it is free */
    struct kv_segment *active;
    uint64_t lsn_end;

    uint64_t live_size; /* sums over all segments */
    uint64_t used_size;
    uint64_t segment_count;

    struct kv_segment *victim; /* memory logs: what is being collected, and how far */
    size_t victim_offset;
    size_t sweep_saved; /* work that was earned and not done */
    void *spare;        /* memory logs: one mapping of a segment that may be used again */
    const uint8_t *_Atomic open_base; /* memory logs: of the active segment, and how much of it */
    _Atomic size_t open_used;         /* is in use, to be read without the lock */
    kv_log_move_fn *move;
    void *move_user;
    struct kv_files *files; /* NULL: a memory log */
};

/* ---- Segments and slots (log_segment.c) ---- */

/* Finds `count` adjacent free slots and makes room in the arrays for them.
 * *out is the first. 0, KEVY_ENOMEM, KEVY_ELIMIT. */
int kv_segment_slots(struct kv_log *log, uint32_t count, uint32_t *out);

/* Makes room in the arrays for slots below `count`. 0 or KEVY_ENOMEM. */
int kv_segment_reserve(struct kv_log *log, uint32_t count);

/* Says whether a file has the slot's name that is none of the log's: one that
 * could not be unlinked. The slot is passed over until it is gone. */
static inline bool kv_slot_is_taken(const struct kv_files *files, uint32_t slot)
{
    return (files->taken[slot / 8] >> (slot % 8) & 1) != 0;
}

/* Notes that it is. */
void kv_slot_take(struct kv_log *log, uint32_t slot);

/* Enters a segment whose slots were found and whose fields are set. */
void kv_segment_enter(struct kv_log *log, struct kv_segment *segment);

/* Takes it out again; its slots are free and its memory is the caller's. */
void kv_segment_leave(struct kv_log *log, struct kv_segment *segment);

static inline struct kv_stamp kv_stamp_none(void)
{
    return (struct kv_stamp){UINT64_MAX, {UINT64_MAX, UINT64_MAX, UINT64_MAX}};
}

static inline struct kv_segment *kv_segment_of_grave(struct kv_grave *grave)
{
    return (struct kv_segment *)(void *)((char *)grave - offsetof(struct kv_segment, grave));
}

static inline struct kv_segment *kv_segment_of(const struct kv_log *log, uint32_t ref)
{
    ASSERT(kv_ref_slot(ref) < log->segment_capacity);
    return log->segments[kv_ref_slot(ref)];
}

/* How far ahead of the end of the log its cache lines are asked for. */
#define KV_FETCH_AHEAD ((size_t)512)
#define KV_FETCH_LINE ((size_t)64)

/* A log goes through lines that nobody has touched for long. Asks for as many of
 * those to come as a small record takes; large copies look ahead by themselves. */
static inline void kv_log_fetch_ahead(const uint8_t *end, size_t size)
{
    for (size_t i = 0; size <= KV_FETCH_AHEAD && i < size; i += KV_FETCH_LINE) {
        kv_cpu_fetch(end + KV_FETCH_AHEAD + i);
    }
}

/* Adds to, or takes from, the live bytes of a segment. */
void kv_segment_revive(struct kv_log *log, struct kv_segment *segment, size_t size);
void kv_segment_kill(struct kv_log *log, struct kv_segment *segment, size_t size);

/* Notes that `size` more bytes of the segment hold something. */
void kv_segment_grow(struct kv_log *log, struct kv_segment *segment, size_t size);

/* Notes that the last `size` bytes of the segment hold nothing. */
void kv_segment_shrink(struct kv_log *log, struct kv_segment *segment, size_t size);

/* Visits each segment and extent once; the visitor may make it leave. */
struct kv_segment *kv_segment_after(const struct kv_log *log, uint32_t *slot);

/* Ends the segment's mapping, or leaves it to those who hold views of it. */
void kv_segment_unmap(struct kv_log *log, struct kv_segment *segment);

/* ---- Both kinds (log_open.c) ---- */

int kv_log_new(struct kv_log **out, struct kv_mem *mem, const kevy_os *os, size_t segment_size);
void kv_log_free(struct kv_log *log);

/* ---- Memory (log_memory.c, log_sweep.c) ---- */

/* In memory logs: a byte that is zero in every record of a file, and not zero
 * in one that was retired. In memory that is read-only there is a bit beside
 * the segment instead, one for each granule. */
#define KV_RECORD_DEAD_AT 14

static inline size_t kv_dead_bits_size(const struct kv_segment *segment)
{
    return segment->map_size / KV_GRANULE / 8 + 1;
}

static inline bool kv_memory_is_dead(const struct kv_segment *segment, size_t offset)
{
    size_t granule = offset / KV_GRANULE;
    return segment->base[offset + KV_RECORD_DEAD_AT] != 0 ||
           (segment->dead_bits != NULL &&
            (segment->dead_bits[granule / 8] >> (granule % 8) & 1) != 0);
}

/* Takes room for a record, which counts as live. NULL without memory. */
uint8_t *kv_memory_take(struct kv_log *log, size_t size, uint32_t *ref);

/* The record is dead; an extent that it names is not touched. */
void kv_memory_kill(struct kv_log *log, uint32_t ref);

/* Collects a bounded part of whatever is worth it: 1 there is more, 0, or
 * KEVY_ENOMEM. */
int kv_memory_compact(struct kv_log *log);

/* Collects a little, after `appended` bytes were. */
void kv_memory_sweep(struct kv_log *log, size_t appended);

/* ---- Files of segments (log_file.c) ---- */

enum { KV_FILE_NAME_SIZE = 16 };

/* Writes the name of a slot's file. */
void kv_file_name(uint32_t slot, char out[KV_FILE_NAME_SIZE]);

/* Returns the kevy_status for a negative errno of the system. */
int kv_file_status(int64_t result);

/* As kv_file_write, through the segment's window where there can be one. */
int kv_window_write(struct kv_log *log, struct kv_segment *segment, const void *data, size_t size,
                    size_t offset);

/* Opens the window of a segment that is empty, with room and pages for all of
 * it. Any thread, while nobody else has the segment. 0 or a status. */
int kv_window_make(const struct kv_log *log, struct kv_segment *segment);

/* Closes the window and cuts the file to what the segment holds. 0 or a
 * status; then the file is longer, and ends in zeros. */
int kv_window_end(struct kv_log *log, struct kv_segment *segment);
void kv_window_close(struct kv_log *log, struct kv_segment *segment);

/* Writes all of it, piece by piece if the system takes less. 0 or a status;
 * then any part of it may have been written. */
int kv_file_write(const struct kv_log *log, int file, const void *data, size_t size,
                  uint64_t offset);

static inline uint32_t kv_slots_of(size_t size)
{
    return (uint32_t)((size + KV_SLOT_SIZE - 1) / KV_SLOT_SIZE);
}

/* Some other file has the name that a new one was to have. */
#define KV_NAME_TAKEN 1

/* Makes the file of a segment or extent for `size` bytes at most and maps it;
 * the slots are the caller's. Any thread. 0, KV_NAME_TAKEN, or a status < 0:
 * nothing changed. */
int kv_file_blank(struct kv_log *log, enum kv_segment_kind kind, uint32_t slot, size_t size,
                  struct kv_segment **out);

/* Makes it the next segment of the log, and enters it: header not yet written. */
void kv_file_begin(struct kv_log *log, struct kv_segment *segment);

/* Both, in slots that are free. 0 or a status, nothing changed. */
int kv_file_create(struct kv_log *log, enum kv_segment_kind kind, size_t size,
                   struct kv_segment **out);

/* Makes the file of a slot, which is there already, a segment that is mapped
 * but not entered: kind, number … are the header's. */
int kv_file_adopt(struct kv_log *log, const struct kv_segment_header *header, int file, size_t size,
                  struct kv_segment **out);

/* Closes, unmaps and frees a segment that is not entered. */
void kv_file_free(struct kv_log *log, struct kv_segment *segment);

/* Writes header bytes of the segment to `out`. */
void kv_file_header(const struct kv_log *log, const struct kv_segment *segment,
                    uint8_t out[KV_SEGMENT_HEADER]);

/* Where the segment's records lie, for checks. */
struct kv_place kv_file_place(const struct kv_log *log, const struct kv_segment *segment);

/* Notes that the segment has bytes to flush. */
void kv_file_dirty(struct kv_log *log, struct kv_segment *segment);

/* Takes that back: nothing of the segment counts. */
void kv_file_clean(struct kv_log *log, struct kv_segment *segment);

/* Makes the scratch memory at least this large. 0 or KEVY_ENOMEM. */
int kv_scratch_reserve(struct kv_log *log, size_t size);

/* ---- What is live (log_live.c) ---- */

/* The record at `ref` is the newest of its key. */
void kv_revive(struct kv_log *log, uint32_t ref);

/* It no longer is; the journal's function. */
void kv_retire(void *self, uint32_t ref);

/* Notes that a tombstone lies in the segment. */
void kv_tombstone_note(struct kv_segment *segment, const uint8_t *record, uint64_t lsn);

/* All records of a batch's extent have been counted in; from now on the record
 * at `entry`, which names it, is live as long as one of them is. */
void kv_batch_begin(struct kv_log *log, struct kv_segment *extent, uint32_t entry);

/* ---- Writing (log_append.c, log_extent.c) ---- */

/* The journal's function of a file log, and the same for moved records. */
int kv_append(void *self, struct kv_draft *drafts, size_t count);
int kv_append_moved(struct kv_log *log, struct kv_draft *drafts, size_t count);

/* Appends one small value where nothing stands in the way (log_short.c). 0, a
 * status, or KV_APPEND_NOT_SHORT with nothing done. */
#define KV_APPEND_NOT_SHORT 1
int kv_append_short(struct kv_log *log, struct kv_draft *draft);

/* Notes that so many bytes were appended that no flush has covered. */
void kv_pending_note(struct kv_log *log, size_t size);

/* Writes key and value of a draft, or a whole batch of records, to an extent
 * of its own. Its record is to have the LSN `lsn`. 0 or a status. */
int kv_extent_write(struct kv_log *log, const struct kv_draft *draft, uint64_t lsn,
                    struct kv_segment **out, struct kv_extent_ref *place);
int kv_extent_write_batch(struct kv_log *log, struct kv_draft *drafts, size_t count, size_t size,
                          uint64_t lsn, struct kv_segment **out, struct kv_extent_ref *place);

/* Gives up an extent that no record came to name. */
void kv_extent_forget(struct kv_log *log, struct kv_segment *extent);

/* Makes a fresh segment the active one. 0 or a status. */
int kv_active_renew(struct kv_log *log);

/* ---- The reserve (log_reserve.c) ---- */

/* Notes the room that an earlier life of the store set aside. */
void kv_reserve_find(struct kv_log *log);

/* Says whether some of it was given back and is not there again. */
static inline bool kv_reserve_is_lent(const struct kv_log *log)
{
    return atomic_load_explicit(&log->files->is_reserve_lent, memory_order_relaxed);
}

/* Sets room aside if there is too little. */
void kv_reserve_make(struct kv_log *log);

/* Gives it back to the disk, all but its last part, or that too; true: there is
 * more room now. */
bool kv_reserve_use(struct kv_log *log, bool is_last);

/* A segment that was closed empty of what counts goes when the mark lies behind
 * it. Where the disk is full nothing else may be written that takes it there: so
 * a map is, the same again. */
void kv_reserve_step_on(struct kv_log *log);

/* Returns the extent that a record with this LSN names, entered, or NULL. */
struct kv_segment *kv_adopt_extent(const struct kv_log *log, const uint8_t *record, uint64_t lsn);

/* The cursor stands at damage: goes on behind it, at the next stamp or at the
 * place that the segment knows (log_damage.c). False: there is none. */
bool kv_damage_resume(const struct kv_segment *segment, struct kv_cursor *cursor);

/* ---- Collection (log_collect.c) ---- */

/* Says whether a store that is being written to must be collected. Under the
 * writer lock. */
bool kv_collect_is_due(const struct kv_log *log);

/* Says whether it must be before anyone writes on. Likewise. */
bool kv_collect_is_overdue(const struct kv_log *log);

/* Says whether a store that nobody writes to should be. Likewise. */
bool kv_collect_is_wanted(const struct kv_log *log);

/* Moves records until the store is within its bound; `is_settled`: the one of a
 * store that nobody writes to. Not under the writer lock. 0 or a status. */
int kv_collect_run(struct kv_log *log, bool is_settled);

#endif
