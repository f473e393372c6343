/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.time.Duration

/**
 * A queue of messages from channels and patterns. It begins with the first message after the call
 * that made it, and holds each of them in the order in which they were published, for one reader.
 *
 * The queue is bounded: at the start by 65,536 messages and 64 MiB, after which the oldest message
 * gives way and is counted. A message that the heap has no room for is an OutOfMemoryError of the
 * call that took it, and is gone.
 *
 * Any thread may wait here; [close] and the close of the store end the wait with an
 * IllegalStateException; an interrupt does not. A wait occupies its platform thread, also below a
 * virtual thread.
 */
public class Subscription
internal constructor(private val owner: Kevy, store: Store, names: List<String>, pattern: Boolean) :
    AutoCloseable {
    private val inbox: Inbox

    init {
        argument(names.isNotEmpty()) { "no channel to subscribe to" }
        inbox = Inbox(store, Text.encode(names[0]), pattern)
        try {
            names.drop(1).forEach { inbox.add(Text.encode(it), pattern) }
        } catch (failure: Throwable) {
            inbox.close()
            throw failure
        }
    }

    /** The next message if one is there. */
    public fun poll(): Message? = next(0)

    /** Waits for the next message. */
    public fun next(): Message = next(null)!!

    /** Waits for the next message at most this long; null when none came. */
    public fun next(timeout: Duration): Message? =
        next(if (timeout.isFinite()) timeout.inWholeMilliseconds else null)

    /** As [next], in milliseconds. */
    public fun next(timeoutMillis: Long): Message? = next(timeoutMillis as Long?)

    private fun next(timeoutMillis: Long?): Message? {
        val start = System.nanoTime()
        var left = timeoutMillis
        while (true) {
            val frame = inbox.next(left) ?: return null
            Frame(frame).message()?.let {
                return it
            }
            if (left != null && left > 0) {
                left = timeoutMillis!! - (System.nanoTime() - start) / NANOS_PER_MILLI
            }
        }
    }

    /**
     * Takes many messages at once: waits for the first one at most this long, and then takes what
     * is there, up to about so many bytes of it. An empty batch when none came. The cheapest way
     * to read, and the one that tells exactly where messages are missing.
     */
    @JvmOverloads
    public fun drain(timeoutMillis: Long = 0, bytesMax: Int = BATCH_BYTES): Batch {
        argument(bytesMax > 0) { "a batch of $bytesMax bytes" }
        val counts = LongArray(2)
        val packed = inbox.drain(timeoutMillis, bytesMax.toLong(), counts)
        return Batch(packed ?: ByteArray(0), counts[0].toInt(), counts[1])
    }

    public fun drain(timeout: Duration): Batch =
        drain(if (timeout.isFinite()) timeout.inWholeMilliseconds else Long.MAX_VALUE)

    /** Adds a channel; it begins with the first message after this call. */
    public fun add(channel: String): Unit = inbox.add(Text.encode(channel), false)

    public fun addPattern(pattern: String): Unit = inbox.add(Text.encode(pattern), true)

    /** Takes a channel away; what is queued of it stays. */
    public fun remove(channel: String): Unit = inbox.remove(Text.encode(channel), false)

    public fun removePattern(pattern: String): Unit = inbox.remove(Text.encode(pattern), true)

    /**
     * Bounds the queue; 0 leaves a bound as it is. When it is full either the oldest message gives
     * way or the new one.
     */
    @JvmOverloads
    public fun limit(countMax: Int, bytesMax: Long = 0, dropNewest: Boolean = false) {
        argument(countMax >= 0 && bytesMax >= 0) { "a bound is negative" }
        inbox.limit(countMax, bytesMax, if (dropNewest) POLICY_FAIL else POLICY_DROP_OLDEST)
    }

    /** How many messages the queue has dropped in all. */
    public val dropped: Long
        get() = inbox.dropped()

    /** True once [close] was called. */
    public val isClosed: Boolean
        get() = inbox.isClosed

    /** Unsubscribes from everything and ends every wait. Closing twice is fine. */
    override fun close(): Unit = inbox.close()

    override fun toString(): String = "Subscription of $owner"

    private companion object {
        const val NANOS_PER_MILLI = 1_000_000L
        const val BATCH_BYTES = 1 shl 20
        const val POLICY_DROP_OLDEST = 0
        const val POLICY_FAIL = 2
    }
}

/**
 * Messages that were taken at once, in order.
 *
 * @property dropped how many messages are missing before the first of these, because the queue was
 *   full
 */
public class Batch
internal constructor(private val packed: ByteArray, count: Int, public val dropped: Long) :
    AbstractList<Message>() {
    override val size: Int = count
    private val starts = IntArray(count)

    init {
        var at = 0
        for (i in 0 until count) {
            starts[i] = at
            at = end(end(end(at)))
        }
        check(at == packed.size) { "a batch of ${packed.size} bytes ends at $at" }
    }

    /** Makes the message: its bytes are copied out of the batch. */
    override fun get(index: Int): Message {
        val pattern = starts[index]
        val channel = end(pattern)
        return Message(part(channel)!!, part(end(channel))!!, part(pattern))
    }

    /** The payload without a copy: a read-only view, which keeps the whole batch. */
    public fun payload(index: Int): ByteBuffer {
        val at = end(end(starts[index]))
        return ByteBuffer.wrap(packed, at + HEAD, sizeAt(at)).slice().asReadOnlyBuffer()
    }

    private fun part(at: Int) =
        if (sizeAt(at) == MISSING) null else packed.copyOfRange(at + HEAD, end(at))

    private fun end(at: Int) = at + HEAD + maxOf(0, sizeAt(at))

    private fun sizeAt(at: Int): Int {
        check(at <= packed.size - HEAD) { "a batch of ${packed.size} bytes is cut at $at" }
        val size = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).getInt(at)
        val isWhole = size >= MISSING && size <= packed.size - at - HEAD
        check(isWhole) { "a part of a batch is cut at $at" }
        return size
    }

    private companion object {
        const val HEAD = 4

        /** In place of the size of a pattern: the message came by the name of its channel. */
        const val MISSING = -1
    }
}
