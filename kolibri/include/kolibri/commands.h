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

/* Appends a command. KOL_ESMALL when it does not fit; then nothing was written. */
kol_status kol_commands_add(struct kol_commands *commands, uint32_t operation,
                            const int64_t *arguments, uint32_t count) KOL__MUST;

KOL__C_END

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
