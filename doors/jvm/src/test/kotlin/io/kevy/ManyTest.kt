/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** Many values at once, batches with patterns, and what is said about arguments. */
class ManyTest {
    private val kevy = Kevy.openMemory()

    @AfterEach fun close() = kevy.close()

    private fun texts(values: List<ByteArray?>) = values.map { it?.let { Text.decode(it) } }

    @Test
    fun `values in the order of the keys, with misses and other types`() {
        kevy.setMany(linkedMapOf("a" to "1", "" to "empty", "\uD800" to bytes(7), "n" to 5))
        kevy["e"] = ""
        assertEquals(
            listOf("1", null, "empty", "\u0007", "5", "", "1"),
            texts(kevy.getMany("a", "none", "", "\uD800", "n", "e", "a")),
        )
        assertArrayEquals(bytes(7), kevy.getManyBytes(listOf(bytes(0xED, 0xA0, 0x80)))[0])
        assertEquals(emptyList<ByteArray?>(), kevy.getMany())
        kevy.setMany(emptyMap())
        val many = (0 until 100_000).associate { "k$it" to "v$it" }
        kevy.setMany(many)
        assertEquals(many.values.toList(), texts(kevy.getMany(many.keys)))
        val big = ByteArray(3 shl 20) { it.toByte() }
        kevy["big"] = big
        assertArrayEquals(big, kevy.getMany("k1", "big")[1])
    }

    @Test
    fun `all or none, and why`() {
        kevy["a"] = "x".repeat(1000)
        kevy.cmd("CONFIG", "SET", "maxmemory", 1)
        val full = fails<KevyReplyException> { kevy.setMany(mapOf("b" to "1", "c" to "2")) }
        assertEquals(KevyStatus.STORE_FULL, full.status)
        assertEquals(KevyStatus.STORE_FULL, fails<KevyException> { kevy["b"] = "1" }.status)
        assertEquals(1, kevy.size())
        kevy.cmd("CONFIG", "SET", "maxmemory", 0)
        kevy.shutdown()
        assertEquals(
            KevyStatus.CLOSED,
            fails<KevyException> { kevy.setMany(mapOf("b" to "1")) }.status,
        )
        assertNull(kevy.getMany("b")[0])
    }

    @Test
    fun `a batch tells by which pattern a message came`() {
        kevy.psubscribe("n?ws", "*").use { inbox ->
            inbox.add("news")
            kevy.publish("news", "1")
            kevy.publish("\uD800", "2")
            val batch = inbox.drain(30_000L)
            assertEquals(4, batch.size)
            assertEquals(setOf("*", "n?ws", null), batch.take(3).map { it.pattern }.toSet())
            assertEquals("*", batch[3].pattern)
            assertEquals(listOf("news", "news", "news", "\uD800"), batch.map { it.channel })
            assertEquals(listOf("1", "1", "1", "2"), batch.map { it.text })
            assertEquals(ByteBuffer.wrap(bytes('2'.code)), batch.payload(3))
        }
    }

    @Test
    fun `an argument that is wrong says so by a status`() {
        kevy["k"] = "v"
        val calls =
            listOf<() -> Any?>(
                { kevy.cmd() },
                { kevy.cmd("GET", Any()) },
                { kevy.set("k", "x", 0L) },
                { kevy.set("k", "x", -1L) },
                { kevy.set("k", "x", Duration.INFINITE) },
                { kevy.set("k", "x", (-5).milliseconds) },
                { kevy.expireMillis("k", 0) },
                { kevy.scan(null, 0) },
                { kevy.incrByFloat("k", Double.NaN) },
                { kevy.subscribe() },
                { kevy.subscribe("c").use { it.drain(0, 0) } },
                { kevy.subscribe("c").use { it.limit(-1) } },
                { KevyOptions(shards = -1) },
                { kevy.setMany(mapOf("k" to Any())) },
            )
        for ((i, call) in calls.withIndex()) {
            val failure: KevyFailure = fails<KevyArgumentException> { call() }
            assertEquals(KevyStatus.MISUSE, failure.status, "call $i")
        }
        assertEquals("v", kevy.getText("k"))
        assertEquals(-1, kevy.ttlMillis("k"))
    }
}
