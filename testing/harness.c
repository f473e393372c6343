/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * main() of every test program: the list of tests, the options, one child
 * process per test, the time limit, the closing line.
 *
 * The child leads a process group of its own; when the test is over, in time
 * or not, the whole group is killed, so nothing a test started outlives it.
 * The parent notices the end by the closing of a pipe that the child holds,
 * and looks by waitpid from time to time in case a grandchild holds it too.
 *
 * The parent has one thread, always: fork is safe under every sanitizer.
 */
#define _XOPEN_SOURCE 700
#include "testing/harness_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN
#elif __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#endif
#if defined(UNDER_ASAN) || defined(__SANITIZE_ADDRESS__)
enum { LIMIT_FACTOR = 3, SCALE = 4 };
#elif defined(UNDER_TSAN) || defined(__SANITIZE_THREAD__)
enum { LIMIT_FACTOR = 5, SCALE = 10 };
#else
enum { LIMIT_FACTOR = 1, SCALE = 1 };
#endif

/* A test takes a small part of its limit, so that one on a busy machine ends all the same. */
enum { SECONDS_DEFAULT = 60, ONLY_MAX = 16 };

struct options {
    const char *only[ONLY_MAX];
    size_t only_count;
    bool list;
    bool no_fork;
    int limit_factor;
};

static struct test *first_test;
static struct test **last_test = &first_test;
static uint64_t seed = 1;
static bool is_forked;
static jmp_buf end_of_test;

void test_register(struct test *self)
{
    *last_test = self;
    last_test = &self->next;
}

uint64_t test_seed(void)
{
    return seed;
}

size_t test_scale(size_t count)
{
    return count / SCALE > 0 ? count / SCALE : 1;
}

void harness_end(int code)
{
    if (is_forked) {
        fflush(NULL);
        _exit(code);
    }
    /* longjmp cannot carry 0; no code that ends a test early is 0. */
    longjmp(end_of_test, code);
}

