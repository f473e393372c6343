/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What every benchmark shares: timing rounds, and rows for people and for
 * programs.
 *
 * A row is the median of its rounds with the smallest and the largest. Where
 * it has a goal, a miss is printed as missed. With BENCH_OUT=file each row is
 * also appended there as one line of JSON:
 *
 *   {"bench", "row", "lane", "median", "min", "max", "unit", "peer_ratio", "goal"}
 *
 * A lane is who did the work (ours, or a peer); peer_ratio is the peer's median
 * divided by ours in the same row and run, null for our own lanes. Timings
 * drift with the machine: compare within one run.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ROUNDS_MAX 32

struct bench_row {
    const char *bench;
    const char *row;
    const char *lane;
    const char *unit;
    double goal;   /* 0: none */
    bool at_least; /* the goal is a floor, not a ceiling */
    bool is_ours;  /* later rows of the same name give their ratio to the first such lane */
    double rounds[BENCH_ROUNDS_MAX];
    int count;
};

/* Call once before any child process is made. */
void bench_begin(void);

/* Nanoseconds of the monotonic clock. */
double bench_now(void);

/* Adds a round. */
void bench_add(struct bench_row *row, double value);

/* Sorts the rounds and returns their median. */
double bench_median(struct bench_row *row);

/* Prints the row and appends it to BENCH_OUT. Returns its median. */
double bench_print(struct bench_row *row);

/* Prints a heading above rows, and a line of text. */
void bench_heading(const char *text);
void bench_note(const char *text);

/* A row that cannot be: prints the lane and why. */
void bench_absent(const char *lane, const char *why);

/* A fixed pseudo-random sequence. */
uint64_t bench_random(uint64_t *state);

#endif
