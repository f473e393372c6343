/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Values as kevy_get_many gives them: for each its size (u32, little-endian) and its bytes, or
 * KEVY_MISSING, which is -1 here, and none.
 */
internal object Values {
    fun split(packed: ByteArray, count: Int): List<ByteArray?> {
        val from = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN)
        return List(count) {
            val size = from.getInt()
            if (size == MISSING) null else ByteArray(size).also { from.get(it) }
        }
    }

    private const val MISSING = -1
}
