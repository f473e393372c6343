/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The crash simulator over a whole store: random commands, expiries, a wall
 * clock that is set forward, kills, power cuts and reopens. The oracle is the
 * same store in memory that gets the same commands under the same clock.
 *
 * After each write the oracle's keys are noted with their values and expiry
 * times. What a reopened store holds must be what the oracle held after some
 * write that is not before the last one known to be durable (or, when only the
 * process died, the last acknowledged one), as far as it has not expired
 * since.
 *
 * SIM_SEEDS=N in the environment runs that many; --seed=N starts there. CI runs
 * SEEDS of each simulator in the optimised build, of real sizes and without
 * asserts, and in the others, of hostile sizes and with asserts, as many as
 * their pace allows. `make sim N=100000` runs more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

enum { KEYS = 16, WRITES_MAX = 1024, ROUNDS = 4, WORD_SIZE = 24 };

/* What a key holds: a digest of its value, 0 for nothing, and its expiry. */
struct held {
    uint64_t digest;
    int64_t expiry_ms;
};

struct state {
    struct held keys[KEYS];
};

#ifdef NDEBUG
#define SEEDS ((size_t)10000)
#else
#define SEEDS ((size_t)1000)
#endif

struct sim {
    struct crash_os *crash;
    kevy_os oracle_os;
    uint64_t random;
    KevyDb *db, *oracle;
    struct state states[WRITES_MAX];
    size_t end, durable;
    bool has_doubt;
    uint8_t policy;
};

static uint64_t below(struct sim *sim, uint64_t bound)
{
    return test_random(&sim->random) % bound;
}

/* ---- Commands ---- */

struct words {
    char text[8][WORD_SIZE];
    const uint8_t *at[8];
    size_t sizes[8];
    size_t count;
    char large[6000];
};

static void word(struct words *words, const char *text)
{
    (void)snprintf(words->text[words->count], WORD_SIZE, "%s", text);
    words->at[words->count] = (const uint8_t *)words->text[words->count];
    words->sizes[words->count] = strlen(words->text[words->count]);
    words->count++;
}

static void word_number(struct words *words, const char *prefix, uint64_t number)
{
    char text[WORD_SIZE];
    (void)snprintf(text, sizeof text, "%s%llu", prefix, (unsigned long long)number);
    word(words, text);
}

static void word_value(struct sim *sim, struct words *words)
{
    if (below(sim, 6) != 0) {
        word_number(words, "", below(sim, 1000000));
        return;
    }
    size_t size = 1 + below(sim, sizeof words->large - 1);
    memset(words->large, 'a' + (int)below(sim, 26), size);
    words->at[words->count] = (const uint8_t *)words->large;
    words->sizes[words->count++] = size;
}

static void word_key(struct sim *sim, struct words *words)
{
    word_number(words, "key", below(sim, KEYS));
}

static void words_of(struct sim *sim, struct words *words, const char *name, bool has_key)
{
    word(words, name);
    if (has_key) {
        word_key(sim, words);
    }
}

/* Makes up a command that may write. */
static void some_command(struct sim *sim, struct words *words)
{
    words->count = 0;
    switch (below(sim, 24)) {
    case 0:
        words_of(sim, words, "FLUSHDB", false);
        break;
    case 1:
        words_of(sim, words, "SWAPDB", false);
        word(words, "0");
        word(words, "1");
        break;
    case 2:
    case 3:
        words_of(sim, words, "PEXPIRE", true);
        word_number(words, "", below(sim, 4000));
        break;
    case 4:
        words_of(sim, words, "PERSIST", true);
        break;
    case 5:
        words_of(sim, words, "RENAME", true);
        word_key(sim, words);
        break;
    case 6:
    case 7:
        words_of(sim, words, "INCR", true);
        break;
    case 8:
        words_of(sim, words, "APPEND", true);
        word_value(sim, words);
        break;
    case 9:
    case 10:
        words_of(sim, words, "MSET", true);
        word_value(sim, words);
        word_key(sim, words);
        word(words, "second");
        break;
    case 11:
    case 12:
        words_of(sim, words, "PSETEX", true);
        word_number(words, "", 1 + below(sim, 4000));
        word_value(sim, words);
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        words_of(sim, words, "DEL", true);
        break;
    default:
        words_of(sim, words, "SET", true);
        word_value(sim, words);
        break;
    }
}

/* Runs the words; the reply is the caller's. */
static KevyBuf run(KevyDb *db, const struct words *words)
{
    KevyBuf reply = {NULL, 0, 0};
    REQUIRE_INT(kevy_cmd(db, words->count, words->at, words->sizes, &reply), 0);
    return reply;
}

/* ---- What a store holds ---- */

