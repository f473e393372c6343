/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing and verifying versions; see kill_model.h.
 *
 * A value begins with its version, the rest is one byte over and over; its
 * size is derived from the version too, so a value that was torn, mixed or
 * brought back from an earlier version is seen.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include "kevy/test/kill_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "testing/harness.h"

enum { VALUE_MAX = 400000, HOUR_MS = 3600000 };

enum kind { KIND_SET, KIND_SET_LONG, KIND_SET_BRIEF, KIND_DELETE, KIND_EXPIRE };

/* ---- What a version is ---- */

static uint64_t mix(const struct kill_model *model, uint64_t name, uint64_t version)
{
    return hash_fold(name * UINT64_C(0x9e3779b97f4a7c15) + version,
                     HASH_K1 ^ atomic_load_explicit(&model->salt, memory_order_relaxed));
}

static enum kind kind_of(uint64_t mixed)
{
    static const enum kind kinds[16] = {
        [9] = KIND_SET_LONG, [10] = KIND_SET_BRIEF, [11] = KIND_DELETE,
        [12] = KIND_DELETE,  [13] = KIND_EXPIRE,    [14] = KIND_SET_LONG};
    return kinds[mixed % 16];
}

static size_t size_of(uint64_t mixed)
{
    uint64_t dice = mixed >> 8 & 127;
    size_t max = dice == 0 ? VALUE_MAX : dice < 10 ? 30000 : 400;
    return 8 + (size_t)(mixed >> 16) % (max - 8);
}

static size_t value_make(uint64_t version, uint64_t mixed, size_t size_max, uint8_t *out)
{
    size_t size = size_of(mixed);
    size = size < size_max ? size : 8 + size % (size_max - 8);
    memcpy(out, &version, 8);
    memset(out + 8, (int)(mixed >> 56), size - 8);
    return size;
}

/* ---- Calls ---- */

static uint8_t *value_room(void)
{
    static _Thread_local uint8_t room[VALUE_MAX];
    return room;
}

static int64_t command(KevyDb *db, size_t argc, const char *const *args)
{
    const uint8_t *argv[4];
    size_t sizes[4];
    KevyBuf reply;
    long long number = 0;
    for (size_t i = 0; i < argc; i++) {
        argv[i] = (const uint8_t *)args[i];
        sizes[i] = strlen(args[i]);
    }
    if (kevy_cmd(db, argc, argv, sizes, &reply) != 0) {
        return INT64_MIN;
    }
    char text[32] = "";
    memcpy(text, reply.ptr, reply.len < sizeof text - 1 ? reply.len : sizeof text - 1);
    bool is_number = sscanf(text, ":%lld", &number) == 1;
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return is_number ? (int64_t)number : INT64_MIN;
}

static void key_name(unsigned owner, unsigned key, char out[24])
{
    (void)snprintf(out, 24, "owner%u:key%u", owner, key);
}

static bool write_key(struct kill_model *model, KevyDb *db, unsigned owner, unsigned key,
                      uint64_t version)
{
    char name[24];
    uint64_t mixed = mix(model, owner * 1000 + key, version);
    enum kind kind = kind_of(mixed);
    key_name(owner, key, name);
    if (kind == KIND_DELETE) {
        return command(db, 2, (const char *const[]){"DEL", name}) >= 0;
    }
    if (kind == KIND_EXPIRE) {
        return command(db, 3, (const char *const[]){"EXPIRE", name, "-1"}) >= 0;
    }
    uint64_t ttl_ms = kind == KIND_SET_LONG ? HOUR_MS : kind == KIND_SET_BRIEF ? 1 : 0;
    size_t size = value_make(version, mixed, VALUE_MAX, value_room());
    return kevy_set(db, (const uint8_t *)name, strlen(name), value_room(), size, ttl_ms) == 0;
}

