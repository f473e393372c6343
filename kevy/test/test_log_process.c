/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The log and processes: one owner of a folder, a killed writer loses nothing
 * that was acknowledged, a forked child neither keeps the lock nor uses the
 * log.
 *
 * KILLS=N in the environment sets the rounds of each kill test.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kevy/src/os/os_posix.h"
#include "kevy/test/log_model.h"
#include "testing/harness.h"

static struct model model;

/* What a writer tells its parent, in memory that both see. */
struct shared {
    _Atomic uint64_t begun; /* versions whose write has begun, or was acknowledged */
    _Atomic uint64_t acknowledged;
    _Atomic uint64_t is_open;
};

static struct shared *shared_new(void)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return (struct shared *)memory;
}

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    (void)nanosleep(&time, NULL);
}

/* Waits until a child has set a number. */
static void wait_until_set(const _Atomic uint64_t *number, pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    while (atomic_load(number) == 0) {
        bool is_alive =
            waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
        REQUIRE(is_alive || atomic_load(number) != 0);
        pause_us(100);
    }
}

/* A child that opens the folder and stays. */
static pid_t holder_start(const char *dir, struct shared *shared)
{
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (model_open(&model, &kv_os_posix, dir, KEVY_FSYNC_EVERYSEC) != 0) {
            _exit(1);
        }
        atomic_store(&shared->is_open, 1);
        for (;;) {
            (void)pause();
        }
    }
    wait_until_set(&shared->is_open, child);
    return child;
}

static void end(pid_t child, int signal_number)
{
    int status;
    REQUIRE_INT(kill(child, signal_number), 0);
    REQUIRE_INT(waitpid(child, &status, 0), child);
}

TEST(process_one_owner_at_a_time)
{
    const char *dir = test_path("store");
    struct shared *shared = shared_new();
    pid_t child = holder_start(dir, shared);
    CHECK_INT(model_open(&model, &kv_os_posix, dir, 0), KEVY_EINUSE);
    REQUIRE_INT(kill(child, SIGSTOP), 0);
    CHECK_INT(model_open(&model, &kv_os_posix, dir, 0), KEVY_EINUSE);
    end(child, SIGKILL);
    REQUIRE_INT(model_open(&model, &kv_os_posix, dir, 0), 0);
    model_close(&model);
}

TEST(process_a_forked_child_does_not_keep_the_lock)
{
    const char *dir = test_path("store");
    REQUIRE_INT(model_open(&model, &kv_os_posix, dir, 0), 0);
    CHECK(!kv_log_forked(model.log));
    struct shared *shared = shared_new();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        atomic_store(&shared->is_open, kv_log_forked(model.log) ? 1 : 2);
        for (;;) {
            (void)pause();
        }
    }
    wait_until_set(&shared->is_open, child);
    CHECK_INT(atomic_load(&shared->is_open), 1);
    model_close(&model);
    REQUIRE_INT(model_open(&model, &kv_os_posix, dir, 0), 0);
    CHECK_INT(model_put(&model, 1, 1, 20), 0);
    end(child, SIGKILL);
    CHECK_INT(model_open_sized(&(struct model){0}, &kv_os_posix, dir, 0, 0, true), KEVY_EINUSE);
    model_close(&model);
}

/* Writes version after version, each to the key that follows from it. */
static void write_for_ever(const char *dir, uint8_t policy, struct shared *shared)
{
    if (model_open_sized(&model, &kv_os_posix, dir, policy, KV_SLOT_SIZE / 16, false) != 0) {
        _exit(1);
    }
    atomic_store(&shared->is_open, 1);
    for (uint64_t i = atomic_load(&shared->acknowledged) + 1;; i++) {
        size_t size = i % 50 == 0 ? 40000 : i % 7 == 0 ? 4900 : 8 + i % 100;
        atomic_store(&shared->begun, i);
        if (model_put(&model, (uint32_t)(i % MODEL_KEYS), i, size) != 0) {
            _exit(2);
        }
        atomic_store(&shared->acknowledged, i);
    }
}

/* Every key holds the last version that was acknowledged for it, or the one
 * that was under way. */
static bool nothing_is_lost(const struct shared *shared)
{
    struct model_state state;
    uint64_t acknowledged = atomic_load(&shared->acknowledged), begun = atomic_load(&shared->begun);
    bool is_good = model_read(&model, &state);
    for (uint64_t i = 0; i < MODEL_KEYS && i < acknowledged; i++) {
        uint64_t version = acknowledged - i;
        uint64_t seen = state.version[0][version % MODEL_KEYS];
        is_good = is_good && (seen == version ||
                              (seen == begun && begun % MODEL_KEYS == version % MODEL_KEYS));
    }
    return is_good;
}

static void kill_writers(uint8_t policy)
{
    const char *dir = test_path("store"), *wanted = getenv("KILLS");
    unsigned long rounds = wanted == NULL ? 12 : strtoul(wanted, NULL, 10);
    struct shared *shared = shared_new();
    uint64_t random = test_seed();
    for (unsigned long round = 0; round < rounds; round++) {
        atomic_store(&shared->is_open, 0);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            write_for_ever(dir, policy, shared);
        }
        wait_until_set(&shared->is_open, child);
        if (round + 1 == rounds) {
            wait_until_set(&shared->acknowledged, child);
        }
        pause_us((long)(test_random(&random) % 20000));
        end(child, SIGKILL);
        REQUIRE_INT(model_open_sized(&model, &kv_os_posix, dir, policy, 0, false), 0);
        bool is_good = CHECK(nothing_is_lost(shared));
        model_close(&model);
        if (!is_good) {
            printf("round %lu, %llu acknowledged\n", round,
                   (unsigned long long)atomic_load(&shared->acknowledged));
            return;
        }
    }
    CHECK(atomic_load(&shared->acknowledged) > 0);
}

TEST_LIMIT(process_kills_under_everysec, 600)
{
    kill_writers(KEVY_FSYNC_EVERYSEC);
}

TEST_LIMIT(process_kills_under_always, 600)
{
    kill_writers(KEVY_FSYNC_ALWAYS);
}

TEST_LIMIT(process_kills_under_no, 600)
{
    kill_writers(KEVY_FSYNC_NO);
}
