/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public functions that open, close and ask about a handle. See kevy.h.
 *
 * What can be wrong about arguments is said here; what can be wrong about a
 * directory is found by log/ and said there.
 */
#include "kevy/src/engine/gate.h"

#define VERSION "0.1.0"

static const KevyOpenOptions options_default = KEVY_OPEN_OPTIONS_INIT;

uint32_t kevy_abi(void)
{
    return KEVY_ABI;
}

const char *kevy_version(void)
{
    return VERSION;
}

/* What a caller can get wrong about a path or an option. */
static const char *open_misuse(const struct kv_open *open)
{
    if (open->dir.size != 0 && open->dir.data == NULL) {
        return "the path is NULL but its length is not 0";
    }
    if (open->dir.size == 0 && open->dir.data != NULL) {
        return "the path is empty: name a directory";
    }
    if (open->dir.size != 0 && memchr(open->dir.data, 0, open->dir.size) != NULL) {
        return "the path contains a NUL: a directory's name cannot";
    }
    if (open->options->fsync > KEVY_FSYNC_NO) {
        return "fsync is none of KEVY_FSYNC_EVERYSEC, KEVY_FSYNC_ALWAYS and KEVY_FSYNC_NO";
    }
    return NULL;
}

static int open_with(struct bytes dir, const KevyOpenOptions *options, KevyDb **out,
                     KevyError *error)
{
    struct kv_open open = {.dir = dir,
                           .options = options == NULL ? &options_default : options,
                           .os = &kv_os_posix,
                           .mem = &kv_mem_libc};
    const char *misuse = open_misuse(&open);
    int status = KEVY_EPATH;
    *out = NULL;
    if (misuse != NULL) {
        (void)kv_error_set(error, status, misuse, (struct bytes){NULL, 0});
    } else {
        status = kv_engine_open(&open, out, error);
    }
    if (status == 0) {
        (void)kv_error_set(error, KEVY_OK, kevy_status_text(KEVY_OK), (struct bytes){NULL, 0});
    } else {
        kv_status_note(status);
    }
    return status;
}

int32_t kevy_open_ex(const uint8_t *dir, size_t dir_len, const KevyOpenOptions *options,
                     KevyDb **out, KevyError *error)
{
    if (out == NULL) {
        return kv_error_set(error, KEVY_EMISUSE, "there is no place for the handle",
                            (struct bytes){NULL, 0});
    }
    return open_with(bytes_of(dir, dir_len), options, out, error);
}

KevyDb *kevy_open_with(const uint8_t *dir, size_t dir_len, const KevyOpenOptions *options)
{
    KevyDb *db;
    return open_with(bytes_of(dir, dir_len), options, &db, NULL) == 0 ? db : NULL;
}

KevyDb *kevy_open(const uint8_t *dir, size_t dir_len)
{
    if (dir == NULL || dir_len == 0) {
        kv_status_note(KEVY_EPATH);
        return NULL;
    }
    return kevy_open_with(dir, dir_len, NULL);
}

KevyDb *kevy_open_mem(void)
{
    return kevy_open_with(NULL, 0, NULL);
}

void kevy_close(KevyDb *db)
{
    if (db == NULL || db->fork_count != kv_fork_count()) {
        return;
    }
    if (kv_gate_close(db) && !kv_listen_puts_off(db)) {
        kv_handle_end(db);
    }
}

void kv_handle_end(KevyDb *db)
{
    kv_gate_drain(db);
    kv_listen_leave(db);
    kv_engine_leave(db);
}

/* Enters a call and keeps the handle while it waits outside the epoch. */
static int pin(KevyDb *db)
{
    struct kv_epoch_slot *slot;
    int status = kv_gate_enter(db, &slot);
    if (status == 0) {
        kv_gate_pin(db);
        kv_gate_leave(slot);
    }
    return status;
}

int32_t kevy_shutdown(KevyDb *db)
{
    int status = pin(db);
    if (status < 0) {
        return kv_result(status);
    }
    /* A write that passed the flag before it was set holds the lock or waits
     * for it: after this pair every later one sees the flag. */
    atomic_store_explicit(&db->is_shut, 1, memory_order_release);
    kv_mutex_lock(&db->engine->writer);
    kv_mutex_unlock(&db->engine->writer);
    status = kv_log_shutdown(db->engine->log);
    kv_gate_unpin(db);
    return kv_result(status);
}

int32_t kevy_sync(KevyDb *db)
{
    int status = pin(db);
    if (status == 0) {
        status = kv_log_sync(db->engine->log);
        kv_gate_unpin(db);
    }
    return kv_result(status);
}

int32_t kevy_compact(KevyDb *db)
{
    int status = pin(db);
    if (status == 0) {
        status = kv_gate_is_shut(db) ? KEVY_ECLOSED
                                     : kv_log_compact(db->engine->log, &db->engine->writer);
        kv_gate_unpin(db);
    }
    return kv_result(status);
}

int32_t kevy_destroy(const uint8_t *dir, size_t dir_len, KevyError *error)
{
    if (dir == NULL) {
        return kv_error_set(error, KEVY_EPATH, "there is no path", (struct bytes){NULL, 0});
    }
    return kv_log_destroy(&kv_os_posix, bytes_of(dir, dir_len), error);
}

int32_t kevy_open_report(KevyDb *db, KevyOpenReport *out)
{
    struct kv_epoch_slot *slot;
    if (out == NULL) {
        return -1;
    }
    *out = (KevyOpenReport){0};
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    *out = db->engine->report;
    kv_gate_leave(slot);
    return 0;
}
