/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.util.concurrent.atomic.AtomicInteger

/** Whether a listener may be called: until it is closed, by one thread at a time. */
internal class Turn {
    private val state = AtomicInteger(IDLE)

    val isOpen: Boolean
        get() = state.get() != CLOSED

    /** Does the call unless closed; from here on a close lets it finish. What it throws is told. */
    inline fun take(call: () -> Unit) {
        if (!begin()) return
        try {
            call()
        } catch (failure: Throwable) {
            report(failure)
        } finally {
            end()
        }
    }

    fun begin(): Boolean = state.compareAndSet(IDLE, CALLED)

    fun end() {
        state.compareAndSet(CALLED, IDLE)
    }

    /** True for the first close. */
    fun close(): Boolean = state.getAndSet(CLOSED) != CLOSED

    companion object {
        private const val IDLE = 0
        private const val CALLED = 1
        private const val CLOSED = 2

        /** After something for which there was no memory; the listeners may free some. */
        private const val PAUSE_MILLIS = 10L

        /** As the VM does it: what the handler itself throws is nobody's. */
        fun report(failure: Throwable) {
            val thread = Thread.currentThread()
            try {
                thread.uncaughtExceptionHandler?.uncaughtException(thread, failure)
            } catch (_: Throwable) {
                // The next call comes all the same.
            }
        }

        /** A listener may have interrupted its thread; that does not end the others. */
        fun pause() {
            try {
                Thread.sleep(PAUSE_MILLIS)
            } catch (_: InterruptedException) {
                // No pause this time.
            }
        }
    }
}
