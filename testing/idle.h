/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Whether the other threads of this process sleep, by what the kernel says of
 * each: so a test waits until a thread sleeps, instead of a while, and learns
 * that none was woken.
 *
 * Only on Linux; elsewhere nothing is known. One thread of a test at a time.
 */
#ifndef TESTING_IDLE_H
#define TESTING_IDLE_H

#include <stdbool.h>

/* Waits, half a minute at most, until every other thread of this process
 * sleeps; says whether they do. Elsewhere waits a moment and says so too. */
bool idle_await(void);

/* Returns how often other threads were woken within `ms` milliseconds in which
 * they should sleep: the fewest of some tries, so that a thread that goes to
 * sleep late is none that is woken. 0 where nothing is known, and under
 * ThreadSanitizer, which has a thread of its own that wakes. */
long idle_wakes(unsigned ms);

#endif
