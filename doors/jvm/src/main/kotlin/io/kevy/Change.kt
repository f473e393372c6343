/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** What happened to a key, or to a whole database. */
public enum class ChangeCause {
    /** Its value or its time to live was set. */
    SET,
    /** It was deleted, or renamed away. */
    DELETE,
    /** Its time to live has passed, or was set to a past time. */
    EXPIRE,
    /** The database was emptied, or swapped with another; no key. */
    CLEAR,
    /** It was deleted for the sake of maxmemory. */
    EVICT,
    /** So many changes are missing here: read anew what matters; no key. */
    LOST,
}

/**
 * A change of a store.
 *
 * @property keyBytes the key, yours; null where there is none
 * @property isOther made through another handle, another door, or by none (expired, evicted)
 * @property database 0 unless a command named another
 * @property lost of [ChangeCause.LOST]: how many changes; otherwise 0
 */
public class Change
internal constructor(
    public val cause: ChangeCause,
    public val keyBytes: ByteArray?,
    public val isOther: Boolean,
    public val database: Int,
    public val lost: Long,
) {
    /** The key as text; what is not text reads as U+FFFD. */
    public val key: String?
        get() = keyBytes?.let { Text.decode(it) }

    override fun toString(): String =
        if (cause == ChangeCause.LOST) "Change(LOST $lost)"
        else "Change($cause${key?.let { " $it" } ?: ""})"
}

/** Takes changes, one after the other. */
public fun interface ChangeListener {
    public fun onChange(change: Change)
}

/** Records as jvm_changes.c writes them. */
internal class ChangeRecords(private val bytes: ByteArray) {
    private val numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

    fun forEach(take: (ear: Int, change: Change) -> Unit) {
        var at = 0
        while (at < bytes.size) {
            val end = at + SIZE + numbers.getInt(at)
            take(numbers.getInt(at + EAR), change(at, end))
            at = end
        }
    }

    private fun change(at: Int, end: Int): Change {
        val cause = causes[numbers.getInt(at + CAUSE) - 1]
        val hasKey = cause != ChangeCause.CLEAR && cause != ChangeCause.LOST
        return Change(
            cause,
            if (hasKey) bytes.copyOfRange(at + KEY, end) else null,
            numbers.getInt(at + IS_OTHER) != 0,
            numbers.getInt(at + DATABASE),
            numbers.getLong(at + LOST),
        )
    }

    private companion object {
        val causes = ChangeCause.values()
        const val SIZE = 4
        const val EAR = 4
        const val DATABASE = 8
        const val CAUSE = 12
        const val IS_OTHER = 16
        const val LOST = 20
        const val KEY = 28
    }
}
