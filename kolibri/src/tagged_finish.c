/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a message ends: well, as one run of bytes, or with the first failure and its path.
 *
 * Once a writer has failed, at == end for good, so that every function that pushes ends up in
 * kol__writer_wants and does nothing. How the bytes are brought together is tagged_space.c.
 */
#include "kolibri/src/tagged_memory.h"
#include "kolibri/src/tagged_writer.h"

#include <kolibri/tagged_write.h>

static void stop(struct kol_writer *writer, kol_status status)
{
    writer->status = status;
    writer->at = writer->root;
    writer->end = writer->root;
}

void kol__writer_fail(struct kol_writer *writer, kol_status status)
{
    if (writer->status == KOL_OK) {
        kol__writer_note_path(writer, writer->level, writer->at);
        stop(writer, status);
    }
}

void kol__writer_fail_here(struct kol_writer *writer, kol_status status)
{
    if (writer->status == KOL_OK) {
        const struct level *outer = writer->level - 1;
        ASSERT(writer->level != writer->levels);
        kol__writer_note_path(writer, outer, outer->at - 8);
        stop(writer, status);
    }
}

kol_status kol_writer_status(const struct kol_writer *writer)
{
    return writer->status;
}

void kol_writer_stand_alone(struct kol_writer *writer)
{
    if (writer->newest_shape != 0 || writer->at != writer->root) {
        kol__writer_fail(writer, KOL_EMISUSE);
    }
    writer->stands_alone = 1;
}

kol_status kol__writer_place(struct kol_writer *writer)
{
    if (writer->message.bytes) {
        return KOL_OK;
    }
    if (writer->level != writer->levels || writer->at != writer->level->end) {
        kol__writer_fail(writer, KOL_EMISUSE);
    }
    if (writer->status == KOL_OK && kol__writer_close_up(writer)) {
        writer->message = (struct kol_message){writer->first.bytes, kol__writer_size(writer)};
    }
    writer->is_finished = writer->status == KOL_OK;
    return writer->status;
}

kol_status kol_writer_finish(struct kol_writer *writer, struct kol_message *out)
{
    kol_status status = kol__writer_place(writer);
    if (status == KOL_OK && !writer->message.bytes) {
        size_t size = kol__writer_size(writer);
        writer->gathered = memory_take(kol__buffers_memory(writer->buffers), size);
        if (!writer->gathered) {
            kol__writer_fail(writer, KOL_ENOMEM);
            status = KOL_ENOMEM;
        } else {
            kol__buffers_tally(writer->buffers);
            kol__writer_gather(writer, writer->gathered);
            writer->message = (struct kol_message){writer->gathered, size};
        }
    }
    *out = writer->message;
    return status;
}

void kol_writer_delivered(struct kol_writer *writer)
{
    if (writer->is_finished && writer->has_defined && !writer->stands_alone) {
        kol__shapes_deliver(writer->shapes, &writer->defined);
    }
}
