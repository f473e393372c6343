/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ReadOnlyBufferException
import kotlin.time.Duration

/**
 * A store: keys with values and expiry, commands, publish and subscribe; in memory or in a
 * directory.
 *
 * ```
 * Kevy.open("greetings").use { kevy ->
 *     kevy["en"] = "hello"
 *     println(kevy.getText("en"))
 * }
 * ```
 *
 * - Every call has happened when it returns. A write has left the process by then: a kill loses
 *   nothing, nor does an exit without close.
 * - Any thread may call anything at any time, virtual ones too. After [close] a call is an
 *   IllegalStateException; calls that are under way finish first.
 * - Keys, channels and text are exact: every String comes back as it was, NUL is a character and
 *   half a surrogate pair stays what it is. Arrays that go in are copied before the call returns,
 *   those that come out are yours.
 * - Keys and values are at most 512 MiB. A value that the heap has no room for is an
 *   OutOfMemoryError, and the store goes on.
 * - A store that nobody holds any more is closed by the collector, [close] does it at once. Opens
 *   of one directory in one process share the store.
 */
public class Kevy private constructor(private val store: Store) : KevyCommands(), AutoCloseable {
    private val pushes = Pushes(this, store)
    private val changes = Changes(this, store)

    // ---- values ----

    /** The value, null when there is none. */
    public operator fun get(key: ByteArray): ByteArray? = store.get(key)

    public operator fun get(key: String): ByteArray? = store.get(Text.encode(key))

    /** The value as text; what is not text reads as U+FFFD. Null when there is none. */
    public fun getText(key: ByteArray): String? = store.text(key)

    public fun getText(key: String): String? = store.text(Text.encode(key))

    /**
     * Copies the value into `buffer` at its position, which moves behind it; the fastest way to
     * read. Returns the size of the value, -1 when there is none. A value that does not fit before
     * the limit is a [KevyBufferException], and the buffer is as it was.
     */
    public fun getInto(key: ByteArray, buffer: ByteBuffer): Int {
        if (buffer.isReadOnly) throw ReadOnlyBufferException()
        if (!buffer.isDirect) return getIntoHeap(key, buffer)
        val size = store.getInto(key, buffer, buffer.position(), buffer.limit())
        if (size < NOTHING) throw KevyBufferException((TOO_SMALL - size).toInt())
        if (size > 0) (buffer as Buffer).position(buffer.position() + size.toInt())
        return size.toInt()
    }

    public fun getInto(key: String, buffer: ByteBuffer): Int = getInto(Text.encode(key), buffer)

    private fun getIntoHeap(key: ByteArray, buffer: ByteBuffer): Int {
        val value = store.get(key) ?: return NOTHING
        if (value.size > buffer.remaining()) throw KevyBufferException(value.size)
        buffer.put(value)
        return value.size
    }

    /** Sets the value, whatever the key held, without a time to live. */
    public operator fun set(key: ByteArray, value: ByteArray): Unit = put(key, value, NEVER)

    public operator fun set(key: String, value: ByteArray): Unit =
        put(Text.encode(key), value, NEVER)

    public operator fun set(key: ByteArray, value: String): Unit =
        store.setText(key, value, NEVER)

    public operator fun set(key: String, value: String): Unit =
        store.setText(Text.encode(key), value, NEVER)

    /** As the others, with the remaining bytes of a buffer; its position moves to its limit. */
    public operator fun set(key: ByteArray, value: ByteBuffer): Unit = put(key, value, NEVER)

    public operator fun set(key: String, value: ByteBuffer): Unit =
        put(Text.encode(key), value, NEVER)

    /** Sets the value and how long it lives; a time of zero, below it or without end is wrong. */
    public fun set(key: ByteArray, value: ByteArray, ttl: Duration): Unit =
        put(key, value, ttlMillisOf(ttl))

    public fun set(key: String, value: ByteArray, ttl: Duration): Unit =
        put(Text.encode(key), value, ttlMillisOf(ttl))

    public fun set(key: ByteArray, value: String, ttl: Duration): Unit =
        store.setText(key, value, ttlMillisOf(ttl))

    public fun set(key: String, value: String, ttl: Duration): Unit =
        store.setText(Text.encode(key), value, ttlMillisOf(ttl))

    public fun set(key: ByteArray, value: ByteBuffer, ttl: Duration): Unit =
        put(key, value, ttlMillisOf(ttl))

    public fun set(key: String, value: ByteBuffer, ttl: Duration): Unit =
        put(Text.encode(key), value, ttlMillisOf(ttl))

    /** The same in milliseconds. */
    public fun set(key: ByteArray, value: ByteArray, ttlMillis: Long): Unit =
        put(key, value, checkedTtl(ttlMillis))

    public fun set(key: String, value: ByteArray, ttlMillis: Long): Unit =
        put(Text.encode(key), value, checkedTtl(ttlMillis))

    public fun set(key: ByteArray, value: String, ttlMillis: Long): Unit =
        store.setText(key, value, checkedTtl(ttlMillis))

    public fun set(key: String, value: String, ttlMillis: Long): Unit =
        store.setText(Text.encode(key), value, checkedTtl(ttlMillis))

    public fun set(key: ByteArray, value: ByteBuffer, ttlMillis: Long): Unit =
        put(key, value, checkedTtl(ttlMillis))

    public fun set(key: String, value: ByteBuffer, ttlMillis: Long): Unit =
        put(Text.encode(key), value, checkedTtl(ttlMillis))

    private fun put(key: ByteArray, value: ByteArray, ttlMillis: Long) =
        store.set(key, value, 0, value.size, ttlMillis)

