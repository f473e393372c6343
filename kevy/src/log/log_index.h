/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The index: a file that a clean close leaves, so that the next open need not
 * read the log. It is no part of the log: without it, or when anything in it
 * or around it is not as it should be, the log is replayed and nothing is lost.
 *
 *   offset  size
 *        0     8  magic "kevyidx1"
 *        8    16  store id
 *       24     8  incarnation of the mark that it goes with
 *       32     8  sequence number of that mark
 *       40     8  check of that mark's slot
 *       48     8  durable LSN, the end of the log
 *       56     4  how many segments and extents there are
 *       60     4  zero
 *       64     8  seal
 *
 *   for each segment and extent, by slot, 96 bytes, all of them one piece:
 *        0     4  slot
 *        4     4  newest records that name it, of an extent
 *        8     8  bytes in use, seal included; of the marked one up to the mark
 *       16     8  of them live
 *       24     8  last LSN
 *       32     8  highest first LSN of a tombstone, 0 none
 *       40     8  bytes of tombstones
 *       48     4  of a batch's extent with live records: the record that names it
 *       52     4  of a batch's extent: the slot where that lies; all ones: none
 *       56     8  size of the file
 *       64    24  stamp of the file (kevy/os.h); all ones: none
 *       88     8  zero
 *
 *   a seal, the keyspace (keyspace/keyspace_image.h), a seal, the end
 *
 * It is believed only if its mark is the very one that the open found, nothing
 * lies behind that mark, and each file is as it was: by its stamp, or else by
 * reading all of it. The mark has the feature bit KV_MARK_INDEX. An open writes
 * a mark without it, of a new incarnation, before anything else can change, so
 * that no later life of the store believes it; the file goes with the first write.
 *
 * Threads: that of the close, or of the open.
 */
#ifndef KEVY_SRC_LOG_LOG_INDEX_H
#define KEVY_SRC_LOG_LOG_INDEX_H

#include "kevy/src/log/log_opening.h"
#include "kevy/src/store/image.h"

#define KV_INDEX_HEADER ((size_t)64)
#define KV_INDEX_ENTRY ((size_t)96)
#define KV_INDEX_NAME "index"

/* A log shorter than this part of a segment is replayed as fast. */
#define KV_INDEX_SHARE 4u

/* What the header says beside magic and store id. */
struct kv_index_name {
    uint64_t incarnation;
    uint64_t sequence;
    uint64_t mark_check;
    uint64_t lsn;
    uint32_t segment_count;
};

struct kv_index_entry {
    uint32_t slot;
    uint32_t name_count;
    uint64_t used;
    uint64_t live;
    uint64_t last_lsn;
    uint64_t tombstone_lsn;
    uint64_t tombstone_size;
    uint32_t named_by;
    uint32_t named_in; /* a slot */
    struct kv_stamp stamp;
};

/* Says whether this machine lays numbers out as the file does. */
bool kv_index_is_possible(void);

void kv_index_header_encode(const struct kv_log *log, const struct kv_index_name *name,
                            uint8_t out[KV_INDEX_HEADER]);
bool kv_index_header_decode(const struct kv_log *log, const uint8_t from[KV_INDEX_HEADER],
                            struct kv_index_name *out);
void kv_index_entry_encode(const struct kv_index_entry *entry, uint8_t out[KV_INDEX_ENTRY]);
void kv_index_entry_decode(const uint8_t from[KV_INDEX_ENTRY], struct kv_index_entry *out);

/* Fills the stamp of an open file; one that tells nothing where there is none. */
void kv_stamp_take(const struct kv_log *log, int file, struct kv_stamp *out);

/* Takes the index's word for everything that replay would find out. True: done;
 * false: nothing has changed, replay it is. */
bool kv_index_load(struct kv_opening *opening);

#endif