/* The number of an integer reply, which ends in CR LF and not in a NUL. */
static int64_t number_of(KevyBuf reply)
{
    char text[32] = "";
    REQUIRE(reply.len > 1 && reply.len < sizeof text && reply.ptr[0] == ':');
    memcpy(text, reply.ptr + 1, reply.len - 1);
    return strtoll(text, NULL, 10);
}

static struct held read_key(KevyDb *db, uint64_t key)
{
    struct words words = {.count = 0};
    struct held held = {0, 0};
    word(&words, "GET");
    word_number(&words, "key", key);
    KevyBuf reply = run(db, &words);
    if (reply.len > 4 && reply.ptr[1] != '-') {
        held.digest = hash_bytes(reply.ptr, reply.len, 5) | 1;
    }
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    words.count = 0;
    word(&words, "PEXPIRETIME");
    word_number(&words, "key", key);
    reply = run(db, &words);
    held.expiry_ms = held.digest == 0 ? 0 : number_of(reply);
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    return held;
}

static struct state read_all(KevyDb *db)
{
    struct state state;
    for (uint64_t key = 0; key < KEYS; key++) {
        state.keys[key] = read_key(db, key);
    }
    return state;
}

/* Forgets what has expired by now. */
static struct state as_of_now(struct sim *sim, const struct state *state)
{
    const kevy_os *os = crash_os_table(sim->crash);
    struct state now = *state;
    int64_t wall_ms = (int64_t)os->wall_ms(os->self);
    for (uint64_t key = 0; key < KEYS; key++) {
        if (now.keys[key].expiry_ms > 0 && now.keys[key].expiry_ms <= wall_ms) {
            now.keys[key] = (struct held){0, 0};
        }
    }
    return now;
}

static bool states_equal(const struct state *a, const struct state *b)
{
    for (uint64_t key = 0; key < KEYS; key++) {
        if (a->keys[key].digest != b->keys[key].digest ||
            (a->keys[key].digest != 0 && a->keys[key].expiry_ms != b->keys[key].expiry_ms)) {
            return false;
        }
    }
    return true;
}

/* ---- A life ---- */

static int open_store(struct sim *sim)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyError error;
    struct kv_open open = {.dir = BYTES_LITERAL("store"),
                           .options = &options,
                           .os = crash_os_table(sim->crash),
                           .mem = &kv_mem_libc,
                           .segment_size = (size_t)64 << 10,
                           .is_threadless = true};
    options.fsync = sim->policy;
    sim->db = NULL;
    return kv_engine_open(&open, &sim->db, &error);
}

/* The process ends without a word. */
static void drop(struct sim *sim)
{
    crash_os_fault(sim->crash, CRASH_DEAD, 0, 1);
    kevy_close(sim->db);
    sim->db = NULL;
}

/* Runs one command on both; true when the store died in it. */
static bool one_write(struct sim *sim)
{
    struct words words;
    some_command(sim, &words);
    KevyBuf reply = run(sim->db, &words);
    KevyBuf wanted = run(sim->oracle, &words);
    bool is_equal = reply.len == wanted.len && memcmp(reply.ptr, wanted.ptr, reply.len) == 0;
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
    kevy_buf_free(wanted.ptr, wanted.len, wanted.cap);
    sim->states[sim->end + 1] = read_all(sim->oracle);
    if (!is_equal) {
        sim->has_doubt = true;
        return true;
    }
    sim->end++;
    if (sim->policy == KEVY_FSYNC_ALWAYS) {
        sim->durable = sim->end;
    }
    return false;
}

/* Somebody sets the wall clock; both stores have heard of it when this returns. */
static void wall_step(struct sim *sim)
{
    const kevy_os *os = crash_os_table(sim->crash);
    crash_os_set_wall(sim->crash, os->wall_ms(os->self) + KV_CLOCK_STEP_MS + below(sim, 5000));
    crash_os_pass(sim->crash, KV_CLOCK_LOOK_NS / 1000000);
}

static bool live(struct sim *sim, size_t count)
{
    for (size_t i = 0; i < count && sim->end + 2 < WRITES_MAX; i++) {
        if (one_write(sim)) {
            return true;
        }
        if (below(sim, 25) == 0 && kevy_sync(sim->db) == 0) {
            sim->durable = sim->end;
        }
        crash_os_pass(sim->crash, below(sim, 30) == 0 ? below(sim, 3000) : below(sim, 60));
        if (below(sim, 60) == 0) {
            wall_step(sim);
        }
    }
    return false;
}

