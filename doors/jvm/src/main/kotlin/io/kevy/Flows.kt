/* SPDX-License-Identifier: MIT OR Apache-2.0 */
@file:JvmName("KevyFlows")

package io.kevy

import java.util.concurrent.CancellationException
import kotlin.concurrent.thread
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ProducerScope
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.job
import kotlinx.coroutines.runBlocking

/*
 * Messages and changes as flows. This file alone needs kotlinx-coroutines, which is an optional
 * dependency.
 */

/**
 * The messages of channels, cold: each collector has a subscription of its own, from the moment it
 * begins to collect until it ends. A slow collector meets the queue's bounds (see [Subscription]),
 * and slows down nobody else.
 *
 * The flow fails with an IllegalStateException when the store is closed. A collector costs one
 * daemon thread, which sleeps until a message comes.
 */
public fun Kevy.messages(vararg channels: String): Flow<Message> = flowOf { subscribe(*channels) }

/** As [messages], of all channels that match one of the glob patterns. */
public fun Kevy.patternMessages(vararg patterns: String): Flow<Message> =
    flowOf { psubscribe(*patterns) }

/**
 * The changes of the store, cold: each collector has a queue of its own, from the moment it begins
 * to collect until it ends, bounded as that of [Kevy.onChange] and ended as [messages] is.
 */
public fun Kevy.changes(): Flow<Change> =
    callbackFlow {
            val queue = changeQueue()
            try {
                queue.add()
            } catch (failure: Throwable) {
                queue.close()
                throw failure
            }
            pump({ queue.isClosed }) { give ->
                ChangeRecords(queue.next()).forEach { _, change -> give(change) }
            }
            awaitClose { queue.close() }
        }
        .buffer(Channel.RENDEZVOUS)

private fun flowOf(subscribe: () -> Subscription): Flow<Message> =
    callbackFlow {
            val subscription = subscribe()
            pump({ subscription.isClosed }) { give -> give(subscription.next()) }
            awaitClose { subscription.close() }
        }
        .buffer(Channel.RENDEZVOUS)

/**
 * Starts the thread that hands over what [take] brings, one by one, until the collector has gone.
 * That closes the source, which is no failure of the flow: told to a collector whose cancelling is
 * still on its way to it, it would count for more than the cancellation.
 */
private fun <T> ProducerScope<T>.pump(isClosed: () -> Boolean, take: ((T) -> Unit) -> Unit) {
    thread(isDaemon = true, name = "kevy-flow") {
        try {
            while (true) take { if (!handOver(it)) throw CancellationException() }
        } catch (failure: Throwable) {
            if (failure !is CancellationException && !isClosed()) close(failure)
        }
    }
}

/**
 * Waits until the collector has taken it; false if it has gone. The wait is a part of the flow's
 * scope and ends with it: without that, one that began while the collector went could last for
 * ever.
 */
private fun <T> ProducerScope<T>.handOver(value: T): Boolean =
    trySend(value).isSuccess ||
        try {
            runBlocking(coroutineContext.job) { runCatching { send(value) }.isSuccess }
        } catch (gone: CancellationException) {
            false
        }
