/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_check: what an open would find, without opening. See kevy.h; the reading
 * is in log/, here its records become keys that are counted and shown.
 */
#include "kevy/src/engine/api_check.h"

#include "kevy/src/os/os_posix.h"

/* Keys shown between two looks at whether the visitor has had enough. */
enum { CHECK_PAGE = 256 };

/* ---- Replay ---- */

/* The first record is the map that replay starts from: now the log is there. */
static int viewing_apply(void *user, const struct kv_log_record *record)
{
    struct kv_viewing *viewing = user;
    struct kv_namespaces map;
    if (record->ref != 0) {
        return kv_keyspace_apply(&viewing->keyspace, record->ref);
    }
    if (!kv_namespaces_decode(record->value, &map)) {
        return KEVY_ECORRUPT;
    }
    kv_keyspace_init(&viewing->keyspace, &viewing->mem, kv_log_space(viewing->log),
                     kv_log_journal(viewing->log), &viewing->clock, kv_log_seed(viewing->log));
    kv_keyspace_map(&viewing->keyspace, &map);
    return 0;
}

static void viewing_ahead(void *user, const uint32_t *refs, size_t count)
{
    struct kv_viewing *viewing = user;
    kv_keyspace_fetch(&viewing->keyspace, refs, count);
}

static void count_keys(const struct kv_viewing *viewing, KevyCheckReport *report)
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        report->keys += kv_keyspace_count(&viewing->keyspace, db);
        report->expiring_keys += kv_keyspace_expiring(&viewing->keyspace, db);
    }
}

void kv_report_give(const KevyCheckReport *from, KevyCheckReport *to)
{
    if (to != NULL && to->size >= sizeof to->size) {
        uint64_t size = to->size, known = size < sizeof *from ? size : sizeof *from;
        memset(to, 0, (size_t)size);
        memcpy(to, from, (size_t)known);
        to->size = size;
    }
}

int kv_viewing_new(const struct kv_view_of *of, struct kv_viewing **out, KevyCheckReport *report,
                   KevyError *error)
{
    struct kv_viewing *viewing = of->mem->resize(of->mem->self, NULL, 0, sizeof *viewing);
    *out = NULL;
    if (viewing == NULL) {
        (void)kv_error_set(error, KEVY_ENOMEM, "no memory to look at the store", of->dir);
        return KEVY_ENOMEM;
    }
    memset(viewing, 0, sizeof *viewing);
    kv_mem_init(&viewing->mem, of->mem);
    kv_clock_init(&viewing->clock, of->os);
    viewing->looking = (struct kv_looking){
        .mem = &viewing->mem,
        .os = of->os,
        .dir = of->dir,
        .apply = viewing_apply,
        .ahead = viewing_ahead,
        .user = viewing,
        .found = of->options == NULL ? NULL : of->options->found,
        .found_user = of->options == NULL ? NULL : of->options->user,
        .is_salvage = of->is_salvage,
        .is_blind = of->is_blind,
    };
    int status = kv_log_look(&viewing->log, &viewing->looking, error);
    if (status == KEVY_OK) {
        count_keys(viewing, &viewing->looking.report);
        *out = viewing;
    }
    kv_report_give(&viewing->looking.report, report);
    if (status != KEVY_OK) {
        kv_viewing_free(viewing);
    }
    return status;
}

void kv_viewing_free(struct kv_viewing *viewing)
{
    if (viewing != NULL) {
        kevy_mem table = viewing->mem.table;
        if (viewing->keyspace.mem != NULL) {
            kv_keyspace_done(&viewing->keyspace);
        }
        kv_log_look_end(viewing->log);
        table.resize(table.self, viewing, sizeof *viewing, 0);
    }
}

/* ---- Showing ---- */

struct show {
    const KevyCheckOptions *options;
    uint32_t db;
    int32_t answer;
};

static void show_entry(void *user, struct bytes key, const struct kv_item *item)
{
    struct show *show = user;
    KevyEntry entry = {.database = show->db,
                       .key = key.data,
                       .key_len = key.size,
                       .value = item->value.data,
                       .value_len = item->value.size,
                       .expiry_ms = item->expiry_ms};
    if (show->answer == 0) {
        show->answer = show->options->entry(show->options->user, &entry);
    }
}

static int32_t show_all(const struct kv_viewing *viewing, const KevyCheckOptions *options)
{
    struct show show = {.options = options};
    for (; show.db < KV_DATABASE_COUNT && show.answer == 0; show.db++) {
        uint64_t cursor = 0;
        do {
            cursor = kv_keyspace_scan(&viewing->keyspace, show.db, cursor, CHECK_PAGE, show_entry,
                                      &show);
        } while (cursor != 0 && show.answer == 0);
    }
    return show.answer;
}

const char *kv_path_misuse(struct bytes path)
{
    if (path.data == NULL || path.size == 0) {
        return "the path is empty: name a directory";
    }
    return memchr(path.data, 0, path.size) != NULL
               ? "the path contains a NUL: a directory's name cannot"
               : NULL;
}

int32_t kv_check_run(const struct kv_view_of *of, KevyCheckReport *report, KevyError *error)
{
    struct kv_viewing *viewing;
    int32_t status = kv_viewing_new(of, &viewing, report, error);
    if (status != KEVY_OK) {
        return status;
    }
    status = kv_report_has_loss(&viewing->looking.report);
    if (of->options != NULL && of->options->entry != NULL) {
        int32_t answer = show_all(viewing, of->options);
        status = answer != 0 ? answer : status;
    }
    kv_viewing_free(viewing);
    return status;
}

int32_t kevy_check(const uint8_t *dir, size_t dir_len, const KevyCheckOptions *options,
                   KevyCheckReport *report, KevyError *error)
{
    struct kv_view_of of = {
        .dir = bytes_of(dir, dir_len), .os = &kv_os_posix, .mem = &kv_mem_libc, .options = options};
    const char *misuse = kv_path_misuse(of.dir);
    kv_report_give(&(KevyCheckReport){0}, report);
    if (misuse != NULL) {
        return kv_error_set(error, KEVY_EPATH, misuse, (struct bytes){NULL, 0});
    }
    return kv_check_run(&of, report, error);
}
