/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * LevelDB as a peer, by its C API: write-ahead log on, no compression, write
 * buffer of 64 MiB. Lazy leaves the log to the system, durable syncs each set.
 */
#include "bench/engine/store.h"

#ifdef HAVE_LEVELDB
#include <leveldb/c.h>
#include <stdlib.h>
#include <string.h>

struct level {
    leveldb_t *db;
    leveldb_writeoptions_t *write;
    leveldb_readoptions_t *read;
};

static void *level_open(const char *dir, enum store_mode mode)
{
    struct level *self = calloc(1, sizeof *self);
    leveldb_options_t *options = leveldb_options_create();
    char *error = NULL;
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_write_buffer_size(options, (size_t)64 << 20);
    leveldb_options_set_compression(options, leveldb_no_compression);
    self->db = leveldb_open(options, dir, &error);
    self->write = leveldb_writeoptions_create();
    self->read = leveldb_readoptions_create();
    leveldb_writeoptions_set_sync(self->write, mode == MODE_DURABLE);
    leveldb_options_destroy(options);
    return error == NULL ? self : NULL;
}

static void level_close(void *handle)
{
    struct level *self = handle;
    leveldb_writeoptions_destroy(self->write);
    leveldb_readoptions_destroy(self->read);
    leveldb_close(self->db);
    free(self);
}

static int level_set(void *handle, const char *key, size_t key_size, const char *value, size_t size)
{
    struct level *self = handle;
    char *error = NULL;
    leveldb_put(self->db, self->write, key, key_size, value, size, &error);
    return error == NULL ? 0 : -1;
}

static long level_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity)
{
    struct level *self = handle;
    char *error = NULL;
    size_t size = 0;
    char *value = leveldb_get(self->db, self->read, key, key_size, &size, &error);
    if (value == NULL || size > capacity) {
        return -1;
    }
    memcpy(out, value, size);
    leveldb_free(value);
    return (long)size;
}
#define LEVEL_OPEN level_open
#define LEVEL_REST level_close, level_set, level_get
#else
#define LEVEL_OPEN NULL
#define LEVEL_REST NULL, NULL, NULL
#endif

const struct store store_leveldb_lazy = {"LevelDB, WAL", MODE_LAZY,  false,     true,
                                         true,           LEVEL_OPEN, LEVEL_REST};
const struct store store_leveldb_durable = {"LevelDB, sync", MODE_DURABLE, false, true, true,
                                            LEVEL_OPEN,      LEVEL_REST};
