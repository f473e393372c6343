/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Removing a store: every file of its folder that has a name which only this
 * engine gives. What is not ours stays, and so does the lock file, whose name
 * must mean the same file to everyone for ever; it is empty.
 *
 * The store must be nobody's: its lock is taken first. The mark goes before the
 * segments, so that an open that comes after a crash in the middle says that
 * the mark is missing, and does not take what is left for a store.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "kevy/src/log/log_opening.h"

/* Files that are removed between two listings. */
enum { DESTROY_BATCH = 64, DESTROY_NAME = 32, DESTROY_PATH = 4096 };

struct destroy {
    char ours[DESTROY_BATCH][DESTROY_NAME];
    size_t count;
    size_t others;
    char other[256]; /* one that stays */
    bool has_lock;
    bool has_mark;
};

static size_t hex_size(const char *text)
{
    size_t size = 0;
    while (isxdigit((unsigned char)text[size]) && !isupper((unsigned char)text[size])) {
        size++;
    }
    return size;
}

/* A segment `<5 hex>.seg`, or damage put aside: `<5 hex>-<8 or more hex>.bad`. */
static bool is_segment_name(const char *name)
{
    if (hex_size(name) != 5) {
        return false;
    }
    size_t more = name[5] == '-' ? hex_size(name + 6) : 0;
    return strcmp(name + 5, ".seg") == 0 || (more >= 8 && strcmp(name + 6 + more, ".bad") == 0);
}

static bool is_store_name(const char *name)
{
    static const char *const names[] = {"mark", "mark.tmp", "ring", "index", "reserve"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return strlen(name) < DESTROY_NAME && is_segment_name(name);
}

static void destroy_list(void *user, const char *name)
{
    struct destroy *destroy = (struct destroy *)user;
    if (strcmp(name, "lock") == 0) {
        destroy->has_lock = true;
    } else if (!is_store_name(name)) {
        destroy->others++;
        (void)snprintf(destroy->other, sizeof destroy->other, "%s", name);
    } else {
        destroy->has_mark = destroy->has_mark || strcmp(name, "mark") == 0;
        if (destroy->count < DESTROY_BATCH) {
            (void)snprintf(destroy->ours[destroy->count++], DESTROY_NAME, "%s", name);
        }
    }
}

static int list_again(const struct kv_opening *opening, int dir, struct destroy *out)
{
    *out = (struct destroy){.count = 0};
    int result = opening->os->dir_list(opening->os->self, dir, destroy_list, out);
    return result < 0 ? kv_fail(opening, kv_file_status(result), result, "", 0,
                                "the folder cannot be listed")
                      : KEVY_OK;
}

static int remove_one(const struct kv_opening *opening, int dir, const char *name)
{
    int result = opening->os->file_remove(opening->os->self, dir, name);
    return result < 0 && result != -ENOENT
               ? kv_fail(opening, kv_file_status(result), result, name, 0,
                         "a file of the store cannot be removed; the rest of it is still there")
               : KEVY_OK;
}

/* Removes all that is ours; *left is what is there then. */
static int remove_all(const struct kv_opening *opening, int dir, struct destroy *left)
{
    int status = list_again(opening, dir, left);
    if (status == KEVY_OK && left->has_mark) {
        status = remove_one(opening, dir, "mark");
        int result = opening->os->dir_flush(opening->os->self, dir);
        if (status == KEVY_OK && result < 0) {
            status = kv_fail(opening, kv_file_status(result), result, "", 0,
                             "the folder cannot be flushed");
        }
    }
    while (status == KEVY_OK && left->count != 0) {
        for (size_t i = 0; status == KEVY_OK && i < left->count; i++) {
            status = remove_one(opening, dir, left->ours[i]);
        }
        if (status == KEVY_OK) {
            status = list_again(opening, dir, left);
        }
    }
    return status;
}

static int lock_and_remove(const struct kv_opening *opening, int dir, struct destroy *left)
{
    const kevy_os *os = opening->os;
    int file = os->file_open(os->self, dir, "lock", KEVY_OS_WRITE | KEVY_OS_CREATE);
    if (file < 0) {
        return kv_fail(opening, kv_file_status(file), file, "lock", 0,
                       "the lock file cannot be opened for writing");
    }
    int result = os->file_lock(os->self, file);
    int status = result < 0 ? kv_fail(opening, kv_file_status(result), result, "lock", 0,
                                      result == -EWOULDBLOCK ? "the store is open: close it first"
                                                             : "the folder cannot be locked")
                            : remove_all(opening, dir, left);
    if (status == KEVY_OK) {
        result = os->dir_flush(os->self, dir);
        status = result < 0 ? kv_fail(opening, kv_file_status(result), result, "", 0,
                                      "the folder cannot be flushed")
                            : KEVY_OK;
    }
    os->file_close(os->self, file);
    return status;
}

int kv_log_destroy(const kevy_os *os, struct bytes dir, KevyError *error)
{
    struct kv_opening opening = {.os = os, .dir = dir, .error = error};
    struct destroy left;
    char path[DESTROY_PATH];
    if (dir.size == 0 || dir.size >= sizeof path || memchr(dir.data, 0, dir.size) != NULL) {
        return kv_fail(&opening, KEVY_EPATH, 0, "", 0, "the path is empty, too long, or has a NUL");
    }
    memcpy(path, dir.data, dir.size);
    path[dir.size] = '\0';
    int number = os->dir_open(os->self, path);
    if (number < 0) {
        return kv_fail(&opening, KEVY_EPATH, number, "", 0,
                       "the path cannot be opened as a folder");
    }
    int status = list_again(&opening, number, &left);
    if (status == KEVY_OK && left.count == 0 && !left.has_lock) {
        status = kv_fail(&opening, KEVY_EPATH, 0, "", 0, "there is no store in the folder");
    } else if (status == KEVY_OK) {
        status = lock_and_remove(&opening, number, &left);
    }
    os->dir_close(os->self, number);
    if (status == KEVY_OK) {
        status = kv_fail(&opening, KEVY_OK, 0, left.others == 0 ? "" : left.other, 0,
                         left.others == 0
                             ? "the store is gone; the folder with its empty lock file stays"
                             : "the store is gone; the folder stays, with files that are not its");
    }
    return status;
}
