/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Many small operations in one crossing: a command buffer, written on one side and run or read on
 * the other. In Java it is io.kolibri.CommandBuffer, whose memory C sees as a direct buffer.
 *
 * A buffer is a run of 8-byte slots in native byte order. A command is one slot with its operation
 * in the low and the number of its arguments in the high 32 bits, then one slot an argument: an
 * integer, or the bits of a double.
 *
 *     | operation:32, count:32 | argument | argument | operation:32, count:32 | …
 *
 * Nothing here needs a VM or takes a lock: a buffer has one user at a time.
 */
#ifndef KOLIBRI_COMMANDS_H
#define KOLIBRI_COMMANDS_H

#include <kolibri/status.h>

#include <string.h>

/* What a command does; `arguments` has exactly `count` slots. Anything but KOL_OK stops the run. */
typedef kol_status (*kol_command)(void *user, const int64_t *arguments, uint32_t count);

/* One entry of a table of operations: a null function is an unknown operation. */
struct kol_operation {
    kol_command run;
    uint32_t count; /* how many arguments it takes */
};

/* A buffer being read by kol_commands_next; begin with `at` 0. */
struct kol_command_reader {
    const int64_t *slots;
    size_t slot_count;
    size_t at;
};

/* A buffer being written. `used` counts slots. */
struct kol_commands {
    int64_t *slots;
    size_t slots_max;
    size_t used;
};

KOL__C_BEGIN

/*
 * Runs the commands of `slot_count` slots in order. `done_out`, which may be NULL, is how many
 * commands succeeded. KOL_OK; KOL_ERANGE at a command that is cut off, unknown, or has the wrong
 * number of arguments: nothing of it was run; or what a command returned.
 */
kol_status kol_commands_run(const int64_t *slots, size_t slot_count,
                            const struct kol_operation *operations, uint32_t operation_count,
                            void *user, size_t *done_out) KOL__MUST;

KOL__C_END

/*
 * From a header to the next one. The branches of the usual sizes let the processor predict where
 * that lies, instead of waiting for the count to be loaded; the empty asm keeps them branches.
 */
KOL__INLINE size_t kol__command_size(uint32_t count)
{
    size_t size = 1 + (size_t)count;
    if (count == 1) {
        size = 2;
        __asm__("" : "+r"(size));
    } else if (count == 2) {
        size = 3;
        __asm__("" : "+r"(size));
    } else if (count == 3) {
        size = 4;
        __asm__("" : "+r"(size));
    }
    return size;
}

/*
 * Goes to the next command, for a switch of your own: the fastest way. `arguments` is borrowed from
 * the buffer and has `count` slots; whether the operation takes as many is yours to check. KOL_OK;
 * KOL_NONE behind the last command; KOL_ERANGE at one that is cut off.
 */
KOL__MUST KOL__INLINE kol_status kol_commands_next(struct kol_command_reader *reader,
                                                   uint32_t *operation, const int64_t **arguments,
                                                   uint32_t *count)
{
    size_t left = reader->slot_count - reader->at;
    if (left == 0) {
        return KOL_NONE;
    }
    uint64_t header = (uint64_t)reader->slots[reader->at];
    *operation = (uint32_t)(header & UINT32_MAX);
    *count = (uint32_t)(header >> 32);
    if (*count > left - 1) {
        return KOL_ERANGE;
    }
    *arguments = reader->slots + reader->at + 1;
    reader->at += kol__command_size(*count);
    return KOL_OK;
}

/* Appends a command. KOL_ESMALL when it does not fit; then nothing was written. */
KOL__MUST KOL__INLINE kol_status kol_commands_add(struct kol_commands *commands, uint32_t operation,
                                                  const int64_t *arguments, uint32_t count)
{
    size_t room = commands->slots_max - commands->used;
    if (room == 0 || count > room - 1) {
        return KOL_ESMALL;
    }
    int64_t *at = commands->slots + commands->used;
    at[0] = (int64_t)((uint64_t)count << 32 | operation);
    if (count > 0) {
        memcpy(at + 1, arguments, count * sizeof *arguments);
    }
    commands->used += 1 + (size_t)count;
    return KOL_OK;
}

/* A double as a slot, and back. */
KOL__INLINE int64_t kol_slot_of_double(double value)
{
    int64_t slot;
    memcpy(&slot, &value, sizeof slot);
    return slot;
}

KOL__INLINE double kol_double_of_slot(int64_t slot)
{
    double value;
    memcpy(&value, &slot, sizeof value);
    return value;
}

#endif
