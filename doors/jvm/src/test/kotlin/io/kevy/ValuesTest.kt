/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.lang.reflect.InvocationTargetException
import java.nio.ByteBuffer
import java.nio.ReadOnlyBufferException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Values in and out: bytes, text, buffers, their limits and their time to live. */
class ValuesTest {
    private val kevy = Kevy.openMemory()

    @AfterEach fun close() = kevy.close()

    private fun direct(size: Int): ByteBuffer = ByteBuffer.allocateDirect(size)

    @Test
    fun `bytes come back as they were`() {
        for (size in listOf(0, 1, 255, 256, 257, 4095, 4096, 4097, 100_000)) {
            val value = ByteArray(size) { (it * 7).toByte() }
            kevy["k"] = value
            assertArrayEquals(value, kevy["k"], "$size bytes")
        }
        val key = ByteArray(1000) { it.toByte() }
        kevy[key] = bytes(1, 2, 3)
        assertArrayEquals(bytes(1, 2, 3), kevy[key])
        assertNull(kevy[key.copyOf(999)])
    }

    @Test
    fun `an empty value is not a missing one`() {
        kevy["e"] = ByteArray(0)
        kevy[""] = "x"
        assertArrayEquals(ByteArray(0), kevy["e"])
        assertEquals("", kevy.getText("e"))
        assertTrue("e" in kevy)
        assertEquals("x", kevy.getText(""))
        assertNull(kevy["missing"])
        assertNull(kevy.getText("missing"))
        assertEquals(-1, kevy.getInto("missing", direct(1)))
        assertEquals(0, kevy.getInto("e", direct(0)))
    }

    @Test
    fun `a value is what it was as of the call`() {
        val value = ByteArray(8) { 0x11 }
        kevy["k"] = value
        value.fill(0x22)
        assertArrayEquals(ByteArray(8) { 0x11 }, kevy["k"])
        kevy["k"]!!.fill(0x33)
        assertArrayEquals(ByteArray(8) { 0x11 }, kevy["k"])
    }

    @Test
    fun `of a buffer exactly the remaining bytes are stored`() {
        val array = ByteArray(20) { it.toByte() }
        val slice = ByteBuffer.wrap(array, 5, 10).slice()
        slice.position(2)
        kevy["heap"] = slice
        assertArrayEquals(array.copyOfRange(7, 15), kevy["heap"])
        assertEquals(slice.limit(), slice.position())

        val direct = direct(20).put(array)
        direct.position(3).limit(7)
        kevy["direct"] = direct
        assertArrayEquals(array.copyOfRange(3, 7), kevy["direct"])
        assertEquals(7, direct.position())

        val part = direct(20).put(array).position(4).limit(12) as ByteBuffer
        kevy["slice"] = part.slice().asReadOnlyBuffer().position(1) as ByteBuffer
        assertArrayEquals(array.copyOfRange(5, 12), kevy["slice"])

        kevy["readonly"] = ByteBuffer.wrap(array, 5, 10).asReadOnlyBuffer()
        assertArrayEquals(array.copyOfRange(5, 15), kevy["readonly"])

        kevy["nothing"] = direct.position(7) as ByteBuffer
        assertArrayEquals(ByteArray(0), kevy["nothing"])
    }

    @Test
    fun `reading into a buffer begins at its position and ends at its limit`() {
        kevy["k"] = bytes(1, 2, 3)
        val slice = ByteBuffer.allocate(12).position(2).slice()
        for (buffer in listOf(direct(10), ByteBuffer.allocate(10), slice)) {
            buffer.position(4).limit(8)
            assertEquals(3, kevy.getInto("k", buffer))
            assertEquals(7, buffer.position())
            assertEquals(8, buffer.limit())
            assertEquals(listOf<Byte>(0, 1, 2, 3, 0), (3..7).map { buffer.get(it.coerceAtMost(7)) })

            buffer.position(4).limit(6)
            assertEquals(3, fails<KevyBufferException> { kevy.getInto("k", buffer) }.size)
            assertEquals(4, buffer.position())
            assertEquals(1, buffer.get(4), "untouched")

            buffer.position(3)
            assertEquals(-1, kevy.getInto("none", buffer))
            assertEquals(3, buffer.position())
            fails<ReadOnlyBufferException> { kevy.getInto("k", buffer.asReadOnlyBuffer()) }
        }
    }

