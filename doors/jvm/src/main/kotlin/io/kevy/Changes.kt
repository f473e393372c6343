/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.util.concurrent.ConcurrentHashMap

/**
 * The change listeners of a store: one queue and one daemon thread that sleeps at it. The thread
 * starts with the first listener and ends with the last.
 *
 * Each listener has an ear of its own, so it is told exactly what changes after its add. Listeners
 * are called without a lock, and may do anything with the store.
 */
internal class Changes(private val owner: Kevy, private val store: Store) {
    private var lane: Lane? = null

    @Synchronized
    fun add(listener: ChangeListener): Listening {
        val old = lane
        if (old != null) return old.add(listener)
        val fresh = Lane(ChangeQueue(store))
        try {
            val first = fresh.add(listener)
            fresh.start()
            lane = fresh
            return first
        } catch (failure: Throwable) {
            fresh.queue.close()
            throw failure
        }
    }

    /** Ends the thread. Its last call may still be under way. */
    @Synchronized
    fun close() {
        lane?.queue?.close()
        lane = null
    }

    /** A queue with its thread, which keeps the store through it. */
    private inner class Lane(val queue: ChangeQueue) : Runnable {
        private val entries = ConcurrentHashMap<Int, Entry>()

        fun start() {
            val thread = Thread(null, this, "kevy-changes", 0)
            thread.isDaemon = true
            thread.start()
        }

        /* With the lock held. A record that is taken before its entry is there waits for it. */
        fun add(listener: ChangeListener): Listening {
            val ear = queue.add()
            return Entry(this, ear, listener).also { entries[ear] = it }
        }

        fun leave(one: Entry) {
            synchronized(this@Changes) {
                entries.remove(one.ear)
                if (lane !== this) return
                try {
                    queue.remove(one.ear)
                } catch (_: IllegalStateException) {
                    // The store was closed, and its ears with it.
                }
                if (entries.isEmpty()) this@Changes.close()
            }
        }

        private fun entry(ear: Int): Entry? =
            entries[ear] ?: synchronized(this@Changes) { entries[ear] }

        override fun run() {
            while (!queue.isClosed) {
                try {
                    ChangeRecords(queue.next()).forEach { ear, change ->
                        if (!queue.isClosed) entry(ear)?.call(change)
                    }
                } catch (_: IllegalStateException) {
                    // The last listener has gone, or the store was closed.
                    queue.close()
                } catch (failure: OutOfMemoryError) {
                    Turn.report(failure)
                    Turn.pause()
                }
            }
        }
    }

    /** One listener, until it is closed. */
    private class Entry(
        private val lane: Lane,
        val ear: Int,
        private val listener: ChangeListener,
    ) : Listening {
        private val turn = Turn()

        fun call(change: Change) = turn.take { listener.onChange(change) }

        override fun close() {
            if (turn.close()) lane.leave(this)
        }
    }
}
