/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject
import io.kolibri.ReleasedException
import java.nio.ByteBuffer

/**
 * One handle on a store of the engine, and its natives (doors/jvm/c/jvm_store.c). What they mean
 * is documented on [Kevy], which checks their numbers and is what users see.
 *
 * Guarded: each call leases the handle, so a close on another thread lets calls in flight finish
 * and refuses later ones; the last of them closes the handle, and close waits for that. A handle
 * that nobody holds any more is closed by the cleaner.
 */
@NativeClass(NativeKind.GUARDED)
internal class Store(path: String?, options: KevyOptions) :
    NativeObject(open(path, options.numbers())) {

    @NativeMethod external fun report(out: LongArray)

    @NativeMethod external fun sync()

    @NativeMethod external fun shutdown()

    @NativeMethod external fun get(key: ByteArray): ByteArray?

    @NativeMethod external fun text(key: ByteArray): String?

    /** The size of the value; -1 none; -2 - size when it does not fit, and nothing is copied. */
    @NativeMethod
    external fun getInto(key: ByteArray, buffer: ByteBuffer, start: Int, end: Int): Long

    @NativeMethod
    external fun set(key: ByteArray, value: ByteArray, start: Int, count: Int, ttlMillis: Long)

    @NativeMethod external fun setText(key: ByteArray, value: String, ttlMillis: Long)

    @NativeMethod
    external fun setFrom(
        key: ByteArray,
        buffer: ByteBuffer,
        start: Int,
        end: Int,
        ttlMillis: Long,
    )

    /** The values of packed keys, as kevy_get_many gives them. */
    @NativeMethod external fun getMany(keys: ByteArray): ByteArray

    /** Sets packed pairs of key and value, all or none. */
    @NativeMethod external fun setMany(pairs: ByteArray)

    /** The pointer of a new queue, which [ChangeQueue] owns from then on. */
    @NativeMethod external fun changes(): Long

    /** Runs a packed command (see [Command]) and returns its RESP2 reply. */
    @NativeMethod external fun cmd(packed: ByteArray): ByteArray

    @NativeMethod external fun publish(channel: ByteArray, payload: ByteArray): Long

    /** The pointer of a new subscription, which [Inbox] owns from then on. */
    @NativeMethod external fun subscribe(name: ByteArray, isPattern: Boolean): Long

    override fun close() {
        val self =
            try {
                enter(this)
            } catch (_: ReleasedException) {
                return
            }
        super.close()
        val latch = latch(self)
        leave(this)
        if (latch != 0L) await(latch)
    }

    companion object {
        /** In memory when there is no path. The numbers are those of KevyOpenOptions. */
        @JvmStatic private external fun open(path: String?, options: LongArray): Long

        /** Who will wait for the end of the handle, and the wait; see jvm_close.c. */
        @JvmStatic private external fun latch(self: Long): Long

        @JvmStatic private external fun await(latch: Long)

        /** UTF-8 with lone surrogates as three bytes each, and the way back. */
        @JvmStatic external fun encode(text: String): ByteArray

        @JvmStatic external fun decode(bytes: ByteArray, start: Int, count: Int): String

        @JvmStatic external fun statusText(status: Int): String

        @JvmStatic external fun version(): String
    }
}