static void group_names(unsigned owner, char names[KILL_GROUP][24])
{
    for (unsigned i = 0; i < KILL_GROUP; i++) {
        (void)snprintf(names[i], 24, "owner%u:group%u", owner, i);
    }
}

static bool write_group(struct kill_model *model, KevyDb *db, unsigned owner, uint64_t version)
{
    char names[KILL_GROUP][24];
    const uint8_t *keys[KILL_GROUP], *values[KILL_GROUP];
    size_t key_sizes[KILL_GROUP], value_sizes[KILL_GROUP];
    uint8_t *room = value_room();
    group_names(owner, names);
    for (unsigned i = 0; i < KILL_GROUP; i++) {
        size_t size = value_make(version, mix(model, owner * 1000 + 500 + i, version), 40000, room);
        keys[i] = (const uint8_t *)names[i];
        key_sizes[i] = strlen(names[i]);
        values[i] = room;
        value_sizes[i] = size;
        room += size;
    }
    return kevy_set_many(db, KILL_GROUP, keys, key_sizes, values, value_sizes) == 0;
}

static bool write_counter(KevyDb *db, unsigned owner, uint64_t version)
{
    char name[24];
    (void)snprintf(name, sizeof name, "owner%u:counter", owner);
    return command(db, 2, (const char *const[]){"INCR", name}) == (int64_t)version;
}

bool kill_model_write(struct kill_model *model, KevyDb *db, unsigned owner, uint64_t random)
{
    struct kill_owner *own = &model->owners[owner];
    unsigned key = (unsigned)(random >> 8) % KILL_KEYS, dice = (unsigned)random % 8;
    struct kill_versions *versions = dice == 0   ? &own->group
                                     : dice == 1 ? &own->counter
                                                 : &own->keys[key];
    uint64_t version = atomic_load(&versions->acked) + 1;
    atomic_store(&versions->begun, version);
    bool is_done = dice == 0   ? write_group(model, db, owner, version)
                   : dice == 1 ? write_counter(db, owner, version)
                               : write_key(model, db, owner, key, version);
    if (is_done) {
        atomic_store(&versions->acked, version);
        atomic_fetch_add(&model->acked, 1);
    }
    return is_done;
}

/* ---- Verifying ---- */

static void wrong(struct kill_model *model, const char *name, const struct kill_versions *versions,
                  const char *what, uint64_t found)
{
    if (atomic_fetch_add(&model->wrong, 1) == 0) {
        (void)snprintf(model->first_wrong, sizeof model->first_wrong,
                       "%s: acknowledged %llu, begun %llu, %s %llu", name,
                       (unsigned long long)versions->acked, (unsigned long long)versions->begun,
                       what, (unsigned long long)found);
    }
}

/* 1 a whole value, with its version; 0 none; -1 bytes that no version has. */
static int value_read(const struct kill_model *model, KevyDb *db, const char *name,
                      uint64_t name_number, size_t size_max, uint64_t *version)
{
    KevyBuf value;
    *version = 0;
    int32_t hit = kevy_get(db, (const uint8_t *)name, strlen(name), &value);
    if (hit != 1) {
        return hit == 0 ? 0 : -1;
    }
    int result = -1;
    if (value.len >= 8) {
        memcpy(version, value.ptr, 8);
        size_t size =
            value_make(*version, mix(model, name_number, *version), size_max, value_room());
        result = value.len == size && memcmp(value.ptr, value_room(), size) == 0 ? 1 : -1;
    }
    kevy_buf_free(value.ptr, value.len, value.cap);
    return result;
}

/* Whether a key that holds nothing agrees with this version. */
static bool may_be_absent(const struct kill_model *model, uint64_t name, uint64_t version)
{
    enum kind kind = kind_of(mix(model, name, version));
    return version == 0 || kind == KIND_DELETE || kind == KIND_EXPIRE || kind == KIND_SET_BRIEF;
}

