/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Taking over the files that lie in the folder: those whose bit is set in the
 * mark, which must be there (one with a damaged header is put aside whole), and
 * those that may follow the mark: of its incarnation and not older. All others
 * are left over; they are not looked at again and go at the end of a successful
 * open.
 *
 * A file that follows the mark is entered only when the log is found to lead
 * to it (log_tail.c): a leftover may claim the same slots.
 */
#include <stdlib.h>

#include "kevy/src/log/log_index.h"

int kv_segments_add(struct kv_log *log, struct kv_segments *list, struct kv_segment *segment)
{
    if (list->count == list->capacity) {
        size_t grown = list->capacity == 0 ? 16 : list->capacity * 2;
        void *at = kv_mem_resize(log->mem, list->at, list->capacity * sizeof(segment),
                                 grown * sizeof(segment));
        if (at == NULL) {
            return KEVY_ENOMEM;
        }
        list->at = (struct kv_segment **)at;
        list->capacity = grown;
    }
    list->at[list->count++] = segment;
    return KEVY_OK;
}

/* ---- Names ---- */

/* Returns the slot that a file name tells, or -1. */
static int64_t slot_of_name(const char *name)
{
    uint32_t slot = 0;
    for (int i = 0; i < 5; i++) {
        char c = name[i];
        if (c >= '0' && c <= '9') {
            slot = slot * 16 + (uint32_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            slot = slot * 16 + (uint32_t)(c - 'a') + 10;
        } else {
            return -1;
        }
    }
    return strcmp(name + 5, ".seg") == 0 && slot < KV_SLOT_COUNT ? (int64_t)slot : -1;
}

static void note_name(void *user, const char *name)
{
    struct kv_opening *opening = (struct kv_opening *)user;
    int64_t slot = slot_of_name(name);
    if (slot >= 0) {
        opening->files[slot / 8] = (uint8_t)(opening->files[slot / 8] | 1u << (slot % 8));
    }
    opening->has_index = opening->has_index || strcmp(name, KV_INDEX_NAME) == 0;
}

bool kv_adopt_has_file(const struct kv_opening *opening, uint32_t slot)
{
    return (opening->files[slot / 8] >> (slot % 8) & 1) != 0;
}

bool kv_adopt_has_any(const struct kv_opening *opening)
{
    uint32_t slot = 0;
    while (slot < KV_SLOT_COUNT && !kv_adopt_has_file(opening, slot)) {
        slot++;
    }
    return slot < KV_SLOT_COUNT;
}

int kv_adopt_list(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    opening->files = (uint8_t *)kv_mem_zeroed(opening->log->mem, KV_SLOT_COUNT / 8);
    if (opening->files == NULL) {
        return kv_fail(opening, KEVY_ENOMEM, 0, "", 0, "no memory to list the folder");
    }
    int result = os->dir_list(os->self, opening->log->files->dir, note_name, opening);
    return result < 0 ? kv_fail(opening, kv_file_status(result), result, "", 0,
                                "the folder cannot be listed")
                      : KEVY_OK;
}

/* ---- Files ---- */

/* What the first look at a file tells. */
struct look {
    int file;
    size_t size; /* as far as it is looked at */
    bool is_header_good;
    bool is_foreign; /* good, but of another store */
    struct kv_segment_header header;
};

/* A segment of another store beside this mark, or this store's beside another's
 * mark: whichever is in the wrong place, going on would unlink what is not ours. */
static int fail_foreign(struct kv_opening *opening, const struct look *look, uint32_t slot)
{
    opening->os->file_close(opening->os->self, look->file);
    return kv_fail_slot(opening, KEVY_ECORRUPT, 0, slot, 0,
                        "the mark and this segment are of two stores: put back the one that does "
                        "not belong here");
}

/* Opens the slot's file and reads its header. Must be closed by the caller
 * when it succeeds. */
static int look_at(struct kv_opening *opening, uint32_t slot, struct look *out)
{
    const kevy_os *os = opening->os;
    uint8_t header[KV_SEGMENT_HEADER];
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(slot, name);
    int file = os->file_open(os->self, opening->log->files->dir, name, KEVY_OS_WRITE);
    if (file < 0) {
        return kv_fail(opening, kv_file_status(file), file, name, 0, "the file cannot be opened");
    }
    int64_t size = os->file_size(os->self, file);
    int64_t count = size < 0 ? size : os->file_read(os->self, file, header, sizeof header, 0);
    if (count < 0) {
        os->file_close(os->self, file);
        return kv_fail(opening, KEVY_EIO, count, name, 0, "the file cannot be read");
    }
    *out = (struct look){.file = file, .size = (size_t)size};
    bool is_whole =
        count == (int64_t)sizeof header && kv_segment_header_decode(header, &out->header);
    out->is_foreign =
        is_whole &&
        memcmp(out->header.store_id, opening->log->files->identity.store_id, KV_STORE_ID_SIZE) != 0;
    out->is_header_good = is_whole && !out->is_foreign && out->header.slot == slot;
    if (out->is_header_good && out->header.kind == KV_SEGMENT_LOG) {
        out->is_header_good = out->header.slot_count == 1;
        out->size = out->size < opening->log->segment_size ? out->size : opening->log->segment_size;
    } else if (out->is_header_good) {
        uint64_t room = (uint64_t)out->header.slot_count * KV_SLOT_SIZE;
        out->is_header_good = out->header.slot_count <= KV_SLOT_COUNT - slot;
        out->size = out->size < room ? out->size : (size_t)room;
    }
    return KEVY_OK;
}

static bool bits_are_set(const struct kv_mark *mark, uint32_t slot, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!kv_mark_bit(mark, slot + i)) {
            return false;
        }
    }
    return true;
}

