/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * commands.h: what is written is run, in order; damaged, cut and unknown commands are never run; a
 * full buffer takes nothing; random bytes do no harm.
 */
#include "testing/harness.h"

#include <kolibri/commands.h>

struct log {
    int64_t sum;
    int calls;
};

static kol_status add_all(void *user, const int64_t *arguments, uint32_t count)
{
    struct log *log = user;
    for (uint32_t i = 0; i < count; i++) {
        log->sum += arguments[i];
    }
    log->calls++;
    return KOL_OK;
}

static kol_status refuse(void *user, const int64_t *arguments, uint32_t count)
{
    (void)user;
    (void)arguments;
    (void)count;
    return KOL_EMISUSE;
}

static const struct kol_operation operations[] = {
    {add_all, 0}, {add_all, 1}, {add_all, 2}, {NULL, 0}, {refuse, 0}};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

TEST(what_is_written_is_run)
{
    int64_t slots[8];
    struct kol_commands commands = {slots, 8, 0};
    const int64_t arguments[] = {-5, INT64_C(1) << 40};
    struct log log = {0, 0};
    size_t done = 0;
    CHECK_INT(kol_commands_add(&commands, 2, arguments, 2), KOL_OK);
    CHECK_INT(kol_commands_add(&commands, 0, NULL, 0), KOL_OK);
    CHECK_INT(kol_commands_add(&commands, 1, arguments, 1), KOL_OK);
    CHECK_INT(commands.used, 6);
    CHECK_INT(kol_commands_run(slots, commands.used, operations, OPERATIONS, &log, &done), KOL_OK);
    CHECK_INT(done, 3);
    CHECK_INT(log.calls, 3);
    CHECK_INT(log.sum, (INT64_C(1) << 40) - 10);
    CHECK_INT(kol_commands_run(slots, 0, operations, OPERATIONS, &log, NULL), KOL_OK);
    CHECK(kol_double_of_slot(kol_slot_of_double(-0.5)) == -0.5);
}

TEST(a_full_buffer_takes_nothing)
{
    int64_t slots[3] = {7, 7, 7};
    struct kol_commands commands = {slots, 2, 0};
    const int64_t arguments[2] = {1, 2};
    volatile uint32_t huge = UINT32_MAX; /* the compiler would refuse to see it */
    CHECK_INT(kol_commands_add(&commands, 2, arguments, 2), KOL_ESMALL);
    CHECK_INT(kol_commands_add(&commands, 2, arguments, huge), KOL_ESMALL);
    CHECK_INT(commands.used, 0);
    CHECK_INT(slots[0], 7);
    CHECK_INT(kol_commands_add(&commands, 1, arguments, 1), KOL_OK);
    CHECK_INT(kol_commands_add(&commands, 0, NULL, 0), KOL_ESMALL);
    CHECK_INT(slots[2], 7);
}

static void check_refused(const int64_t *slots, size_t count, size_t want_done)
{
    struct log log = {0, 0};
    size_t done = 99;
    CHECK_INT(kol_commands_run(slots, count, operations, OPERATIONS, &log, &done), KOL_ERANGE);
    CHECK_INT(done, want_done);
    CHECK_INT(log.calls, want_done);
}

TEST(damaged_commands_are_not_run)
{
    const int64_t cut[] = {INT64_C(1) << 32 | 1, 5, INT64_C(2) << 32 | 2, 6};
    const int64_t unknown[] = {OPERATIONS};
    const int64_t empty[] = {3};
    const int64_t miscounted[] = {INT64_C(1) << 32 | 2, 5};
    const int64_t huge[] = {-1, 1, 2};
    check_refused(cut, 4, 1);
    check_refused(unknown, 1, 0);
    check_refused(empty, 1, 0);
    check_refused(miscounted, 2, 0);
    check_refused(huge, 3, 0);
}

TEST(commands_are_read_one_by_one)
{
    const int64_t slots[] = {INT64_C(2) << 32 | 7, 5, 6, 9, INT64_C(1) << 32};
    struct kol_command_reader reader = {slots, 5, 0};
    const int64_t *arguments = NULL;
    uint32_t operation = 0, count = 0;
    REQUIRE_INT(kol_commands_next(&reader, &operation, &arguments, &count), KOL_OK);
    CHECK(operation == 7 && count == 2 && arguments == slots + 1);
    REQUIRE_INT(kol_commands_next(&reader, &operation, &arguments, &count), KOL_OK);
    CHECK(operation == 9 && count == 0 && arguments == slots + 4);
    CHECK_INT(kol_commands_next(&reader, &operation, &arguments, &count), KOL_ERANGE);
    reader.slot_count = 4;
    CHECK_INT(kol_commands_next(&reader, &operation, &arguments, &count), KOL_NONE);
}

TEST(a_command_that_fails_stops_the_run)
{
    const int64_t slots[] = {0, 4, 0};
    struct log log = {0, 0};
    size_t done = 0;
    CHECK_INT(kol_commands_run(slots, 3, operations, OPERATIONS, &log, &done), KOL_EMISUSE);
    CHECK_INT(done, 1);
    CHECK_INT(log.calls, 1);
}

TEST(random_slots_do_no_harm)
{
    uint64_t state = test_seed();
    for (int round = 0; round < 20000; round++) {
        int64_t slots[12];
        struct log log = {0, 0};
        size_t count = test_random(&state) % 13;
        size_t done = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t random = test_random(&state);
            slots[i] = (int64_t)((random >> 8 & 3) << 32 | (random & 7));
        }
        kol_status status = kol_commands_run(slots, count, operations, OPERATIONS, &log, &done);
        REQUIRE(status == KOL_OK || status == KOL_ERANGE || status == KOL_EMISUSE);
        REQUIRE((size_t)log.calls == done && done <= count);
    }
    CHECK(1);
}
