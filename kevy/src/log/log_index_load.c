/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening by the index instead of by replay; see log_index.h.
 *
 * Nothing is taken over before everything was found good: the entries wait in
 * memory until the last seal, and a keyspace that was filled is emptied again.
 * So whatever is wrong ends in a replay, which finds damage and says so.
 *
 * A file that somebody may have written to since the close is read: record by
 * record with every check, as replay would, but nothing is applied. Of an
 * extent with one value only the size matters, as always.
 */
#include "kevy/src/log/log_index.h"

struct loading {
    struct kv_opening *opening;
    int file;
    struct kv_index_name name;
    struct kv_index_entry *entries;
    struct kv_image_room *room;
    struct kv_image image;
};

static int index_read(void *self, void *out, size_t size, uint64_t offset)
{
    const struct loading *loading = (const struct loading *)self;
    const kevy_os *os = loading->opening->os;
    uint8_t *to = (uint8_t *)out;
    while (size > 0) {
        int64_t count = os->file_read(os->self, loading->file, to, size, offset);
        if (count <= 0) {
            return count == 0 ? KEVY_ECORRUPT : kv_file_status(count);
        }
        to += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return KEVY_OK;
}

/* ---- Segments ---- */

static bool is_marked(const struct loading *loading, const struct kv_segment *segment)
{
    return segment->slot == loading->opening->mark.durable_slot;
}

/* Says whether the records run unbroken to the end that the entry tells. */
static bool records_unbroken(const struct loading *loading, const struct kv_segment *segment,
                             const struct kv_index_entry *entry)
{
    const struct kv_log *log = loading->opening->log;
    size_t end = (size_t)entry->used - (is_marked(loading, segment) ? 0 : KV_SEAL_SIZE);
    struct kv_cursor cursor = {.place = kv_file_place(log, segment),
                               .base = segment->base,
                               .limit = (size_t)entry->used,
                               .offset = KV_SEGMENT_HEADER,
                               .lsn = segment->first_lsn,
                               .is_checked = true};
    const uint8_t *record;
    enum kv_step step;
    while ((step = kv_cursor_next(&cursor, &record)) == KV_STEP_RECORD) {
    }
    return cursor.offset == end && cursor.lsn == entry->last_lsn + 1 &&
           (step == KV_STEP_SEAL || is_marked(loading, segment));
}

/* The same for the records of a batch, which are one behind the other. */
static bool batch_holds(const struct kv_segment *extent, const struct kv_index_entry *entry)
{
    size_t offset = KV_EXTENT_DATA, end = (size_t)entry->used;
    while (kv_batch_next(extent->base, &offset, end) != NULL) {
    }
    return offset == end;
}

static bool is_untouched(const struct kv_stamp *then, const struct kv_stamp *now)
{
    return then->size == now->size && then->at[0] == now->at[0] && then->at[1] == now->at[1] &&
           then->at[2] == now->at[2] && then->size != UINT64_MAX;
}

static bool bytes_hold(const struct loading *loading, const struct kv_segment *segment,
                       const struct kv_index_entry *entry)
{
    if (is_untouched(&entry->stamp, &segment->stamp)) {
        return true;
    }
    if (segment->kind == KV_SEGMENT_LOG) {
        return records_unbroken(loading, segment, entry);
    }
    return entry->named_in == KV_MARK_NO_SLOT || batch_holds(segment, entry);
}

/* Says whether a batch's extent is named from where a log segment has records. */
static bool naming_holds(const struct kv_log *log, const struct kv_index_entry *entry)
{
    if (entry->named_in == KV_MARK_NO_SLOT) {
        return entry->named_by == 0;
    }
    const struct kv_segment *in =
        entry->named_in < log->segment_capacity ? log->segments[entry->named_in] : NULL;
    return in != NULL && in->kind == KV_SEGMENT_LOG && in->slot == entry->named_in &&
           (entry->named_by == 0 || (kv_ref_slot(entry->named_by) == in->slot &&
                                     kv_ref_offset(entry->named_by) >= KV_SEGMENT_HEADER &&
                                     kv_ref_offset(entry->named_by) < in->used));
}

static bool entry_holds(const struct loading *loading, const struct kv_segment *segment,
                        const struct kv_index_entry *entry)
{
    const struct kv_mark *mark = &loading->opening->mark;
    size_t least =
        KV_SEGMENT_HEADER +
        (segment->kind == KV_SEGMENT_LOG && !is_marked(loading, segment) ? KV_SEAL_SIZE : 0);
    return entry->slot == segment->slot && entry->used >= least && entry->used <= segment->used &&
           entry->live <= entry->used - KV_SEGMENT_HEADER &&
           entry->last_lsn + 1 >= segment->first_lsn && entry->last_lsn <= mark->durable_lsn &&
           entry->tombstone_lsn <= mark->durable_lsn && entry->tombstone_size <= entry->used &&
           (!is_marked(loading, segment) ||
            (entry->used == mark->durable_offset && entry->last_lsn == mark->durable_lsn)) &&
           (segment->kind == KV_SEGMENT_EXTENT || entry->name_count == 0) &&
           naming_holds(loading->opening->log, entry) && bytes_hold(loading, segment, entry);
}

/* Notes where records of the segment may lie that the table points at. */
static void room_note(struct loading *loading, const struct kv_segment *segment,
                      const struct kv_index_entry *entry)
{
    const uint32_t all = 1u << KV_SLOT_SHIFT;
    uint64_t granules = entry->used / KV_GRANULE;
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        uint64_t left = granules > (uint64_t)i * all ? granules - (uint64_t)i * all : 0;
        loading->room->granules[segment->slot + i] = left < all ? (uint32_t)left : all;
    }
}