void kv_adopt_place(struct kv_segment *segment, const struct kv_mark *mark)
{
    const struct kv_mark_place *place = kv_mark_place_of(mark, segment->slot);
    if (place != NULL && place->lsn >= segment->first_lsn) {
        segment->resume_offset = place->offset;
        segment->resume_lsn = place->lsn;
    }
}

/* A segment that the mark names. */
static int adopt_named(struct kv_opening *opening, uint32_t slot, uint32_t *slot_count)
{
    struct kv_log *log = opening->log;
    struct look look;
    struct kv_segment *segment;
    if (!kv_adopt_has_file(opening, slot)) {
        return kv_fail_slot(opening, KEVY_ECORRUPT, 0, slot, 0, "a segment is missing");
    }
    int status = look_at(opening, slot, &look);
    if (status != KEVY_OK) {
        return status;
    }
    if (look.is_foreign) {
        return fail_foreign(opening, &look, slot);
    }
    if (!look.is_header_good || look.header.first_lsn > opening->mark.durable_lsn ||
        !bits_are_set(&opening->mark, slot, look.header.slot_count)) {
        opening->os->file_close(opening->os->self, look.file);
        return kv_damage_note(opening, slot, 0, look.size);
    }
    status = kv_segment_reserve(log, slot + look.header.slot_count);
    if (status == KEVY_OK) {
        status = kv_file_adopt(log, &look.header, look.file, look.size, &segment);
    }
    if (status != KEVY_OK) {
        opening->os->file_close(opening->os->self, look.file);
        return kv_fail_slot(opening, status, 0, slot, 0, "no memory to map a segment");
    }
    if ((opening->mark.compatible & KV_MARK_INDEX) != 0) {
        kv_stamp_take(log, segment->file, &segment->stamp);
    }
    if (slot != opening->mark.durable_slot) {
        opening->os->file_close(opening->os->self, segment->file);
        segment->file = -1;
    }
    segment->is_flushed = true;
    kv_adopt_place(segment, &opening->mark);
    kv_segment_enter(log, segment);
    *slot_count = segment->slot_count;
    return segment->kind == KV_SEGMENT_LOG ? kv_segments_add(log, &opening->order, segment)
                                           : KEVY_OK;
}

/* A file without a bit: kept in mind if it may follow the mark. */
static int adopt_found(struct kv_opening *opening, uint32_t slot)
{
    struct look look;
    struct kv_segment *segment;
    int status = look_at(opening, slot, &look);
    if (status != KEVY_OK) {
        return status;
    }
    if (look.is_foreign) {
        return fail_foreign(opening, &look, slot);
    }
    if (!look.is_header_good || look.header.incarnation != opening->mark.incarnation ||
        look.header.first_lsn <= opening->mark.durable_lsn) {
        opening->os->file_close(opening->os->self, look.file);
        return KEVY_OK;
    }
    status = kv_file_adopt(opening->log, &look.header, look.file, look.size, &segment);
    if (status != KEVY_OK) {
        opening->os->file_close(opening->os->self, look.file);
    } else {
        status = kv_segments_add(opening->log, &opening->found, segment);
        if (status != KEVY_OK) {
            kv_file_free(opening->log, segment);
        }
    }
    return status == KEVY_OK
               ? status
               : kv_fail_slot(opening, status, 0, slot, 0, "no memory to map a segment");
}

static int by_first_lsn(const void *a, const void *b)
{
    const struct kv_segment *const *left = (const struct kv_segment *const *)a;
    const struct kv_segment *const *right = (const struct kv_segment *const *)b;
    return ((*left)->first_lsn > (*right)->first_lsn) - ((*left)->first_lsn < (*right)->first_lsn);
}

int kv_adopt(struct kv_opening *opening)
{
    uint32_t slot_count;
    int status = KEVY_OK;
    for (uint32_t slot = 0; status == KEVY_OK && slot < KV_SLOT_COUNT; slot += slot_count) {
        slot_count = 1;
        if (kv_mark_bit(&opening->mark, slot)) {
            status = adopt_named(opening, slot, &slot_count);
        } else if (kv_adopt_has_file(opening, slot)) {
            status = adopt_found(opening, slot);
        }
    }
    if (status == KEVY_OK && opening->order.count > 0) {
        qsort(opening->order.at, opening->order.count, sizeof(struct kv_segment *), by_first_lsn);
    }
    return status;
}

struct kv_segment *kv_adopt_extent(const struct kv_log *log, const uint8_t *record, uint64_t lsn)
{
    struct kv_extent_ref place = kv_record_extent(record);
    struct kv_segment *extent =
        place.slot < log->segment_capacity ? log->segments[place.slot] : NULL;
    size_t payload = (size_t)kv_record_key_size(record) + kv_record_value_size(record);
    return extent != NULL && extent->kind == KV_SEGMENT_EXTENT && extent->slot == place.slot &&
                   extent->slot_count == place.slot_count && extent->first_lsn <= lsn &&
                   payload <= extent->used - KV_EXTENT_DATA
               ? extent
               : NULL;
}
