/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Gathering what is left of a log, for a replay that skips whatever is damaged.
 *
 * The mark is believed as far as it is there. All of it: the segments that it
 * names, and those of its incarnation behind it. One slot of it: those that it
 * names, and all that begin behind it. None: every segment of the store that
 * the folder holds, and then something that was deleted long ago may be back,
 * because the tombstone was dropped when nothing needed it any more.
 *
 * All that is gathered counts as "before the mark", so that replay treats each
 * gap as damage and goes on behind it (log_replay.c).
 *
 * The secret, which proves records, is in each of three copies of the mark's
 * head. Without any, only a caller who asked for it gets what has the form of a
 * record.
 */
#include <stdlib.h>

#include "kevy/src/log/log_salvage.h"

/* ---- The mark ---- */

/* Reads up to `size` bytes from the start of the mark; 0 when there is none. */
static size_t mark_bytes(const struct kv_opening *opening, uint8_t *out, size_t size)
{
    const kevy_os *os = opening->os;
    size_t done = 0;
    int64_t count = 1;
    int file = os->file_open(os->self, opening->log->files->dir, "mark", KEVY_OS_READ);
    while (file >= 0 && count > 0 && done < size) {
        count = os->file_read(os->self, file, out + done, size - done, done);
        done += count > 0 ? (size_t)count : 0;
    }
    if (file >= 0) {
        os->file_close(os->self, file);
    }
    return done;
}

/* The secret is lost. */
static int go_blind(struct kv_salvage *salvage)
{
    struct kv_files *files = salvage->opening->log->files;
    if (!salvage->looking->is_blind) {
        return kv_fail(salvage->opening, KEVY_ECORRUPT, 0, "mark", 0,
                       "no copy of the mark's head is intact, and with it the secret is lost that "
                       "proves records: salvage unverified to copy what has their form");
    }
    files->identity.segment_size = (uint32_t)KV_SLOT_SIZE;
    kv_check_init(&files->check, files->identity.secret);
    files->check.is_blind = true;
    kv_look_found(salvage->looking, KEVY_FOUND_NOTE, "mark", 0, 0,
                  "no copy of the mark's head is intact: no record could be verified");
    return KEVY_OK;
}

static int mark_find(struct kv_salvage *salvage)
{
    struct kv_opening *opening = salvage->opening;
    struct kv_files *files = opening->log->files;
    uint8_t *bytes = (uint8_t *)kv_mem_zeroed(opening->log->mem, KV_MARK_SIZE);
    if (bytes == NULL) {
        return kv_fail(opening, KEVY_ENOMEM, 0, "", 0, "no memory to read the mark");
    }
    size_t size = mark_bytes(opening, bytes, KV_MARK_SIZE);
    enum kv_mark_found found =
        kv_mark_decode(bytes, size, &files->identity, &salvage->mark, &salvage->is_certain);
    bool has_identity =
        found == KV_MARK_OK || kv_mark_identity_decode(bytes, size, &files->identity);
    salvage->has_guess = found == KV_MARK_DAMAGED &&
                         kv_mark_map_guess(bytes, size, &salvage->guess, &salvage->guess_lsn);
    kv_mem_free(opening->log->mem, bytes, KV_MARK_SIZE);
    salvage->has_mark = found == KV_MARK_OK;
    if (!salvage->has_mark) {
        memset(&salvage->mark, 0, sizeof salvage->mark); /* nonsense counts no more than nothing */
    }
    salvage->is_certain = salvage->has_mark && salvage->is_certain;
    if (found == KV_MARK_NEWER) {
        return kv_fail(opening, KEVY_EVERSION, 0, "mark", 0,
                       "the store was written by a newer version: salvage it with that one");
    }
    salvage->looking->report.damaged_marks = !salvage->has_mark ? 2 : !salvage->is_certain;
    if (!salvage->has_mark) {
        kv_look_found(salvage->looking, KEVY_FOUND_NOTE, "mark", 0, KV_MARK_SIZE,
                      "no slot of the mark is valid: it is not known which files were current, so "
                      "that something that was deleted may be back");
    }
    if (!has_identity) {
        return go_blind(salvage);
    }
    kv_check_init(&files->check, files->identity.secret);
    opening->log->segment_size = files->identity.segment_size;
    opening->log->seed = files->check.key_seed;
    return KEVY_OK;
}

/* ---- Relics ---- */

static int relic_add(struct kv_salvage *salvage, const struct kv_relic *relic)
{
    struct kv_relics *list = &salvage->relics;
    if (list->count == list->capacity) {
        size_t grown = list->capacity == 0 ? 16 : list->capacity * 2;
        void *at = kv_mem_resize(salvage->opening->log->mem, list->at,
                                 list->capacity * sizeof *relic, grown * sizeof *relic);
        if (at == NULL) {
            return kv_fail(salvage->opening, KEVY_ENOMEM, 0, "", 0, "no memory to salvage");
        }
        list->at = (struct kv_relic *)at;
        list->capacity = grown;
    }
    list->at[list->count++] = *relic;
    return KEVY_OK;
}