static bool has_right_ttl(const struct kill_model *model, KevyDb *db, const char *name,
                          uint64_t name_number, uint64_t version)
{
    enum kind kind = kind_of(mix(model, name_number, version));
    int64_t ttl_ms = command(db, 2, (const char *const[]){"PTTL", name});
    return kind == KIND_SET        ? ttl_ms == -1
           : kind == KIND_SET_LONG ? ttl_ms > 0 && ttl_ms <= HOUR_MS
                                   : kind == KIND_SET_BRIEF;
}

static void settle(struct kill_versions *versions, uint64_t version)
{
    atomic_store(&versions->acked, version);
    atomic_store(&versions->begun, version);
}

static void verify_key(struct kill_model *model, KevyDb *db, unsigned owner, unsigned key)
{
    struct kill_versions *versions = &model->owners[owner].keys[key];
    uint64_t begun = versions->begun, acked = versions->acked, version, number = owner * 1000 + key;
    char name[24];
    key_name(owner, key, name);
    int found = value_read(model, db, name, number, VALUE_MAX, &version);
    if (found < 0) {
        wrong(model, name, versions, "damaged", version);
    } else if (found == 1 && version != begun && version != acked) {
        wrong(model, name, versions, "found", version);
    } else if (found == 1) {
        if (!has_right_ttl(model, db, name, number, version)) {
            wrong(model, name, versions, "wrong expiry of", version);
        }
        settle(versions, version);
    } else if (may_be_absent(model, number, begun)) {
        settle(versions, begun);
    } else if (may_be_absent(model, number, acked)) {
        settle(versions, acked);
    } else {
        wrong(model, name, versions, "nothing there", 0);
    }
}

static void verify_group(struct kill_model *model, KevyDb *db, unsigned owner)
{
    struct kill_versions *versions = &model->owners[owner].group;
    char names[KILL_GROUP][24];
    uint64_t first = 0;
    group_names(owner, names);
    for (unsigned i = 0; i < KILL_GROUP; i++) {
        uint64_t version;
        int found = value_read(model, db, names[i], owner * 1000 + 500 + i, 40000, &version);
        first = i == 0 ? version : first;
        if (found < 0 || version != first ||
            (version != versions->begun && version != versions->acked)) {
            wrong(model, names[i], versions, "in a batch with others", version);
            return;
        }
    }
    settle(versions, first);
}

static void verify_counter(struct kill_model *model, KevyDb *db, unsigned owner)
{
    struct kill_versions *versions = &model->owners[owner].counter;
    char name[24], text[24] = "0";
    size_t size;
    (void)snprintf(name, sizeof name, "owner%u:counter", owner);
    (void)kevy_get_into(db, (const uint8_t *)name, strlen(name), (uint8_t *)text, sizeof text - 1,
                        &size);
    uint64_t count = strtoull(text, NULL, 10);
    if (count != versions->begun && count != versions->acked) {
        wrong(model, name, versions, "counted", count);
    } else {
        settle(versions, count);
    }
}

void kill_model_verify(struct kill_model *model, KevyDb *db)
{
    for (unsigned owner = 0; owner < KILL_OWNERS; owner++) {
        for (unsigned key = 0; key < KILL_KEYS; key++) {
            verify_key(model, db, owner, key);
        }
        verify_group(model, db, owner);
        verify_counter(model, db, owner);
    }
    atomic_fetch_add(&model->verified, 1);
}

/* ---- The model's memory ---- */

void kill_model_reset(struct kill_model *model, uint64_t salt)
{
    memset(model->owners, 0, sizeof model->owners);
    atomic_store(&model->salt, salt);
}

struct kill_model *kill_model_new(uint64_t salt)
{
    struct kill_model *model =
        mmap(NULL, sizeof *model, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(model != MAP_FAILED);
    kill_model_reset(model, salt);
    return model;
}

void kill_model_free(struct kill_model *model)
{
    (void)munmap(model, sizeof *model);
}
