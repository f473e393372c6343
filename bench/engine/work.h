/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The questions that bench-engine asks, a function for each; main.c calls them
 * in the order of performance.md.
 *
 * A measurement that could spoil the next (memory, caches, threads, a server)
 * runs in a child process of its own and in an empty folder.
 */
#ifndef BENCH_ENGINE_WORK_H
#define BENCH_ENGINE_WORK_H

#include "bench/engine/store.h"

/* How much is measured: the short form finishes in a few minutes. */
struct effort {
    bool is_full;
    int rounds;
};

#define KEY_SIZE 16u

/* Keys of 16 characters in a fixed random order. Yours; free with free. */
char (*work_keys(size_t count))[KEY_SIZE];

/* Runs body(user) in a child process, in a new empty folder that goes when it
 * ends. False when the child failed. */
bool work_apart(void (*body)(const char *dir, void *user), void *user);

/* Bytes of memory that the process holds now. */
double work_memory(void);

void work_values(const struct effort *effort);   /* get and set, sizes and key counts */
void work_doors(const struct effort *effort);    /* owned buffers, views, many keys a call */
void work_durable(const struct effort *effort);  /* commits a second, by threads */
void work_threads(const struct effort *effort);  /* two readers against one */
void work_hot(const struct effort *effort);      /* 4 KiB overwritten for ever */
void work_replay(const struct effort *effort);   /* opening a million keys; bytes a key */
void work_pauses(const struct effort *effort);   /* the longest get and set */
void work_commands(const struct effort *effort); /* the command door */
void work_handles(const struct effort *effort);  /* open and close; idle wake-ups */

#endif