static int run_body(const struct test *test)
{
    harness_check_begin();
    int code = setjmp(end_of_test);
    if (code == 0) {
        test->run();
        code = harness_check_result();
    }
    return code;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void run_child(const struct test *test)
{
    struct rlimit no_core = {0, 0};
    is_forked = true;
    /* What it says is there even if it has to be killed. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    int code = run_body(test);
    fflush(NULL);
    /* A passed test leaves by exit(), where the leak check of a sanitizer
     * runs; one that failed has leaked what it could not free. */
    if (code == TEST_PASSED) {
        exit(code);
    }
    _exit(code);
}

/* Waits for the child until the deadline; false when it had to be killed. */
static bool wait_child(pid_t child, int pipe_end, int64_t deadline, int *status)
{
    for (;;) {
        int64_t left = deadline - now_ms();
        if (left <= 0) {
            break;
        }
        struct pollfd watch = {pipe_end, POLLIN, 0};
        (void)poll(&watch, 1, left < 50 ? (int)left : 50);
        /* Hung up: the child is ending, which may still take a while. */
        bool is_ending = (watch.revents & POLLHUP) != 0;
        pid_t got = waitpid(child, status, WNOHANG);
        if (got == child) {
            return true;
        }
        if (is_ending) {
            nanosleep(&(struct timespec){0, 500000}, NULL);
        }
    }
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (waitpid(child, status, 0) < 0 && errno == EINTR) {
    }
    return false;
}

static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
                 {SIGTERM, "SIGTERM"}, {SIGPIPE, "SIGPIPE"}, {SIGTRAP, "SIGTRAP"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "a signal";
}

/* Turns how a child ended into an exit code from above, printing what a
 * reader could not guess. */
static int judge(bool in_time, int status, unsigned seconds)
{
    if (!in_time) {
        printf("failed: still running after %u s\n", seconds);
        return TEST_FAILED;
    }
    if (WIFSIGNALED(status)) {
        printf("failed: killed by %s (%d)\n", signal_name(WTERMSIG(status)), WTERMSIG(status));
        return TEST_FAILED;
    }
    int code = WEXITSTATUS(status);
    if (code == TEST_EMPTY) {
        printf("failed: the test made no check\n");
    } else if (code != TEST_PASSED && code != TEST_FAILED && code != TEST_SKIPPED) {
        printf("failed: its process ended with code %d\n", code);
    }
    return code == TEST_PASSED || code == TEST_SKIPPED ? code : TEST_FAILED;
}

static int run_forked(const struct test *test, const struct options *options)
{
    int ends[2];
    unsigned seconds = test->seconds_max != 0 ? test->seconds_max : SECONDS_DEFAULT;
    seconds *= (unsigned)options->limit_factor;
    fflush(NULL);
    if (pipe(ends) != 0) {
        printf("failed: no pipe: %s\n", strerror(errno));
        return TEST_FAILED;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(test);
    }
    close(ends[1]);
    int code = TEST_FAILED;
    if (child < 0) {
        printf("failed: no process: %s\n", strerror(errno));
    } else {
        int status = 0;
        bool in_time = wait_child(child, ends[0], now_ms() + (int64_t)seconds * 1000, &status);
        kill(-child, SIGKILL);
        code = judge(in_time, status, seconds);
    }
    close(ends[0]);
    return code;
}

static int run_here(const struct test *test)
{
    int code = run_body(test);
    if (code == TEST_EMPTY) {
        printf("failed: the test made no check\n");
    }
    return code == TEST_EMPTY ? TEST_FAILED : code;
}

static bool is_chosen(const struct test *test, const struct options *options)
{
    for (size_t i = 0; i < options->only_count; i++) {
        if (strstr(test->name, options->only[i]) != NULL) {
            return true;
        }
    }
    return options->only_count == 0;
}

static bool read_options(int argc, char **argv, struct options *options)
{
    const char *factor = getenv("TEST_TIME_FACTOR");
    if (factor != NULL && strtol(factor, NULL, 10) > 0) {
        options->limit_factor *= (int)strtol(factor, NULL, 10);
    }
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        char *end = NULL;
        if (strcmp(arg, "--list") == 0) {
            options->list = true;
        } else if (strcmp(arg, "--no-fork") == 0) {
            options->no_fork = true;
        } else if (strncmp(arg, "--only=", 7) == 0 && options->only_count < ONLY_MAX) {
            options->only[options->only_count++] = arg + 7;
        } else if (strncmp(arg, "--seed=", 7) == 0) {
            seed = strtoull(arg + 7, &end, 0);
        }
        bool is_known = strncmp(arg, "--only=", 7) == 0 || strcmp(arg, "--list") == 0 ||
                        strcmp(arg, "--no-fork") == 0 || (end != NULL && *end == '\0');
        if (!is_known) {
            printf("usage: %s [--list] [--only=TEXT]... [--seed=N] [--no-fork]\n", argv[0]);
            return false;
        }
    }
    return true;
}

static int run_all(const struct options *options)
{
    unsigned passed = 0, failed = 0, skipped = 0;
    if (!harness_dir_open()) {
        return 2;
    }
    for (const struct test *test = first_test; test != NULL; test = test->next) {
        if (!is_chosen(test, options)) {
            continue;
        }
        int64_t start = now_ms();
        harness_dir_name(test->name);
        int code = options->no_fork ? run_here(test) : run_forked(test, options);
        harness_dir_clear();
        passed += code == TEST_PASSED;
        skipped += code == TEST_SKIPPED;
        failed += code == TEST_FAILED;
        printf("%s %s (%lld ms)\n",
               code == TEST_PASSED    ? "ok  "
               : code == TEST_SKIPPED ? "skip"
                                      : "FAIL",
               test->name, (long long)(now_ms() - start));
    }
    harness_dir_close();
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    /* A filter that names nothing is a typing error, not a success. */
    return failed > 0 || passed + skipped == 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.limit_factor = LIMIT_FACTOR};
    if (!read_options(argc, argv, &options)) {
        return 2;
    }
    if (options.list) {
        for (const struct test *test = first_test; test != NULL; test = test->next) {
            printf("%s\n", test->name);
        }
        return 0;
    }
    return run_all(&options);
}
