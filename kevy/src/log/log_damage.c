/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Damage before the durable mark: bytes that had been durable and are not what
 * was written. The range from the first bad byte to the next stamp is put
 * aside, the records behind it are kept.
 *
 * The bytes are copied beside the log, to `<slot>-<offset>.bad`, before anything
 * in the folder changes, and nobody removes them again. The damaged segment is
 * then collected (log_collect.c): what was kept moves on, and it goes. A
 * segment whose header is damaged is put aside whole: without it no record can
 * be checked.
 *
 * A damaged mark, or a segment that is not there at all, is not for this room:
 * the open fails and touches nothing.
 */
#include <stdio.h>

#include "kevy/src/log/log_opening.h"

/* Bytes copied at a time. */
enum { DAMAGE_CHUNK = 64 << 10 };

int kv_damage_note(struct kv_opening *opening, uint32_t slot, size_t from, size_t to)
{
    struct kv_damages *list = &opening->damages;
    if (list->count == list->capacity) {
        size_t grown = list->capacity == 0 ? 8 : list->capacity * 2;
        void *at = kv_mem_resize(opening->log->mem, list->at, list->capacity * sizeof *list->at,
                                 grown * sizeof *list->at);
        if (at == NULL) {
            return kv_fail_slot(opening, KEVY_ENOMEM, 0, slot, from, "no memory to note damage");
        }
        list->at = (struct kv_damage *)at;
        list->capacity = grown;
    }
    list->at[list->count++] = (struct kv_damage){slot, from, to};
    opening->report->corrupt = 1;
    opening->report->quarantine_count++;
    opening->report->dropped_bytes += to - from;
    if (opening->look != NULL) {
        opening->look->damaged(opening, slot, from, to);
    }
    return KEVY_OK;
}

bool kv_damage_resume(const struct kv_segment *segment, struct kv_cursor *cursor)
{
    size_t limit = cursor->limit;
    bool has_place = cursor->offset < segment->resume_offset && segment->resume_offset <= limit;
    cursor->limit = has_place ? segment->resume_offset : limit;
    bool is_found = kv_cursor_resume(cursor, cursor->offset + KV_GRANULE);
    cursor->limit = limit;
    if (!is_found && has_place) {
        cursor->offset = segment->resume_offset;
        cursor->lsn = segment->resume_lsn;
    }
    return is_found || has_place;
}

void kv_damage_done(struct kv_opening *opening)
{
    kv_mem_free(opening->log->mem, opening->damages.at,
                opening->damages.capacity * sizeof *opening->damages.at);
}

/* Copies a range of one file to the start of another. */
static int range_copy(struct kv_log *log, int from, const struct kv_damage *damage, int to)
{
    const kevy_os *os = log->os;
    size_t done = 0, size = damage->to - damage->from;
    int status = kv_scratch_reserve(log, DAMAGE_CHUNK);
    while (status == KEVY_OK && done < size) {
        size_t piece = size - done < DAMAGE_CHUNK ? size - done : DAMAGE_CHUNK;
        int64_t count =
            os->file_read(os->self, from, log->files->scratch, piece, damage->from + done);
        if (count < 0) {
            return kv_file_status(count);
        }
        if (count == 0) {
            break;
        }
        status = kv_file_write(log, to, log->files->scratch, (size_t)count, done);
        done += (size_t)count;
    }
    if (status == KEVY_OK) {
        int result = os->file_flush(os->self, to);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    return status;
}

static int damage_save(struct kv_opening *opening, const struct kv_damage *damage)
{
    const kevy_os *os = opening->os;
    int dir = opening->log->files->dir;
    char name[KV_FILE_NAME_SIZE], bad[2 * KV_FILE_NAME_SIZE];
    kv_file_name(damage->slot, name);
    (void)snprintf(bad, sizeof bad, "%05x-%08lx.bad", (unsigned)damage->slot,
                   (unsigned long)damage->from);
    int from = os->file_open(os->self, dir, name, KEVY_OS_READ);
    if (from < 0) {
        return kv_fail(opening, kv_file_status(from), from, name, 0, "the file cannot be opened");
    }
    int to = os->file_open(os->self, dir, bad, KEVY_OS_WRITE | KEVY_OS_CREATE);
    int status = to < 0 ? kv_file_status(to) : range_copy(opening->log, from, damage, to);
    os->file_close(os->self, from);
    if (to >= 0) {
        os->file_close(os->self, to);
    }
    return status == KEVY_OK ? status
                             : kv_fail(opening, status, 0, bad, 0,
                                       "damaged bytes cannot be copied beside the log");
}

int kv_damage_save(struct kv_opening *opening)
{
    int status = KEVY_OK;
    for (size_t i = 0; status == KEVY_OK && i < opening->damages.count; i++) {
        status = damage_save(opening, &opening->damages.at[i]);
    }
    return status;
}

/* Moves what was kept of damaged segments out of them. Whatever hinders it, the
 * store is open, and the next open finds the same damage and keeps the same: where
 * an earlier mark had lain, reading went on, and every mark tells that place for
 * as long as the segment is there. */
void kv_damage_heal(struct kv_opening *opening)
{
    struct kv_log *log = opening->log;
    if (opening->damages.count != 0 && kv_collect_run(log, true) == KEVY_OK &&
        kv_flush_until(log, log->lsn_end) == KEVY_OK) {
        (void)kv_mark_write(log);
    }
}
