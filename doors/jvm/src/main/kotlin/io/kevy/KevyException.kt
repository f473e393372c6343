/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.BufferOverflowException

/** Why something failed; the statuses of the engine (kevy.h). */
public enum class KevyStatus(public val code: Int) {
    MISUSE(-1),
    /** Input or output failed; [KevyException.errno] says how, where it is known. */
    IO(-2),
    OUT_OF_MEMORY(-3),
    /** The disk is full. Nothing was changed; reads and deletes work. */
    NO_SPACE(-4),
    /** Another process has the directory. */
    IN_USE(-5),
    CORRUPT(-6),
    /** A file was written by a version that this one cannot read. */
    VERSION(-7),
    LIMIT(-8),
    CLOSED(-9),
    /** The key holds a value of another type. */
    TYPE(-10),
    /** The path cannot be used as a store directory. */
    PATH(-11),
    ACCESS(-12),
    /** The store holds as much as its maxmemory allows. */
    STORE_FULL(-13),
    /** The process, or the machine, has too many files open. Nothing was changed; it heals. */
    TOO_MANY_FILES(-14);

    internal companion object {
        fun of(code: Int): KevyStatus = values().firstOrNull { it.code == code } ?: IO
    }
}

/** What is thrown for a reason that has a status. */
public interface KevyFailure {
    public val status: KevyStatus
}

/** An argument is wrong by itself; nothing was changed. */
public class KevyArgumentException internal constructor(message: String) :
    IllegalArgumentException(message), KevyFailure {
    override val status: KevyStatus
        get() = KevyStatus.MISUSE

    private companion object {
        const val serialVersionUID = 1L
    }
}

/** As require, with a [KevyArgumentException]. */
internal inline fun argument(isRight: Boolean, message: () -> String) {
    if (!isRight) throw KevyArgumentException(message())
}

/**
 * What the store could not do. Nothing was changed by the call that throws it.
 *
 * Not among them: a closed store or subscription is an IllegalStateException, an argument that is
 * wrong by itself a [KevyArgumentException], and no memory an OutOfMemoryError.
 *
 * @property errno of the system call that failed, 0 when there was none
 * @property path the file it is about, null when it is about none
 */
public open class KevyException(
    override val status: KevyStatus,
    message: String,
    public val errno: Int = 0,
    public val path: String? = null,
) : RuntimeException(message), KevyFailure {
    private companion object {
        const val serialVersionUID = 1L
    }
}

/**
 * A store could not be opened; its files are as they were.
 *
 * @property offset where in the file, when the status is [KevyStatus.CORRUPT]
 */
public class KevyOpenException
internal constructor(
    status: KevyStatus,
    message: String,
    errno: Int,
    path: String?,
    public val offset: Long,
) : KevyException(status, message, errno, path) {
    private companion object {
        const val serialVersionUID = 1L
    }
}

/**
 * A command answered with an error.
 *
 * @property code the first word of it, such as `ERR` or `WRONGTYPE`
 */
public class KevyReplyException internal constructor(status: KevyStatus, message: String) :
    KevyException(status, message) {
    public val code: String = message.substringBefore(' ')

    private companion object {
        const val serialVersionUID = 1L
    }
}

/** A value does not fit into the buffer that was to take it. The buffer is as it was. */
public class KevyBufferException internal constructor(public val size: Int) :
    BufferOverflowException() {
    override val message: String
        get() = "the value has $size bytes and does not fit"

    private companion object {
        const val serialVersionUID = 1L
    }
}
