/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public functions for many keys in one call. See kevy.h.
 *
 * Reading goes by groups: the keys of a group are looked up without the lock
 * and together, so that their cache misses overlap, and copied inside one
 * epoch. Between groups the epoch is left, so that a long list delays nobody
 * who frees; the handle is pinned meanwhile.
 *
 * Threads: any.
 */
#include "kevy/src/engine/write.h"
#include "kevy/src/keyspace/peek.h"

/* Keys that one kevy_set_many may set: docs/log-format.md, limits. */
#define BATCH_MAX ((size_t)65536)

/* Room is taken for what the keys to come may need, but for no more at once. */
#define PACK_AHEAD_MAX ((size_t)1 << 20)

/* ---- Get ---- */

/* Values under way into one buffer. */
struct pack {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t done; /* keys that are in it */
    size_t count;
    int64_t hits;
};

/* Makes room for `size` more bytes of the next `keys` keys, and for what the
 * others are likely to take. */
static int pack_reserve(struct pack *pack, size_t size, size_t keys)
{
    if (size > SIZE_MAX / 4 - pack->size) {
        return KEVY_ENOMEM;
    }
    size_t need = pack->size + size;
    if (need <= pack->capacity && pack->data != NULL) {
        return 0;
    }
    size_t left = pack->count - pack->done - keys;
    size_t each = need / (pack->done + keys) + 1, ahead_max = need + PACK_AHEAD_MAX;
    size_t capacity = need + (left > ahead_max / each ? ahead_max : left * each);
    uint8_t *grown = kv_mem_resize(&kv_mem_buffers, pack->data, pack->capacity, capacity);
    if (grown == NULL) {
        return KEVY_ENOMEM;
    }
    pack->data = grown;
    pack->capacity = capacity;
    return 0;
}

static void pack_put(struct pack *pack, int found, struct bytes value)
{
    uint8_t *out = pack->data + pack->size;
    store_u32(out, found == 1 ? (uint32_t)value.size : KEVY_MISSING);
    pack->size += 4;
    if (found == 1) {
        pack->size += (size_t)(kv_bytes_put(out + 4, value) - (out + 4));
        pack->hits++;
    }
    pack->done++;
}

/* One group, inside the epoch. */
static int get_group(struct kv_engine *engine, struct pack *pack, const struct kv_key *keys,
                     size_t count)
{
    struct kv_keyspace *ks = &engine->keyspace;
    struct kv_item items[KV_PEEK_MANY];
    int found[KV_PEEK_MANY];
    size_t size = 4 * count;
    kv_keyspace_peek_many(ks, 0, keys, count, found, items);
    for (size_t i = 0; i < count; i++) {
        if (found[i] < 0) {
            kv_mutex_lock(&engine->writer);
            found[i] = kv_keyspace_find_slow(ks, 0, &keys[i], &items[i]);
            kv_mutex_unlock(&engine->writer);
        }
        size += found[i] == 1 ? items[i].value.size : 0;
    }
    int status = pack_reserve(pack, size, count);
    for (size_t i = 0; status == 0 && i < count; i++) {
        pack_put(pack, found[i], items[i].value);
    }
    return status;
}

/* All groups; enters with the epoch and leaves without it. */
static int get_groups(KevyDb *db, struct kv_epoch_slot *slot, struct pack *pack,
                      const uint8_t *const *names, const size_t *sizes)
{
    bool is_pinned = pack->count > KV_PEEK_MANY;
    int status = 0;
    if (is_pinned) {
        kv_gate_pin(db);
    }
    for (size_t at = 0; status == 0 && at < pack->count; at = pack->done) {
        struct kv_key keys[KV_PEEK_MANY];
        size_t count = pack->count - at < KV_PEEK_MANY ? pack->count - at : KV_PEEK_MANY;
        if (at != 0) {
            kv_gate_leave(slot);
            slot = kv_epoch_enter(); /* has a slot: cannot fail */
        }
        for (size_t i = 0; i < count; i++) {
            keys[i] =
                kv_keyspace_key(&db->engine->keyspace, bytes_of(names[at + i], sizes[at + i]));
        }
        status = get_group(db->engine, pack, keys, count);
    }
    kv_gate_leave(slot);
    if (is_pinned) {
        kv_gate_unpin(db);
    }
    return status;
}

/* 0, or what a function returns when one of the keys is none. */
static int32_t check_keys(size_t count, const uint8_t *const *keys, const size_t *key_lens)
{
    if (count != 0 && (keys == NULL || key_lens == NULL)) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!kv_is_bytes(keys[i], key_lens[i])) {
            return kv_not_bytes(keys[i]);
        }
    }
    return 0;
}

int64_t kevy_get_many(KevyDb *db, size_t count, const uint8_t *const *keys, const size_t *key_lens,
                      KevyBuf *out)
{
    struct kv_epoch_slot *slot;
    struct pack pack = {.count = count};
    if (out == NULL) {
        return -1;
    }
    *out = (KevyBuf){NULL, 0, 0};
    int32_t wrong = check_keys(count, keys, key_lens);
    if (wrong != 0) {
        return wrong;
    }
    int status = kv_gate_enter(db, &slot);
    if (status < 0) {
        return kv_result(status);
    }
    status = get_groups(db, slot, &pack, keys, key_lens);
    if (status == 0 && count == 0) {
        pack.capacity = 1;
        pack.data = kv_mem_new(&kv_mem_buffers, pack.capacity);
        status = pack.data == NULL ? KEVY_ENOMEM : 0;
    }
    if (status < 0) {
        kv_mem_free(&kv_mem_buffers, pack.data, pack.capacity);
        return kv_result(status);
    }
    *out = (KevyBuf){pack.data, pack.size, pack.capacity};
    return pack.hits;
}

/* ---- Set ---- */

static int put(struct kv_write *write, const struct kv_pair *pairs, size_t count)
{
    int status = kv_write_lock(write);
    if (status == 0) {
        struct kv_engine *engine = write->db->engine;
        status = kv_room_make(engine);
        if (status == 0) {
            status = kv_keyspace_put(&engine->keyspace, 0, pairs, count);
        }
        kv_write_unlock(write);
    }
    return status;
}

int32_t kevy_set_many(KevyDb *db, size_t count, const uint8_t *const *keys, const size_t *key_lens,
                      const uint8_t *const *vals, const size_t *val_lens)
{
    struct kv_write write;
    if (count > BATCH_MAX) {
        return kv_result(db == NULL ? KEVY_EMISUSE : KEVY_ELIMIT);
    }
    int32_t wrong = check_keys(count, keys, key_lens);
    wrong = wrong == 0 ? check_keys(count, vals, val_lens) : wrong;
    if (wrong != 0) {
        return wrong;
    }
    int status = kv_write_enter(db, &write);
    if (status < 0) {
        return kv_result(status);
    }
    struct kv_mem *mem = &db->engine->mem;
    struct kv_pair *pairs = count == 0 ? NULL : kv_mem_new(mem, count * sizeof *pairs);
    if (pairs == NULL) {
        return kv_result(kv_write_leave(&write, count == 0 ? 0 : KEVY_ENOMEM));
    }
    for (size_t i = 0; i < count; i++) {
        pairs[i] =
            (struct kv_pair){bytes_of(keys[i], key_lens[i]), bytes_of(vals[i], val_lens[i]), 0};
    }
    status = put(&write, pairs, count);
    kv_mem_free(mem, pairs, count * sizeof *pairs);
    return kv_result(kv_write_leave(&write, status));
}
