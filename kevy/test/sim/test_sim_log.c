/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The crash simulator over the log: one seed gives a life of random writes,
 * syncs, faults, kills, power cuts and reopens, checked against a list of what
 * the store should hold after each write.
 *
 * What must be true after each reopen:
 *   - the store holds what it held after some write j: a prefix, nothing
 *     invented, nothing resurrected
 *   - j is not before the last write that was known to be durable, nor, if only
 *     the process died, before the last acknowledged one
 *   - j is not behind the last write that was begun; one that failed while the
 *     process went on is not in it
 *
 * Some rounds end with a close, whole or broken off, so that opens by the index
 * and replays must come to the same.
 *
 * SIM_SEEDS=N in the environment runs that many; --seed=N starts there. CI runs
 * SEEDS of each simulator in the optimised build, of real sizes and without
 * asserts, and in the others, of hostile sizes and with asserts, as many as
 * their pace allows. `make sim N=100000` runs more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kevy/test/log_model.h"
#include "testing/crash_os.h"
#include "testing/harness.h"

enum { WRITES_MAX = 4096, ROUNDS = 6 };

#ifdef NDEBUG
#define SEEDS ((size_t)10000)
#else
#define SEEDS ((size_t)1000)
#endif

struct sim {
    struct crash_os *crash;
    uint64_t random;
    struct model model;
    struct model_state states[WRITES_MAX]; /* after each write */
    size_t end;                            /* writes that were acknowledged, states[end] the last */
    size_t durable;                        /* states[durable] is known to be on the disk */
    bool has_doubt; /* the process died within a write: states[end + 1] may be it */
    uint64_t version;
    uint8_t policy;
    uint64_t open_count;

    /* How this round writes. */
    bool is_hot;        /* large values: segments are filled, and die, before they are flushed */
    uint64_t key_count; /* of each database */
    uint64_t pass_ms;   /* at most between two writes */
    uint64_t sync_in;   /* one in so many writes is followed by a sync */
};

/* Opens, in all lives, that had an index to go by, and that did not take it. */
static uint64_t used_count, refused_count;

static uint64_t below(struct sim *sim, uint64_t bound)
{
    return test_random(&sim->random) % bound;
}

/* ---- Checks ---- */

static void state_print_difference(size_t index, const struct model_state *want,
                                   const struct model_state *seen)
{
    printf("after write %zu:", index);
    for (uint32_t db = 0; db < MODEL_DATABASES; db++) {
        for (uint32_t key = 0; key < MODEL_KEYS; key++) {
            if (want->version[db][key] != seen->version[db][key]) {
                printf(" %u/k%02u want %llu have %llu", (unsigned)db, (unsigned)key,
                       (unsigned long long)want->version[db][key],
                       (unsigned long long)seen->version[db][key]);
            }
        }
    }
    printf("\n");
}

/* Finds the state that the store holds among those that it may hold. */
static bool settle(struct sim *sim, size_t from, size_t to)
{
    struct model_state seen;
    if (!CHECK(model_read(&sim->model, &seen)) || !CHECK(kv_log_verify(sim->model.log))) {
        return false;
    }
    for (size_t i = to + 1; i-- > from;) {
        if (memcmp(&seen, &sim->states[i], sizeof seen) == 0) {
            sim->states[0] = seen;
            sim->end = sim->durable = 0;
            sim->has_doubt = false;
            return true;
        }
    }
    for (size_t i = from; i <= to && i < from + 3; i++) {
        state_print_difference(i, &sim->states[i], &seen);
    }
    return CHECK(false && "the store holds what it never held, or lost what it had");
}

/* ---- Writes ---- */

static size_t some_size(struct sim *sim)
{
    switch (below(sim, 16)) {
    case 0:
        return 4000 + below(sim, 20000);
    case 1:
        return 8 + below(sim, 4000);
    default:
        return 8 + below(sim, sim->is_hot ? 3500 : 300);
    }
}

