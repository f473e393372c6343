/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The reader of RESP2: what it accepts, and that nothing else is taken for a reply. */
class ReplyReaderTest {
    private fun read(text: String) = ReplyReader(text.toByteArray(Charsets.ISO_8859_1)).read()

    @Test
    fun `well-formed replies`() {
        assertEquals("OK", read("+OK\r\n").toText())
        assertEquals(Long.MIN_VALUE, read(":-9223372036854775808\r\n").toLong())
        assertEquals(Long.MAX_VALUE, read(":9223372036854775807\r\n").toLong())
        assertEquals("a\r\nb", read("$4\r\na\r\nb\r\n").toText())
        assertEquals("", read("$0\r\n\r\n").toText())
        assertTrue(read("$-1\r\n").isNil)
        assertTrue(read("*-1\r\n").isNil)
        val nested = read("*3\r\n:1\r\n*1\r\n$1\r\nx\r\n-WRONGTYPE no\r\n").toList()
        assertEquals("x", nested[1].toList()[0].toText())
        assertEquals(KevyStatus.TYPE, (nested[2] as Reply.Failure).exception.status)
    }

    @Test
    fun `anything else is refused`() {
        val bad =
            listOf(
                "", "+", "+OK", "+OK\r", "+OK\n", "?x\r\n", ":\r\n", ":-\r\n", ":1x\r\n",
                ": 1\r\n", ":9223372036854775808\r\n", ":-9223372036854775809\r\n",
                ":99999999999999999999\r\n", "$3\r\nab\r\n", "$2\r\nabc\r\n", "$-2\r\n",
                "$4294967295\r\nx\r\n", "$1\r\nx", "*2\r\n:1\r\n", "*-2\r\n",
                "*4294967295\r\n:1\r\n", "*2147483647\r\n", "+a\r\n+b\r\n",
                "*1\r\n".repeat(100_000),
            )
        for (text in bad) fails<IllegalStateException> { read(text) }
    }

    @Test
    fun `each cut of a reply is refused`() {
        val whole = "*2\r\n$5\r\nhello\r\n*2\r\n:-12\r\n+OK\r\n"
        for (size in 0 until whole.length) fails<IllegalStateException> { read(whole.take(size)) }
        assertEquals(2, read(whole).toList().size)
    }
}
