/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening a file log: the folder, its lock, the mark; then the steps of the
 * other rooms in their order. Nothing in the folder but the lock file is
 * written before everything was read and found good.
 *
 *   folder, lock, mark   here; a folder without any of it becomes a new store
 *   kv_adopt             maps the segments
 *   kv_tail_measure      finds the end
 *   kv_replay            hands the records on
 *   kv_recover           makes the end found the end for good
 *
 * A new store is a mark.tmp with both slots valid, flushed, renamed to mark,
 * and the folder flushed; only then can there be a segment.
 */
#include <errno.h>
#include <stdio.h>

#include "kevy/src/log/log_index.h"

enum { PATH_SIZE = 4096 };

/* ---- Errors ---- */

int kv_fail(const struct kv_opening *opening, int status, int64_t result, const char *name,
            uint64_t offset, const char *text)
{
    KevyError *error = opening->error;
    if (error != NULL) {
        int dir_size = opening->dir.size > PATH_SIZE ? PATH_SIZE : (int)opening->dir.size;
        error->status = status;
        error->sys_errno = result < 0 ? (int32_t)-result : 0;
        error->offset = offset;
        (void)snprintf(error->text, sizeof error->text, "%s%s", text,
                       status == KEVY_EFILES ? ": too many files are open in this process or on "
                                               "this machine; close some, or raise the limit "
                                               "(ulimit -n)"
                                             : "");
        (void)snprintf(error->path, sizeof error->path, "%.*s%s%s", dir_size,
                       (const char *)opening->dir.data, *name == '\0' ? "" : "/", name);
    }
    return status;
}

int kv_fail_slot(const struct kv_opening *opening, int status, int64_t result, uint32_t slot,
                 uint64_t offset, const char *text)
{
    char name[KV_FILE_NAME_SIZE];
    kv_file_name(slot, name);
    return kv_fail(opening, status, result, name, offset, text);
}

static int fail_dir(const struct kv_opening *opening, int result, const char *text)
{
    int status = kv_file_status(result);
    if (result == -ENOENT || result == -ENOTDIR || result == -EEXIST || result == -ELOOP ||
        result == -ENAMETOOLONG || result == -EINVAL) {
        status = KEVY_EPATH;
    }
    return kv_fail(opening, status, result, "", 0, text);
}

/* ---- The folder ---- */

/* Flushes the folder that holds the last part of `path`. */
static int parent_flush(const kevy_os *os, const char *path)
{
    char parent[PATH_SIZE];
    size_t size = strlen(path);
    memcpy(parent, path, size + 1);
    while (size > 0 && parent[size - 1] != '/') {
        size--;
    }
    while (size > 1 && parent[size - 1] == '/') {
        size--;
    }
    parent[size] = '\0';
    int dir = os->dir_open(os->self, size == 0 ? "." : parent);
    if (dir < 0) {
        return dir;
    }
    int result = os->dir_flush(os->self, dir);
    os->dir_close(os->self, dir);
    return result;
}

/* Makes one folder, durably. There already is fine. */
static int dir_make_one(const kevy_os *os, const char *path)
{
    int result = os->dir_make(os->self, path);
    if (result == -EEXIST || result == -EISDIR) {
        return 0;
    }
    return result < 0 ? result : parent_flush(os, path);
}

/* Makes the folder and the parents that are missing. */
static int dir_make_all(const kevy_os *os, char *path)
{
    int result = 0;
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/' || at[-1] == '/') {
            continue;
        }
        *at = '\0';
        int dir = os->dir_open(os->self, path);
        if (dir >= 0) {
            os->dir_close(os->self, dir);
        } else {
            result = dir == -ENOENT ? dir_make_one(os, path) : dir;
        }
        *at = '/';
        if (result < 0) {
            return result;
        }
    }
    return dir_make_one(os, path);
}

