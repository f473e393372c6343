/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/**
 * Commands: any of them by [cmd], the everyday ones by name and with types. What a name does is
 * what Redis does; keys are text here, and [cmd] takes bytes as well.
 *
 * Each call has happened when it returns. A key of another type is a [KevyReplyException] of
 * [KevyStatus.TYPE].
 */
public abstract class KevyCommands internal constructor() {
    internal abstract fun run(packed: ByteArray): ByteArray

    /** Sets packed pairs, all or none. */
    internal abstract fun putAll(packed: ByteArray)

    /**
     * Runs a command. An argument is text, a ByteArray, the remaining bytes of a ByteBuffer, or a
     * number. An error reply is thrown as a [KevyReplyException].
     */
    public fun cmd(vararg words: Any): Reply {
        val reply = ReplyReader(run(Command.pack(words.asList()))).read()
        if (reply is Reply.Failure) throw reply.exception
        return reply
    }

    // ---- keys ----

    /** Deletes keys; returns how many there were. */
    public fun del(vararg keys: String): Long = cmd("DEL", *keys).toLong()

    /** Counts the keys that exist; one that is named twice counts twice. */
    public fun exists(vararg keys: String): Long = cmd("EXISTS", *keys).toLong()

    /** True when the key exists. */
    public operator fun contains(key: String): Boolean = exists(key) != 0L

    /** The type of the value, "none" when there is no such key. */
    public fun type(key: String): String = cmd("TYPE", key).toText()!!

    /** Renames a key, over what has the new name. */
    public fun rename(key: String, newKey: String) {
        cmd("RENAME", key, newKey)
    }

    /** All keys that match a glob pattern. */
    @JvmOverloads
    public fun keys(pattern: String = "*"): List<String> =
        cmd("KEYS", pattern).toList().map { it.toText()!! }

    /**
     * The keys page by page, as text. A key that is there all the time comes at least once, one
     * that is there some of the time may come.
     *
     * @param count about how many keys a page looks at
     */
    @JvmOverloads
    public fun scan(pattern: String? = null, count: Int = PAGE): Sequence<String> =
        scanBytes(pattern, count).map { Text.decode(it) }

    /** As [scan], the keys as bytes. */
    @JvmOverloads
    public fun scanBytes(pattern: String? = null, count: Int = PAGE): Sequence<ByteArray> {
        argument(count > 0) { "a page of $count keys" }
        return sequence {
            var cursor = "0"
            do {
                val words = mutableListOf<Any>("SCAN", cursor, "COUNT", count)
                if (pattern != null) words.addAll(listOf("MATCH", pattern))
                val (next, page) = cmd(*words.toTypedArray()).toList()
                page.toList().forEach { yield(it.toBytes()!!) }
                cursor = next.toText()!!
            } while (cursor != "0")
        }
    }

    /** How many keys there are. */
    public fun size(): Long = cmd("DBSIZE").toLong()

    /** Deletes everything. */
    public fun clear() {
        cmd("FLUSHALL")
    }

    // ---- time to live ----

    /** Sets how long a key still lives; false when there is no such key. */
    public fun expire(key: String, ttl: Duration): Boolean = expireMillis(key, ttlMillisOf(ttl))

    /** As [expire], in milliseconds. */
    public fun expireMillis(key: String, ttlMillis: Long): Boolean =
        cmd("PEXPIRE", key, checkedTtl(ttlMillis)).toLong() == 1L

    /** How long a key still lives: INFINITE without a limit, null when there is no such key. */
    public fun ttl(key: String): Duration? =
        when (val millis = ttlMillis(key)) {
            NO_KEY -> null
            NO_TTL -> Duration.INFINITE
            else -> millis.milliseconds
        }

    /** As [ttl], in milliseconds: -1 without a limit, -2 when there is no such key. */
    public fun ttlMillis(key: String): Long = cmd("PTTL", key).toLong()

    /** Lets a key live for ever; false when there is none, or it did already. */
    public fun persist(key: String): Boolean = cmd("PERSIST", key).toLong() == 1L

    // ---- strings and numbers ----

    /** Adds to the whole number at a key, where none counts as 0; returns the sum. */
    @JvmOverloads
    public fun incr(key: String, by: Long = 1): Long = cmd("INCRBY", key, by).toLong()

    /** Takes from the whole number at a key; returns what is left. */
    @JvmOverloads
    public fun decr(key: String, by: Long = 1): Long = cmd("DECRBY", key, by).toLong()

    /** Adds to the decimal number at a key; returns the sum. */
    public fun incrByFloat(key: String, by: Double): Double {
        argument(by.isFinite()) { "$by cannot be added" }
        return cmd("INCRBYFLOAT", key, by.toBigDecimal().toPlainString()).toDouble()
    }

    /** Appends to the value; returns its new size in bytes. */
    public fun append(key: String, text: String): Long = cmd("APPEND", key, text).toLong()

    public fun append(key: String, bytes: ByteArray): Long = cmd("APPEND", key, bytes).toLong()

    /** The size of the value in bytes, 0 when there is none. */
    public fun strlen(key: String): Long = cmd("STRLEN", key).toLong()

    /** The value, and deletes it; null when there is none. */
    public fun getDel(key: String): ByteArray? = cmd("GETDEL", key).toBytes()

    /** Sets the value if the key does not exist; true when it was set. */
    public fun setIfAbsent(key: String, value: ByteArray): Boolean =
        cmd("SETNX", key, value).toLong() == 1L

    public fun setIfAbsent(key: String, value: String): Boolean =
        setIfAbsent(key, Text.encode(value))

    /** The values in the order of the keys, null where there is none, all of one moment. */
    public fun mget(vararg keys: String): List<ByteArray?> =
        cmd("MGET", *keys).toList().map { it.toBytes() }

    /**
     * Sets all or none, in one crossing and one append to the log; without a time to live. Values
     * are text, bytes or numbers, as with [cmd].
     */
    public fun setMany(entries: Map<String, Any>) {
        if (entries.isEmpty()) return
        putAll(Command.pack(entries.flatMap { (key, value) -> listOf(key, value) }))
    }

    internal companion object {
        const val PAGE = 500
        const val NO_TTL = -1L
        const val NO_KEY = -2L

        fun checkedTtl(millis: Long): Long {
            argument(millis > 0) { "a time to live of $millis ms" }
            return millis
        }

        /** In whole milliseconds, upwards; a time below zero, of zero or without end is wrong. */
        fun ttlMillisOf(ttl: Duration): Long {
            argument(ttl.isPositive() && ttl.isFinite()) { "a time to live of $ttl" }
            val millis = ttl.inWholeMilliseconds
            return if (millis.milliseconds < ttl) millis + 1 else millis
        }
    }
}
