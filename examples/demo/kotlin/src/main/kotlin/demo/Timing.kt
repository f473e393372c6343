/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ns per get and set in Kotlin; examples/demo/README.md says of what. A get copies into a buffer of
 * the caller's; a HashMap, the measure, hands out a reference.
 */
package demo

import io.kevy.Kevy
import java.nio.ByteBuffer
import java.nio.file.Files

private const val KEYS = 10_000
private const val OPERATIONS = 200_000
private const val ROUNDS = 5
private const val VALUE_BYTES = 100

private val keys = Array(KEYS) { "key:%012d".format(it) }

/** The keys of the operations, in the order that all languages use. */
private val order: Array<String> =
    generateSequence(1L) { (it * 1103515245 + 12345) and 0x7fffffff }
        .drop(1)
        .take(OPERATIONS)
        .map { keys[((it shr 8) % KEYS).toInt()] }
        .toList()
        .toTypedArray()

fun timing(): String {
    val folder = Files.createTempDirectory("kevy-timing-")
    try {
        val memory = Kevy.openMemory().use(::storeTime)
        val file = Kevy.open(folder).use(::storeTime)
        return json(
            "step" to "timing",
            "language" to "Kotlin",
            "memory" to memory,
            "file" to file,
            "map" to mapTime(),
        )
    } finally {
        folder.toFile().deleteRecursively()
    }
}

private fun storeTime(kevy: Kevy): Map<String, Double> {
    val value = ByteArray(VALUE_BYTES)
    val room = ByteBuffer.allocateDirect(VALUE_BYTES)
    for (key in keys) kevy[key] = value
    val set = median { key -> kevy[key] = value }
    val get = median { key ->
        room.clear()
        check(kevy.getInto(key, room) == VALUE_BYTES)
    }
    return mapOf("get" to get, "set" to set)
}

private fun mapTime(): Map<String, Double> {
    val value = ByteArray(VALUE_BYTES)
    val map = HashMap<String, ByteArray>()
    for (key in keys) map[key] = value
    val set = median { key -> map[key] = value }
    val get = median { key -> check(map[key]!!.size == VALUE_BYTES) }
    return mapOf("get" to get, "set" to set)
}

/** ns per operation: the median of five rounds after one that does not count. */
private inline fun median(operation: (String) -> Unit): Double {
    val rounds = DoubleArray(ROUNDS + 1)
    for (round in rounds.indices) {
        val start = System.nanoTime()
        for (key in order) operation(key)
        rounds[round] = (System.nanoTime() - start).toDouble() / OPERATIONS
    }
    val counted = rounds.drop(1).sorted()
    return Math.round(counted[ROUNDS / 2] * 10) / 10.0
}