static struct model_change some_change(struct sim *sim)
{
    struct model_change change = {(uint32_t)below(sim, MODEL_DATABASES),
                                  (uint32_t)below(sim, sim->key_count), 0, some_size(sim)};
    if (below(sim, 5) != 0) {
        change.version = ++sim->version;
    }
    return change;
}

static void state_change(struct model_state *state, const struct model_change *change)
{
    state->version[change->db][change->key] = change->version;
}

static void state_swap(struct model_state *state)
{
    struct model_state before = *state;
    memcpy(state->version[0], before.version[1], sizeof state->version[0]);
    memcpy(state->version[1], before.version[0], sizeof state->version[1]);
}

/* Does one random write; `next` becomes what the store should hold then. */
static int some_write(struct sim *sim, struct model_state *next, bool *is_appended)
{
    struct model_change changes[MODEL_BATCH_MAX];
    uint64_t kind = below(sim, 40);
    size_t count = kind < 4 ? 2 + below(sim, kind == 0 ? MODEL_BATCH_MAX - 2 : 6) : 1;
    if (kind == 38) {
        uint32_t db = (uint32_t)below(sim, MODEL_DATABASES);
        memset(next->version[db], 0, sizeof next->version[db]);
        return model_flush(&sim->model, db, is_appended);
    }
    if (kind == 39) {
        state_swap(next);
        return model_swap(&sim->model, is_appended);
    }
    for (size_t i = 0; i < count; i++) {
        changes[i] = some_change(sim);
        state_change(next, &changes[i]);
    }
    return model_write(&sim->model, changes, count, is_appended);
}

/* ---- A life ---- */

static int sim_open(struct sim *sim)
{
    sim->open_count++;
    int status = model_open(&sim->model, crash_os_table(sim->crash), "store", sim->policy);
    used_count += sim->model.report.index == KEVY_INDEX_USED;
    refused_count += sim->model.report.index == KEVY_INDEX_REFUSED;
    return status;
}

/* Writes for a while; true when the process is dead. */
static bool live(struct sim *sim, size_t count, bool is_mortal)
{
    for (size_t i = 0; i < count && sim->end + 2 < WRITES_MAX; i++) {
        bool is_appended = false;
        sim->states[sim->end + 1] = sim->states[sim->end];
        int status = some_write(sim, &sim->states[sim->end + 1], &is_appended);
        if (is_appended) {
            sim->end++;
        } else if (is_mortal) {
            sim->has_doubt = true;
            return true;
        }
        if (status == 0 && sim->policy == KEVY_FSYNC_ALWAYS) {
            sim->durable = sim->end;
        }
        if (below(sim, sim->sync_in) == 0 && kv_log_sync(sim->model.log) == 0) {
            sim->durable = sim->end;
        }
        crash_os_pass(sim->crash, below(sim, sim->pass_ms));
    }
    return false;
}

/* The process ends without a word: whatever it still does changes nothing. */
static void drop(struct sim *sim)
{
    crash_os_fault(sim->crash, CRASH_DEAD, 0, 1);
    model_close(&sim->model);
}

/* The store is open: holds what it may hold after a cut or a mere death. What
 * it holds now is durable. */
static bool settle_open(struct sim *sim, bool *is_cut)
{
    size_t from = *is_cut ? sim->durable : sim->end;
    size_t to = sim->end + (sim->has_doubt ? 1 : 0);
    if (getenv("SIM_TRACE") != NULL) {
        printf("cut %d, policy %u, %zu writes, %zu durable, doubt %d\n", *is_cut, sim->policy,
               sim->end, sim->durable, sim->has_doubt);
    }
    *is_cut = false;
    return settle(sim, from, to);
}

/* Opens, perhaps dying in the middle a few times, perhaps by power cuts. */
static bool open_again(struct sim *sim, bool is_cut)
{
    for (uint64_t deaths = below(sim, 3); deaths > 0; deaths--) {
        crash_os_fault(sim->crash, CRASH_DEAD, below(sim, 60), 1);
        if (sim_open(sim) == 0) {
            if (!settle_open(sim, &is_cut)) {
                return false;
            }
            drop(sim);
        }
        if (below(sim, 2) == 0) {
            crash_os_power_cut(sim->crash);
            is_cut = true;
        } else {
            crash_os_kill(sim->crash);
        }
    }
    int status = sim_open(sim);
    if (status != 0) {
        printf("open: %d %s (%s at %llu)\n", status, sim->model.error.text, sim->model.error.path,
               (unsigned long long)sim->model.error.offset);
    }
    return CHECK_INT(status, 0) && settle_open(sim, &is_cut);
}

