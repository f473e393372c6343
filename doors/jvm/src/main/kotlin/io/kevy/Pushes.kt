/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * The listeners of a store: one queue of the engine, one daemon thread that sleeps at it, and who
 * listens to what. The thread starts with the first listener and ends with the last.
 *
 * When a listener begins. Each add asks the engine to subscribe, also to a name that is subscribed
 * already, and the engine queues an acknowledgement behind the messages that came before. The
 * thread lets the listener in when it meets that, so each listener gets exactly the messages that
 * were published after its add: also one that was added by another listener. Adding and asking
 * happen under one lock, so the acknowledgements come in the order of `entering`.
 *
 * Listeners are called without the lock, and may add and close listeners, publish, and close the
 * store.
 */
internal class Pushes(private val owner: Kevy, private val store: Store) {
    private var lane: Lane? = null
    private var isClosed = false

    @Synchronized
    fun add(name: String, isPattern: Boolean, listener: MessageListener): Listening {
        val bytes = Text.encode(name)
        val key = Key(String(bytes, Charsets.ISO_8859_1), isPattern)
        val old = lane
        if (old != null) {
            return Entry(old, key, bytes, listener).also { old.enter(it, true) }
        }
        val fresh = Lane(Inbox(store, bytes, isPattern))
        val first = Entry(fresh, key, bytes, listener)
        fresh.enter(first, false)
        try {
            fresh.start()
        } catch (failure: Throwable) {
            fresh.inbox.close()
            throw failure
        }
        lane = fresh
        return first
    }

    /** Ends the thread. Its last call may still be under way. */
    @Synchronized
    fun close() {
        lane?.inbox?.close()
        lane = null
    }

    private data class Key(val name: String, val isPattern: Boolean)

    /** A queue with its thread, which keeps the store through it. */
    private inner class Lane(val inbox: Inbox) : Runnable {
        private val entering = ArrayDeque<Entry>()
        private val users = HashMap<Key, Int>()
        private val listening = HashMap<Key, List<Entry>>()
        private var dropped = 0L

        fun start() {
            val thread = Thread(null, this, "kevy-push", 0)
            thread.isDaemon = true
            thread.start()
        }

        fun enter(one: Entry, isSubscribing: Boolean) {
            if (isSubscribing) inbox.add(one.name, one.key.isPattern)
            entering.addLast(one)
            users.merge(one.key, 1, Int::plus)
        }

        fun leave(one: Entry) {
            synchronized(this@Pushes) {
                listening[one.key]?.let { listening[one.key] = it - one }
                if (users.merge(one.key, -1) { n, m -> (n + m).takeIf { it > 0 } } == null) {
                    listening.remove(one.key)
                    unsubscribe(one)
                }
            }
        }

        private fun unsubscribe(one: Entry) {
            if (lane !== this) return
            try {
                inbox.remove(one.name, one.key.isPattern)
            } catch (_: IllegalStateException) {
                // The store was closed, and the queue is nobody's.
            } catch (_: KevyException) {
                // Too many acknowledgements are unread: what still comes has no receiver.
            }
            if (users.isEmpty()) this@Pushes.close()
        }

        override fun run() {
            while (!inbox.isClosed) {
                try {
                    deliver(Frame(inbox.next(null)!!))
                    tellDropped()
                } catch (_: IllegalStateException) {
                    // The last listener has gone, or the store was closed.
                    inbox.close()
                } catch (failure: OutOfMemoryError) {
                    Turn.report(failure)
                    Turn.pause()
                }
            }
        }

        private fun deliver(frame: Frame) {
            val message = frame.message()
            if (message != null) {
                receivers(message).forEach { it.call { onMessage(message) } }
            } else if (frame.isAdded) {
                letIn()
            }
        }

        private fun letIn() {
            synchronized(this@Pushes) {
                val one = entering.removeFirst()
                if (one.isOpen) listening.merge(one.key, listOf(one)) { old, new -> old + new }
            }
        }

        private fun receivers(message: Message): List<Entry> {
            val name = message.patternBytes ?: message.channelBytes
            val key = Key(String(name, Charsets.ISO_8859_1), message.patternBytes != null)
            return synchronized(this@Pushes) { listening[key] ?: emptyList() }
        }

        /** The queue is everybody's, and so is what is missing from it. */
        private fun tellDropped() {
            val total = inbox.dropped()
            val missing = total - dropped
            dropped = total
            if (missing == 0L) return
            val all = synchronized(this@Pushes) { listening.values.flatten() }
            all.forEach { it.call { onDropped(missing) } }
        }
    }

    /** One listener, until it is closed. */
    private class Entry(
        private val lane: Lane,
        val key: Key,
        val name: ByteArray,
        private val listener: MessageListener,
    ) : Listening {
        private val turn = Turn()

        val isOpen: Boolean
            get() = turn.isOpen

        inline fun call(what: MessageListener.() -> Unit) = turn.take { listener.what() }

        override fun close() {
            if (turn.close()) lane.leave(this)
        }
    }
}
