/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stores with a past, and damage to them; see relic_kit.h. Values say of themselves
 * what they are, so that nothing has to be remembered to judge what is read.
 */
#include "kevy/test/relic_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/engine/write.h"
#include "testing/harness.h"

enum { VALUE_MAX = 80000, LARGE_MIN = 5000, SEGMENT_SIZE = 64 << 10 };

/* ---- Values ---- */

static size_t value_size(uint64_t version)
{
    return version % 23 == 0 ? LARGE_MIN + version * 31 % (VALUE_MAX - LARGE_MIN)
                             : 24 + version * 7919 % 380;
}

static uint64_t value_expiry(uint64_t version)
{
    return version % 5 == 0 ? UINT64_C(4000000000000) + version : 0;
}

static void value_fill(uint32_t key, uint64_t version, uint8_t *out)
{
    size_t size = value_size(version);
    int head = snprintf((char *)out, 24, "%02u.%06lu.", (unsigned)key, (unsigned long)version);
    for (size_t i = (size_t)head; i < size; i++) {
        out[i] = (uint8_t)(version * 31 + key * 7 + i * (version | 1));
    }
}

/* The version that a value tells, 0 when it is not one of ours. */
static uint64_t value_version(uint32_t key, struct bytes value, uint64_t expiry_ms)
{
    static uint8_t want[VALUE_MAX];
    char head[16] = "";
    if (value.size < 10) {
        return 0;
    }
    memcpy(head, value.data, 10);
    uint64_t version = strtoul(head + 3, NULL, 10);
    if (version == 0 || version >= RELIC_VERSIONS || value.size != value_size(version) ||
        expiry_ms != value_expiry(version)) {
        return 0;
    }
    value_fill(key, version, want);
    return memcmp(want, value.data, value.size) == 0 ? version : 0;
}

static void key_name(uint32_t key, char out[8])
{
    (void)snprintf(out, 8, "k%02u", (unsigned)key);
}

/* ---- A life ---- */

static uint64_t below(uint64_t *random, uint64_t bound)
{
    return test_random(random) % bound;
}

int relic_open(struct crash_os *crash, KevyDb **out, KevyError *error)
{
    static const KevyOpenOptions options = {.fsync = KEVY_FSYNC_EVERYSEC};
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(crash),
                           .mem = &kv_mem_libc,
                           .segment_size = SEGMENT_SIZE,
                           .is_threadless = true};
    return kv_engine_open(&open, out, error);
}

/* Runs one change of the keyspace as a public write does. */
typedef int change_fn(struct kv_keyspace *ks, void *user);

static void change(KevyDb *db, change_fn *run, void *user)
{
    struct kv_write write;
    REQUIRE_INT(kv_write_enter(db, &write), 0);
    REQUIRE_INT(kv_write_lock(&write), 0);
    int status = run(&db->engine->keyspace, user);
    kv_write_unlock(&write);
    REQUIRE(kv_write_leave(&write, status) >= 0);
}

struct pairs {
    uint32_t db;
    size_t count;
    struct kv_pair at[RELIC_BATCH];
    char names[RELIC_BATCH][8];
    uint8_t *values;
};

static int put_pairs(struct kv_keyspace *ks, void *user)
{
    const struct pairs *pairs = user;
    return kv_keyspace_put(ks, pairs->db, pairs->at, pairs->count);
}

static void write_to(struct relic_past *past, KevyDb *db, uint32_t database, uint32_t first,
                     size_t count)
{
    struct pairs pairs = {.db = database, .count = count};
    pairs.values = malloc(count * VALUE_MAX);
    REQUIRE(pairs.values != NULL);
    past->batches += count > 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t key = (first + (uint32_t)i) % RELIC_KEYS;
        uint64_t version = ++past->clock;
        uint8_t *value = pairs.values + i * VALUE_MAX;
        key_name(key, pairs.names[i]);
        value_fill(key, version, value);
        pairs.at[i] = (struct kv_pair){bytes_of(pairs.names[i], 3),
                                       bytes_of(value, value_size(version)), value_expiry(version)};
        past->now.version[pairs.db][key] = version;
        past->written[version].db = pairs.db;
        past->written[version].key = key;
        past->written[version].batch = count > 1 ? past->batches : 0;
    }
    change(db, put_pairs, &pairs);
    free(pairs.values);
}

