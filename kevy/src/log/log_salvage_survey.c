/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What must be known before a salvage is replayed: the namespace map to start
 * from, and extents that only their records can vouch for.
 *
 * Map: that of the mark; else the newest, in the log or, if it has the form of
 * one, in a slot of the mark that is not valid; else that of a new store.
 * A namespace that the map does not know, although it is newer than the map,
 * gets a database of which no record was found: which it was is lost.
 *
 * Extents: the record that names one has a hash of its bytes, which proves more
 * than a header, so a damaged header does not matter.
 */
#include <stdio.h>

#include "kevy/src/log/log_salvage.h"

/* Namespaces that are kept apart; older ones beyond are left out. */
enum { SURVEY_NAMESPACES = 64 };

struct survey {
    struct kv_salvage *salvage;
    bool has_map;
    uint64_t map_lsn;
    struct kv_namespaces map;
    uint32_t ids[SURVEY_NAMESPACES]; /* that records have, the newest last */
    uint32_t count;
};

/* ---- Namespaces ---- */

static void survey_namespace(struct survey *survey, uint32_t id)
{
    uint32_t at = 0;
    while (at < survey->count && survey->ids[at] != id) {
        at++;
    }
    if (at < survey->count || survey->count == SURVEY_NAMESPACES) {
        uint32_t gone = at < survey->count ? at : 0;
        memmove(&survey->ids[gone], &survey->ids[gone + 1],
                (survey->count - gone - 1) * sizeof survey->ids[0]);
        survey->count--;
    }
    survey->ids[survey->count++] = id;
}

static void survey_map(struct survey *survey, const uint8_t *record, uint64_t lsn)
{
    struct kv_namespaces map;
    struct bytes value = bytes_of(kv_record_body(record), kv_record_value_size(record));
    if (lsn > survey->map_lsn && kv_namespaces_decode(value, &map)) {
        survey->map = map;
        survey->map_lsn = lsn;
        survey->has_map = true;
    }
}

