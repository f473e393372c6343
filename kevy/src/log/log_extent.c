/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Extents: one large key and value, or one large batch, in a file of its own
 * over adjacent slots.
 *
 *   one value   header | key | value
 *   a batch     header | record | record | …     without stamps, pads, commit
 *
 * The EXTENT record that names it carries a hash of all bytes behind the
 * header, taken from the file's pages after they were written: so it covers
 * what lies there, not what another thread may have made of the caller's
 * memory since. A batch in an extent is whole or not there, because its one
 * record is.
 */
#include "kevy/src/log/log_inside.h"

/* Makes the file and writes its header. */
static int extent_create(struct kv_log *log, size_t payload, uint64_t lsn, struct kv_segment **out)
{
    uint8_t header[KV_SEGMENT_HEADER];
    struct kv_segment *extent;
    int status = kv_file_create(log, KV_SEGMENT_EXTENT, KV_EXTENT_DATA + payload, &extent);
    if (status != KEVY_OK) {
        return status;
    }
    extent->first_lsn = lsn;
    extent->last_lsn = lsn;
    extent->is_sealed = true;
    kv_file_header(log, extent, header);
    status = kv_file_write(log, extent->file, header, sizeof header, 0);
    if (status != KEVY_OK) {
        kv_extent_forget(log, extent);
        return status;
    }
    *out = extent;
    return KEVY_OK;
}

/* All bytes are written: tells where they are. */
static void extent_end(struct kv_log *log, struct kv_segment *extent, size_t payload,
                       uint32_t lsn_count, struct kv_extent_ref *place)
{
    kv_segment_grow(log, extent, payload);
    extent->last_lsn = extent->first_lsn + lsn_count - 1;
    *place = (struct kv_extent_ref){
        .slot = extent->slot,
        .slot_count = extent->slot_count,
        .check = kv_check_extent(&log->files->check, extent->base + KV_EXTENT_DATA, payload),
        .lsn_count = lsn_count,
    };
}

int kv_extent_write(struct kv_log *log, const struct kv_draft *draft, uint64_t lsn,
                    struct kv_segment **out, struct kv_extent_ref *place)
{
    size_t payload = draft->key.size + draft->value.size;
    int status = extent_create(log, payload, lsn, out);
    if (status != KEVY_OK) {
        return status;
    }
    status = kv_file_write(log, (*out)->file, draft->key.data, draft->key.size, KV_EXTENT_DATA);
    if (status == KEVY_OK) {
        status = kv_file_write(log, (*out)->file, draft->value.data, draft->value.size,
                               KV_EXTENT_DATA + draft->key.size);
    }
    if (status != KEVY_OK) {
        kv_extent_forget(log, *out);
        return status;
    }
    extent_end(log, *out, payload, 1, place);
    return KEVY_OK;
}

/* Records of a batch on their way to the file: gathered in the log's scratch
 * memory, from `start` of the file on. */
struct gather {
    struct kv_log *log;
    const struct kv_segment *extent;
    size_t start;
    size_t size;
    size_t room;
};

static int gather_write(struct gather *gather)
{
    int status = kv_file_write(gather->log, gather->extent->file, gather->log->files->scratch,
                               gather->size, gather->start);
    gather->start += gather->size;
    gather->size = 0;
    return status;
}

/* Writes a record too large to be gathered, its value straight from the
 * caller. What is left up to the next granule stays a hole of zeros. */
static int gather_large(struct gather *gather, const struct kv_draft *draft)
{
    struct kv_draft head = *draft;
    int status = gather_write(gather);
    head.value.size = 0;
    size_t head_size = kv_draft_size(&head, 0);
    if (status == KEVY_OK) {
        status = kv_scratch_reserve(gather->log, head_size);
    }
    if (status != KEVY_OK) {
        return status;
    }
    uint8_t *scratch = gather->log->files->scratch;
    kv_draft_encode(&head, 0, scratch);
    store_u32(scratch + 8, (uint32_t)draft->value.size);
    size_t before_value = (size_t)(kv_record_body(scratch) - scratch) + draft->key.size;
    status = kv_file_write(gather->log, gather->extent->file, scratch, head_size, gather->start);
    if (status == KEVY_OK) {
        status = kv_file_write(gather->log, gather->extent->file, draft->value.data,
                               draft->value.size, gather->start + before_value);
    }
    gather->start += kv_draft_size(draft, 0);
    return status;
}

static int gather_one(struct gather *gather, struct kv_draft *draft)
{
    size_t size = kv_draft_size(draft, 0), offset = gather->start + gather->size;
    uint32_t slot = gather->extent->slot + (uint32_t)(offset / KV_SLOT_SIZE);
    draft->ref = kv_ref_of(slot, offset % KV_SLOT_SIZE);
    if (size > gather->room) {
        return gather_large(gather, draft);
    }
    if (gather->size + size > gather->room) {
        int status = gather_write(gather);
        if (status != KEVY_OK) {
            return status;
        }
    }
    kv_draft_encode(draft, 0, gather->log->files->scratch + gather->size);
    gather->size += size;
    return KEVY_OK;
}

static int gather_all(struct gather *gather, struct kv_draft *drafts, size_t count)
{
    int status = kv_scratch_reserve(gather->log, gather->room);
    for (size_t i = 0; status == KEVY_OK && i < count; i++) {
        status = gather_one(gather, &drafts[i]);
    }
    return status == KEVY_OK ? gather_write(gather) : status;
}

int kv_extent_write_batch(struct kv_log *log, struct kv_draft *drafts, size_t count, size_t size,
                          uint64_t lsn, struct kv_segment **out, struct kv_extent_ref *place)
{
    int status = extent_create(log, size, lsn, out);
    if (status != KEVY_OK) {
        return status;
    }
    struct gather gather = {log, *out, KV_EXTENT_DATA, 0, log->segment_size / KV_EXTENT_SHARE};
    status = gather_all(&gather, drafts, count);
    if (status == KEVY_OK) {
        int result = log->os->file_resize(log->os->self, (*out)->file, KV_EXTENT_DATA + size);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    if (status != KEVY_OK) {
        kv_extent_forget(log, *out);
        return status;
    }
    extent_end(log, *out, size, (uint32_t)count, place);
    return KEVY_OK;
}

void kv_extent_forget(struct kv_log *log, struct kv_segment *extent)
{
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(extent->slot, name);
    kv_file_clean(log, extent);
    kv_segment_leave(log, extent);
    (void)log->os->file_remove(log->os->self, log->files->dir, name);
    kv_file_free(log, extent);
}