static void write_some(struct relic_past *past, KevyDb *db, size_t count)
{
    uint32_t database = (uint32_t)below(&past->random, RELIC_DATABASES);
    write_to(past, db, database, (uint32_t)below(&past->random, RELIC_KEYS), count);
}

struct removal {
    uint32_t db, key;
};

static int remove_key(struct kv_keyspace *ks, void *user)
{
    const struct removal *removal = user;
    char name[8];
    key_name(removal->key, name);
    struct bytes key = bytes_of(name, 3);
    return (int)kv_keyspace_remove(ks, removal->db, &key, 1);
}

static int flush_db(struct kv_keyspace *ks, void *user)
{
    const struct removal *removal = user;
    return kv_keyspace_flush(ks, removal->db);
}

static int swap_db(struct kv_keyspace *ks, void *user)
{
    const struct removal *removal = user;
    return kv_keyspace_swap(ks, removal->db, removal->key);
}

static void delete_one(struct relic_past *past, KevyDb *db)
{
    struct removal removal = {(uint32_t)below(&past->random, RELIC_DATABASES),
                              (uint32_t)below(&past->random, RELIC_KEYS)};
    change(db, remove_key, &removal);
    past->now.version[removal.db][removal.key] = 0;
    past->gone.version[removal.db][removal.key] = ++past->clock;
}

static void forget(struct relic_past *past, uint32_t db)
{
    past->clock++;
    for (uint32_t key = 0; key < RELIC_KEYS; key++) {
        past->gone.version[db][key] = past->clock;
    }
}

static void flush_one(struct relic_past *past, KevyDb *db)
{
    struct removal removal = {(uint32_t)below(&past->random, RELIC_DATABASES), 0};
    change(db, flush_db, &removal);
    memset(past->now.version[removal.db], 0, sizeof past->now.version[0]);
    forget(past, removal.db);
}

static void swap_two(struct relic_past *past, KevyDb *db)
{
    struct removal removal = {0, 1 + (uint32_t)below(&past->random, RELIC_DATABASES - 1)};
    uint64_t saved[RELIC_KEYS];
    change(db, swap_db, &removal);
    memcpy(saved, past->now.version[0], sizeof saved);
    memcpy(past->now.version[0], past->now.version[removal.key], sizeof saved);
    memcpy(past->now.version[removal.key], saved, sizeof saved);
    forget(past, 0);
    forget(past, removal.key);
}

static void one_step(struct relic_past *past, struct crash_os *crash, KevyDb *db, bool is_calm)
{
    switch (below(&past->random, 40)) {
    case 0:
        flush_one(past, db);
        break;
    case 1:
        swap_two(past, db);
        break;
    case 2:
        REQUIRE_INT(kevy_sync(db), 0);
        break;
    case 3:
        REQUIRE_INT(is_calm ? 0 : kevy_compact(db), 0);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        delete_one(past, db);
        break;
    case 9:
    case 10:
    case 11:
        write_some(past, db, 2 + below(&past->random, RELIC_BATCH - 2));
        break;
    default:
        write_some(past, db, 1);
        break;
    }
    crash_os_pass(crash, below(&past->random, 60));
}

static bool has_first_segment(struct crash_os *crash)
{
    struct kv_segment_header header;
    size_t size;
    const uint8_t *bytes = crash_os_file(crash, "00000.seg", &size);
    return bytes != NULL && size >= KV_SEGMENT_HEADER && kv_segment_header_decode(bytes, &header) &&
           header.kind == KV_SEGMENT_LOG && header.first_lsn == 1;
}