/* Reads the entries; each must belong to one segment, and each segment to one. */
static int entries_load(struct loading *loading)
{
    const struct kv_log *log = loading->opening->log;
    size_t size = loading->name.segment_count * KV_INDEX_ENTRY, index = 0;
    uint8_t *bytes = (uint8_t *)kv_mem_new(log->mem, size);
    const struct kv_segment *segment;
    if (bytes == NULL) {
        return KEVY_ENOMEM;
    }
    int status = kv_image_get(&loading->image, bytes, size);
    status = status == KEVY_OK ? kv_image_get_seal(&loading->image) : status;
    for (uint32_t slot = 0; status == KEVY_OK && (segment = kv_segment_after(log, &slot)) != NULL;
         index++) {
        struct kv_index_entry *entry = &loading->entries[index];
        kv_index_entry_decode(bytes + index * KV_INDEX_ENTRY, entry);
        if (entry_holds(loading, segment, entry)) {
            room_note(loading, segment, entry);
        } else {
            status = KEVY_ECORRUPT;
        }
    }
    kv_mem_free(log->mem, bytes, size);
    return status;
}

static void segments_set(const struct loading *loading)
{
    struct kv_log *log = loading->opening->log;
    struct kv_segment *segment;
    size_t index = 0;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL; index++) {
        const struct kv_index_entry *entry = &loading->entries[index];
        kv_segment_shrink(log, segment, segment->used - (size_t)entry->used);
        kv_segment_revive(log, segment, (size_t)entry->live);
        segment->last_lsn = entry->last_lsn;
        segment->tombstone_lsn = entry->tombstone_lsn;
        segment->tombstone_size = (size_t)entry->tombstone_size;
        segment->name_count = entry->name_count;
        segment->named_by = entry->named_by;
        segment->named_in =
            entry->named_in == KV_MARK_NO_SLOT ? NULL : log->segments[entry->named_in];
        loading->opening->report->replayed_bytes += segment->used - KV_SEGMENT_HEADER;
        if (segment->kind == KV_SEGMENT_LOG) {
            loading->opening->report->replayed_commands +=
                segment->last_lsn + 1 - segment->first_lsn;
        }
    }
}

/* ---- The file ---- */

