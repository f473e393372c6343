/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Command buffers: the header of each command is checked against what is left and against the table
 * of operations before its function sees a slot.
 */
#include <kolibri/commands.h>

static uint32_t operation_of(int64_t header)
{
    return (uint32_t)((uint64_t)header & UINT32_MAX);
}

static uint32_t count_of(int64_t header)
{
    return (uint32_t)((uint64_t)header >> 32);
}

kol_status kol_commands_run(const int64_t *slots, size_t slot_count,
                            const struct kol_operation *operations, uint32_t operation_count,
                            void *user, size_t *done_out)
{
    kol_status status = KOL_OK;
    size_t done = 0;
    for (size_t at = 0; at < slot_count; done++) {
        uint32_t operation = operation_of(slots[at]);
        uint32_t count = count_of(slots[at]);
        if (count > slot_count - at - 1 || operation >= operation_count ||
            !operations[operation].run || operations[operation].count != count) {
            status = KOL_ERANGE;
            break;
        }
        status = operations[operation].run(user, slots + at + 1, count);
        if (status != KOL_OK) {
            break;
        }
        at += 1 + (size_t)count;
    }
    if (done_out) {
        *done_out = done;
    }
    return status;
}

kol_status kol_commands_add(struct kol_commands *commands, uint32_t operation,
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
