/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * Text as the store keeps it, the same on every door: UTF-8, in which half a surrogate pair is
 * written as the three bytes of its code point, so that every String comes back as it was. Bytes
 * that are no text read as U+FFFD for each malformed part.
 *
 * The JDK's transcoder is used wherever it is exact; the rest is the native one's.
 */
internal object Text {
    fun encode(text: String): ByteArray =
        if (hasLoneSurrogate(text)) Store.encode(text) else text.toByteArray(Charsets.UTF_8)

    fun decode(bytes: ByteArray, start: Int = 0, count: Int = bytes.size - start): String =
        if (mayHoldSurrogate(bytes, start, start + count)) Store.decode(bytes, start, count)
        else String(bytes, start, count, Charsets.UTF_8)

    private fun hasLoneSurrogate(text: String): Boolean {
        var i = 0
        while (i < text.length) {
            val c = text[i++]
            if (c.isSurrogate()) {
                val isPair = c.isHighSurrogate() && i < text.length && text[i].isLowSurrogate()
                if (!isPair) return true
                i++
            }
        }
        return false
    }

    /** Surrogates begin with ED A0 … ED BF; other bytes after ED are the JDK's to judge. */
    private fun mayHoldSurrogate(bytes: ByteArray, start: Int, end: Int): Boolean {
        for (i in start until end - 1) {
            if (bytes[i] == 0xED.toByte() && bytes[i + 1].toInt() and 0xE0 == 0xA0) return true
        }
        return false
    }
}
