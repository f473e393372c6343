/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The real system as a kevy_os table, and the little that must know about
 * fork. What the functions promise is said in kevy/os.h; threads and locks
 * live in os_thread.h, the store's clock in os_clock.h.
 *
 * Fork: a child must neither keep a directory locked nor use the parent's
 * store. Descriptors that hold a lock are on a list of the process; in a
 * child they are closed before fork returns there, and the count of forks goes
 * up. This list is the one global state of the engine.
 *
 * Any thread.
 */
#ifndef KEVY_SRC_OS_OS_POSIX_H
#define KEVY_SRC_OS_OS_POSIX_H

#include <stdbool.h>

#include "kevy/os.h"

extern const kevy_os kv_os_posix;

/* Returns how many forks lie between this process and the one that loaded the
 * library: a store that was opened under another number is not ours to use. */
unsigned kv_fork_count(void);

/* Makes forks count from now on. 0, or -ENOMEM when no handler can be set. Call it before a number
 * is noted. */
int kv_fork_arm(void);

/* Names the function that a forked child calls before fork returns there: it
 * forgets what the parent shares within its process. One function for the
 * process. 0 or -ENOMEM. */
int kv_fork_reset(void (*reset)(void));

/* Puts a descriptor on the list of those that a child closes, or takes it off
 * and says whether it was on it. Watching fails with -ENOMEM when the list is
 * full or no handler can be set. */
int kv_fork_watch(int fd);
bool kv_fork_unwatch(int fd);

/* Says that this memory, of which all will be used, is better had in large pages.
 * What is not of whole pages is left as it is. Any thread. */
void kv_memory_is_large(void *ptr, size_t size);

#endif
