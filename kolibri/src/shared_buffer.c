/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The pool over a ByteBuffer of Java's, and messages as arguments and results of calls.
 *
 * `where` is offset | size << 32. What lies outside the block goes in a new direct ByteBuffer whose
 * memory the VM owns: no lifetime to agree on. All else about pools and writers is tagged_buffer.c.
 */
#include "kolibri/src/state.h"
#include "kolibri/src/tagged_pool.h"
#include "kolibri/src/tagged_writer.h"

#include <kolibri/shared_buffer.h>

static void drop_block(void *owner)
{
    kol__global_drop(kol_env(), owner);
}

kol_status kol_buffers_open(JNIEnv *env, jobject block, jint chunk_size, jint native_count,
                            struct kol_buffers **out)
{
    struct kol_view view;
    *out = NULL;
    kol_status status = kol_buffer_view(env, block, &view);
    if (status != KOL_OK) {
        return status;
    }
    if (chunk_size <= 0 || native_count <= 0 || view.size > (size_t)1 << 30) {
        return KOL_ERANGE;
    }
    struct kol__block held = {view.bytes, view.size, kol__global(env, block), drop_block};
    if (!held.owner) {
        return KOL_EJAVA;
    }
    status = kol__buffers_over(&held, (size_t)chunk_size, (size_t)native_count, out);
    if (status != KOL_OK) {
        kol__global_drop(env, held.owner);
    }
    return status;
}

static jlong where_of(size_t offset, size_t size)
{
    return (jlong)((uint64_t)size << 32 | offset);
}

/* The part of `size` bytes at `bytes` that `where` names; NULL if it is not all in there. */
static uint8_t *part_of(uint8_t *bytes, size_t size, jlong where, size_t *size_out)
{
    size_t offset = (size_t)((uint64_t)where & UINT32_MAX);
    *size_out = (size_t)((uint64_t)where >> 32);
    if (where < 0 || offset > size || *size_out > size - offset) {
        return NULL;
    }
    return bytes + offset;
}

kol_status kol_message_view(JNIEnv *env, struct kol_buffers *buffers, jlong where, jobject big,
                            struct kol_message *out)
{
    const struct kol__block *block = kol__buffers_block(buffers);
    struct kol_view view = {block->bytes, block->size};
    *out = (struct kol_message){NULL, 0};
    if (big) {
        kol_status status = kol_buffer_view(env, big, &view);
        if (status != KOL_OK) {
            return status;
        }
    }
    uint8_t *bytes = part_of(view.bytes, view.size, where, &out->size);
    if (!bytes || ((uintptr_t)bytes & 7) != 0) {
        out->size = 0;
        return KOL_ERANGE;
    }
    out->bytes = bytes;
    return KOL_OK;
}

kol_status kol_message_open(JNIEnv *env, struct kol_buffers *buffers, jlong where, jobject big,
                            struct kol_reader *reader)
{
    struct kol_message message;
    kol_status status = kol_message_view(env, buffers, where, big, &message);
    if (status != KOL_OK) {
        *reader = (struct kol_reader){.what = "a place that is not in the buffer, or not aligned"};
        return status;
    }
    return kol_reader_open(reader, kol_buffers_received(buffers), message);
}

kol_status kol_writer_open_room(struct kol_buffers *buffers, jlong room, struct kol_writer **out)
{
    const struct kol__block *block = kol__buffers_block(buffers);
    size_t leased = kol__buffers_leased_size(buffers), size;
    uint8_t *bytes = part_of(block->bytes, block->size, room, &size);
    *out = NULL;
    if (room == 0) {
        return kol_writer_open(buffers, NULL, out);
    }
    if (!bytes || (size_t)(bytes - block->bytes) < leased || size < KOL_MESSAGE_MIN ||
        ((uintptr_t)bytes & 7) != 0) {
        return KOL_ERANGE;
    }
    return kol_writer_open_at(buffers, bytes, size, out);
}

/* The message in a new ByteBuffer. */
static kol_status make_big(JNIEnv *env, struct kol_writer *writer, jobject *out)
{
    struct kol_view view;
    size_t size = kol__writer_size(writer);
    kol_status status = kol_buffer_new(env, size, out);
    if (status == KOL_OK) {
        status = kol_buffer_view(env, *out, &view);
    }
    if (status == KOL_OK) {
        if (writer->message.bytes) {
            memcpy(view.bytes, writer->message.bytes, size);
        } else {
            kol__writer_gather(writer, view.bytes);
        }
        kol__buffers_tally(writer->buffers);
    }
    return status;
}

/* Whether the finished message lies in the block that Java sees. */
static int is_in_block(const struct kol_writer *writer)
{
    const struct kol__block *block = kol__buffers_block(writer->buffers);
    uintptr_t at = (uintptr_t)writer->message.bytes, start = (uintptr_t)block->bytes;
    return at >= start && at - start < block->size;
}

kol_status kol_writer_send(JNIEnv *env, struct kol_writer *writer, jlong *where_out,
                           jobject *big_out)
{
    *where_out = 0;
    *big_out = NULL;
    kol_status status = kol__writer_place(writer);
    if (status == KOL_OK && is_in_block(writer)) {
        const uint8_t *bytes = writer->message.bytes;
        size_t offset = (size_t)(bytes - kol__buffers_block(writer->buffers)->bytes);
        *where_out = where_of(offset, writer->message.size);
        return KOL_OK;
    }
    if (status == KOL_OK) {
        status = make_big(env, writer, big_out);
        *where_out = where_of(0, kol__writer_size(writer));
    }
    return status;
}

kol_status kol_writer_throw(JNIEnv *env, const struct kol_writer *writer)
{
    char path[KOL_PATH_MAX + 1];
    kol_status status = kol_writer_status(writer);
    if (status == KOL_OK || status == KOL_EJAVA) {
        return status;
    }
    kol_writer_path(writer, path, sizeof path);
    return kol_throw(env, status, "%s, at %s", kol_status_text(status), path);
}

jlong kol_writer_answer(JNIEnv *env, struct kol_writer *writer)
{
    jlong where;
    jobject big;
    jint handle = 0;
    kol_status status = kol_writer_send(env, writer, &where, &big);
    if (status == KOL_OK && !big) {
        if (((uint64_t)where & UINT32_MAX) >= kol__buffers_leased_size(writer->buffers)) {
            return (jlong)((uint64_t)where >> 32);
        }
        status = make_big(env, writer, &big); /* there was no room, so it lies in a chunk of ours */
    }
    if (status == KOL_OK) {
        status = kol_handle_new(env, big, &handle);
        (*env)->DeleteLocalRef(env, big);
    }
    if (status == KOL_OK) {
        return ~(jlong)(uint32_t)handle;
    }
    if (kol_writer_throw(env, writer) == KOL_OK && !(*env)->ExceptionCheck(env)) {
        kol_throw(env, status, "%s", kol_status_text(status));
    }
    return 0;
}
