/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A look at the files of a log, as an open would find them; see log_check.h.
 *
 * Beyond what an open reads, it verifies the bytes of every extent that holds a
 * newest value. An open does that only behind the mark.
 */
#include <errno.h>

#include "kevy/src/log/log_check.h"

/* ---- What was found ---- */

void kv_look_found(struct kv_looking *looking, int32_t kind, const char *file, uint64_t from,
                   uint64_t to, const char *text)
{
    KevyFound found = {.kind = kind, .file = file, .from = from, .to = to, .text = text};
    if (looking->found != NULL) {
        looking->found(looking->found_user, &found);
    }
}

void kv_look_found_slot(struct kv_looking *looking, int32_t kind, uint32_t slot, uint64_t from,
                        uint64_t to, const char *text)
{
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(slot, name);
    kv_look_found(looking, kind, name, from, to, text);
}

static size_t order_next(const struct kv_opening *opening, const struct kv_segment *segment)
{
    size_t next = 0;
    while (next < opening->order.count && opening->order.at[next++] != segment) {
    }
    return next;
}

static bool is_zero(const struct kv_segment *segment, size_t from, size_t to)
{
    while (from < to && segment->base[from] == 0) {
        from++;
    }
    return from == to;
}

/* Of a salvage: says whether the range is just the end of a segment that was
 * being written when its store died, and not damage: nothing durable is missing
 * before it. The last applied record may be followed by a commit, which has an
 * LSN. */
static bool is_end(struct kv_opening *opening, uint32_t slot, size_t from, size_t to)
{
    struct kv_looking *looking = kv_looking_of(opening);
    const struct kv_segment *segment = opening->log->segments[slot];
    size_t next = order_next(opening, segment);
    if (segment->kind != KV_SEGMENT_LOG || to != segment->used) {
        return false;
    }
    if (next < opening->order.count) {
        return is_zero(segment, from, to) &&
               opening->order.at[next]->first_lsn <= opening->log->lsn_end + 2;
    }
    if (from < segment->resume_offset || opening->mark.durable_lsn > opening->log->lsn_end + 1) {
        return false;
    }
    if (!is_zero(segment, from, to)) {
        looking->report.torn_bytes += to - from;
        kv_look_found_slot(looking, KEVY_FOUND_TORN, slot, from, to,
                           "the end of the log is torn, and is left out");
    }
    return true;
}

static void look_damaged(struct kv_opening *opening, uint32_t slot, size_t from, size_t to)
{
    struct kv_looking *looking = kv_looking_of(opening);
    if (looking->is_salvage && is_end(opening, slot, from, to)) {
        return;
    }
    looking->report.damaged_ranges++;
    looking->report.damaged_bytes += to - from;
    kv_look_found_slot(looking, KEVY_FOUND_DAMAGE, slot, from, to,
                       from == 0   ? "the header is damaged: without it nothing in the file counts"
                       : from < to ? "bytes that were durable are not what was written"
                                   : "bytes that were durable are missing");
}

/* ---- Extents ---- */

bool kv_look_extent_holds(const struct kv_opening *opening, const struct kv_segment *extent,
                          const uint8_t *record)
{
    size_t payload = (size_t)kv_record_key_size(record) + kv_record_value_size(record);
    return kv_record_extent(record).check ==
           kv_check_extent(&opening->log->files->check, extent->base + KV_EXTENT_DATA, payload);
}

/* Many records may name one extent; all tell the same of it. */
static bool look_takes_extent(struct kv_opening *opening, const struct kv_segment *extent,
                              const uint8_t *record)
{
    struct kv_looking *looking = kv_looking_of(opening);
    if (!kv_slot_set_has(looking->extents_seen, extent->slot)) {
        kv_slot_set_add(looking->extents_seen, extent->slot);
        if (!kv_look_extent_holds(opening, extent, record)) {
            kv_slot_set_add(looking->extents_bad, extent->slot);
        }
    }
    return true;
}

static void extents_tell(struct kv_looking *looking, const struct kv_log *log)
{
    struct kv_segment *segment;
    for (uint32_t slot = 0; (segment = kv_segment_after(log, &slot)) != NULL;) {
        if (segment->live != 0 && kv_slot_set_has(looking->extents_bad, segment->slot)) {
            looking->report.damaged_values++;
            kv_look_found_slot(looking, KEVY_FOUND_VALUE, segment->slot, KV_EXTENT_DATA,
                               segment->used,
                               "a large value is not what was written; an open does not notice");
        }
    }
}

/* ---- The end ---- */