    private fun put(key: ByteArray, value: ByteBuffer, ttlMillis: Long) {
        val start = value.position()
        val end = value.limit()
        when {
            value.isDirect -> store.setFrom(key, value, start, end, ttlMillis)
            value.hasArray() ->
                store.set(key, value.array(), value.arrayOffset() + start, end - start, ttlMillis)
            else -> {
                val copy = ByteArray(end - start)
                value.duplicate().get(copy)
                store.set(key, copy, 0, copy.size, ttlMillis)
            }
        }
        (value as Buffer).position(end)
    }

    /**
     * The values in the order of the keys, in one crossing; null where there is none or the key
     * holds another type. Each key is read by itself: what another thread writes meanwhile may be
     * seen for one and not for another ([mget] reads all of one moment).
     */
    public fun getMany(vararg keys: String): List<ByteArray?> = getMany(keys.asList())

    public fun getMany(keys: Collection<String>): List<ByteArray?> = valuesOf(keys)

    /** As [getMany], with keys that are bytes. */
    public fun getManyBytes(keys: Collection<ByteArray>): List<ByteArray?> = valuesOf(keys)

    private fun valuesOf(keys: Collection<Any>): List<ByteArray?> =
        if (keys.isEmpty()) emptyList()
        else Values.split(store.getMany(Command.pack(keys.toList())), keys.size)

    override fun run(packed: ByteArray): ByteArray = store.cmd(packed)

    override fun putAll(packed: ByteArray): Unit = store.setMany(packed)

    // ---- publish and subscribe ----

    /** Gives a message to all subscribers of the channel; returns how many got it. */
    public fun publish(channel: ByteArray, payload: ByteArray): Long =
        store.publish(channel, payload)

    public fun publish(channel: String, payload: ByteArray): Long =
        store.publish(Text.encode(channel), payload)

    public fun publish(channel: String, payload: String): Long =
        store.publish(Text.encode(channel), Text.encode(payload))

    /** Subscribes to channels: messages wait in a queue of their own until they are taken. */
    public fun subscribe(vararg channels: String): Subscription =
        Subscription(this, store, channels.asList(), false)

    /** As [subscribe], to all channels that match one of the glob patterns. */
    public fun psubscribe(vararg patterns: String): Subscription =
        Subscription(this, store, patterns.asList(), true)

    /**
     * Calls the listener for each message of the channel, one at a time and in order, on the one
     * daemon thread that all listeners of this store share. Close what it returns to end that:
     * no call begins after its close has returned, and one that is under way by then goes on.
     *
     * A listener keeps its store open: until it is closed, the store is not collected. What it
     * throws goes to the thread's handler of uncaught exceptions, and the next message comes.
     */
    public fun subscribe(channel: String, listener: MessageListener): Listening =
        pushes.add(channel, false, listener)

    /** As [subscribe], for all channels that match the glob pattern. */
    public fun psubscribe(pattern: String, listener: MessageListener): Listening =
        pushes.add(pattern, true, listener)

    // ---- changes ----

    /**
     * Calls the listener for every change of the store that is made from now on, through this
     * object or any other: once for each key that changes, in their order, soon after, on the one
     * daemon thread that all change listeners of this store share. What the listener then reads is
     * the change or something newer. Expiries are told at their time. Close what it returns to end
     * that: no call begins after its close has returned.
     *
     * Listeners that do not keep up miss changes beyond 16 MiB of them, and are told how many by a
     * change of [ChangeCause.LOST]. A listener keeps its store open, as a message listener does.
     */
    public fun onChange(listener: ChangeListener): Listening = changes.add(listener)

    internal fun changeQueue() = ChangeQueue(store)

    // ---- the handle ----

    /** What the open found: how much was replayed, and what was lost. */
    public fun openReport(): OpenReport {
        val n = LongArray(REPORT_FIELDS)
        store.report(n)
        return OpenReport(n[0], n[1], n[2], n[3], n[4] != 0L, n[5].toInt())
    }

    /** Returns when everything written before is on the disk. */
    public fun sync(): Unit = store.sync()

    /** Flushes to the disk; from then on writes are refused and reads go on. */
    public fun shutdown(): Unit = store.shutdown()

    /** True once [close] was called. */
    public val isClosed: Boolean
        get() = store.isClosed

    /**
     * Closes the store and ends its subscriptions: waits for the calls that are under way, and when
     * it returns the files are free. A second close does nothing.
     */
    override fun close() {
        pushes.close()
        changes.close()
        store.close()
    }

    override fun toString(): String = if (isClosed) "Kevy (closed)" else "Kevy"

    public companion object {
        private const val NEVER = 0L
        private const val NOTHING = -1
        private const val TOO_SMALL = -2L
        private const val REPORT_FIELDS = 6

        /**
         * Opens the store in a directory: makes it with its parents, and replays its log. A
         * [KevyOpenException] tells why it cannot.
         */
        @JvmStatic
        @JvmOverloads
        @Throws(KevyOpenException::class)
        public fun open(path: String, options: KevyOptions = KevyOptions()): Kevy {
            NativeLibrary.load()
            return Kevy(Store(path, options))
        }

        @JvmStatic
        @JvmOverloads
        @Throws(KevyOpenException::class)
        public fun open(path: java.nio.file.Path, options: KevyOptions = KevyOptions()): Kevy =
            open(path.toFile().path, options)

        /** Opens a store in memory; nothing of it outlives its close. */
        @JvmStatic
        public fun openMemory(): Kevy {
            NativeLibrary.load()
            return Kevy(Store(null, KevyOptions()))
        }

        /** The version of the engine. */
        @JvmStatic
        public fun version(): String {
            NativeLibrary.load()
            return Store.version()
        }
    }
}
