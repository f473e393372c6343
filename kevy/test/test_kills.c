/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SIGKILL at random moments, under each flush policy: every write that had
 * returned is there, every batch is whole, nothing comes back.
 *
 * A round: a child opens the store, which recovers it, checks it against the
 * model (kill_model.h), and then writes from several threads until the parent
 * kills it; in every fourth round the moment may fall into the open itself. Now and then a child
 * closes the store by itself. A store lives for some rounds, with segments
 * small enough that sealing, marking, collection and unlinking go on all the
 * time, or large ones.
 *
 * `make kills N=1000` makes N rounds for each policy; without KEVY_KILLS in the
 * environment a round count that fits into a test run.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kevy/src/engine/engine.h"
#include "kevy/src/os/os_posix.h"
#include "kevy/test/kill_model.h"
#include "testing/harness.h"

enum { ROUNDS = 80, LIFE = 25, CLOSE_EVERY = 10, SECONDS = 4, SMALL_SEGMENT = 64 << 10 };

struct round {
    struct kill_model *model;
    const char *dir;
    uint8_t fsync;
    size_t segment_size;
    uint64_t random;
    bool is_closing; /* the child ends by itself */
    bool is_early;   /* killed maybe before it has written anything */
    useconds_t delay_us;
};

static _Atomic bool is_over;

struct writer {
    struct kill_model *model;
    KevyDb *db;
    unsigned owner;
    uint64_t random;
};

static void *write_on(void *user)
{
    struct writer *writer = user;
    do {
        if (!kill_model_write(writer->model, writer->db, writer->owner,
                              test_random(&writer->random) >> 16)) {
            (void)snprintf(writer->model->first_wrong, sizeof writer->model->first_wrong,
                           "a write failed");
            writer->model->wrong++;
            return NULL;
        }
    } while (!is_over);
    return NULL;
}

static void write_by_threads(const struct round *round, KevyDb *db)
{
    struct writer writers[KILL_OWNERS];
    pthread_t threads[KILL_OWNERS];
    for (unsigned i = 0; i < KILL_OWNERS; i++) {
        writers[i] = (struct writer){round->model, db, i, round->random + i};
        if (pthread_create(&threads[i], NULL, write_on, &writers[i]) != 0) {
            _exit(3);
        }
    }
    if (round->is_closing) {
        usleep(round->delay_us);
        is_over = true;
    }
    for (unsigned i = 0; i < KILL_OWNERS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* The child. Reports by the model, and by its exit code when it has none. */
static void live(const struct round *round)
{
    KevyOpenOptions options = KEVY_OPEN_OPTIONS_INIT;
    KevyError error;
    KevyDb *db;
    options.fsync = round->fsync;
    struct kv_open open = {.dir = bytes_of(round->dir, strlen(round->dir)),
                           .options = &options,
                           .os = &kv_os_posix,
                           .mem = &kv_mem_libc,
                           .segment_size = round->segment_size};
    if (kv_engine_open(&open, &db, &error) < 0) {
        (void)snprintf(round->model->first_wrong, sizeof round->model->first_wrong,
                       "does not open: %s", error.text);
        _exit(4);
    }
    if (db->engine->report.corrupt != 0) {
        _exit(5);
    }
    kill_model_verify(round->model, db);
    if (round->model->wrong == 0) {
        write_by_threads(round, db);
    }
    kevy_close(db);
    _exit(round->model->wrong == 0 ? 0 : 6);
}

/* Returns when the child has verified the store, or has ended. */
static void wait_for_writers(const struct round *round, uint64_t verified)
{
    siginfo_t info = {.si_pid = 0};
    while (atomic_load(&round->model->verified) == verified &&
           waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
        usleep(300);
    }
}

/* Kills the child when its time is over; true: it ended as it should. */
static bool ended_well(const struct round *round, pid_t child, uint64_t verified)
{
    int status = 0;
    if (!round->is_early) {
        wait_for_writers(round, verified);
    }
    if (!round->is_closing) {
        usleep(round->delay_us);
        (void)kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL && !round->is_closing
                               : WEXITSTATUS(status) == 0;
}

static bool survives(const struct round *round)
{
    uint64_t verified = round->model->verified;
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        live(round);
    }
    bool is_well = ended_well(round, child, verified);
    if (!is_well || round->model->wrong != 0) {
        printf("seed %llu: %s\n", (unsigned long long)test_seed(), round->model->first_wrong);
    }
    return CHECK(is_well) && CHECK_INT(round->model->wrong, 0);
}

static size_t rounds_wanted(void)
{
    const char *wanted = getenv("KEVY_KILLS");
    return wanted != NULL ? (size_t)strtoul(wanted, NULL, 10) : test_scale(ROUNDS);
}

/* Rounds are for some seconds; a busy machine makes fewer. */
static bool is_out_of_time(time_t start)
{
    return getenv("KEVY_KILLS") == NULL && time(NULL) - start > SECONDS;
}

static void remove_file(void *user, const char *name)
{
    (void)kv_os_posix.file_remove(NULL, *(int *)user, name);
}

/* The files of a store whose life is over: many lives would fill the disk. */
static void bury(const char *dir)
{
    int folder = kv_os_posix.dir_open(NULL, dir);
    if (folder >= 0) {
        (void)kv_os_posix.dir_list(NULL, folder, remove_file, &folder);
        kv_os_posix.dir_close(NULL, folder);
    }
}

static void kill_rounds(uint8_t fsync)
{
    struct round round = {.model = kill_model_new(0), .fsync = fsync};
    uint64_t state = test_seed() * 3 + fsync;
    size_t count = rounds_wanted(), i;
    time_t start = time(NULL);
    bool is_well = true;
    char dir[40] = "";
    round.dir = test_path("store0");
    for (i = 0; is_well && i < count && !is_out_of_time(start); i++) {
        if (i % LIFE == 0) {
            bury(round.dir);
            (void)snprintf(dir, sizeof dir, "store%zu", i / LIFE);
            round.dir = test_path(dir);
            round.segment_size = i / LIFE % 3 == 2 ? 0 : SMALL_SEGMENT;
            kill_model_reset(round.model, i);
        }
        round.random = test_random(&state);
        round.is_closing = test_random(&state) % CLOSE_EVERY == 0;
        round.is_early = test_random(&state) % 4 == 0;
        round.delay_us = (useconds_t)(test_random(&state) % 30000);
        is_well = survives(&round);
    }
    /* What the last round left is looked at too, and written to by each thread. */
    round.is_closing = true;
    round.delay_us = 1000;
    (void)(is_well && survives(&round));
    printf("%zu kills, %llu writes acknowledged, %llu states verified\n", i,
           (unsigned long long)round.model->acked, (unsigned long long)round.model->verified);
    CHECK(round.model->verified > 0 && round.model->acked > 0);
    kill_model_free(round.model);
}

TEST_LIMIT(kills_under_everysec, 100000)
{
    kill_rounds(KEVY_FSYNC_EVERYSEC);
}

TEST_LIMIT(kills_under_always, 100000)
{
    kill_rounds(KEVY_FSYNC_ALWAYS);
}

TEST_LIMIT(kills_under_no, 100000)
{
    kill_rounds(KEVY_FSYNC_NO);
}
