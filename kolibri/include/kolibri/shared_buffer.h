/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tagged messages across the call: the pool of tagged_buffer.h over memory that Java made, and
 * messages as the two arguments (jlong where, ByteBuffer big) that both sides agree on; section 8
 * of docs/tagged-format.md. The Java side is io.kolibri.SharedBuffers.
 *
 *     C to Java:    kol_writer_open, kol_write_…, kol_writer_send, call the bridge with what it
 *                   gave, kol_writer_delivered, kol_writer_close
 *     Java to C:    kol_message_open reads what came
 *     an answer:    kol_writer_open_room, kol_write_…, return kol_writer_answer; without
 *                   kol_writer_delivered, for Java reads it only after the native has returned
 *
 * Memory that Java may keep is always the VM's own, so nothing is freed under a ByteBuffer. Env's
 * own thread.
 */
#ifndef KOLIBRI_SHARED_BUFFER_H
#define KOLIBRI_SHARED_BUFFER_H

#include <jni.h>
#include <kolibri/tagged.h>

KOL__C_BEGIN

/*
 * A pool over `block`, a direct ByteBuffer: its first `native_count` chunks of `chunk_size` bytes
 * are leased here, the others by Java. The block is held until the pool is closed and its last
 * writer too. Yours; close with kol_buffers_close. KOL_ENULL, KOL_ETYPE (not direct), KOL_ERANGE
 * (sizes that the format forbids or the block does not have), KOL_ENOMEM, KOL_EJAVA.
 */
kol_status kol_buffers_open(JNIEnv *env, jobject block, jint chunk_size, jint native_count,
                            struct kol_buffers **out) KOL__MUST;

/*
 * The message that Java passed, in the block or in `big`. Borrowed until the native returns.
 * KOL_ERANGE if it does not lie there or is not aligned, KOL_ETYPE if `big` is not direct. It is
 * not validated yet.
 */
kol_status kol_message_view(JNIEnv *env, struct kol_buffers *buffers, jlong where, jobject big,
                            struct kol_message *out) KOL__MUST;

/* The same, validated with the table of received shapes. Close the reader with kol_reader_close. */
kol_status kol_message_open(JNIEnv *env, struct kol_buffers *buffers, jlong where, jobject big,
                            struct kol_reader *reader) KOL__MUST;

/*
 * A writer of an answer into the room that Java passed, a part of one of its own leases; room 0:
 * Java has none, the answer goes in a ByteBuffer. Yours; close with kol_writer_close, before the
 * native returns. KOL_ERANGE if the room is not in Java's part of the block or too small;
 * KOL_ENOMEM, KOL_EENDED.
 */
kol_status kol_writer_open_room(struct kol_buffers *buffers, jlong room,
                                struct kol_writer **out) KOL__MUST;

/*
 * Finishes a message for a call into Java: `*where_out` and `*big_out` are the bridge's arguments.
 * `*big_out` is NULL for a message in the block, else a local reference, yours. Keep the writer
 * open until the call has returned. KOL_EJAVA, or what kol_writer_finish says.
 */
kol_status kol_writer_send(JNIEnv *env, struct kol_writer *writer, jlong *where_out,
                           jobject *big_out) KOL__MUST;

/*
 * Finishes an answer and gives the result that the native returns: the size of the message in the
 * room, or ~handle (bridge.h) of a buffer that is the message. Any failure becomes an exception and
 * 0. The writer may be closed then.
 */
jlong kol_writer_answer(JNIEnv *env, struct kol_writer *writer);

/* Throws the writer's failure with its path. Returns KOL_EJAVA, or KOL_OK if there is none. */
kol_status kol_writer_throw(JNIEnv *env, const struct kol_writer *writer);

KOL__C_END

#endif