/* How a round ends, and what goes wrong in it. */
enum ending { END_DEATH, END_FAULT, END_CLOSE, END_BROKEN_CLOSE };

static enum ending some_fault(struct sim *sim)
{
    static const enum crash_fault faults[] = {CRASH_NOSPC, CRASH_EIO, CRASH_EIO, CRASH_SHORT};
    uint64_t way = below(sim, 12);
    if (way < 5) {
        crash_os_fault(sim->crash, CRASH_DEAD, below(sim, sim->is_hot ? 1200 : 600), 1);
        return END_DEATH;
    }
    if (way < 7) {
        crash_os_fault(sim->crash, faults[below(sim, 4)], below(sim, 200), 1 + below(sim, 5));
        return END_FAULT;
    }
    return way < 10 ? END_CLOSE : END_BROKEN_CLOSE;
}

/* Closes, with a fault on the way or none. */
static void close_store(struct sim *sim, enum ending ending)
{
    static const enum crash_fault faults[] = {CRASH_DEAD, CRASH_DEAD, CRASH_NOSPC, CRASH_EIO,
                                              CRASH_SHORT};
    if (below(sim, 4) == 0) {
        (void)kv_log_shutdown(sim->model.log);
    }
    if (ending == END_BROKEN_CLOSE) {
        crash_os_fault(sim->crash, faults[below(sim, 5)], below(sim, 30), 1 + below(sim, 5));
    } else {
        sim->durable = sim->end;
    }
    model_close(&sim->model);
}

/* All keys at leisure, or a few over and over. Returns how many writes. */
static size_t some_pace(struct sim *sim)
{
    sim->is_hot = below(sim, 2) == 0;
    sim->key_count = sim->is_hot ? 1 + below(sim, 3) : MODEL_KEYS;
    sim->pass_ms = sim->is_hot ? 4 : 100;
    sim->sync_in = sim->is_hot ? 100 : 30;
    return sim->is_hot ? 80 + below(sim, 150) : 20 + below(sim, 150);
}

static bool one_round(struct sim *sim)
{
    size_t count = some_pace(sim);
    enum ending ending = some_fault(sim);
    bool is_cut = below(sim, 2) == 0;
    (void)live(sim, count, ending == END_DEATH);
    if (ending == END_CLOSE || ending == END_BROKEN_CLOSE) {
        close_store(sim, ending);
    } else {
        drop(sim);
    }
    if (below(sim, 2) == 0) {
        crash_os_pass(sim->crash, 100);
    }
    if (is_cut) {
        crash_os_power_cut(sim->crash);
    } else {
        crash_os_kill(sim->crash);
    }
    return open_again(sim, is_cut);
}

static bool one_life(uint64_t seed)
{
    struct sim *sim = (struct sim *)calloc(1, sizeof *sim);
    REQUIRE(sim != NULL);
    sim->random = seed;
    sim->crash = crash_os_new(seed * 31 + 7);
    sim->policy = (uint8_t)below(sim, 3);
    crash_os_windows(sim->crash, below(sim, 2) == 0);
    bool is_good = open_again(sim, false);
    for (int round = 0; is_good && round < ROUNDS; round++) {
        is_good = one_round(sim);
    }
    if (sim->model.log != NULL) {
        model_close(&sim->model);
    }
    crash_os_free(sim->crash);
    free(sim);
    if (!is_good) {
        printf("seed %llu\n", (unsigned long long)seed);
    }
    return is_good;
}

TEST_LIMIT(sim_lives, 600)
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
        CHECK(used_count > 0 && refused_count > 0);
    }
}
