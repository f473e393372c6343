/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks of the harness: compare, count, print file, line and both values.
 *
 * Counts are atomic, since threads of one test check at the same time; lines
 * are printed by one call each, so they do not mix. Output goes to stdout,
 * which the runner collects.
 */
#include "testing/harness_internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_uint checks_made;
static atomic_uint checks_failed;

void harness_check_begin(void)
{
    atomic_store(&checks_made, 0);
    atomic_store(&checks_failed, 0);
}

int harness_check_result(void)
{
    if (atomic_load(&checks_failed) > 0) {
        return TEST_FAILED;
    }
    return atomic_load(&checks_made) > 0 ? TEST_PASSED : TEST_EMPTY;
}

/* Counts one check; true when the caller has a failure to print. */
static bool is_failure(bool held)
{
    atomic_fetch_add(&checks_made, 1);
    if (held) {
        return false;
    }
    atomic_fetch_add(&checks_failed, 1);
    return true;
}

bool test_check(bool held, const char *expr, const char *file, int line)
{
    if (is_failure(held)) {
        printf("%s:%d: failed: %s\n", file, line, expr);
    }
    return held;
}

bool test_check_int(intmax_t got, intmax_t want, const char *expr, const char *file, int line)
{
    bool held = got == want;
    if (is_failure(held)) {
        printf("%s:%d: failed: %s is %" PRIdMAX ", want %" PRIdMAX "\n", file, line, expr, got,
               want);
    }
    return held;
}

bool test_check_str(const char *got, const char *want, const char *expr, const char *file, int line)
{
    bool held = got == want || (got != NULL && want != NULL && strcmp(got, want) == 0);
    if (is_failure(held)) {
        printf("%s:%d: failed: %s is \"%s\", want \"%s\"\n", file, line, expr,
               got != NULL ? got : "(null)", want != NULL ? want : "(null)");
    }
    return held;
}

/* Prints up to 48 bytes from `from` on, printable ones as they are. */
static void print_bytes(const char *label, const uint8_t *bytes, size_t size, size_t from)
{
    char line[48 * 4 + 1];
    size_t used = 0;
    for (size_t i = from; i < size && i - from < 48; i++) {
        bool is_plain = bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\';
        const char *format = is_plain ? "%c" : "\\x%02x";
        used += (size_t)snprintf(line + used, sizeof line - used, format, bytes[i]);
    }
    line[used] = '\0';
    printf("    %s, %zu bytes, from %zu: \"%s\"%s\n", label, size, from, line,
           size > from + 48 ? "..." : "");
}

bool test_check_bytes(const void *got, size_t got_size, const void *want, size_t want_size,
                      const char *expr, const char *file, int line)
{
    const uint8_t *a = got;
    const uint8_t *b = want;
    size_t size = got_size < want_size ? got_size : want_size;
    size_t at = 0;
    if (a == NULL || b == NULL) {
        size = 0;
    }
    while (at < size && a[at] == b[at]) {
        at++;
    }
    bool held = got_size == want_size && at == got_size;
    if (is_failure(held)) {
        size_t from = at > 8 ? at - 8 : 0;
        printf("%s:%d: failed: %s differs at byte %zu\n", file, line, expr, at);
        print_bytes("got ", a, a != NULL ? got_size : 0, from);
        print_bytes("want", b, b != NULL ? want_size : 0, from);
    }
    return held;
}

void test_end(void)
{
    harness_end(TEST_FAILED);
}

void test_stop(const char *expr, const char *file, int line)
{
    test_check(false, expr, file, line);
    harness_end(TEST_FAILED);
}

void test_skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    harness_end(atomic_load(&checks_failed) > 0 ? TEST_FAILED : TEST_SKIPPED);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
