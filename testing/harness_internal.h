/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the three files of the harness share: the state of the running test
 * and the ends of a test. Nothing here is for tests.
 */
#ifndef TESTING_HARNESS_INTERNAL_H
#define TESTING_HARNESS_INTERNAL_H

#include "testing/harness.h"

/* Exit codes of a test's process; no sanitizer uses these. */
enum { TEST_PASSED = 0, TEST_FAILED = 101, TEST_SKIPPED = 102, TEST_EMPTY = 103 };

/* Sets the counts of checks to zero. */
void harness_check_begin(void);

/* Returns TEST_PASSED, TEST_FAILED or TEST_EMPTY for the checks so far. */
int harness_check_result(void);

/* Ends the running test at once with an exit code from above. */
_Noreturn void harness_end(int code);

/* Makes the run's folder (false, with a message, when that fails), names the
 * folder of the next test, removes that folder, removes the run's folder. */
bool harness_dir_open(void);
void harness_dir_name(const char *test);
void harness_dir_clear(void);
void harness_dir_close(void);

#endif
