/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-engine: ours and the peers that were there when this was built, on the
 * same work in one run. `make bench-engine` builds and runs it; --full measures
 * longer and the slow peers with a million keys; words choose questions.
 *
 * Machines drift: quote medians with their spread and compare within one run.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine/work.h"
#include "kevy.h"

/* ---- The command door, handles, idleness ---- */

static void command_row(KevyDb *db, const char *name, const char *const *words, size_t argc,
                        double goal, int rounds)
{
    const uint8_t *argv[3];
    size_t sizes[3];
    struct bench_row row = {.bench = "engine",
                            .row = name,
                            .lane = "kevy, memory",
                            .unit = "ns",
                            .goal = goal,
                            .is_ours = true};
    for (size_t i = 0; i < argc; i++) {
        argv[i] = (const uint8_t *)words[i];
        sizes[i] = strlen(words[i]);
    }
    for (int round = 0; round <= rounds; round++) {
        double begin = bench_now();
        for (unsigned i = 0; i < 200000; i++) {
            KevyBuf reply;
            (void)kevy_cmd(db, argc, argv, sizes, &reply);
            kevy_buf_free(reply.ptr, reply.len, reply.cap);
        }
        if (round > 0) {
            bench_add(&row, (bench_now() - begin) / 200000);
        }
    }
    bench_print(&row);
}

void work_commands(const struct effort *effort)
{
    KevyDb *db = kevy_open_mem();
    bench_heading("the command door, reply freed");
    command_row(db, "command PING", (const char *const[]){"PING"}, 1, 40, effort->rounds);
    command_row(db, "command SET",
                (const char *const[]){"SET", "key:000000000001", "sixteen bytes..."}, 3, 110,
                effort->rounds);
    command_row(db, "command GET", (const char *const[]){"GET", "key:000000000001"}, 2, 90,
                effort->rounds);
    command_row(db, "command INCR", (const char *const[]){"INCR", "counter"}, 2, 70,
                effort->rounds);
    kevy_close(db);
}

static void handle_row(struct bench_row *row, const struct effort *effort)
{
    for (int round = 0; round < effort->rounds; round++) {
        double begin = bench_now();
        for (unsigned i = 0; i < 1000; i++) {
            kevy_close(kevy_open_mem());
        }
        bench_add(row, (bench_now() - begin) / 1e6);
    }
    bench_print(row);
}

void work_handles(const struct effort *effort)
{
    struct bench_row row = {.bench = "engine",
                            .row = "open and close, memory",
                            .lane = "kevy, memory",
                            .unit = "us",
                            .goal = 40,
                            .is_ours = true};
    struct bench_row idle = {.bench = "engine",
                             .row = "context switches in 2 idle s",
                             .lane = "kevy, memory",
                             .unit = "",
                             .is_ours = true};
    struct rusage before, after;
    bench_heading("handles and idleness");
    handle_row(&row, effort);
    KevyDb *db = kevy_open_mem();
    (void)getrusage(RUSAGE_SELF, &before);
    usleep(2000000);
    (void)getrusage(RUSAGE_SELF, &after);
    bench_add(&idle, (double)(after.ru_nvcsw - before.ru_nvcsw - 1));
    bench_print(&idle);
    kevy_close(db);
}

/* ---- Which ---- */

static const struct {
    const char *name;
    void (*work)(const struct effort *effort);
} questions[] = {{"values", work_values},   {"doors", work_doors},     {"commands", work_commands},
                 {"durable", work_durable}, {"threads", work_threads}, {"hot", work_hot},
                 {"replay", work_replay},   {"pauses", work_pauses},   {"handles", work_handles}};

int main(int argc, char **argv)
{
    struct effort effort = {false, 5};
    bool is_any = false;
    for (int i = 1; i < argc; i++) {
        effort.is_full = effort.is_full || strcmp(argv[i], "--full") == 0;
        is_any = is_any || argv[i][0] != '-';
    }
    effort.rounds = effort.is_full ? 11 : 5;
    bench_begin();
    printf("kevy %s\n", kevy_version());
    for (size_t q = 0; q < sizeof questions / sizeof questions[0]; q++) {
        bool is_chosen = !is_any;
        for (int i = 1; i < argc; i++) {
            is_chosen = is_chosen || strcmp(argv[i], questions[q].name) == 0;
        }
        if (is_chosen) {
            questions[q].work(&effort);
        }
    }
    return 0;
}