/* Tells of what an open cuts off: the log's last segment knows where. */
static void torn_tell(struct kv_opening *opening)
{
    struct kv_looking *looking = kv_looking_of(opening);
    const kevy_os *os = opening->os;
    uint64_t torn = opening->report->dropped_bytes - looking->report.damaged_bytes;
    const struct kv_segments *order = &opening->order, *found = &opening->found;
    const char *text = "the end of the log is torn: an open cuts it off";
    looking->report.torn_bytes = torn;
    if (torn == 0) {
        return;
    }
    if (order->count > opening->tail_first) {
        const struct kv_segment *last = order->at[order->count - 1];
        int64_t size = os->file_size(os->self, last->file);
        uint64_t end = last->used + torn;
        end = size >= 0 && end > (uint64_t)size ? (uint64_t)size : end;
        kv_look_found_slot(looking, KEVY_FOUND_TORN, last->slot, last->used, end, text);
    } else if (found->count != 0) {
        kv_look_found_slot(looking, KEVY_FOUND_TORN, found->at[0]->slot, KV_SEGMENT_HEADER,
                           KV_SEGMENT_HEADER + torn, text);
    }
}

static int look_gather(struct kv_opening *opening)
{
    int status = kv_gather(opening);
    if (status == KEVY_OK) {
        torn_tell(opening);
        if (!opening->is_mark_whole) {
            kv_looking_of(opening)->report.damaged_marks++;
            kv_look_found(kv_looking_of(opening), KEVY_FOUND_MARK, "mark", 0, KV_MARK_SIZE,
                          "one copy of the mark is damaged: an open writes it again");
        }
    }
    return status;
}

/* Counts what the folder holds besides the log. */
static void note_file(void *user, const char *name)
{
    struct kv_looking *looking = (struct kv_looking *)user;
    size_t size = strlen(name);
    if (size > 4 && strcmp(name + size - 4, ".bad") == 0) {
        looking->report.quarantine_files++;
        kv_look_found(looking, KEVY_FOUND_QUARANTINE, name, 0, 0,
                      "bytes that an earlier open found damaged and put aside; nobody reads them");
    }
}

static void look_end(struct kv_opening *opening)
{
    struct kv_looking *looking = kv_looking_of(opening);
    KevyCheckReport *report = &looking->report;
    const struct kv_log *log = opening->log;
    const kevy_os *os = opening->os;
    report->records = looking->opened.replayed_commands;
    report->dropped_bytes = looking->opened.dropped_bytes;
    report->log_files = log->segment_count;
    report->log_size = log->used_size;
    report->log_lsn_end = opening->lsn;
    report->log_lsn_durable = opening->mark.durable_lsn;
    if (log->files->dir >= 0) {
        (void)os->dir_list(os->self, log->files->dir, note_file, looking);
    }
    if (!looking->is_salvage) {
        extents_tell(looking, log);
    }
}

/* ---- The lock ---- */

static void note_store(void *user, const char *name)
{
    bool *has_store = user;
    size_t size = strlen(name);
    *has_store = *has_store || strcmp(name, "mark") == 0 ||
                 (size > 4 && strcmp(name + size - 4, ".seg") == 0);
}

/* Without it an open that comes meanwhile would not know of the look, and would
 * change what is read. On a file system that is read-only there is none to come. */
static int look_lock_make(struct kv_opening *opening, int *out)
{
    const kevy_os *os = kv_looking_of(opening)->os;
    int dir = opening->log->files->dir;
    bool has_store = false;
    int result = os->dir_list(os->self, dir, note_store, &has_store);
    if (result < 0) {
        return kv_fail(opening, kv_file_status(result), result, "", 0,
                       "the folder cannot be listed");
    }
    if (!has_store) {
        return kv_fail(opening, KEVY_EPATH, 0, "", 0, "there is no store in the folder");
    }
    *out = os->file_open(os->self, dir, "lock", KEVY_OS_WRITE | KEVY_OS_CREATE);
    return *out >= 0 || *out == -EROFS
               ? KEVY_OK
               : kv_fail(opening, kv_file_status(*out), *out, "lock", 0,
                         "the lock file is missing and cannot be made, so nothing would keep "
                         "others from opening the store meanwhile: make an empty file of "
                         "that name, or look at a copy of the folder");
}

/* ---- All of it ---- */

int kv_log_look(struct kv_log **out, struct kv_looking *looking, KevyError *error)
{
    kv_still_init(&looking->still, looking->os);
    looking->look = (struct kv_look){
        .lock_make = look_lock_make,
        .gather = looking->is_salvage ? kv_salvage_gather : look_gather,
        .resume = looking->is_salvage ? kv_salvage_resume : kv_damage_resume,
        .damaged = look_damaged,
        .takes_extent = looking->is_salvage ? kv_salvage_takes : look_takes_extent,
        .end = look_end,
    };
    struct kv_log_options options = {.mem = looking->mem,
                                     .os = &looking->still.table,
                                     .dir = looking->dir,
                                     .is_threadless = true,
                                     .look = &looking->look,
                                     .ahead = looking->ahead};
    return kv_log_open(out, &options, looking->apply, looking->user, &looking->opened, error);
}

void kv_log_look_end(struct kv_log *log)
{
    if (log != NULL) {
        kv_log_free(log);
    }
}