static bool is_header_of(const struct kv_salvage *salvage, const struct kv_segment_header *header,
                         uint32_t slot)
{
    const struct kv_files *files = salvage->opening->log->files;
    return header->slot == slot && (header->kind != KV_SEGMENT_LOG || header->slot_count == 1) &&
           (files->check.is_blind ||
            memcmp(header->store_id, files->identity.store_id, KV_STORE_ID_SIZE) == 0);
}

/* Looks at one file. One that cannot be read is as good as missing. */
static int relic_look(struct kv_salvage *salvage, uint32_t slot)
{
    const struct kv_opening *opening = salvage->opening;
    const kevy_os *os = opening->os;
    struct kv_relic relic = {.slot = slot};
    uint8_t head[KV_SEGMENT_HEADER];
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(slot, name);
    int file = os->file_open(os->self, opening->log->files->dir, name, KEVY_OS_READ);
    int64_t size = file < 0 ? file : os->file_size(os->self, file);
    int64_t count = size < 0 ? size : os->file_read(os->self, file, head, sizeof head, 0);
    if (file >= 0) {
        os->file_close(os->self, file);
    }
    if (count < 0) {
        salvage->looking->report.missing_files++;
        kv_look_found(salvage->looking, KEVY_FOUND_MISSING, name, 0, 0, "the file cannot be read");
        return KEVY_OK;
    }
    relic.size = (size_t)size;
    relic.is_good = count == (int64_t)sizeof head &&
                    kv_segment_header_decode(head, &relic.header) &&
                    is_header_of(salvage, &relic.header, slot);
    return relic_add(salvage, &relic);
}

int kv_relic_map(struct kv_salvage *salvage, const struct kv_relic *relic,
                 const struct kv_segment_header *header, struct kv_segment **out)
{
    struct kv_log *log = salvage->opening->log;
    const kevy_os *os = salvage->opening->os;
    uint64_t room = header->kind == KV_SEGMENT_LOG ? log->segment_size
                                                   : (uint64_t)header->slot_count * KV_SLOT_SIZE;
    size_t size = relic->size < room ? relic->size : (size_t)room;
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(relic->slot, name);
    int file = os->file_open(os->self, log->files->dir, name, KEVY_OS_READ);
    *out = NULL;
    if (file < 0) {
        return kv_fail_slot(salvage->opening, kv_file_status(file), file, relic->slot, 0,
                            "the file cannot be opened");
    }
    int status = kv_file_adopt(log, header, file, size, out);
    os->file_close(os->self, file);
    if (status != KEVY_OK) {
        return kv_fail_slot(salvage->opening, status, 0, relic->slot, 0,
                            "no memory to map a segment");
    }
    (*out)->file = -1;
    (*out)->slot = relic->slot;
    (*out)->is_flushed = true;
    return KEVY_OK;
}

/* Says whether the segment can be there beside what was entered. */
static bool fits_in(const struct kv_log *log, const struct kv_segment *segment)
{
    struct kv_segment *other;
    for (uint32_t slot = 0; (other = kv_segment_after(log, &slot)) != NULL;) {
        if (other->slot < segment->slot + segment->slot_count &&
            segment->slot < other->slot + other->slot_count) {
            return false;
        }
        if (segment->kind == KV_SEGMENT_LOG && other->kind == KV_SEGMENT_LOG &&
            other->incarnation == segment->incarnation && other->number == segment->number) {
            return false; /* a copy of it */
        }
    }
    return true;
}

int kv_relic_enter(struct kv_salvage *salvage, struct kv_relic *relic, struct kv_segment *segment)
{
    struct kv_opening *opening = salvage->opening;
    struct kv_log *log = opening->log;
    if (!fits_in(log, segment)) {
        kv_file_free(log, segment);
        return 0;
    }
    int status = kv_segment_reserve(log, segment->slot + segment->slot_count);
    if (status == KEVY_OK && segment->kind == KV_SEGMENT_LOG) {
        status = kv_segments_add(log, &opening->order, segment);
    }
    if (status != KEVY_OK) {
        kv_file_free(log, segment);
        return kv_fail(opening, status, 0, "", 0, "no memory to salvage");
    }
    if (salvage->has_mark) {
        kv_adopt_place(segment, &salvage->mark);
    }
    if (salvage->has_mark && segment->slot == salvage->mark.durable_slot) {
        segment->resume_offset = salvage->mark.durable_offset;
        segment->resume_lsn = salvage->mark.durable_lsn + 1;
    }
    kv_segment_enter(log, segment);
    relic->is_taken = true;
    return 1;
}

/* ---- Which of them count ---- */

static bool relic_counts(const struct kv_salvage *salvage, uint32_t slot,
                         const struct kv_segment_header *header)
{
    const struct kv_mark *mark = &salvage->mark;
    return !salvage->has_mark || kv_mark_bit(mark, slot) ||
           (header->first_lsn > mark->durable_lsn &&
            (!salvage->is_certain || header->incarnation == mark->incarnation));
}

