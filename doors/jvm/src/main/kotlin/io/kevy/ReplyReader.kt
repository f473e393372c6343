/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * Reads RESP2: replies of commands and frames of subscriptions. The bytes come from the engine,
 * but lengths are checked all the same, before anything is allocated by them.
 */
internal class ReplyReader(private val bytes: ByteArray) {
    private var at = 0

    /** The one reply that the bytes are. */
    fun read(): Reply {
        val reply = value(0)
        check(at == bytes.size) { "a reply of ${bytes.size} bytes ends at $at" }
        return reply
    }

    private fun value(depth: Int): Reply {
        if (depth > DEPTH_MAX) malformed()
        return when (byte().toInt().toChar()) {
            '+' -> Reply.Status(line())
            '-' -> Reply.Failure(ofReply(line()) as KevyReplyException)
            ':' -> Reply.Number(number())
            '$' -> bulk()
            '*' -> items(depth)
            else -> malformed()
        }
    }

    private fun bulk(): Reply {
        val size = number()
        if (size == -1L) return Reply.Nil
        if (size < 0 || size > bytes.size - at - LINE_END) malformed()
        val value = bytes.copyOfRange(at, at + size.toInt())
        at += size.toInt()
        lineEnd()
        return Reply.Bulk(value)
    }

    private fun items(depth: Int): Reply {
        val count = number()
        if (count == -1L) return Reply.Nil
        if (count < 0 || count > (bytes.size - at) / ITEM_MIN) malformed()
        return Reply.Items(List(count.toInt()) { value(depth + 1) })
    }

    private fun byte(): Byte = if (at < bytes.size) bytes[at++] else malformed()

    private fun line(): String {
        val start = at
        while (at < bytes.size && bytes[at] != CR) at++
        val text = Text.decode(bytes, start, at - start)
        lineEnd()
        return text
    }

    private fun number(): Long {
        val isNegative = at < bytes.size && bytes[at] == '-'.code.toByte()
        if (isNegative) at++
        val start = at
        var value = 0L // counted downwards, where there is room for the smallest Long
        while (at < bytes.size && bytes[at] != CR) {
            val digit = bytes[at++] - '0'.code.toByte()
            if (digit !in 0..9 || value < (Long.MIN_VALUE + digit) / 10) malformed()
            value = value * 10 - digit
        }
        if (at == start || (!isNegative && value == Long.MIN_VALUE)) malformed()
        lineEnd()
        return if (isNegative) value else -value
    }

    private fun lineEnd() {
        if (byte() != CR || byte() != LF) malformed()
    }

    private fun malformed(): Nothing =
        throw IllegalStateException("malformed reply at byte $at of ${bytes.size}")

    private companion object {
        const val CR = '\r'.code.toByte()
        const val LF = '\n'.code.toByte()
        const val LINE_END = 2
        const val ITEM_MIN = 3
        const val DEPTH_MAX = 128
    }
}
