/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The end of an open: what was found to be the log becomes the log for good.
 * A crash after any step leaves a folder from which the next open finds the
 * same, because kept bytes only ever get the values that they have:
 *
 *   1. the mark that was read is written again, to its own slot, and flushed
 *   2. each kept byte behind the mark is written again, in its place (an
 *      earlier flush that failed may have left it clean but not durable); a
 *      seal goes behind the last record, the rest of the file is cut off
 *   3. those files and the folder are flushed
 *   4. a mark tells this, with a fresh incarnation; only what is kept has a bit
 *   5. everything else is unlinked
 *
 * Nothing is ever appended to what an earlier life of the store wrote.
 */
#include "kevy/src/log/log_opening.h"

/* Bytes copied at a time: never written straight from the mapping of the same
 * file. */
enum { RECOVER_CHUNK = 64 << 10 };

/* ---- Step 1 ---- */

static int mark_again(struct kv_opening *opening)
{
    struct kv_log *log = opening->log;
    uint8_t block[KV_MARK_BLOCK];
    int status = KEVY_OK;
    if (!opening->is_mark_whole) {
        kv_mark_super_encode(&log->files->identity, block);
        status = kv_file_write(log, log->files->mark_file, block, sizeof block, 0);
    }
    return status == KEVY_OK ? kv_mark_put(log, &opening->mark) : status;
}

/* ---- Step 2 ---- */

/* On a full disk an open is what the reserve is for, too. */
static int write_kept(struct kv_log *log, const struct kv_segment *segment, const void *data,
                      size_t size, size_t offset)
{
    int status = kv_file_write(log, segment->file, data, size, offset);
    while (status == KEVY_ENOSPC && (kv_reserve_use(log, false) || kv_reserve_use(log, true))) {
        status = kv_file_write(log, segment->file, data, size, offset);
    }
    return status;
}

/* Writes the bytes of a segment from `offset` to its end again. */
static int bytes_again(struct kv_log *log, const struct kv_segment *segment, size_t offset)
{
    int status = kv_scratch_reserve(log, RECOVER_CHUNK);
    while (status == KEVY_OK && offset < segment->used) {
        size_t left = segment->used - offset, size = left < RECOVER_CHUNK ? left : RECOVER_CHUNK;
        memcpy(log->files->scratch, segment->base + offset, size);
        status = write_kept(log, segment, log->files->scratch, size, offset);
        offset += size;
    }
    return status;
}