int kv_dir_make_open(const struct kv_opening *opening, int *out)
{
    const kevy_os *os = opening->os;
    char path[PATH_SIZE];
    size_t size = opening->dir.size;
    if (size == 0 || size >= sizeof path || memchr(opening->dir.data, 0, size) != NULL) {
        return kv_fail(opening, KEVY_EPATH, 0, "", 0, "the path is empty, too long, or has a NUL");
    }
    memcpy(path, opening->dir.data, size);
    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    path[size] = '\0';
    int dir = os->dir_open(os->self, path);
    if (dir == -ENOENT && opening->look == NULL) {
        int result = dir_make_all(os, path);
        if (result < 0) {
            return fail_dir(opening, result, "the folder cannot be made");
        }
        dir = os->dir_open(os->self, path);
    }
    if (dir < 0) {
        return fail_dir(opening, dir, "the path cannot be opened as a folder");
    }
    *out = dir;
    return KEVY_OK;
}

int kv_log_identity(const kevy_os *os, struct bytes dir, uint64_t out[2], KevyError *error)
{
    struct kv_opening opening = {.os = os, .dir = dir, .error = error};
    int number = 0;
    int status = kv_dir_make_open(&opening, &number);
    if (status != KEVY_OK) {
        return status;
    }
    int result = os->dir_identity(os->self, number, out);
    os->dir_close(os->self, number);
    return result < 0 ? fail_dir(&opening, result, "the folder cannot be read") : KEVY_OK;
}

/* ---- Lock and mark ---- */

static int lock_take(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    struct kv_files *files = opening->log->files;
    int file = os->file_open(os->self, files->dir, "lock", KEVY_OS_WRITE | KEVY_OS_CREATE);
    if (file == -ENOENT && opening->look != NULL) {
        int status = opening->look->lock_make(opening, &file);
        if (status != KEVY_OK || file < 0) {
            return status;
        }
    }
    if (file < 0) {
        return kv_fail(opening, kv_file_status(file), file, "lock", 0,
                       "the lock file cannot be opened for writing");
    }
    int result = os->file_lock(os->self, file);
    if (result < 0) {
        os->file_close(os->self, file);
        return kv_fail(opening, kv_file_status(result), result, "lock", 0,
                       result == -EWOULDBLOCK ? "the folder is in use by another process"
                                              : "the folder cannot be locked");
    }
    files->lock_file = file;
    return KEVY_OK;
}

/* Reads up to `size` bytes from the start of a file: how many, or < 0. */
static int64_t read_start(const kevy_os *os, int file, uint8_t *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        int64_t count = os->file_read(os->self, file, out + done, size - done, done);
        if (count < 0) {
            return count;
        }
        if (count == 0) {
            break;
        }
        done += (size_t)count;
    }
    return (int64_t)done;
}

/* Takes over what the mark says about the store as a whole. */
static void identity_use(struct kv_opening *opening)
{
    struct kv_log *log = opening->log;
    struct kv_files *files = log->files;
    kv_check_init(&files->check, files->identity.secret);
    log->segment_size = files->identity.segment_size;
    log->seed = files->check.key_seed;
}

static int mark_read(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    struct kv_files *files = opening->log->files;
    uint8_t *bytes = (uint8_t *)kv_mem_zeroed(opening->log->mem, KV_MARK_SIZE);
    if (bytes == NULL) {
        return kv_fail(opening, KEVY_ENOMEM, 0, "", 0, "no memory to read the mark");
    }
    int64_t size = read_start(os, files->mark_file, bytes, KV_MARK_SIZE);
    enum kv_mark_found found = KV_MARK_DAMAGED;
    if (size >= 0) {
        found = kv_mark_decode(bytes, (size_t)size, &files->identity, &opening->mark,
                               &opening->is_mark_whole);
    }
    kv_mem_free(opening->log->mem, bytes, KV_MARK_SIZE);
    if (size < 0) {
        return kv_fail(opening, KEVY_EIO, size, "mark", 0, "the mark cannot be read");
    }
    if (found == KV_MARK_NEWER) {
        return kv_fail(opening, KEVY_EVERSION, 0, "mark", 0,
                       "the store was written by a newer version, or uses a feature that this "
                       "one does not know");
    }
    if (found == KV_MARK_DAMAGED) {
        return kv_fail(opening, KEVY_ECORRUPT, 0, "mark", 0, "no copy of the mark is intact");
    }
    identity_use(opening);
    return KEVY_OK;
}

