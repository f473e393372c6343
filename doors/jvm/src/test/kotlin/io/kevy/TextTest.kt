/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** Text is exact in every lane: values, keys, replies, channels, messages of exceptions. */
class TextTest {
    private val kevy = Kevy.openMemory()

    @AfterEach fun close() = kevy.close()

    private val texts =
        listOf(
            "",
            "a\u0000b",
            "\u0000".repeat(8),
            "é\u0800\uFFFF",
            "\uD83D\uDD75",
            "\uDBFF\uDFFF",
            "\uD800",
            "x\uDFFFy\uD800z",
            "\uDC00\uD800",
            "\uD800\uD800\uDC00",
            "é".repeat(1000),
            "a\uD83D\uDE3A".repeat(30_000),
            "a\uD83D".repeat(30_000),
        )

    @Test
    fun `every text comes back as it was`() {
        for (text in texts) {
            kevy["k"] = text
            assertEquals(text, kevy.getText("k"))
            assertEquals(text, kevy.cmd("GET", "k").toText())
            assertEquals(text, kevy.cmd("ECHO", text).toText())
            assertEquals(text, Text.decode(Text.encode(text)))
            assertArrayEquals(Store.encode(text), Text.encode(text))
            assertArrayEquals(Text.encode(text), kevy["k"])
        }
    }

    @Test
    fun `keys that differ by half a surrogate pair are two keys`() {
        for ((i, text) in texts.withIndex()) kevy[text] = "$i"
        assertEquals(texts.size.toLong(), kevy.size())
        for ((i, text) in texts.withIndex()) assertEquals("$i", kevy.getText(text))
        assertEquals(texts.toSet(), kevy.keys().toSet())
        assertEquals(texts.toSet(), kevy.scan().toSet())
    }

    @Test
    fun `the bytes are UTF-8`() {
        kevy["k"] = "a\u0000\uD83D\uDE3A\uD800"
        val expected = bytes(0x61, 0, 0xF0, 0x9F, 0x98, 0xBA, 0xED, 0xA0, 0x80)
        assertArrayEquals(expected, kevy["k"])
    }

    @Test
    fun `what is no text reads as replacement characters and stays what it is`() {
        val samples =
            mapOf(
                bytes(0x74, 0x66, 0x6D, 0xD5) to "tfm\uFFFD",
                bytes(0xC0, 0x80) to "\uFFFD\uFFFD",
                bytes(0xF4, 0x90, 0x80, 0x80) to "\uFFFD\uFFFD\uFFFD\uFFFD",
                bytes(0xF8, 0x88, 0x80, 0x80, 0x80) to "\uFFFD".repeat(5),
                bytes(0x80) to "\uFFFD",
                bytes(0xE2, 0x82) to "\uFFFD",
                bytes(0xFF, 0xFE, 0x00, 0x80) to "\uFFFD\uFFFD\u0000\uFFFD",
                bytes(0xED, 0xA0) to "\uFFFD",
                bytes(0xED, 0xA0, 0x80) to "\uD800",
            )
        for ((value, text) in samples) {
            kevy["k"] = value
            assertEquals(text, kevy.getText("k"), value.contentToString())
            assertEquals(text, Text.decode(value), value.contentToString())
            assertArrayEquals(value, kevy["k"])
        }
    }

    @Test
    fun `messages and exceptions carry text exactly`() {
        val text = "\uD83D\uDD75 \u0000 \uD800 é"
        kevy.subscribe(text).use {
            assertEquals(1, kevy.publish(text, text))
            val message = it.poll()!!
            assertEquals(text, message.channel)
            assertEquals(text, message.text)
            assertNull(it.poll())
        }
        val thrown = fails<KevyReplyException> { kevy.cmd("\uD83D\uDD75é") }
        assertEquals(true, "\uD83D\uDD75é" in thrown.message!!, thrown.message)
    }

    @Test
    fun `a number that is text is no other text`() {
        kevy["n"] = bytes(0x40, 0x59, 0, 0, 0, 0, 0, 0)
        fails<KevyReplyException> { kevy.incr("n") }
        fails<KevyException> { kevy.cmd("GET", "n").toLong() }
        assertArrayEquals(bytes(0x40, 0x59, 0, 0, 0, 0, 0, 0), kevy["n"])
    }
}
