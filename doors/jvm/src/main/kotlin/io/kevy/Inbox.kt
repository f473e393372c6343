/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject
import io.kolibri.ReleasedException
import java.util.concurrent.TimeUnit

/**
 * One subscription of the engine, and its natives (doors/jvm/c/jvm_inbox.c): a bounded queue of
 * frames that threads take from or wait at. Guarded, as [Store] is.
 *
 * Waking. A waiter holds a lease, so close cannot free the queue under it; it has to leave first.
 * Close therefore wakes it, and each waiter that leaves a closed queue wakes the next: one wake
 * reaches those asleep at that moment or else the next one that goes to sleep.
 */
@NativeClass(NativeKind.GUARDED)
internal class Inbox(store: Store, name: ByteArray, isPattern: Boolean) :
    NativeObject(store.subscribe(name, isPattern)) {

    /** The next frame, null when none is queued. */
    @NativeMethod external fun take(): ByteArray?

    /** The next frame; sleeps up to the time, 0 without limit. Null also when woken. */
    @NativeMethod private external fun await(timeoutMillis: Long): ByteArray?

    /** As kevy_sub_wait_batch; counts[0] is the count, counts[1] how many are missing before. */
    @NativeMethod
    private external fun batch(
        timeoutMillis: Long,
        flags: Int,
        bytesMax: Long,
        counts: LongArray,
    ): ByteArray?

    @NativeMethod external fun add(name: ByteArray, isPattern: Boolean)

    @NativeMethod external fun remove(name: ByteArray, isPattern: Boolean)

    @NativeMethod external fun limit(countMax: Int, bytesMax: Long, policy: Int)

    @NativeMethod external fun dropped(): Long

    /** As [take], sleeping up to the time; null is for ever. Throws when it is closed meanwhile. */
    fun next(timeoutMillis: Long?): ByteArray? =
        if (isNow(timeoutMillis)) take() else waiting(timeoutMillis) { await(it) }

    /** A batch with patterns and channels, sleeping likewise. */
    fun drain(timeoutMillis: Long?, bytesMax: Long, counts: LongArray): ByteArray? =
        if (isNow(timeoutMillis)) {
            batch(0, WITH_PATTERNS or WITHOUT_WAIT, bytesMax, counts)
        } else {
            waiting(timeoutMillis) { batch(it, WITH_PATTERNS, bytesMax, counts) }
        }

    override fun close() {
        val self =
            try {
                enter(this)
            } catch (_: ReleasedException) {
                return
            }
        super.close()
        wake(self)
        leave(this)
    }

    private fun isNow(timeoutMillis: Long?) = timeoutMillis != null && timeoutMillis <= 0

    /** Waits in turns, since a wake that was meant for another thread ends a turn early. */
    private inline fun waiting(timeoutMillis: Long?, turn: (Long) -> ByteArray?): ByteArray? {
        val isEndless = timeoutMillis == null || timeoutMillis > LONGEST_MILLIS
        val start = System.nanoTime()
        var left = if (isEndless) 0 else timeoutMillis
        while (true) {
            val frame = leased(turn, left)
            if (frame != null) return frame
            if (!isEndless) {
                left = timeoutMillis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
                if (left <= 0) return null
            }
        }
    }

    private inline fun leased(turn: (Long) -> ByteArray?, left: Long): ByteArray? {
        val self = enter(this)
        try {
            return turn(left)
        } finally {
            if (isClosed) wake(self)
            leave(this)
        }
    }

    private companion object {
        const val WITH_PATTERNS = 5 /* and channels */
        const val WITHOUT_WAIT = 2
        const val LONGEST_MILLIS = 1L shl 40

        @JvmStatic private external fun wake(self: Long)
    }
}
