/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A keyspace so small that it can be seen through: the log's tests use it in
 * place of the real one. Two databases of MODEL_KEYS keys named "k00", …; each
 * holds a version number. A value is its version and then bytes that follow
 * from it, so that reading it back checks every byte.
 */
#ifndef KEVY_TEST_LOG_MODEL_H
#define KEVY_TEST_LOG_MODEL_H

#include "kevy/src/log/log.h"
#include "testing/crash_os.h"

enum { MODEL_KEYS = 24, MODEL_DATABASES = 2, MODEL_BATCH_MAX = 64 };

/* What each key holds: a version, 0 for none. */
struct model_state {
    uint64_t version[MODEL_DATABASES][MODEL_KEYS];
};

struct model {
    struct kv_log *log;
    struct kv_mem mem;
    struct kv_mutex writer;
    struct kv_namespaces map;
    uint32_t refs[MODEL_DATABASES][MODEL_KEYS];
    KevyOpenReport report;
    KevyError error;
    uint64_t move_count;
    bool takes_any_value; /* values need not be ours; set after model_open, stays */
};

/* One change: version 0 deletes. */
struct model_change {
    uint32_t db;
    uint32_t key;
    uint64_t version;
    size_t size; /* of the value, at least 8 */
};

/* Opens a folder, small segments, no thread. A status. */
int model_open(struct model *model, const kevy_os *os, const char *dir, uint8_t fsync);
int model_open_sized(struct model *model, const kevy_os *os, const char *dir, uint8_t fsync,
                     size_t segment_size, bool is_threadless);

/* Opens "store" on a new disk whose files are written by calls, so that each write
 * can fail; later again, after a close and a kill. The disk is the caller's. */
struct crash_os *model_start(struct model *model, uint8_t fsync);
void model_reopen(struct model *model, struct crash_os *crash, uint8_t fsync);

/* Closes and checks that no memory is left. */
void model_close(struct model *model);

/* Applies changes as one append and commits. A status; *is_appended says
 * whether the append itself succeeded. */
int model_write(struct model *model, const struct model_change *changes, size_t count,
                bool *is_appended);
int model_flush(struct model *model, uint32_t db, bool *is_appended);
int model_swap(struct model *model, bool *is_appended);

/* Reads everything; false when a byte is wrong. */
bool model_read(struct model *model, struct model_state *out);

/* What a key of database 0 holds, when every byte was right. */
uint64_t model_version(struct model *model, uint32_t key);

/* One key to a version, of some size; a status. */
int model_put(struct model *model, uint32_t key, uint64_t version, size_t size);

#endif
