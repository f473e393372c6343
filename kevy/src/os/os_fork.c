/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The descriptors that a forked child must close, what it must forget, and the
 * count of forks; see os_posix.h.
 *
 * The list is an array of atomics, not a locked list: the child handler runs
 * while other threads of the parent may have been anywhere.
 */
#include "kevy/src/os/os_epoch.h"
#include "kevy/src/os/os_posix.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { FORK_WATCH_MAX = 1024 };

/* Each cell: a descriptor + 1, 0 free. */
static _Atomic int fork_watched[FORK_WATCH_MAX];
static _Atomic unsigned fork_generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_handler_error;
static void (*_Atomic fork_reset)(void);

static void fork_in_child(void)
{
    atomic_fetch_add_explicit(&fork_generation, 1, memory_order_relaxed);
    for (int i = 0; i < FORK_WATCH_MAX; i++) {
        int fd = atomic_exchange_explicit(&fork_watched[i], 0, memory_order_relaxed) - 1;
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    kv_epoch_reset();
    void (*reset)(void) = atomic_load_explicit(&fork_reset, memory_order_relaxed);
    if (reset != NULL) {
        reset();
    }
}

static void fork_handler_set(void)
{
    fork_handler_error = pthread_atfork(NULL, NULL, fork_in_child);
}

unsigned kv_fork_count(void)
{
    return atomic_load_explicit(&fork_generation, memory_order_relaxed);
}

int kv_fork_arm(void)
{
    (void)pthread_once(&fork_once, fork_handler_set);
    return fork_handler_error == 0 ? 0 : -ENOMEM;
}

int kv_fork_reset(void (*reset)(void))
{
    (void)pthread_once(&fork_once, fork_handler_set);
    atomic_store_explicit(&fork_reset, reset, memory_order_relaxed);
    return fork_handler_error != 0 ? -ENOMEM : 0;
}

int kv_fork_watch(int fd)
{
    if (kv_fork_arm() < 0) {
        return -ENOMEM;
    }
    for (int i = 0; i < FORK_WATCH_MAX; i++) {
        int empty = 0;
        if (atomic_compare_exchange_strong(&fork_watched[i], &empty, fd + 1)) {
            return 0;
        }
    }
    return -ENOMEM;
}

bool kv_fork_unwatch(int fd)
{
    for (int i = 0; i < FORK_WATCH_MAX; i++) {
        int cell = fd + 1;
        if (atomic_compare_exchange_strong(&fork_watched[i], &cell, 0)) {
            return true;
        }
    }
    return false;
}
