/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

/**
 * A message of a channel.
 *
 * @property payload yours
 */
public class Message
internal constructor(
    public val channelBytes: ByteArray,
    public val payload: ByteArray,
    internal val patternBytes: ByteArray?,
) {
    public val channel: String
        get() = Text.decode(channelBytes)

    /** The payload as text. */
    public val text: String
        get() = Text.decode(payload)

    /** The pattern by which it came, null when it came by the name of its channel. */
    public val pattern: String?
        get() = patternBytes?.let { Text.decode(it) }

    override fun toString(): String = "Message($channel, ${payload.size} bytes)"
}

/** Takes messages, one after the other. */
public fun interface MessageListener {
    public fun onMessage(message: Message)

    /** The queue was full, and this many messages are missing before the next one. */
    public fun onDropped(count: Long) {}
}

/** A listener that was added, until it is closed. Closing twice is fine. */
public interface Listening : AutoCloseable {
    override fun close()
}

/** A frame of a subscription: a message, or the acknowledgement of a subscribe or unsubscribe. */
internal class Frame(bytes: ByteArray) {
    private val items = ReplyReader(bytes).read().toList()
    private val kind = items[0].toText()

    /** Null for an acknowledgement. */
    fun message(): Message? =
        when (kind) {
            "message" -> Message(bytes(1), bytes(2), null)
            "pmessage" -> Message(bytes(2), bytes(3), bytes(1))
            else -> null
        }

    /** That a channel or pattern was added. */
    val isAdded: Boolean
        get() = kind == "subscribe" || kind == "psubscribe"

    private fun bytes(index: Int) = items[index].toBytes()!!
}