struct crash_os *relic_live(uint64_t seed, bool is_calm, struct relic_past *past)
{
    KevyDb *db;
    struct crash_os *crash = crash_os_new(seed * 77 + 5);
    *past = (struct relic_past){.random = seed * 131 + 7};
    crash_os_windows(crash, below(&past->random, 2) == 0);
    size_t lives = is_calm ? 1 : 1 + below(&past->random, 3);
    for (size_t life = 0; life < lives; life++) {
        size_t steps = 20 + below(&past->random, is_calm ? 40 : 180);
        REQUIRE_INT(relic_open(crash, &db, NULL), 0);
        for (size_t i = 0; i < steps && past->clock + 20 < RELIC_VERSIONS; i++) {
            one_step(past, crash, db, is_calm);
        }
        if (below(&past->random, 3) == 0) {
            REQUIRE_INT(kevy_shutdown(db), 0);
            kevy_close(db);
        } else {
            crash_os_fault(crash, CRASH_DEAD, 0, 1);
            kevy_close(db);
        }
        crash_os_kill(crash);
    }
    past->is_intact = is_calm && has_first_segment(crash);
    /* With it an open reads no record, and notices no damage. */
    crash_os_remove(crash, "index");
    return crash;
}

struct crash_os *relic_one_each(struct relic_past *past)
{
    KevyDb *db;
    struct crash_os *crash = crash_os_new(1);
    *past = (struct relic_past){.random = 1};
    crash_os_windows(crash, false);
    REQUIRE_INT(relic_open(crash, &db, NULL), 0);
    for (uint32_t key = 0; key < RELIC_KEYS; key++) {
        past->clock += (past->clock + 1) % 23 == 0;
        write_to(past, db, 0, key, 1);
    }
    REQUIRE_INT(kevy_shutdown(db), 0);
    kevy_close(db);
    crash_os_kill(crash);
    crash_os_remove(crash, "index");
    return crash;
}

/* ---- Reading ---- */

struct reading {
    struct relic_state *state;
    uint32_t db;
    bool is_good;
};

/* A salvage that lost the map may have put keys into any database. */
static void read_entry(struct reading *reading, struct bytes key, struct bytes value,
                       uint64_t expiry_ms)
{
    char text[8] = "";
    uint64_t version = 0;
    if (key.size == 3) {
        memcpy(text, key.data, 3);
        uint32_t number = (uint32_t)strtoul(text + 1, NULL, 10);
        if (number < RELIC_KEYS) {
            version = value_version(number, value, expiry_ms);
        }
        if (version != 0 && reading->db < RELIC_DATABASES) {
            reading->state->version[reading->db][number] = version;
        }
    }
    reading->is_good = reading->is_good && version != 0;
}

static void read_item(void *user, struct bytes key, const struct kv_item *item)
{
    read_entry(user, key, item->value, item->expiry_ms);
}

bool relic_read(KevyDb *db, struct relic_state *out)
{
    struct reading reading = {.state = out, .is_good = true};
    *out = (struct relic_state){0};
    for (; reading.db < KV_DATABASE_COUNT; reading.db++) {
        uint64_t cursor = 0;
        do {
            cursor = kv_keyspace_scan(&db->engine->keyspace, reading.db, cursor, 100, read_item,
                                      &reading);
        } while (cursor != 0);
    }
    return reading.is_good;
}

static int32_t show_entry_to(void *user, const KevyEntry *entry)
{
    struct reading *reading = user;
    reading->db = entry->database;
    read_entry(reading, bytes_of(entry->key, entry->key_len),
               bytes_of(entry->value, entry->value_len), entry->expiry_ms);
    return 0;
}