static int relic_take(struct kv_salvage *salvage, struct kv_relic *relic)
{
    struct kv_segment *segment;
    int status = kv_relic_map(salvage, relic, &relic->header, &segment);
    return segment != NULL ? kv_relic_enter(salvage, relic, segment) : status;
}

/* All with a good header; then those whose header can be found out. */
static int relics_take(struct kv_salvage *salvage)
{
    int status = KEVY_OK;
    for (size_t i = 0; status >= 0 && i < salvage->relics.count; i++) {
        struct kv_relic *relic = &salvage->relics.at[i];
        if (relic->is_good && relic_counts(salvage, relic->slot, &relic->header)) {
            status = relic_take(salvage, relic);
        }
    }
    for (size_t i = 0; status >= 0 && i < salvage->relics.count; i++) {
        struct kv_relic *relic = &salvage->relics.at[i];
        if (relic->is_good) {
            continue;
        }
        status = kv_relic_mend(salvage, relic, &relic->header);
        if (status == 1 && relic_counts(salvage, relic->slot, &relic->header)) {
            status = relic_take(salvage, relic);
        }
        if (relic->is_taken) {
            kv_look_found_slot(salvage->looking, KEVY_FOUND_NOTE, relic->slot, 0, KV_SEGMENT_HEADER,
                               "the header is damaged; what it said was found by the records");
        }
    }
    return status < 0 ? status : KEVY_OK;
}

/* Tells of files that the mark names and that nothing was taken from. */
static void tell_lost(struct kv_salvage *salvage)
{
    const struct kv_log *log = salvage->opening->log;
    KevyCheckReport *report = &salvage->looking->report;
    for (size_t i = 0; i < salvage->relics.count; i++) {
        const struct kv_relic *relic = &salvage->relics.at[i];
        if (!relic->is_good && !relic->is_taken &&
            (!salvage->has_mark || kv_mark_bit(&salvage->mark, relic->slot))) {
            report->damaged_ranges++;
            report->damaged_bytes += relic->size;
            kv_look_found_slot(salvage->looking, KEVY_FOUND_DAMAGE, relic->slot, 0, relic->size,
                               "the header is damaged, and nothing behind it tells what it said");
        }
    }
    bool is_run = false;
    for (uint32_t slot = 0; salvage->has_mark && slot < KV_SLOT_COUNT; slot++) {
        bool is_lost = kv_mark_bit(&salvage->mark, slot) &&
                       !kv_adopt_has_file(salvage->opening, slot) &&
                       (slot >= log->segment_capacity || log->segments[slot] == NULL);
        if (is_lost && !is_run) {
            report->missing_files++;
            kv_look_found_slot(salvage->looking, KEVY_FOUND_MISSING, slot, 0, 0,
                               "the mark names this file, which is not there");
        }
        is_run = is_lost;
    }
}

/* ---- All of it ---- */

static int by_first_lsn_then_slot(const void *a, const void *b)
{
    const struct kv_segment *left = *(const struct kv_segment *const *)a;
    const struct kv_segment *right = *(const struct kv_segment *const *)b;
    return left->first_lsn != right->first_lsn
               ? (left->first_lsn < right->first_lsn ? -1 : 1)
               : (left->slot > right->slot) - (left->slot < right->slot);
}

static int gather_steps(struct kv_salvage *salvage)
{
    struct kv_opening *opening = salvage->opening;
    int status = KEVY_OK;
    for (uint32_t slot = 0; status == KEVY_OK && slot < KV_SLOT_COUNT; slot++) {
        status = kv_adopt_has_file(opening, slot) ? relic_look(salvage, slot) : KEVY_OK;
    }
    status = status == KEVY_OK ? relics_take(salvage) : status;
    if (status != KEVY_OK) {
        return status;
    }
    if (opening->order.count != 0) {
        qsort(opening->order.at, opening->order.count, sizeof(struct kv_segment *),
              by_first_lsn_then_slot);
    }
    status = kv_salvage_survey(salvage);
    tell_lost(salvage);
    return status;
}

int kv_salvage_gather(struct kv_opening *opening)
{
    struct kv_salvage salvage = {.opening = opening, .looking = kv_looking_of(opening)};
    const kevy_os *os = opening->os;
    int mark = os->file_open(os->self, opening->log->files->dir, "mark", KEVY_OS_READ);
    if (mark >= 0) {
        os->file_close(os->self, mark);
    } else if (!kv_adopt_has_any(opening)) {
        return kv_fail(opening, KEVY_EPATH, 0, "", 0, "there is no store in the folder");
    }
    int status = mark_find(&salvage);
    if (status == KEVY_OK) {
        opening->mark = salvage.mark;
        status = gather_steps(&salvage);
    }
    opening->mark.durable_slot = KV_MARK_NO_SLOT;
    opening->tail_first = opening->order.count;
    opening->lsn = opening->mark.durable_lsn;
    kv_mem_free(opening->log->mem, salvage.relics.at,
                salvage.relics.capacity * sizeof *salvage.relics.at);
    return status;
}
