/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Command buffers: the header of each command is checked against what is left and against the table
 * of operations before its function sees a slot.
 */
#include <kolibri/commands.h>

kol_status kol_commands_run(const int64_t *slots, size_t slot_count,
                            const struct kol_operation *operations, uint32_t operation_count,
                            void *user, size_t *done_out)
{
    struct kol_command_reader reader = {slots, slot_count, 0};
    const int64_t *arguments = NULL;
    uint32_t operation = 0, count = 0;
    size_t done = 0;
    kol_status status = kol_commands_next(&reader, &operation, &arguments, &count);
    while (status == KOL_OK) {
        if (operation >= operation_count || !operations[operation].run ||
            operations[operation].count != count) {
            status = KOL_ERANGE;
            break;
        }
        status = operations[operation].run(user, arguments, count);
        if (status == KOL_OK) {
            done++;
            status = kol_commands_next(&reader, &operation, &arguments, &count);
        }
    }
    if (done_out) {
        *done_out = done;
    }
    return status == KOL_NONE ? KOL_OK : status;
}
