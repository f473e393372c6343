/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public functions for single values and buffers. See kevy.h; those for
 * many keys are in api_many.c.
 *
 * A write takes the lock, puts, leaves, and then lets the log keep the promise
 * of its flush policy with the handle pinned but nothing held.
 */
#include "kevy/src/engine/write.h"
#include "kevy/src/keyspace/peek.h"
#include "kevy/src/mem/buffers.h"

/* ---- Buffers ---- */

/* Copies a value into a buffer of its own; an empty one has one too, so that its
 * pointer is not NULL. */
static int copy_out(struct bytes value, KevyBuf *out)
{
    size_t capacity;
    uint8_t *block = kv_buffer_new(value.size, &capacity);
    if (block == NULL) {
        return KEVY_ENOMEM;
    }
    (void)kv_bytes_put(block, value);
    *out = (KevyBuf){block, value.size, capacity};
    return 0;
}

/* Where the pointer points says what it is; size and capacity are believed in
 * nothing. */
static inline void buf_free(uint8_t *ptr)
{
    if (ptr != NULL && !kv_view_release(ptr)) {
        kv_buffer_free(ptr);
    }
}

void kevy_buf_free(uint8_t *ptr, size_t len, size_t cap)
{
    (void)len;
    (void)cap;
    buf_free(ptr);
}

void kevy_buf_free_shared(uint8_t *ptr, size_t len, size_t cap)
{
    (void)len;
    (void)cap;
    buf_free(ptr);
}

/* ---- Get ---- */

/* What is done with a value while it cannot change: 0 or 1, or a status < 0. */
typedef int take_fn(struct bytes value, void *user);

/* The value is found without the lock and taken inside the epoch; only when
 * the table changes too fast under the search, under the lock. */
KV_PEEK_INLINE int32_t get(KevyDb *db, const uint8_t *key, size_t key_len, take_fn *take,
                           void *user)
{
    struct kv_epoch_slot *slot;
    struct kv_item item;
    if (!kv_is_bytes(key, key_len)) {
        return kv_not_bytes(key);
    }
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    struct kv_engine *engine = db->engine;
    struct kv_key hashed = kv_keyspace_key(&engine->keyspace, bytes_of(key, key_len));
    int hit = kv_keyspace_peek(&engine->keyspace, 0, hashed, &item);
    if (hit < 0) {
        kv_mutex_lock(&engine->writer);
        hit = kv_keyspace_find_slow(&engine->keyspace, 0, &hashed, &item);
        kv_mutex_unlock(&engine->writer);
    }
    status = hit ? take(item.value, user) : 0;
    kv_gate_leave(slot);
    return status < 0 ? kv_result(status) : hit + status;
}

static int take_copy(struct bytes value, void *user)
{
    return copy_out(value, user);
}

int32_t kevy_get(KevyDb *db, const uint8_t *key, size_t key_len, KevyBuf *out)
{
    if (out == NULL) {
        return -1;
    }
    *out = (KevyBuf){NULL, 0, 0};
    return get(db, key, key_len, take_copy, out);
}

struct shared {
    struct kv_engine *engine;
    KevyBuf *out;
};

/* The view that holds a value; NULL: it must be copied. An empty value may
 * begin where its segment ends, so it never is in one. */
static struct kv_view *view_of(struct kv_engine *engine, struct bytes value)
{
    struct kv_view *view = value.size == 0 ? NULL : kv_view_find(value.data);
    if (view != NULL && kv_view_reaches(view, value)) {
        return view;
    }
    view = NULL;
    if (value.size != 0 && !kv_log_is_open_at(engine->log, value)) {
        kv_mutex_lock(&engine->writer);
        view = kv_log_view(engine->log, value);
        kv_mutex_unlock(&engine->writer);
    }
    return view;
}

static int take_shared(struct bytes value, void *user)
{
    const struct shared *shared = user;
    struct kv_view *view = view_of(shared->engine, value);
    if (view == NULL || !kv_view_hold(view)) {
        return copy_out(value, shared->out);
    }
    *shared->out = (KevyBuf){(uint8_t *)(uintptr_t)value.data, value.size, value.size};
    return 0;
}

int32_t kevy_get_shared(KevyDb *db, const uint8_t *key, size_t key_len, KevyBuf *out)
{
    if (out == NULL) {
        return -1;
    }
    *out = (KevyBuf){NULL, 0, 0};
    struct shared shared = {db == NULL ? NULL : db->engine, out};
    return get(db, key, key_len, take_shared, &shared);
}

struct into {
    uint8_t *buf;
    size_t cap;
    size_t *len_out;
};

static int take_into(struct bytes value, void *user)
{
    const struct into *into = user;
    *into->len_out = value.size;
    if (value.size > into->cap) {
        return 1;
    }
    if (value.size != 0) {
        (void)kv_bytes_put(into->buf, value);
    }
    return 0;
}

int32_t kevy_get_into(KevyDb *db, const uint8_t *key, size_t key_len, uint8_t *buf, size_t cap,
                      size_t *len_out)
{
    struct into into = {buf, cap, len_out};
    if (len_out == NULL) {
        return -1;
    }
    *len_out = 0;
    return buf == NULL && cap != 0 ? -1 : get(db, key, key_len, take_into, &into);
}

/* ---- Set ---- */

/* Turns a time to live into a moment. 0 none; false when it lies too far. */
static bool expiry_of(struct kv_engine *engine, uint64_t ttl_ms, uint64_t *out)
{
    *out = 0;
    if (ttl_ms == 0) {
        return true;
    }
    uint64_t now = kv_keyspace_now(&engine->keyspace);
    if (ttl_ms > INT64_MAX - now) {
        return false;
    }
    *out = now + ttl_ms;
    return true;
}

static int put_one(struct kv_write *write, const struct kv_key *key, struct bytes value,
                   uint64_t expiry_ms)
{
    int status = kv_write_lock(write);
    if (status == 0) {
        struct kv_engine *engine = write->db->engine;
        status = kv_room_make(engine);
        if (status == 0) {
            status = kv_keyspace_put_key(&engine->keyspace, 0, key, value, expiry_ms);
        }
        kv_write_unlock(write);
    }
    return status;
}

int32_t kevy_set(KevyDb *db, const uint8_t *key, size_t key_len, const uint8_t *val, size_t val_len,
                 uint64_t ttl_ms)
{
    struct kv_write write;
    uint64_t expiry_ms;
    if (!kv_is_bytes(key, key_len)) {
        return kv_not_bytes(key);
    }
    if (!kv_is_bytes(val, val_len)) {
        return kv_not_bytes(val);
    }
    int status = kv_write_enter(db, &write);
    if (status < 0) {
        return kv_result(status);
    }
    struct kv_key hashed = kv_keyspace_key(&db->engine->keyspace, bytes_of(key, key_len));
    status = expiry_of(db->engine, ttl_ms, &expiry_ms)
                 ? put_one(&write, &hashed, bytes_of(val, val_len), expiry_ms)
                 : KEVY_ELIMIT;
    return kv_result(kv_write_leave(&write, status));
}
