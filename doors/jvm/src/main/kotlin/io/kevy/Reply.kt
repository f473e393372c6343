/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * What a command answered. The accessors convert where nothing is lost, and throw a
 * [KevyException] of [KevyStatus.TYPE] where the reply is of another kind.
 */
public sealed class Reply {
    /** Nothing there. */
    public object Nil : Reply() {
        override fun toString(): String = "(nil)"
    }

    /** A word like OK. */
    public class Status internal constructor(public val text: String) : Reply() {
        override fun toString(): String = text
    }

    /** An error inside a list; at the top it is thrown. */
    public class Failure internal constructor(public val exception: KevyReplyException) : Reply() {
        override fun toString(): String = "(error) ${exception.message}"
    }

    public class Number internal constructor(public val value: Long) : Reply() {
        override fun toString(): String = value.toString()
    }

    /** Bytes, yours. */
    public class Bulk internal constructor(public val value: ByteArray) : Reply() {
        override fun toString(): String = Text.decode(value)
    }

    public class Items internal constructor(public val items: List<Reply>) : Reply() {
        override fun toString(): String = items.toString()
    }

    public val isNil: Boolean
        get() = this === Nil

    /** A number, also one that is written as text. */
    public fun toLong(): Long =
        when (this) {
            is Number -> value
            is Bulk -> Text.decode(value).toLongOrNull() ?: mismatch("a whole number")
            else -> mismatch("a whole number")
        }

    public fun toDouble(): Double =
        when (this) {
            is Number -> value.toDouble()
            is Bulk -> Decimal.parse(Text.decode(value)) ?: mismatch("a number")
            else -> mismatch("a number")
        }

    /** Bytes, null for nil. */
    public fun toBytes(): ByteArray? =
        when (this) {
            Nil -> null
            is Bulk -> value
            is Status -> Text.encode(text)
            is Number -> Text.encode(value.toString())
            else -> mismatch("bytes")
        }

    /** Text, null for nil. */
    public fun toText(): String? =
        when (this) {
            Nil -> null
            is Bulk -> Text.decode(value)
            is Status -> text
            is Number -> value.toString()
            else -> mismatch("text")
        }

    /** The items of a list; a nil list is empty. */
    public fun toList(): List<Reply> =
        when (this) {
            Nil -> emptyList()
            is Items -> items
            else -> mismatch("a list")
        }

    private fun mismatch(wanted: String): Nothing =
        throw KevyException(KevyStatus.TYPE, "the reply is not $wanted: ${kind()}")

    private fun kind(): String =
        when (this) {
            Nil -> "nil"
            is Status -> "status $text"
            is Failure -> "an error"
            is Number -> "a number"
            is Bulk -> "${value.size} bytes"
            is Items -> "a list of ${items.size}"
        }
}

/** Decimal text as the store writes it: also inf, -inf and nan. */
internal object Decimal {
    fun parse(text: String): Double? =
        when (text.lowercase()) {
            "inf",
            "+inf" -> Double.POSITIVE_INFINITY
            "-inf" -> Double.NEGATIVE_INFINITY
            "nan" -> Double.NaN
            else -> if (text.matches(FORM)) text.toDouble() else null
        }

    private val FORM = Regex("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?")
}
