/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files share that open a file log: the open under way. They come one
 * after the other: log_start.c, log_adopt.c, log_tail.c, log_replay.c,
 * log_damage.c, log_recover.c.
 *
 * Threads: one; nobody else knows the log yet.
 */
#ifndef KEVY_SRC_LOG_LOG_OPENING_H
#define KEVY_SRC_LOG_LOG_OPENING_H

#include "kevy/src/log/log_inside.h"

/* A growing array of segments. */
struct kv_segments {
    struct kv_segment **at;
    size_t count;
    size_t capacity;
};

/* A range of bytes of a slot's file that is put aside. */
struct kv_damage {
    uint32_t slot;
    size_t from;
    size_t to;
};

struct kv_damages {
    struct kv_damage *at;
    size_t count;
    size_t capacity;
};

struct kv_opening;

/* How an open that only looks at the files differs from one that goes on to
 * write (log_check.c, log_salvage.c): it ends when everything is replayed. */
struct kv_look {
    /* Makes the lock file, which is missing: the one thing that a look makes. A
     * status; *out is its number, negative where none is needed. */
    int (*lock_make)(struct kv_opening *opening, int *out);

    /* Finds mark, segments and end; kv_gather does it as every open does. */
    int (*gather)(struct kv_opening *opening);

    /* The cursor stands at damage: where reading goes on; kv_damage_resume says it
     * as every open does. */
    bool (*resume)(const struct kv_segment *segment, struct kv_cursor *cursor);

    /* A range was put aside. */
    void (*damaged)(struct kv_opening *opening, uint32_t slot, size_t from, size_t to);

    /* Whether what lies in an extent that a record names is to be applied. */
    bool (*takes_extent)(struct kv_opening *opening, const struct kv_segment *extent,
                         const uint8_t *record);

    /* Everything is replayed. */
    void (*end)(struct kv_opening *opening);
};

/* An open under way. */
struct kv_opening {
    struct kv_log *log;
    const kevy_os *os;
    struct bytes dir;
    kv_log_apply_fn *apply;
    kv_log_ahead_fn *ahead;
    void *user;
    struct kv_look *look; /* NULL: an open that writes */
    const struct kv_log_image *image;
    void *image_user;
    KevyOpenReport *report;
    KevyError *error;
    size_t segment_size; /* of a store that this open makes */
    bool is_first;       /* it did */
    bool is_mark_whole;
    struct kv_mark mark;
    uint8_t *files;           /* a bit for each slot that has a file */
    bool has_index;           /* there is a file of that name */
    struct kv_segments order; /* log segments that are kept, by first LSN */
    struct kv_segments found; /* segments and extents without a bit that may follow the mark */
    struct kv_segments tail;  /* extents that are kept and were named after the mark */
    struct kv_damages damages;
    size_t tail_first;        /* in `order`: the first segment with bytes after the mark */
    size_t tail_offset;       /* where in it */
    struct kv_namespaces map; /* as of the record that replay is at */
    uint64_t map_lsn;
    uint64_t lsn; /* of the last record that is kept */
};

int kv_segments_add(struct kv_log *log, struct kv_segments *list, struct kv_segment *segment);

/* Fills the error, for a file of the folder (name "" for the folder itself),
 * and returns `status`. `result` is a negative errno or 0. */
int kv_fail(const struct kv_opening *opening, int status, int64_t result, const char *name,
            uint64_t offset, const char *text);

/* The same for a slot's file. */
int kv_fail_slot(const struct kv_opening *opening, int status, int64_t result, uint32_t slot,
                 uint64_t offset, const char *text);

/* Finds the mark, or makes a store; then all segments that the mark names or
 * that may follow it, and the end of the log. */
int kv_gather(struct kv_opening *opening);

/* Opens the folder, making it and its parents. */
int kv_dir_make_open(const struct kv_opening *opening, int *out);

/* Notes which slots have a file. */
int kv_adopt_list(struct kv_opening *opening);
bool kv_adopt_has_file(const struct kv_opening *opening, uint32_t slot);
bool kv_adopt_has_any(const struct kv_opening *opening);

/* Notes what the mark tells of a place in the segment. */
void kv_adopt_place(struct kv_segment *segment, const struct kv_mark *mark);

/* Opens and maps every segment that the mark names, and whatever may follow it. */
int kv_adopt(struct kv_opening *opening);

/* Finds how far the log goes on behind the mark. */
int kv_tail_measure(struct kv_opening *opening);

/* Damage before the mark (log_damage.c): notes a range, copies all of them
 * beside the log, and, when the store is open, empties the damaged segments. */
int kv_damage_note(struct kv_opening *opening, uint32_t slot, size_t from, size_t to);
int kv_damage_save(struct kv_opening *opening);
void kv_damage_heal(struct kv_opening *opening);
void kv_damage_done(struct kv_opening *opening);

/* Hands the map that replay starts from to apply; then, likewise, every kept
 * record: that map included. */
int kv_replay_begin(struct kv_opening *opening);
int kv_replay(struct kv_opening *opening);

/* Makes what is kept durable in its place and writes a mark that tells so;
 * everything else goes. */
int kv_recover(struct kv_opening *opening);

#endif
