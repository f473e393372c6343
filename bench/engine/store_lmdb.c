/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * LMDB as a peer: one write transaction for each set, one long-lived read
 * transaction that is renewed for each get, so that it sees the newest data.
 * Lazy is its fastest safe-from-kills form (NOSYNC with WRITEMAP), durable its
 * default.
 */
#include "bench/engine/store.h"

#ifdef HAVE_LMDB
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct lmdb {
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *reader;
};

static void *lmdb_open(const char *dir, enum store_mode mode)
{
    struct lmdb *self = calloc(1, sizeof *self);
    MDB_txn *txn = NULL;
    unsigned flags = mode == MODE_LAZY ? MDB_NOSYNC | MDB_WRITEMAP : 0;
    if (self == NULL || mdb_env_create(&self->env) != 0 ||
        mdb_env_set_mapsize(self->env, (size_t)8 << 30) != 0 ||
        mdb_env_open(self->env, dir, flags, 0644) != 0 ||
        mdb_txn_begin(self->env, NULL, 0, &txn) != 0 ||
        mdb_dbi_open(txn, NULL, MDB_CREATE, &self->dbi) != 0 || mdb_txn_commit(txn) != 0 ||
        mdb_txn_begin(self->env, NULL, MDB_RDONLY, &self->reader) != 0) {
        free(self);
        return NULL;
    }
    mdb_txn_reset(self->reader);
    return self;
}

static void lmdb_close(void *handle)
{
    struct lmdb *self = handle;
    mdb_txn_abort(self->reader);
    mdb_env_close(self->env);
    free(self);
}

static MDB_val val_of(const char *data, size_t size)
{
    MDB_val val = {size, NULL};
    memcpy(&val.mv_data, &data, sizeof data);
    return val;
}

static int lmdb_set(void *handle, const char *key, size_t key_size, const char *value, size_t size)
{
    struct lmdb *self = handle;
    MDB_txn *txn;
    MDB_val k = val_of(key, key_size), v = val_of(value, size);
    if (mdb_txn_begin(self->env, NULL, 0, &txn) != 0) {
        return -1;
    }
    if (mdb_put(txn, self->dbi, &k, &v, 0) != 0) {
        mdb_txn_abort(txn);
        return -1;
    }
    return mdb_txn_commit(txn) == 0 ? 0 : -1;
}

static long lmdb_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity)
{
    struct lmdb *self = handle;
    MDB_val k = val_of(key, key_size), v;
    long result = -1;
    if (mdb_txn_renew(self->reader) != 0) {
        return -1;
    }
    if (mdb_get(self->reader, self->dbi, &k, &v) == 0 && v.mv_size <= capacity) {
        memcpy(out, v.mv_data, v.mv_size);
        result = (long)v.mv_size;
    }
    mdb_txn_reset(self->reader);
    return result;
}
#define LMDB_OPEN lmdb_open
#define LMDB_REST lmdb_close, lmdb_set, lmdb_get
#else
#define LMDB_OPEN NULL
#define LMDB_REST NULL, NULL, NULL
#endif

const struct store store_lmdb_lazy = {
    "LMDB, NOSYNC+WRITEMAP", MODE_LAZY, false, false, true, LMDB_OPEN, LMDB_REST};
const struct store store_lmdb_durable = {"LMDB", MODE_DURABLE, false,    false,
                                         true,   LMDB_OPEN,    LMDB_REST};
