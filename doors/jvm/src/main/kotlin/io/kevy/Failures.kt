/* SPDX-License-Identifier: MIT OR Apache-2.0 */
@file:JvmName("Failures")

package io.kevy

import io.kolibri.CalledFromNative

/* Which exception an error becomes: the factories that doors/jvm/c/jvm_fail.c calls. */

@CalledFromNative
internal fun atOpen(
    status: Int,
    errno: Int,
    offset: Long,
    path: String,
    text: String,
): Throwable {
    val isNamed = path.isEmpty() || path in text
    val message = if (isNamed) text else "$text: $path"
    return KevyOpenException(KevyStatus.of(status), message, errno, path.ifEmpty { null }, offset)
}

/** On a live handle, misuse means that the store behind it is closed. */
@CalledFromNative
internal fun ofStatus(status: Int): Throwable =
    when (val known = KevyStatus.of(status)) {
        KevyStatus.MISUSE,
        KevyStatus.CLOSED -> IllegalStateException("the store was already closed")
        else -> KevyException(known, Store.statusText(status))
    }

/** The text with which the store refused, and why. */
@CalledFromNative
internal fun ofRefusal(status: Int, text: String): Throwable =
    KevyReplyException(KevyStatus.of(status), text)

/** The text of an error reply; the engine's own texts name the status. */
internal fun ofReply(text: String): Throwable = KevyReplyException(statusOf(text), text)

private fun statusOf(text: String): KevyStatus =
    when {
        text.startsWith("WRONGTYPE") -> KevyStatus.TYPE
        text.startsWith("OOM command not allowed") -> KevyStatus.STORE_FULL
        text.startsWith("OOM") -> KevyStatus.OUT_OF_MEMORY
        text.startsWith("MISCONF the disk of the store is full") -> KevyStatus.NO_SPACE
        text.startsWith("ERR a limit of the store") -> KevyStatus.LIMIT
        text.startsWith("ERR the store is shut down") -> KevyStatus.CLOSED
        text.startsWith("MISCONF too many files") -> KevyStatus.TOO_MANY_FILES
        text.startsWith("MISCONF") -> KevyStatus.IO
        else -> KevyStatus.MISUSE
    }
