/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SQLite as a peer: one table of keys and values, prepared statements, each
 * set its own transaction. Lazy is WAL with synchronous NORMAL, durable FULL.
 */
#include "bench/engine/store.h"

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *set;
    sqlite3_stmt *get;
};

static const char *settings_of(enum store_mode mode)
{
    return mode == MODE_MEMORY ? "PRAGMA journal_mode=OFF;"
           : mode == MODE_LAZY
               ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=2147483648;"
               : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=2147483648;";
}

static void *sqlite_open(const char *dir, enum store_mode mode)
{
    struct sqlite *self = calloc(1, sizeof *self);
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/db", dir);
    if (self == NULL ||
        sqlite3_open(mode == MODE_MEMORY ? ":memory:" : path, &self->db) != SQLITE_OK ||
        sqlite3_exec(self->db, settings_of(mode), NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(self->db, "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID", NULL,
                     NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(self->db, "INSERT OR REPLACE INTO t VALUES(?,?)", -1, &self->set,
                           NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(self->db, "SELECT v FROM t WHERE k=?", -1, &self->get, NULL) !=
            SQLITE_OK) {
        free(self);
        return NULL;
    }
    return self;
}

static void sqlite_close(void *handle)
{
    struct sqlite *self = handle;
    sqlite3_finalize(self->set);
    sqlite3_finalize(self->get);
    sqlite3_close(self->db);
    free(self);
}

static int sqlite_set(void *handle, const char *key, size_t key_size, const char *value,
                      size_t size)
{
    struct sqlite *self = handle;
    sqlite3_bind_blob(self->set, 1, key, (int)key_size, SQLITE_STATIC);
    sqlite3_bind_blob(self->set, 2, value, (int)size, SQLITE_STATIC);
    int result = sqlite3_step(self->set);
    sqlite3_reset(self->set);
    return result == SQLITE_DONE ? 0 : -1;
}

static long sqlite_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity)
{
    struct sqlite *self = handle;
    long result = -1;
    sqlite3_bind_blob(self->get, 1, key, (int)key_size, SQLITE_STATIC);
    if (sqlite3_step(self->get) == SQLITE_ROW) {
        int size = sqlite3_column_bytes(self->get, 0);
        if ((size_t)size <= capacity) {
            memcpy(out, sqlite3_column_blob(self->get, 0), (size_t)size);
            result = size;
        }
    }
    sqlite3_reset(self->get);
    return result;
}
#define SQLITE_OPEN sqlite_open
#define SQLITE_REST sqlite_close, sqlite_set, sqlite_get
#else
#define SQLITE_OPEN NULL
#define SQLITE_REST NULL, NULL, NULL
#endif

const struct store store_sqlite_memory = {"SQLite, :memory:", MODE_MEMORY, false, false, true,
                                          SQLITE_OPEN,        SQLITE_REST};
const struct store store_sqlite_lazy = {"SQLite, WAL NORMAL", MODE_LAZY,  false, false, true,
                                        SQLITE_OPEN,          SQLITE_REST};
const struct store store_sqlite_durable = {"SQLite, WAL FULL", MODE_DURABLE, false, false, true,
                                           SQLITE_OPEN,        SQLITE_REST};