/* Cuts the file off behind what is kept. */
static int file_end(struct kv_log *log, struct kv_segment *segment)
{
    int result = log->os->file_resize(log->os->self, segment->file, segment->used);
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

static int seal_again(struct kv_log *log, struct kv_segment *segment)
{
    uint8_t seal[KV_SEAL_SIZE];
    struct kv_place place = kv_file_place(log, segment);
    (void)kv_seal_encode(&place, segment->used, segment->last_lsn + 1, seal);
    int status = write_kept(log, segment, seal, sizeof seal, segment->used);
    if (status == KEVY_OK) {
        kv_segment_grow(log, segment, sizeof seal);
    }
    return status;
}

/* ---- Step 3 ---- */

/* Flushes and closes a file of which everything kept is in the kernel. */
static int file_settle(struct kv_log *log, struct kv_segment *segment)
{
    int result = log->os->file_flush(log->os->self, segment->file);
    if (result < 0) {
        return kv_file_status(result);
    }
    log->os->file_close(log->os->self, segment->file);
    segment->file = -1;
    segment->is_flushed = true;
    return KEVY_OK;
}

static int segments_settle(struct kv_opening *opening, uint32_t *slot)
{
    struct kv_log *log = opening->log;
    int status = KEVY_OK;
    for (size_t i = opening->tail_first; status == KEVY_OK && i < opening->order.count; i++) {
        struct kv_segment *segment = opening->order.at[i];
        bool is_marked = segment->slot == opening->mark.durable_slot;
        *slot = segment->slot;
        log->files->end_slot = segment->slot;
        log->files->end_offset = segment->used;
        status = bytes_again(log, segment, is_marked ? opening->tail_offset : 0);
        if (status == KEVY_OK) {
            status = seal_again(log, segment);
        }
        if (status == KEVY_OK) {
            status = file_end(log, segment);
        }
        if (status == KEVY_OK) {
            status = file_settle(log, segment);
        }
    }
    for (size_t i = 0; status == KEVY_OK && i < opening->tail.count; i++) {
        struct kv_segment *extent = opening->tail.at[i];
        *slot = extent->slot;
        status = bytes_again(log, extent, 0);
        if (status == KEVY_OK) {
            status = file_settle(log, extent);
        }
    }
    return status;
}

/* ---- Step 4 ---- */

/* A mark that lies in a damaged segment would keep it for ever: then it says
 * that no segment is begun, which is as true. */
static void end_find(struct kv_opening *opening)
{
    struct kv_files *files = opening->log->files;
    if (files->end_slot != KV_MARK_NO_SLOT && opening->log->segments[files->end_slot]->is_damaged) {
        files->end_slot = KV_MARK_NO_SLOT;
        files->end_offset = 0;
    }
}

static int mark_anew(struct kv_opening *opening)
{
    struct kv_log *log = opening->log;
    struct kv_files *files = log->files;
    end_find(opening);
    files->log_end = opening->lsn;
    files->incarnation_lsn = opening->lsn + 1;
    files->mark_sequence = opening->mark.sequence;
    files->map = opening->map;
    files->map_lsn = opening->map_lsn;
    files->durable = (struct kv_point){.lsn = opening->lsn,
                                       .slot = files->end_slot,
                                       .offset = files->end_offset,
                                       .map_lsn = files->map_lsn,
                                       .map = files->map};
    atomic_store(&files->durable_lsn, opening->lsn);
    atomic_store(&files->marked_lsn, opening->is_first ? 0 : UINT64_MAX);
    return kv_mark_write(log);
}

/* ---- Step 5 ---- */

static int remove_rest(struct kv_opening *opening)
{
    struct kv_log *log = opening->log;
    const kevy_os *os = opening->os;
    bool is_any = false;
    char name[KV_FILE_NAME_SIZE];
    for (uint32_t slot = 0; slot < KV_SLOT_COUNT; slot++) {
        const struct kv_segment *segment =
            slot < log->segment_capacity ? log->segments[slot] : NULL;
        if (kv_adopt_has_file(opening, slot) && (segment == NULL || segment->slot != slot)) {
            kv_file_name(slot, name);
            is_any = os->file_remove(os->self, log->files->dir, name) == 0 || is_any;
        }
    }
    is_any = os->file_remove(os->self, log->files->dir, "mark.tmp") == 0 || is_any;
    atomic_store_explicit(&log->files->has_old_index, opening->has_index, memory_order_relaxed);
    int result = is_any ? os->dir_flush(os->self, log->files->dir) : 0;
    return result < 0 ? kv_file_status(result) : KEVY_OK;
}

int kv_recover(struct kv_opening *opening)
{
    uint32_t slot = 0;
    if (opening->is_first) {
        int status = mark_anew(opening);
        return status == KEVY_OK
                   ? status
                   : kv_fail(opening, status, 0, "mark", 0, "the mark cannot be written");
    }
    int status = mark_again(opening);
    if (status != KEVY_OK) {
        return kv_fail(opening, status, 0, "mark", 0, "the mark cannot be written");
    }
    status = kv_damage_save(opening);
    if (status != KEVY_OK) {
        return status;
    }
    status = segments_settle(opening, &slot);
    if (status != KEVY_OK) {
        return kv_fail_slot(opening, status, 0, slot, 0, "the end of the log cannot be written");
    }
    int result = opening->os->dir_flush(opening->os->self, opening->log->files->dir);
    if (result < 0) {
        return kv_fail(opening, kv_file_status(result), result, "", 0,
                       "the folder cannot be flushed");
    }
    status = mark_anew(opening);
    if (status != KEVY_OK) {
        return kv_fail(opening, status, 0, "mark", 0, "the mark cannot be written");
    }
    status = remove_rest(opening);
    return status == KEVY_OK ? status
                             : kv_fail(opening, status, 0, "", 0, "the folder cannot be flushed");
}