/* Writes the whole file of a new store. */
static int mark_write_first(struct kv_opening *opening, int file)
{
    struct kv_log *log = opening->log;
    uint8_t block[KV_MARK_BLOCK];
    kv_mark_super_encode(&log->files->identity, block);
    int status = kv_file_write(log, file, block, sizeof block, 0);
    for (uint64_t sequence = 1; status == KEVY_OK && sequence <= 2; sequence++) {
        opening->mark.sequence = sequence;
        kv_mark_slot_encode(&log->files->identity, &opening->mark, block);
        status = kv_file_write(log, file, block, sizeof block, kv_mark_offset(sequence));
    }
    if (status == KEVY_OK) {
        int result = log->os->file_flush(log->os->self, file);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    return status;
}

static int store_make(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    struct kv_files *files = opening->log->files;
    files->identity.segment_size = (uint32_t)opening->segment_size;
    int result = os->random(os->self, files->identity.store_id, KV_STORE_ID_SIZE);
    if (result == 0) {
        result = os->random(os->self, files->identity.secret, KV_SECRET_SIZE);
    }
    if (result < 0) {
        return kv_fail(opening, KEVY_EIO, result, "", 0, "the system has no random bytes");
    }
    opening->mark.incarnation = files->incarnation;
    opening->mark.incarnation_lsn = 1;
    opening->mark.durable_slot = KV_MARK_NO_SLOT;
    kv_namespaces_first(&opening->mark.map);
    int file = os->file_open(os->self, files->dir, "mark.tmp", KEVY_OS_WRITE | KEVY_OS_CREATE);
    if (file < 0) {
        return kv_fail(opening, kv_file_status(file), file, "mark.tmp", 0,
                       "the store cannot be made");
    }
    files->mark_file = file;
    int status = mark_write_first(opening, file);
    if (status == KEVY_OK) {
        result = os->file_rename(os->self, files->dir, "mark.tmp", "mark");
        result = result < 0 ? result : os->dir_flush(os->self, files->dir);
        status = result < 0 ? kv_file_status(result) : KEVY_OK;
    }
    if (status != KEVY_OK) {
        return kv_fail(opening, status, result, "mark.tmp", 0, "the store cannot be made");
    }
    opening->is_first = true;
    opening->is_mark_whole = true;
    identity_use(opening);
    return KEVY_OK;
}

/* Opens the mark of the folder, or makes a store where there is none. */
static int store_find(struct kv_opening *opening)
{
    const kevy_os *os = opening->os;
    struct kv_files *files = opening->log->files;
    files->mark_file = os->file_open(os->self, files->dir, "mark", KEVY_OS_WRITE);
    if (files->mark_file >= 0) {
        return mark_read(opening);
    }
    if (files->mark_file != -ENOENT) {
        return kv_fail(opening, kv_file_status(files->mark_file), files->mark_file, "mark", 0,
                       "the mark cannot be opened for writing");
    }
    if (kv_adopt_has_any(opening)) {
        return kv_fail(opening, KEVY_ECORRUPT, 0, "mark", 0,
                       "the mark is missing, but there are segments");
    }
    return opening->look == NULL
               ? store_make(opening)
               : kv_fail(opening, KEVY_EPATH, 0, "", 0, "there is no store in the folder");
}

/* ---- All of it ---- */

static int files_new(struct kv_log *log, const struct kv_log_options *options)
{
    struct kv_files *files = (struct kv_files *)kv_mem_zeroed(log->mem, sizeof *files);
    if (files == NULL) {
        return KEVY_ENOMEM;
    }
    log->files = files;
    log->writer = options->writer;
    log->move = options->move;
    log->move_user = options->move_user;
    files->image = options->image;
    files->image_user = options->image_user;
    log->journal = (struct kv_journal){log, kv_append, kv_retire};
    files->dir = files->lock_file = files->mark_file = -1;
    files->end_slot = KV_MARK_NO_SLOT;
    files->is_threadless = options->is_threadless;
    atomic_init(&files->policy, options->fsync);
    int result = log->os->random(log->os->self, &files->incarnation, sizeof files->incarnation);
    return result < 0 ? KEVY_EIO : KEVY_OK;
}

static void opening_done(struct kv_opening *opening)
{
    struct kv_mem *mem = opening->log->mem;
    for (size_t i = 0; i < opening->found.count; i++) {
        kv_file_free(opening->log, opening->found.at[i]);
    }
    struct kv_segments *lists[] = {&opening->order, &opening->found, &opening->tail};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        kv_mem_free(mem, lists[i]->at, lists[i]->capacity * sizeof(struct kv_segment *));
    }
    kv_damage_done(opening);
    kv_mem_free(mem, opening->files, KV_SLOT_COUNT / 8);
}