    @Test
    fun `a large value goes both ways through a direct buffer`() {
        val size = 3 shl 20
        val source = direct(size)
        for (i in 0 until size) source.put(i, (i * 31).toByte())
        kevy["big"] = source
        val target = direct(size)
        assertEquals(size, kevy.getInto("big", target))
        assertEquals(source.rewind(), target.flip())
        assertEquals(size, kevy["big"]!!.size)
    }

    @Test
    fun `null is refused and changes nothing`() {
        kevy["k"] = "old"
        val asJavaSeesIt = Kevy::class.java
        val set = asJavaSeesIt.getMethod("set", String::class.java, ByteArray::class.java)
        val thrown = fails<InvocationTargetException> { set.invoke(kevy, "k", null) }
        assertTrue(thrown.cause is NullPointerException)
        assertEquals("old", kevy.getText("k"))
    }

    @Test
    fun `a value lives as long as was said`() {
        kevy.set("a", "x", 1.hours)
        assertTrue(kevy.ttl("a")!! in 50.minutes..1.hours)
        kevy.set("a", bytes(1), 5_000_000)
        assertTrue(kevy.ttlMillis("a") in 4_000_000..5_000_000)
        kevy["a"] = "y"
        assertEquals(Duration.INFINITE, kevy.ttl("a"))
        kevy.set("a", direct(3), 20.milliseconds)
        eventually("it is gone") { kevy["a"] == null }
        assertNull(kevy.ttl("a"))
        assertEquals(-2, kevy.ttlMillis("a"))
        kevy.set("a", "x", 1.microseconds)
        eventually("rounded up to a millisecond, not down to none") { kevy["a"] == null }
    }

    @Test
    fun `a time to live that is none is refused`() {
        kevy["k"] = "old"
        for (ttl in listOf(Duration.ZERO, (-1).seconds, Duration.INFINITE, -Duration.INFINITE)) {
            fails<IllegalArgumentException> { kevy.set("k", "new", ttl) }
            fails<IllegalArgumentException> { kevy.expire("k", ttl) }
        }
        for (millis in listOf(0, -1, Long.MIN_VALUE)) {
            fails<IllegalArgumentException> { kevy.set("k", "new", millis) }
            fails<IllegalArgumentException> { kevy.set("k", bytes(1), millis) }
            fails<IllegalArgumentException> { kevy.set("k", direct(1), millis) }
        }
        fails<KevyReplyException> { kevy.set("k", "new", Long.MAX_VALUE) }
        assertEquals("old", kevy.getText("k"))
        assertEquals(Duration.INFINITE, kevy.ttl("k"))
    }

    @Test
    fun `a value over the limit is refused before it is copied`() {
        kevy["k"] = "old"
        val huge = direct((512 shl 20) + 1)
        assertEquals(KevyStatus.LIMIT, fails<KevyException> { kevy["k"] = huge }.status)
        assertEquals(0, huge.position())
        assertEquals("old", kevy.getText("k"))
    }

    @Test
    fun `after shutdown writes are refused and reads go on`() {
        kevy["k"] = "old"
        kevy.shutdown()
        kevy.shutdown()
        assertEquals(KevyStatus.CLOSED, fails<KevyException> { kevy["k"] = "new" }.status)
        assertEquals(KevyStatus.CLOSED, fails<KevyReplyException> { kevy.incr("n") }.status)
        fails<KevyException> { kevy["k"] = direct(1) }
        assertEquals("old", kevy.getText("k"))
    }
}
