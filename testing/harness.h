/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The test harness: a test program is a file of TEST bodies linked with this
 * room, which brings main().
 *
 * Each test runs in a child process with a time limit, so a crash, a hang or
 * a leak of one test is one failed line and the others still run. A test that
 * makes no check at all fails: it would pass whatever the code does.
 *
 * Options of a test program: --list, --only=TEXT (tests whose name contains
 * TEXT, may be given often), --seed=N, --no-fork (for debuggers and
 * valgrind). The last line is `N passed, N failed, N skipped`, the exit code
 * is 0 when nothing failed. TEST_TIME_FACTOR=N in the environment stretches
 * the limits on a slow machine; under a sanitizer they are stretched anyway.
 *
 * The checks may be used from any thread of a test. With --no-fork, REQUIRE
 * and SKIP only from the thread that runs the test. A child that a test forks
 * itself must leave by _exit.
 *
 * Not here: printing and comparing (harness_check.c), temporary folders
 * (harness_dir.c), faults, spies and fake clocks (their own rooms beside this
 * one).
 */
#ifndef TESTING_HARNESS_H
#define TESTING_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Defines and registers a test: TEST(name) { … } */
#define TEST(name) TEST_LIMIT(name, 0)

/* The same with its own limit in seconds; 0 is the default, 60. */
#define TEST_LIMIT(name, seconds)                                                                  \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        static struct test self = {#name, test_##name, seconds, NULL};                             \
        test_register(&self);                                                                      \
    }                                                                                              \
    static void test_##name(void)

/* Each check evaluates its arguments once. CHECK… notes a failure, goes on
 * and returns whether the check held; REQUIRE… ends the test. */
#define CHECK(cond) test_check((cond), #cond, __FILE__, __LINE__)
#define CHECK_INT(got, want) test_check_int((intmax_t)(got), (intmax_t)(want), TEST_HERE(got))
#define CHECK_STR(got, want) test_check_str((got), (want), TEST_HERE(got))
#define CHECK_BYTES(got, got_size, want, want_size)                                                \
    test_check_bytes((got), (got_size), (want), (want_size), TEST_HERE(got))

#define REQUIRE(cond)                                                                              \
    ((cond) ? (void)test_check(true, #cond, __FILE__, __LINE__)                                    \
            : test_stop(#cond, __FILE__, __LINE__))
#define REQUIRE_INT(got, want) (CHECK_INT(got, want) ? (void)0 : test_end())

/* Ends the test as skipped, for a reason that is printed. */
#define SKIP(reason) test_skip(reason)

/* The number of --seed, 1 if none was given. Print what you derive from it
 * when a check fails. */
uint64_t test_seed(void);

/* Returns the next number of a generator whose state is *state; any start
 * value will do, test_seed() for one. */
uint64_t test_random(uint64_t *state);

/* Returns count, or in a build with a sanitizer a fraction of it, at least 1:
 * for loops whose length is a matter of patience. */
size_t test_scale(size_t count);

/* Returns an empty folder of this test's own, under TMPDIR or /tmp. Borrowed
 * until the test ends; then the folder goes with all that is in it, also
 * after a crash. A failed system call ends the test. */
const char *test_dir(void);

/* Writes "<test_dir()>/name" into a static ring of four buffers and returns
 * the current one. */
const char *test_path(const char *name);

/* What the macros above reach. */
struct test {
    const char *name;
    void (*run)(void);
    unsigned seconds_max;
    struct test *next;
};
#define TEST_HERE(expr) #expr, __FILE__, __LINE__
void test_register(struct test *self);
bool test_check(bool held, const char *expr, const char *file, int line);
bool test_check_int(intmax_t got, intmax_t want, const char *expr, const char *file, int line);
bool test_check_str(const char *got, const char *want, const char *expr, const char *file,
                    int line);
bool test_check_bytes(const void *got, size_t got_size, const void *want, size_t want_size,
                      const char *expr, const char *file, int line);
_Noreturn void test_end(void);
_Noreturn void test_stop(const char *expr, const char *file, int line);
_Noreturn void test_skip(const char *reason);

#endif
