/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package demo

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.security.MessageDigest

/**
 * SHA-256 over all pairs in the order of their keys: length and bytes of the key, length and bytes
 * of the value. The Node half makes the same.
 */
class Digest {
    private val sha = MessageDigest.getInstance("SHA-256")
    private val head = ByteBuffer.allocate(Int.SIZE_BYTES).order(ByteOrder.LITTLE_ENDIAN)
    private var records = 0
    private var bytes = 0L

    fun add(key: ByteArray, value: ByteArray) {
        for (part in arrayOf(key, value)) {
            sha.update(head.putInt(0, part.size).array())
            sha.update(part)
            bytes += part.size
        }
        records++
    }

    fun line(millis: Long): String {
        val hex = sha.digest().joinToString("") { "%02x".format(it) }
        return json(
            "step" to "digest",
            "records" to records,
            "bytes" to bytes,
            "sha256" to hex,
            "ms" to millis,
        )
    }
}