static int header_load(struct loading *loading)
{
    const struct kv_opening *opening = loading->opening;
    const struct kv_mark *mark = &opening->mark;
    uint8_t header[KV_INDEX_HEADER];
    int status = kv_image_get(&loading->image, header, sizeof header);
    status = status == KEVY_OK ? kv_image_get_seal(&loading->image) : status;
    if (status != KEVY_OK) {
        return status;
    }
    struct kv_index_name *name = &loading->name;
    return kv_index_header_decode(opening->log, header, name) &&
                   name->incarnation == mark->incarnation && name->sequence == mark->sequence &&
                   name->mark_check == kv_mark_check(&opening->log->files->identity, mark) &&
                   name->lsn == mark->durable_lsn &&
                   name->segment_count == opening->log->segment_count &&
                   kv_image_has(&loading->image, name->segment_count, KV_INDEX_ENTRY)
               ? KEVY_OK
               : KEVY_ECORRUPT;
}

/* The keyspace, the last seal, and nothing behind it. */
static int keyspace_load(struct loading *loading)
{
    const struct kv_opening *opening = loading->opening;
    const struct kv_log_image *image = opening->image;
    int status = kv_replay_begin(loading->opening);
    if (status != KEVY_OK) {
        return status;
    }
    status = image->load(opening->image_user, &loading->image, loading->room);
    status = status == KEVY_OK ? kv_image_get_seal(&loading->image) : status;
    if (status == KEVY_OK && loading->image.offset != loading->image.size) {
        status = KEVY_ECORRUPT;
    }
    if (status != KEVY_OK) {
        image->unload(opening->image_user);
    }
    return status;
}

static int arrays_make(struct loading *loading)
{
    struct kv_log *log = loading->opening->log;
    loading->entries = (struct kv_index_entry *)kv_mem_new(log->mem, loading->name.segment_count *
                                                                         sizeof *loading->entries);
    loading->room = (struct kv_image_room *)kv_mem_zeroed(log->mem, sizeof *loading->room);
    return loading->entries == NULL || loading->room == NULL ? KEVY_ENOMEM : KEVY_OK;
}

static int file_load(struct loading *loading)
{
    struct kv_log *log = loading->opening->log;
    int status = header_load(loading);
    if (status != KEVY_OK) {
        return status;
    }
    status = arrays_make(loading);
    status = status == KEVY_OK ? entries_load(loading) : status;
    status = status == KEVY_OK ? keyspace_load(loading) : status;
    if (status == KEVY_OK) {
        segments_set(loading);
    }
    kv_mem_free(log->mem, loading->entries, loading->name.segment_count * sizeof *loading->entries);
    kv_mem_free(log->mem, loading->room, sizeof *loading->room);
    return status;
}

/* Says whether an index can be there, and nothing speaks against it so far. */
static bool is_expected(const struct kv_opening *opening)
{
    return opening->image != NULL && opening->look == NULL && !opening->is_first &&
           (opening->mark.compatible & KV_MARK_INDEX) != 0 && kv_index_is_possible() &&
           opening->log->segment_count != 0;
}

static bool is_fit(const struct kv_opening *opening)
{
    return opening->damages.count == 0 && opening->tail.count == 0 &&
           opening->lsn == opening->mark.durable_lsn &&
           opening->tail_first + 1 == opening->order.count;
}

bool kv_index_load(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    struct loading loading = {.opening = opening, .file = -1};
    int status = KEVY_ECORRUPT;
    if (!is_expected(opening)) {
        return false;
    }
    if (is_fit(opening)) {
        loading.file =
            os->file_open(os->self, opening->log->files->dir, KV_INDEX_NAME, KEVY_OS_READ);
    }
    int64_t size = loading.file < 0 ? -1 : os->file_size(os->self, loading.file);
    if (size > 0) {
        loading.image = (struct kv_image){.self = &loading,
                                          .read = index_read,
                                          .size = (uint64_t)size,
                                          .hash = opening->log->files->check.index_seed};
        status = file_load(&loading);
    }
    if (loading.file >= 0) {
        os->file_close(os->self, loading.file);
    }
    opening->report->index = status == KEVY_OK ? KEVY_INDEX_USED : KEVY_INDEX_REFUSED;
    if (status == KEVY_OK) {
        opening->log->lsn_end = opening->lsn;
    }
    return status == KEVY_OK;
}
