/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * When a write survives a power cut. A killed process loses no write under any of them.
 */
public enum class Fsync {
    /** Within a second and one flush; the default. */
    EVERY_SECOND,

    /** When the call returns. */
    ALWAYS,

    /** At the system's pace. */
    NO,
}

/**
 * How to open a store. All but [fsync] are hints that change only size and timing.
 *
 * @property rewritePercent compact when the log has grown by this much over the live data
 * @property rewriteMinSize but not while the log is smaller than this many bytes
 * @property rewriteBytes compact after this many written bytes; 0 never for that reason
 * @property rewriteIntervalSeconds compact after this time; 0 never for that reason
 */
public class KevyOptions
@JvmOverloads
constructor(
    public val fsync: Fsync = Fsync.EVERY_SECOND,
    public val shards: Int = 0,
    public val rewritePercent: Int = 100,
    public val rewriteMinSize: Long = 64L shl 20,
    public val rewriteBytes: Long = 0,
    public val rewriteIntervalSeconds: Long = 0,
) {
    init {
        val hints = listOf(rewriteMinSize, rewriteBytes, rewriteIntervalSeconds)
        argument(shards >= 0 && rewritePercent >= 0 && hints.all { it >= 0 }) {
            "an option is negative"
        }
    }

    /** In the order of KevyOpenOptions. */
    internal fun numbers(): LongArray =
        longArrayOf(
            fsync.ordinal.toLong(),
            shards.toLong(),
            rewritePercent.toLong(),
            rewriteMinSize,
            rewriteBytes,
            rewriteIntervalSeconds,
        )
}

/**
 * What an open found; all zero for a store in memory.
 *
 * @property replayedCommands records applied
 * @property droppedBytes more than 0: the store holds less than its files did; what was dropped
 *   lies beside the log
 */
public class OpenReport
internal constructor(
    public val replayedCommands: Long,
    public val replayedBytes: Long,
    public val elapsedMillis: Long,
    public val droppedBytes: Long,
    public val isCorrupt: Boolean,
    public val quarantineCount: Int,
) {
    override fun toString(): String =
        "OpenReport(replayedCommands=$replayedCommands, replayedBytes=$replayedBytes, " +
            "elapsedMillis=$elapsedMillis, droppedBytes=$droppedBytes, isCorrupt=$isCorrupt, " +
            "quarantineCount=$quarantineCount)"
}
