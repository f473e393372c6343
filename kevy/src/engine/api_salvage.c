/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy_salvage: what can still be read becomes a new store. See kevy.h; which
 * records those are is log/'s to find (log_salvage.c), here they are written.
 */
#include "kevy/src/engine/api_check.h"
#include "kevy/src/engine/write.h"
#include "kevy/src/os/os_posix.h"

#include <errno.h>

enum { SALVAGE_PAGE = 256, SALVAGE_PATH = 4096 };

/* ---- The new store ---- */

static void note_other(void *user, const char *name)
{
    bool *has_other = user;
    *has_other = *has_other || strcmp(name, "lock") != 0;
}

/* The folder must be missing, or hold nothing but a lock file. */
static int target_look(const kevy_os *os, struct bytes to, KevyError *error)
{
    char path[SALVAGE_PATH];
    bool has_other = false;
    if (to.size >= sizeof path) {
        return kv_error_set(error, KEVY_EPATH, "the path is too long", (struct bytes){NULL, 0});
    }
    memcpy(path, to.data, to.size);
    path[to.size] = '\0';
    int dir = os->dir_open(os->self, path);
    if (dir == -ENOENT) {
        return KEVY_OK;
    }
    int result = dir < 0 ? dir : os->dir_list(os->self, dir, note_other, &has_other);
    if (dir >= 0) {
        os->dir_close(os->self, dir);
    }
    if (result < 0) {
        return kv_error_set(error, KEVY_EPATH, "the path cannot be opened as a folder", to);
    }
    return has_other
               ? kv_error_set(error, KEVY_EPATH,
                              "the folder for the new store is not empty: name another one", to)
               : KEVY_OK;
}

struct copy {
    KevyDb *db;
    uint32_t database;
    uint64_t count;
    int status;
};

static void copy_entry(void *user, struct bytes key, const struct kv_item *item)
{
    struct copy *copy = user;
    struct kv_write write;
    struct kv_pair pair = {key, item->value, item->expiry_ms};
    if (copy->status != 0) {
        return;
    }
    copy->status = kv_write_enter(copy->db, &write);
    if (copy->status == 0) {
        copy->status = kv_write_lock(&write);
        if (copy->status == 0) {
            copy->status = kv_keyspace_put(&copy->db->engine->keyspace, copy->database, &pair, 1);
            kv_write_unlock(&write);
        }
        copy->status = kv_write_leave(&write, copy->status);
    }
    copy->count += copy->status == 0;
}

static int copy_all(const struct kv_viewing *viewing, struct copy *copy)
{
    for (; copy->status == 0 && copy->database < KV_DATABASE_COUNT; copy->database++) {
        uint64_t cursor = 0;
        do {
            cursor = kv_keyspace_scan(&viewing->keyspace, copy->database, cursor, SALVAGE_PAGE,
                                      copy_entry, copy);
        } while (cursor != 0 && copy->status == 0);
    }
    return copy->status == 0 ? kv_log_shutdown(copy->db->engine->log) : copy->status;
}

/* Writes the new store; one that could not be finished goes again. */
static int target_write(const struct kv_viewing *viewing, const struct kv_open *to,
                        KevyCheckReport *report, KevyError *error)
{
    struct copy copy = {.count = 0};
    int status = kv_engine_open(to, &copy.db, error);
    if (status != 0) {
        (void)kv_log_destroy(to->os, to->dir, NULL);
        return status;
    }
    status = copy_all(viewing, &copy);
    kevy_close(copy.db);
    if (status != 0) {
        (void)kv_log_destroy(to->os, to->dir, NULL);
        return kv_error_set(error, status, "the new store could not be written, and is gone again",
                            to->dir);
    }
    report->saved_keys = copy.count;
    report->expired_keys = report->keys - copy.count;
    return KEVY_OK;
}

/* ---- The call ---- */

int32_t kv_salvage_run(const struct kv_view_of *of, const struct kv_open *to,
                       KevyCheckReport *report, KevyError *error)
{
    struct kv_viewing *viewing;
    int status = target_look(to->os, to->dir, error);
    if (status == KEVY_OK) {
        status = kv_viewing_new(of, &viewing, report, error);
    }
    if (status != KEVY_OK) {
        return status;
    }
    KevyCheckReport found = viewing->looking.report;
    status = target_look(to->os, to->dir, error); /* once more: reading may take minutes */
    if (status == KEVY_OK) {
        status = target_write(viewing, to, &found, error);
    }
    kv_viewing_free(viewing);
    if (status != KEVY_OK) {
        return status;
    }
    kv_report_give(&found, report);
    return kv_report_has_loss(&found);
}

int32_t kevy_salvage(const uint8_t *from, size_t from_len, const uint8_t *to, size_t to_len,
                     uint32_t flags, const KevyCheckOptions *options, KevyCheckReport *report,
                     KevyError *error)
{
    struct kv_view_of of = {.dir = bytes_of(from, from_len),
                            .os = &kv_os_posix,
                            .mem = &kv_mem_libc,
                            .options = options,
                            .is_salvage = true,
                            .is_blind = (flags & KEVY_SALVAGE_UNVERIFIED) != 0};
    static const KevyOpenOptions as_fast = {.fsync = KEVY_FSYNC_NO};
    struct kv_open target = {
        .dir = bytes_of(to, to_len), .options = &as_fast, .os = &kv_os_posix, .mem = &kv_mem_libc};
    const char *misuse = kv_path_misuse(of.dir);
    misuse = misuse == NULL ? kv_path_misuse(target.dir) : misuse;
    misuse = misuse == NULL && (flags & ~KEVY_SALVAGE_UNVERIFIED) != 0 ? "an unknown flag" : misuse;
    kv_report_give(&(KevyCheckReport){0}, report);
    if (misuse != NULL) {
        return kv_error_set(error, KEVY_EPATH, misuse, (struct bytes){NULL, 0});
    }
    return kv_salvage_run(&of, &target, report, error);
}
