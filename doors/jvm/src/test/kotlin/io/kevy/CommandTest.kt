/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import kotlin.time.Duration.Companion.minutes
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Commands and their replies. */
class CommandTest {
    private val kevy = Kevy.openMemory()

    @AfterEach fun close() = kevy.close()

    @Test
    fun `replies of each kind`() {
        assertEquals("PONG", kevy.cmd("PING").toText())
        assertEquals("OK", (kevy.cmd("SET", "k", bytes(0, 255)) as Reply.Status).text)
        val key = ByteBuffer.wrap("k".toByteArray())
        assertArrayEquals(bytes(0, 255), kevy.cmd("GET", key).toBytes())
        assertTrue(kevy.cmd("GET", "none").isNil)
        assertNull(kevy.cmd("GET", "none").toText())
        assertEquals(7, kevy.cmd("INCRBY", "n", 7).toLong())
        val items = kevy.cmd("MGET", "k", "none", "n").toList()
        assertEquals(3, items.size)
        assertTrue(items[1].isNil)
        assertEquals(7, items[2].toLong())
        assertEquals(KevyStatus.TYPE, fails<KevyException> { items[0].toList() }.status)
    }

    @Test
    fun `errors are thrown with their text`() {
        val unknown = fails<KevyReplyException> { kevy.cmd("NOSUCH", "x") }
        assertEquals("ERR", unknown.code)
        assertTrue(unknown.message!!.startsWith("ERR unknown command 'NOSUCH'"), unknown.message)
        assertEquals("ERR", fails<KevyReplyException> { kevy.cmd("GET") }.code)
        kevy["t"] = "text"
        assertTrue("not an integer" in fails<KevyReplyException> { kevy.incr("t") }.message!!)
    }

    @Test
    fun `arguments of a wrong kind run nothing`() {
        fails<IllegalArgumentException> { kevy.cmd("SET", "k", listOf(1)) }
        fails<IllegalArgumentException> { kevy.setMany(mapOf("a" to "b", "c" to Any())) }
        fails<IllegalArgumentException> { kevy.cmd() }
        assertEquals(0, kevy.size())
    }

    @Test
    fun `whole numbers are exact`() {
        for (n in listOf(9007199254740993, -9007199254740993, Long.MIN_VALUE, Long.MAX_VALUE)) {
            kevy["n"] = "0"
            assertEquals(n, kevy.incr("n", n))
            assertEquals("$n", kevy.getText("n"))
            assertEquals(n, kevy.cmd("GET", "n").toLong())
        }
        fails<KevyReplyException> { kevy.incr("n") }
        assertEquals("${Long.MAX_VALUE}", kevy.getText("n"))
    }

    @Test
    fun `verbs by name`() {
        kevy.setMany(mapOf("a" to "1", "b" to bytes(2), "c" to 3))
        assertEquals(3, kevy.size())
        assertEquals(2, kevy.exists("a", "a", "x"))
        assertEquals(listOf("1", "3", null), kevy.mget("a", "c", "x").map { it?.let(::String) })
        assertEquals(2, kevy.incr("a"))
        assertEquals(-8, kevy.decr("a", 10))
        assertEquals(0.5, kevy.incrByFloat("f", 0.5))
        assertEquals(1e17, kevy.incrByFloat("g", 1e17))
        fails<IllegalArgumentException> { kevy.incrByFloat("f", Double.NaN) }
        assertEquals(3, kevy.append("b", "xy"))
        assertEquals(3, kevy.strlen("b"))
        assertFalse(kevy.setIfAbsent("b", "z"))
        assertTrue(kevy.setIfAbsent("new", "z"))
        assertEquals("z", String(kevy.getDel("new")!!))
        assertEquals("string", kevy.type("b"))
        assertEquals("none", kevy.type("new"))
        assertTrue(kevy.expire("b", 1.minutes))
        assertFalse(kevy.expire("new", 1.minutes))
        assertTrue(kevy.persist("b"))
        assertFalse(kevy.persist("b"))
        kevy.rename("b", "d")
        assertEquals(2, kevy.del("d", "c", "b"))
        assertEquals(setOf("a", "f", "g"), kevy.keys().toSet())
        assertEquals(listOf("a"), kevy.keys("[a-b]*"))
        kevy.clear()
        assertEquals(0, kevy.size())
    }

    @Test
    fun `setMany is all or nothing, and empty is nothing`() {
        kevy.setMany(emptyMap())
        val many = (0 until 5000).associate { "key:$it" to "$it" }
        kevy.setMany(many)
        assertEquals(5000, kevy.size())
        assertEquals("4999", kevy.getText("key:4999"))
    }

    @Test
    fun `scan visits every key`() {
        val keys = (0 until 3000).map { "key:$it" }.toSet()
        kevy.setMany(keys.associateWith { "v" })
        assertEquals(keys, kevy.scan().toSet())
        assertEquals(keys, kevy.scan(count = 1).toSet())
        assertEquals((0 until 10).map { "key:$it" }.toSet(), kevy.scan("key:?").toSet())
        assertEquals(keys, kevy.scanBytes().map { String(it) }.toSet())
        fails<IllegalArgumentException> { kevy.scan(count = 0) }
    }

    @Test
    fun `scan under a close throws and does not crash`() {
        kevy.setMany((0 until 3000).associate { "key:$it" to "v" })
        val page = kevy.scan(count = 10).iterator()
        page.next()
        kevy.close()
        fails<IllegalStateException> { while (page.hasNext()) page.next() }
    }
}