static bool is_seen(const struct survey *survey, uint32_t id)
{
    for (uint32_t i = 0; i < survey->count; i++) {
        if (survey->ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* A database of the map that no record is for, from 0 on. */
static uint32_t database_free(const struct survey *survey, const struct kv_namespaces *map)
{
    uint32_t db = 0;
    while (db < KV_NAMESPACE_DATABASES && is_seen(survey, map->database[db])) {
        db++;
    }
    return db;
}

/* Gives the namespaces that the map should know databases, the newest first. */
static void assign_unknown(const struct survey *survey, struct kv_namespaces *map)
{
    char text[160];
    const uint32_t known = map->next;
    for (uint32_t i = survey->count; i > 0; i--) {
        uint32_t id = survey->ids[i - 1], db = database_free(survey, map);
        if (id < known || id == KV_NAMESPACE_LAST || kv_namespaces_has(map, id)) {
            continue;
        }
        if (db < KV_NAMESPACE_DATABASES) {
            map->database[db] = id;
            map->next = id >= map->next ? id + 1 : map->next;
            (void)snprintf(text, sizeof text,
                           "no map tells which database namespace %lu was: its keys are in "
                           "database %lu",
                           (unsigned long)id, (unsigned long)db);
        } else {
            survey->salvage->looking->report.damaged_ranges++;
            (void)snprintf(text, sizeof text,
                           "no map tells which database namespace %lu was, and none is free: its "
                           "keys are left out",
                           (unsigned long)id);
        }
        kv_look_found(survey->salvage->looking, KEVY_FOUND_NOTE, "mark", 0, 0, text);
    }
}

static void map_choose(struct survey *survey)
{
    struct kv_mark *mark = &survey->salvage->opening->mark;
    if (!survey->salvage->has_mark) {
        const struct kv_salvage *salvage = survey->salvage;
        mark->map_lsn = survey->map_lsn;
        mark->map = survey->map;
        if (salvage->has_guess && (!survey->has_map || salvage->guess_lsn > survey->map_lsn)) {
            mark->map_lsn = salvage->guess_lsn;
            mark->map = salvage->guess;
            kv_look_found(survey->salvage->looking, KEVY_FOUND_NOTE, "mark", 0, 0,
                          "the map of databases is that of a slot of the mark that is not valid");
        } else if (!survey->has_map) {
            kv_namespaces_first(&mark->map);
            kv_look_found(survey->salvage->looking, KEVY_FOUND_NOTE, "mark", 0, 0,
                          "no map of databases was found: they are taken to be those of a store "
                          "in which none was ever flushed or swapped");
        }
    }
    if (!survey->has_map || survey->map_lsn <= mark->map_lsn) {
        assign_unknown(survey, &mark->map);
    }
}

/* ---- Extents ---- */

static struct kv_relic *relic_of(struct kv_salvage *salvage, uint32_t slot)
{
    for (size_t i = 0; i < salvage->relics.count; i++) {
        if (salvage->relics.at[i].slot == slot) {
            return &salvage->relics.at[i];
        }
    }
    return NULL;
}

/* Takes an extent whose header is damaged, if its bytes are those that the
 * record tells. */
static int extent_mend(struct kv_salvage *salvage, const uint8_t *record, uint64_t lsn)
{
    struct kv_opening *opening = salvage->opening;
    struct kv_extent_ref place = kv_record_extent(record);
    struct kv_relic *relic = relic_of(salvage, place.slot);
    struct kv_segment *segment;
    uint64_t payload = (uint64_t)kv_record_key_size(record) + kv_record_value_size(record);
    struct kv_segment_header header = {.kind = KV_SEGMENT_EXTENT,
                                       .slot = place.slot,
                                       .slot_count = place.slot_count,
                                       .first_lsn = lsn};
    if (relic == NULL || relic->is_good || relic->is_taken || opening->log->files->check.is_blind ||
        payload > (uint64_t)SIZE_MAX / 2 || relic->size < KV_EXTENT_DATA + payload ||
        (uint64_t)place.slot_count * KV_SLOT_SIZE < KV_EXTENT_DATA + payload) {
        return KEVY_OK;
    }
    int status = kv_relic_map(salvage, relic, &header, &segment);
    if (status != KEVY_OK) {
        return status;
    }
    if (!kv_look_extent_holds(opening, segment, record)) {
        kv_file_free(opening->log, segment);
        return KEVY_OK;
    }
    status = kv_relic_enter(salvage, relic, segment);
    if (status == 1) {
        kv_look_found_slot(salvage->looking, KEVY_FOUND_NOTE, place.slot, 0, KV_SEGMENT_HEADER,
                           "the header is damaged; the record that names the file vouches for it");
    }
    return status < 0 ? status : KEVY_OK;
}

/* The namespaces of the records of a batch's extent. */
static void survey_batch(struct survey *survey, const struct kv_segment *extent,
                         const uint8_t *entry)
{
    size_t offset = KV_EXTENT_DATA, end = offset + kv_record_value_size(entry);
    const uint8_t *record;
    while ((record = kv_batch_next(extent->base, &offset, end)) != NULL) {
        survey_namespace(survey, kv_record_namespace(record));
    }
}

static int survey_extent(struct survey *survey, const uint8_t *record, uint64_t lsn)
{
    const struct kv_log *log = survey->salvage->opening->log;
    int status = KEVY_OK;
    if (kv_adopt_extent(log, record, lsn) == NULL) {
        status = extent_mend(survey->salvage, record, lsn);
    }
    const struct kv_segment *extent = kv_adopt_extent(log, record, lsn);
    if (extent != NULL && kv_record_lsn_count(record) > 1) {
        survey_batch(survey, extent, record);
    } else if (extent != NULL) {
        survey_namespace(survey, kv_record_namespace(record));
    }
    return status;
}

/* ---- All of it ---- */

static int survey_record(struct survey *survey, const uint8_t *record, uint64_t lsn)
{
    switch ((enum kv_record_type)kv_record_type(record)) {
    case KV_RECORD_EXTENT:
        return survey_extent(survey, record, lsn);
    case KV_RECORD_NAMESPACES:
        survey_map(survey, record, lsn);
        break;
    case KV_RECORD_VALUE:
    case KV_RECORD_TOMBSTONE:
        survey_namespace(survey, kv_record_namespace(record));
        break;
    case KV_RECORD_COMMIT:
    case KV_RECORD_SEAL:
    case KV_RECORD_STAMP:
    case KV_RECORD_PAD:
        break;
    }
    return KEVY_OK;
}

static int survey_segment(struct survey *survey, const struct kv_segment *segment)
{
    const uint8_t *record;
    struct kv_cursor cursor = {.place = kv_file_place(survey->salvage->opening->log, segment),
                               .base = segment->base,
                               .limit = segment->used,
                               .offset = KV_SEGMENT_HEADER,
                               .lsn = segment->first_lsn,
                               .is_checked = true};
    int status = KEVY_OK;
    enum kv_step step = KV_STEP_RECORD;
    while (status == KEVY_OK) {
        step = kv_cursor_next(&cursor, &record);
        if (step == KV_STEP_RECORD) {
            status = survey_record(survey, record, cursor.lsn - kv_record_lsn_count(record));
        } else if (step == KV_STEP_SEAL || !kv_salvage_resume(segment, &cursor)) {
            break;
        }
    }
    return status;
}

int kv_salvage_survey(struct kv_salvage *salvage)
{
    struct survey survey = {.salvage = salvage};
    const struct kv_segments *order = &salvage->opening->order;
    int status = KEVY_OK;
    for (size_t i = 0; status == KEVY_OK && i < order->count; i++) {
        status = survey_segment(&survey, order->at[i]);
    }
    map_choose(&survey);
    return status;
}

/* ---- During replay ---- */

static bool is_record_at(const struct kv_cursor *cursor, size_t offset)
{
    const struct kv_place *place = &cursor->place;
    const uint8_t *record = cursor->base + offset;
    return kv_record_form(place, cursor->base, cursor->limit, offset) != 0 &&
           kv_record_type(record) < KV_RECORD_SEAL &&
           kv_check_holds(place->check, place->segment_key, offset, record);
}

/* An open goes on at the next stamp, since only that tells an LSN for certain. A
 * salvage takes each record before it whose check holds: their order is known. */
bool kv_salvage_resume(const struct kv_segment *segment, struct kv_cursor *cursor)
{
    struct kv_cursor next = *cursor;
    bool has_next = kv_damage_resume(segment, &next);
    size_t limit = has_next ? next.offset : cursor->limit;
    size_t offset = cursor->offset + KV_GRANULE;
    while (!cursor->place.check->is_blind && offset < limit) {
        if (is_record_at(cursor, offset)) {
            cursor->offset = offset;
            cursor->lsn = kv_relic_number(*cursor, has_next ? next.lsn : cursor->lsn + 1);
            return true;
        }
        offset += KV_GRANULE;
    }
    *cursor = has_next ? next : *cursor;
    return has_next;
}

/* Says whether the records of a batch's extent, whose bytes nothing vouches for,
 * are as many as its record says. */
static bool batch_has_form(const struct kv_segment *extent, const uint8_t *entry)
{
    size_t offset = KV_EXTENT_DATA, end = offset + kv_record_value_size(entry);
    uint32_t count = 0;
    while (kv_batch_next(extent->base, &offset, end) != NULL) {
        count++;
    }
    return count == kv_record_lsn_count(entry);
}

bool kv_salvage_takes(struct kv_opening *opening, const struct kv_segment *extent,
                      const uint8_t *record)
{
    struct kv_looking *looking = kv_looking_of(opening);
    bool is_batch = kv_record_lsn_count(record) > 1, is_blind = opening->log->files->check.is_blind;
    bool is_good = is_blind ? !is_batch || batch_has_form(extent, record)
                            : kv_look_extent_holds(opening, extent, record);
    bool is_first = !kv_slot_set_has(looking->extents_seen, extent->slot);
    kv_slot_set_add(looking->extents_seen, extent->slot);
    if (is_good && is_first && is_batch) {
        kv_slot_set_add(looking->extents_batch, extent->slot);
    }
    if (!is_good && !kv_slot_set_has(looking->extents_bad, extent->slot)) {
        kv_slot_set_add(looking->extents_bad, extent->slot);
        looking->report.damaged_values++;
        kv_look_found_slot(looking, KEVY_FOUND_VALUE, extent->slot, KV_EXTENT_DATA, extent->used,
                           "a large value, or batch, is not what was written: it is left out");
    }
    return is_good &&
           (is_first || (!is_batch && !kv_slot_set_has(looking->extents_batch, extent->slot)));
}