int kv_gather(struct kv_opening *opening)
{
    int status = store_find(opening);
    if (status == KEVY_OK) {
        status = kv_adopt(opening);
    }
    return status == KEVY_OK ? kv_tail_measure(opening) : status;
}

static int open_steps(struct kv_opening *opening)
{
    int status = kv_dir_make_open(opening, &opening->log->files->dir);
    if (status == KEVY_OK) {
        status = lock_take(opening);
    }
    if (status == KEVY_OK) {
        status = kv_adopt_list(opening);
    }
    if (status == KEVY_OK) {
        status = opening->look != NULL ? opening->look->gather(opening) : kv_gather(opening);
    }
    if (status == KEVY_OK && !kv_index_load(opening)) {
        status = kv_replay(opening);
    }
    if (opening->look != NULL) {
        opening->look->end(opening);
        return status;
    }
    if (status == KEVY_OK) {
        kv_reserve_find(opening->log);
        status = kv_recover(opening);
    }
    if (status == KEVY_OK) {
        kv_damage_heal(opening);
    }
    return status;
}

int kv_log_open(struct kv_log **out, const struct kv_log_options *options, kv_log_apply_fn *apply,
                void *user, KevyOpenReport *report, KevyError *error)
{
    size_t segment_size = options->segment_size == 0 ? KV_SLOT_SIZE : options->segment_size;
    struct kv_opening *opening = (struct kv_opening *)kv_mem_zeroed(options->mem, sizeof *opening);
    int status = KEVY_ENOMEM;
    *out = NULL;
    *report = (KevyOpenReport){0};
    if (error != NULL) {
        *error = (KevyError){.status = KEVY_ENOMEM, .text = "no memory to open the store"};
    }
    if (opening != NULL) {
        status = kv_log_new(out, options->mem, options->os, segment_size);
    }
    if (status == KEVY_OK) {
        *opening = (struct kv_opening){.log = *out,
                                       .os = options->os,
                                       .dir = options->dir,
                                       .apply = apply,
                                       .ahead = options->ahead,
                                       .look = options->look,
                                       .image = options->image,
                                       .image_user = options->image_user,
                                       .segment_size = segment_size,
                                       .user = user,
                                       .report = report,
                                       .error = error};
        status = files_new(*out, options);
        status = status == KEVY_OK ? open_steps(opening) : status;
        opening_done(opening);
    }
    kv_mem_free(options->mem, opening, sizeof *opening);
    if (status != KEVY_OK) {
        if (*out != NULL) {
            kv_log_free(*out);
            *out = NULL;
        }
        return status;
    }
    if (error != NULL) {
        *error = (KevyError){.status = KEVY_OK};
    }
    if (!(*out)->files->is_threadless && kv_collect_is_wanted(*out)) {
        /* It was closed before it could settle. */
        kv_thread_wake(*out);
    }
    return KEVY_OK;
}
