/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * The packed form in which a command crosses: for each argument its length (u32, little-endian)
 * and its bytes.
 */
internal object Command {
    fun pack(words: List<Any?>): ByteArray {
        argument(words.isNotEmpty()) { "a command without words" }
        val parts = words.map { bytesOf(it) }
        val size = parts.sumOf { Int.SIZE_BYTES + it.size.toLong() }
        if (size > Int.MAX_VALUE - HEADROOM) {
            throw KevyException(KevyStatus.LIMIT, "the command has $size bytes")
        }
        val packed = ByteBuffer.allocate(size.toInt()).order(ByteOrder.LITTLE_ENDIAN)
        for (part in parts) packed.putInt(part.size).put(part)
        return packed.array()
    }

    private fun bytesOf(word: Any?): ByteArray =
        when (word) {
            is ByteArray -> word
            is String -> Text.encode(word)
            is Number,
            is Char,
            is Enum<*> -> Text.encode(word.toString())
            is ByteBuffer -> ByteArray(word.remaining()).also { word.duplicate().get(it) }
            null -> throw KevyArgumentException("an argument is null")
            else ->
                throw KevyArgumentException(
                    "an argument is a ${word.javaClass.name}: neither text, bytes nor a number"
                )
        }

    /** Arrays may be a few words shorter than the largest Int. */
    private const val HEADROOM = 8
}
