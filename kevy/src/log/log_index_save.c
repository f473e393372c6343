/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Leaving an index at a clean close; see log_index.h for what it is. In order:
 *
 *   1. everything is durable, and the mark tells so (kv_log_shutdown)
 *   2. the same mark is written once more, with the feature bit, and flushed
 *   3. the index is written, which names that mark
 *
 * It is not flushed: a power cut may take any part of it, and then its seals
 * do not hold. Whatever fails on the way leaves no file, or one that is not
 * believed; the close is none the worse for it.
 *
 * A file that was changed just now cannot be told by its times from one that is
 * changed once more in the same moment: its stamp is left out.
 */
#include "kevy/src/log/log_index.h"

/* The times of files are told apart if they lie that far apart. */
#define MOMENT_MS UINT64_C(20)

struct saving {
    struct kv_log *log;
    int file;
};

static int index_write(void *self, const void *bytes, size_t size, uint64_t offset)
{
    const struct saving *saving = (const struct saving *)self;
    return kv_file_write(saving->log, saving->file, bytes, size, offset);
}

/* ---- Whether it is worth it ---- */

/* Says whether each file is as the mark tells, and none is damaged. */
static bool is_settled(const struct kv_log *log, const struct kv_mark *mark)
{
    const struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->is_damaged || segment->is_dirty || segment->is_leaving ||
            !kv_mark_bit(mark, segment->slot)) {
            return false;
        }
    }
    return true;
}

/* A small log is replayed as fast; an index that is large beside it, since most
 * keys are gone, is not worth its room. */
static bool is_worth_it(const struct kv_log *log)
{
    const struct kv_files *files = log->files;
    if (files->image == NULL || !kv_index_is_possible() ||
        log->used_size < log->segment_size / KV_INDEX_SHARE) {
        return false;
    }
    uint64_t size = files->image->size(files->image_user);
    return size != 0 && size + log->segment_count * KV_INDEX_ENTRY <= log->used_size / 2;
}

/* ---- Entries ---- */

/* The stamp of a segment's file, which may be closed. */
static struct kv_stamp stamp_of(const struct kv_log *log, const struct kv_segment *segment,
                                uint64_t now_ms)
{
    const kevy_os *os = log->os;
    struct kv_stamp stamp = kv_stamp_none();
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(segment->slot, name);
    int file = os->file_open(os->self, log->files->dir, name, KEVY_OS_READ);
    if (file >= 0) {
        kv_stamp_take(log, file, &stamp);
        os->file_close(os->self, file);
    }
    uint64_t changed_ms = stamp.at[2] / 1000000;
    return changed_ms + MOMENT_MS < now_ms ? stamp : kv_stamp_none();
}

static struct kv_index_entry entry_of(const struct kv_log *log, const struct kv_segment *segment,
                                      const struct kv_point *point, uint64_t now_ms)
{
    return (struct kv_index_entry){
        .slot = segment->slot,
        .name_count = segment->name_count,
        .used = segment->slot == point->slot ? point->offset : segment->used,
        .live = segment->live,
        .last_lsn = segment->last_lsn,
        .tombstone_lsn = segment->tombstone_lsn,
        .tombstone_size = segment->tombstone_size,
        .named_by = segment->named_by,
        .named_in = segment->named_in == NULL ? KV_MARK_NO_SLOT : segment->named_in->slot,
        .stamp = stamp_of(log, segment, now_ms)};
}

static int entries_put(const struct kv_log *log, const struct kv_point *point,
                       struct kv_image *image)
{
    size_t size = (size_t)log->segment_count * KV_INDEX_ENTRY, at = 0;
    uint64_t now_ms = log->os->wall_ms(log->os->self);
    const struct kv_segment *segment;
    uint8_t *bytes = (uint8_t *)kv_mem_new(log->mem, size);
    if (bytes == NULL) {
        return KEVY_ENOMEM;
    }
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        struct kv_index_entry entry = entry_of(log, segment, point, now_ms);
        kv_index_entry_encode(&entry, bytes + at);
        at += KV_INDEX_ENTRY;
    }
    ASSERT(at == size);
    int status = kv_image_put(image, bytes, size);
    kv_mem_free(log->mem, bytes, size);
    return status;
}

/* ---- The file ---- */

static int image_put(const struct kv_log *log, const struct kv_mark *mark,
                     const struct kv_point *point, struct kv_image *image)
{
    const struct kv_files *files = log->files;
    struct kv_index_name name = {.incarnation = mark->incarnation,
                                 .sequence = mark->sequence,
                                 .mark_check = kv_mark_check(&files->identity, mark),
                                 .lsn = mark->durable_lsn,
                                 .segment_count = (uint32_t)log->segment_count};
    uint8_t header[KV_INDEX_HEADER];
    kv_index_header_encode(log, &name, header);
    int status = kv_image_put(image, header, sizeof header);
    status = status == KEVY_OK ? kv_image_put_seal(image) : status;
    status = status == KEVY_OK ? entries_put(log, point, image) : status;
    status = status == KEVY_OK ? kv_image_put_seal(image) : status;
    status = status == KEVY_OK ? files->image->save(files->image_user, image) : status;
    return status == KEVY_OK ? kv_image_put_seal(image) : status;
}

static void file_make(struct kv_log *log, const struct kv_mark *mark, const struct kv_point *point)
{
    const kevy_os *os = log->os;
    struct kv_files *files = log->files;
    struct saving saving = {
        log, os->file_open(os->self, files->dir, KV_INDEX_NAME, KEVY_OS_WRITE | KEVY_OS_CREATE)};
    struct kv_image image = {
        .self = &saving, .write = index_write, .hash = files->check.index_seed};
    if (saving.file < 0) {
        return;
    }
    int status = image_put(log, mark, point, &image);
    if (status == KEVY_OK && os->file_resize(os->self, saving.file, image.offset) < 0) {
        status = KEVY_EIO;
    }
    os->file_close(os->self, saving.file);
    if (status != KEVY_OK) {
        (void)os->file_remove(os->self, files->dir, KV_INDEX_NAME);
    }
}

/* Writes the mark once more, with the bit that tells of the index. */
static bool mark_promise(struct kv_log *log, const struct kv_point *point, struct kv_mark *out)
{
    kv_mark_fill(log, point, out);
    out->compatible |= KV_MARK_INDEX;
    if (!is_settled(log, out) || kv_mark_put(log, out) != KEVY_OK) {
        return false;
    }
    log->files->mark_sequence = out->sequence;
    return true;
}

void kv_index_save(struct kv_log *log)
{
    const struct kv_point *point = &log->files->durable;
    struct kv_mark mark;
    if (point->lsn == log->lsn_end && point->slot != KV_MARK_NO_SLOT && is_worth_it(log) &&
        mark_promise(log, point, &mark)) {
        file_make(log, &mark, point);
    } else {
        kv_index_drop(log);
    }
}

void kv_index_drop(struct kv_log *log)
{
    struct kv_files *files = log->files;
    if (atomic_load_explicit(&files->has_old_index, memory_order_relaxed) &&
        atomic_exchange_explicit(&files->has_old_index, false, memory_order_relaxed)) {
        (void)log->os->file_remove(log->os->self, files->dir, KV_INDEX_NAME);
    }
}