/* Makes the oracle hold what was found: a fresh one, filled from the store. */
static void oracle_renew(struct sim *sim)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    struct kv_open open = {.options = &options, .os = &sim->oracle_os, .mem = &kv_mem_libc};
    struct words words;
    kevy_close(sim->oracle);
    REQUIRE_INT(kv_engine_open(&open, &sim->oracle, NULL), 0);
    for (uint64_t key = 0; key < KEYS; key++) {
        struct held held = read_key(sim->db, key);
        KevyBuf value = {NULL, 0, 0};
        char name[WORD_SIZE];
        (void)snprintf(name, sizeof name, "key%llu", (unsigned long long)key);
        if (held.digest == 0 ||
            kevy_get(sim->db, (const uint8_t *)name, strlen(name), &value) != 1) {
            continue;
        }
        REQUIRE_INT(
            kevy_set(sim->oracle, (const uint8_t *)name, strlen(name), value.ptr, value.len, 0), 0);
        kevy_buf_free(value.ptr, value.len, value.cap);
        if (held.expiry_ms > 0) {
            words.count = 0;
            word(&words, "PEXPIREAT");
            word(&words, name);
            word_number(&words, "", (uint64_t)held.expiry_ms);
            value = run(sim->oracle, &words);
            kevy_buf_free(value.ptr, value.len, value.cap);
        }
    }
}

/* Database 1 cannot be seen from here: empties it in both. */
static void hidden_database_clear(struct sim *sim)
{
    static const char *const names[] = {"SWAPDB", "FLUSHDB", "SWAPDB"};
    for (size_t i = 0; i < 3; i++) {
        struct words words = {.count = 0};
        word(&words, names[i]);
        if (i != 1) {
            word(&words, "0");
            word(&words, "1");
        }
        KevyBuf reply = run(sim->db, &words);
        kevy_buf_free(reply.ptr, reply.len, reply.cap);
    }
}

/* Opens that had an index to go by. */
static uint64_t used_count;

static bool settle(struct sim *sim, bool is_cut)
{
    KevyOpenReport report;
    REQUIRE_INT(kevy_open_report(sim->db, &report), 0);
    used_count += report.index == KEVY_INDEX_USED;
    struct state seen = read_all(sim->db);
    size_t from = is_cut ? sim->durable : sim->end, to = sim->end + (sim->has_doubt ? 1 : 0);
    bool is_found = false;
    for (size_t i = to + 1; !is_found && i-- > from;) {
        struct state want = as_of_now(sim, &sim->states[i]);
        is_found = states_equal(&seen, &want);
    }
    if (!CHECK(is_found)) {
        return false;
    }
    hidden_database_clear(sim);
    REQUIRE_INT(kevy_sync(sim->db), 0);
    oracle_renew(sim);
    sim->states[0] = read_all(sim->oracle);
    sim->end = sim->durable = 0;
    sim->has_doubt = false;
    return true;
}

static bool one_round(struct sim *sim)
{
    bool is_closed = below(sim, 3) == 0, is_cut = below(sim, 2) == 0;
    if (!is_closed && below(sim, 2) == 0) {
        crash_os_fault(sim->crash, CRASH_DEAD, below(sim, 300), 1);
    }
    bool is_dead = live(sim, 20 + below(sim, 100));
    if (is_closed && !is_dead) {
        if (below(sim, 2) == 0) {
            crash_os_fault(sim->crash, CRASH_DEAD, below(sim, 60), 1);
        } else {
            sim->durable = sim->end;
        }
        kevy_close(sim->db);
        crash_os_pass(sim->crash, below(sim, 100));
    } else {
        drop(sim);
    }
    if (is_cut) {
        crash_os_power_cut(sim->crash);
    } else {
        crash_os_kill(sim->crash);
    }
    return CHECK_INT(open_store(sim), 0) && settle(sim, is_cut);
}

static bool one_life(uint64_t seed)
{
    struct sim *sim = (struct sim *)calloc(1, sizeof *sim);
    REQUIRE(sim != NULL);
    sim->random = seed;
    sim->crash = crash_os_new(seed * 77 + 5);
    sim->oracle_os = kv_os_posix;
    sim->oracle_os.self = sim->crash;
    sim->oracle_os.wall_ms = crash_os_table(sim->crash)->wall_ms;
    sim->oracle_os.boot_ns = crash_os_table(sim->crash)->boot_ns;
    sim->policy = (uint8_t)below(sim, 3);
    crash_os_windows(sim->crash, below(sim, 2) == 0);
    bool is_good = CHECK_INT(open_store(sim), 0) && settle(sim, false);
    for (int round = 0; is_good && round < ROUNDS; round++) {
        is_good = one_round(sim);
    }
    kevy_close(sim->db);
    kevy_close(sim->oracle);
    crash_os_free(sim->crash);
    free(sim);
    if (!is_good) {
        printf("seed %llu\n", (unsigned long long)seed);
    }
    return is_good;
}

TEST_LIMIT(sim_store_lives, 600)
{
    const char *wanted = getenv("SIM_SEEDS");
    uint64_t count = wanted == NULL ? test_scale(SEEDS) : strtoull(wanted, NULL, 10);
    uint64_t first = test_seed();
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (!one_life(seed)) {
            break;
        }
    }
    if (count >= 100) {
        CHECK(used_count > 0);
    }
}