int32_t relic_check(struct crash_os *crash, struct relic_state *out, KevyCheckReport *report,
                    KevyError *error)
{
    struct reading reading = {.state = out, .is_good = true};
    KevyCheckOptions options = {.user = &reading, .entry = show_entry_to};
    struct kv_view_of of = {.dir = BYTES_LITERAL("store"),
                            .os = crash_os_table(crash),
                            .mem = &kv_mem_libc,
                            .options = &options};
    *out = (struct relic_state){0};
    *report = (KevyCheckReport){.size = sizeof *report};
    int32_t status = kv_check_run(&of, report, error);
    CHECK(reading.is_good || report->damaged_values != 0);
    return status;
}

int32_t relic_salvage(struct crash_os *crash, bool is_blind, struct relic_state *out,
                      KevyCheckReport *report, KevyError *error)
{
    static const KevyOpenOptions open_options = {.fsync = KEVY_FSYNC_NO};
    struct crash_os *other = crash_os_new(3);
    struct kv_open to = {.dir = BYTES_LITERAL("store"),
                         .options = &open_options,
                         .os = crash_os_table(other),
                         .mem = &kv_mem_libc,
                         .segment_size = SEGMENT_SIZE,
                         .is_threadless = true};
    struct kv_view_of of = {.dir = BYTES_LITERAL("store"),
                            .os = crash_os_table(crash),
                            .mem = &kv_mem_libc,
                            .is_salvage = true,
                            .is_blind = is_blind};
    KevyDb *db;
    *out = (struct relic_state){0};
    *report = (KevyCheckReport){.size = sizeof *report};
    int32_t status = kv_salvage_run(&of, &to, report, error);
    if (status >= 0) {
        REQUIRE_INT(relic_open(other, &db, NULL), 0);
        CHECK(relic_read(db, out) || is_blind);
        CHECK(kv_log_verify(db->engine->log));
        kevy_close(db);
    }
    crash_os_free(other);
    return status;
}

/* ---- Judging ---- */

/* Says whether a version that is not there may be missing: it was superseded, or
 * deleted, or is large: the extent of that goes as soon as it is superseded. */
static bool may_be_gone(const struct relic_past *past, const struct relic_state *state, uint32_t db,
                        uint64_t v)
{
    uint32_t key = past->written[v].key;
    return state->version[db][key] >= v || past->gone.version[db][key] > v ||
           value_size(v) >= LARGE_MIN;
}

/* A swap that is lost leaves a batch in another database, but all of it. */
bool relic_batches_hold(const struct relic_past *past, const struct relic_state *state)
{
    bool is_there[RELIC_DATABASES][RELIC_VERSIONS] = {{false}};
    for (uint64_t v = 1; v <= past->clock; v++) {
        for (uint32_t db = 0; db < RELIC_DATABASES; db++) {
            if (state->version[db][past->written[v].key] == v) {
                is_there[db][past->written[v].batch] = true;
            }
        }
    }
    for (uint64_t v = 1; v <= past->clock; v++) {
        uint32_t batch = past->written[v].batch;
        for (uint32_t db = 0; batch != 0 && db < RELIC_DATABASES; db++) {
            if (is_there[db][batch] && !may_be_gone(past, state, db, v)) {
                printf("version %lu of batch %u is gone\n", (unsigned long)v, (unsigned)batch);
                return false;
            }
        }
    }
    return true;
}

bool relic_holds(const struct relic_past *past, const struct relic_state *state,
                 const struct relic_state *least)
{
    for (uint32_t db = 0; db < RELIC_DATABASES; db++) {
        for (uint32_t key = 0; key < RELIC_KEYS; key++) {
            uint64_t wanted = least->version[db][key];
            if (state->version[db][key] < wanted && past->gone.version[db][key] < wanted) {
                printf("database %u key %u: %lu, not %lu\n", (unsigned)db, (unsigned)key,
                       (unsigned long)state->version[db][key], (unsigned long)wanted);
                return false;
            }
        }
    }
    return true;
}
