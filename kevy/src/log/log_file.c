/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The files behind segments and extents: made, mapped, written, freed. One
 * file a segment, named by its first address slot. Not here: what is written
 * (log_append.c, log_extent.c) and when a file may go (log_remove.c).
 *
 * A file is mapped read-only from its birth; readers know no other mapping.
 * Only the active segment, and the one made ahead of it, may also have a writable
 * window (log_window.c), until the flush that covers its seal: from then on no
 * stray write of the process can change a record.
 * The number is closed once all of the file is durable; the mapping stays.
 */
#include <errno.h>
#include <stdio.h>

#include "kevy/src/log/log_inside.h"

void kv_file_name(uint32_t slot, char out[KV_FILE_NAME_SIZE])
{
    (void)snprintf(out, KV_FILE_NAME_SIZE, "%05x.seg", (unsigned)(slot & 0xfffffu));
}

int kv_file_status(int64_t result)
{
    switch (-result) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return KEVY_ENOSPC;
    case ENOMEM:
        return KEVY_ENOMEM;
    case EMFILE:
    case ENFILE:
        return KEVY_EFILES;
    case EACCES:
    case EPERM:
    case EROFS:
        return KEVY_EACCESS;
    case EWOULDBLOCK:
        return KEVY_EINUSE;
    default:
        return KEVY_EIO;
    }
}

int kv_file_write(const struct kv_log *log, int file, const void *data, size_t size,
                  uint64_t offset)
{
    const uint8_t *from = (const uint8_t *)data;
    while (size > 0) {
        int64_t count = log->os->file_write(log->os->self, file, from, size, offset);
        if (count == 0) {
            return KEVY_ENOSPC;
        }
        if (count < 0) {
            return kv_file_status(count);
        }
        from += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return KEVY_OK;
}

/* Makes the slot's file and maps it. */
static int file_open_new(struct kv_log *log, struct kv_segment *segment)
{
    const kevy_os *os = log->os;
    char name[KV_FILE_NAME_SIZE];
    void *base = NULL;
    kv_file_name(segment->slot, name);
    int file = os->file_open(os->self, log->files->dir, name,
                             KEVY_OS_WRITE | KEVY_OS_CREATE | KEVY_OS_EXCLUSIVE);
    if (file < 0) {
        return file == -EEXIST ? KV_NAME_TAKEN : kv_file_status(file);
    }
    int result = os->map(os->self, file, segment->map_size, 0, &base);
    if (result < 0) {
        os->file_close(os->self, file);
        (void)os->file_remove(os->self, log->files->dir, name);
        return KEVY_ENOMEM;
    }
    segment->file = file;
    segment->base = (uint8_t *)base;
    return KEVY_OK;
}

int kv_file_blank(struct kv_log *log, enum kv_segment_kind kind, uint32_t slot, size_t size,
                  struct kv_segment **out)
{
    struct kv_segment *segment = (struct kv_segment *)kv_mem_zeroed(log->mem, sizeof *segment);
    if (segment == NULL) {
        return KEVY_ENOMEM;
    }
    segment->kind = kind;
    segment->slot = slot;
    segment->slot_count = kv_slots_of(size);
    segment->map_size = size;
    segment->used = KV_SEGMENT_HEADER;
    int status = file_open_new(log, segment);
    if (status != KEVY_OK) {
        kv_mem_free(log->mem, segment, sizeof *segment);
        return status;
    }
    *out = segment;
    return KEVY_OK;
}

void kv_file_begin(struct kv_log *log, struct kv_segment *segment)
{
    struct kv_files *files = log->files;
    segment->number = files->segment_number++;
    segment->incarnation = files->incarnation;
    segment->key = kv_check_segment(&files->check, segment->incarnation, segment->number);
    segment->first_lsn = log->lsn_end + 1;
    segment->last_lsn = log->lsn_end;
    files->is_dir_dirty = true;
    kv_segment_enter(log, segment);
    kv_file_dirty(log, segment);
}

int kv_file_create(struct kv_log *log, enum kv_segment_kind kind, size_t size,
                   struct kv_segment **out)
{
    uint32_t slot = 0;
    int status = KV_NAME_TAKEN;
    while (status == KV_NAME_TAKEN) {
        status = kv_segment_slots(log, kv_slots_of(size), &slot);
        if (status == KEVY_OK) {
            status = kv_file_blank(log, kind, slot, size, out);
        }
        if (status == KV_NAME_TAKEN) {
            kv_slot_take(log, slot);
        }
    }
    if (status == KEVY_OK) {
        kv_file_begin(log, *out);
    }
    return status;
}

int kv_file_adopt(struct kv_log *log, const struct kv_segment_header *header, int file, size_t size,
                  struct kv_segment **out)
{
    struct kv_segment *segment = (struct kv_segment *)kv_mem_zeroed(log->mem, sizeof *segment);
    void *base = NULL;
    if (segment == NULL) {
        return KEVY_ENOMEM;
    }
    segment->map_size = header->kind == KV_SEGMENT_LOG ? log->segment_size : size;
    int result = log->os->map(log->os->self, file, segment->map_size, 0, &base);
    if (result < 0) {
        kv_mem_free(log->mem, segment, sizeof *segment);
        return KEVY_ENOMEM;
    }
    segment->base = (uint8_t *)base;
    segment->used = size;
    segment->slot = header->slot;
    segment->slot_count = header->slot_count;
    segment->kind = header->kind;
    segment->file = file;
    segment->number = header->number;
    segment->incarnation = header->incarnation;
    segment->key = kv_check_segment(&log->files->check, header->incarnation, header->number);
    segment->first_lsn = header->first_lsn;
    segment->last_lsn = header->first_lsn - 1;
    segment->is_sealed = true;
    *out = segment;
    return KEVY_OK;
}

void kv_file_free(struct kv_log *log, struct kv_segment *segment)
{
    ASSERT(!segment->is_dirty && !segment->is_in_flush);
    kv_window_close(log, segment);
    kv_segment_unmap(log, segment);
    if (segment->file >= 0) {
        log->os->file_close(log->os->self, segment->file);
    }
    kv_mem_free(log->mem, segment, sizeof *segment);
}

void kv_file_header(const struct kv_log *log, const struct kv_segment *segment,
                    uint8_t out[KV_SEGMENT_HEADER])
{
    struct kv_segment_header header = {.kind = segment->kind,
                                       .slot = segment->slot,
                                       .slot_count = segment->slot_count,
                                       .number = segment->number,
                                       .incarnation = segment->incarnation,
                                       .first_lsn = segment->first_lsn};
    memcpy(header.store_id, log->files->identity.store_id, KV_STORE_ID_SIZE);
    kv_segment_header_encode(&header, out);
}

struct kv_place kv_file_place(const struct kv_log *log, const struct kv_segment *segment)
{
    return (struct kv_place){.check = &log->files->check,
                             .segment_key = segment->key,
                             .incarnation = segment->incarnation,
                             .segment_size = log->segment_size};
}

void kv_file_dirty(struct kv_log *log, struct kv_segment *segment)
{
    if (!segment->is_dirty) {
        segment->is_dirty = true;
        segment->dirty_next = log->files->dirty;
        log->files->dirty = segment;
    }
}

void kv_file_clean(struct kv_log *log, struct kv_segment *segment)
{
    struct kv_segment **link = &log->files->dirty;
    while (*link != NULL && *link != segment) {
        link = &(*link)->dirty_next;
    }
    if (*link == segment) {
        *link = segment->dirty_next;
    }
    segment->is_dirty = false;
}
