/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Listeners and flows: the store's thread brings the messages. */
class PushTest {
    private val kevy = Kevy.openMemory()
    private val heard = ConcurrentLinkedQueue<String>()

    @AfterEach fun close() = kevy.close()

    private fun pushThreads() = Thread.getAllStackTraces().keys.filter { it.name == "kevy-push" }

    private fun settle() {
        val latch = CountDownLatch(1)
        kevy.subscribe("settle") { latch.countDown() }.use {
            kevy.publish("settle", "")
            assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS))
        }
    }

    @Test
    fun `listeners share one daemon thread that ends with the last of them`() {
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        fun hear(what: String) {
            threads += Thread.currentThread()
            heard += what
        }
        for (i in 0 until 5) kevy.subscribe("c$i") { hear("$i:${it.text}") }
        kevy.psubscribe("c*") { hear("p:${it.channel}") }
        for (i in 0 until 5) assertEquals(2, kevy.publish("c$i", "x"))
        settle()
        assertEquals(10, heard.size)
        assertEquals((0 until 5).flatMap { listOf("$it:x", "p:c$it") }.toSet(), heard.toSet())
        assertTrue(threads.single().isDaemon)
        eventually("those of other stores have ended") { pushThreads() == threads.toList() }
        kevy.close()
        eventually("the thread has ended") { !threads.single().isAlive }
    }

    @Test
    fun `listeners of a channel are called in their order, and may change each other`() {
        val handles = HashMap<String, AutoCloseable>()
        fun listen(name: String, also: () -> Unit = {}) {
            handles[name] = kevy.subscribe("c") { heard += name; also() }
        }
        listen("a") { handles["a"]!!.close() }
        listen("b")
        listen("c") { handles["d"]!!.close() }
        listen("d")
        listen("e") { if ("f" !in handles) listen("f") }
        kevy.publish("c", "1")
        settle()
        assertEquals(listOf("a", "b", "c", "e"), heard.toList())
        heard.clear()
        kevy.publish("c", "2")
        settle()
        assertEquals(listOf("b", "c", "e", "f"), heard.toList())
    }

    @Test
    fun `a listener gets what was published after it was added, and nothing else`() {
        val gate = CountDownLatch(1)
        kevy.subscribe("c") { gate.await() }
        kevy.publish("c", "before")
        kevy.publish("c", "before")
        val late = kevy.subscribe("c") { heard += it.text }
        kevy.publish("c", "after")
        gate.countDown()
        settle()
        assertEquals(listOf("after"), heard.toList())
        late.close()
        kevy.publish("c", "never")
        settle()
        assertEquals(listOf("after"), heard.toList())
    }

    @Test
    fun `no call begins after a close has returned`() {
        kevy.subscribe("other") {} // so that all of it is one queue on one thread
        repeat(200) {
            val isClosed = AtomicBoolean()
            val late = AtomicInteger()
            val listening = kevy.subscribe("c") { if (isClosed.get()) late.incrementAndGet() }
            val crew = Crew()
            crew.run { repeat(30) { kevy.publish("c", "x") } }
            if (it % 2 == 0) Thread.yield()
            listening.close()
            isClosed.set(true)
            crew.join()
            settle()
            // One may have been under way, and its thread without a turn until now.
            assertTrue(late.get() <= 1, "${late.get()} calls")
        }
    }

    @Test
    fun `what a listener throws is reported and the next message comes`() {
        val reported = ConcurrentLinkedQueue<Throwable>()
        val listening =
            kevy.subscribe("c") {
                if (heard.isEmpty()) {
                    Thread.currentThread().setUncaughtExceptionHandler { _, e -> reported += e }
                }
                heard += it.text
                throw IllegalArgumentException(it.text)
            }
        kevy.subscribe("c") { heard += "other ${it.text}" }
        for (i in 1..3) kevy.publish("c", "$i")
        settle()
        assertEquals(listOf("1", "other 1", "2", "other 2", "3", "other 3"), heard.toList())
        assertEquals(listOf("1", "2", "3"), reported.map { it.message })
        listening.close()
    }

    @Test
    fun `a handler of uncaught exceptions that throws takes no message either`() {
        for (thrown in listOf(IllegalStateException("closed?"), RuntimeException(), Error())) {
            val channel = thrown.javaClass.name
            kevy.subscribe(channel) {
                heard += it.text
                Thread.currentThread().interrupt()
                Thread.currentThread().setUncaughtExceptionHandler { _, _ -> throw thrown }
                throw IllegalArgumentException(it.text)
            }
            for (i in 1..2) kevy.publish(channel, "$channel $i")
            settle()
            assertEquals(listOf("$channel 1", "$channel 2"), heard.toList().takeLast(2))
        }
    }

    @Test
    fun `a listener may use the store, and close it`() {
        kevy.subscribe("set") {
            kevy["k"] = it.payload
            kevy.publish("get", kevy["k"]!!)
        }
        kevy.subscribe("get") {
            heard += it.text
            if (it.text == "last") kevy.close()
        }
        kevy.publish("set", "first")
        kevy.publish("set", "last")
        eventually("it is closed") { kevy.isClosed }
        assertEquals(listOf("first", "last"), heard.toList())
    }

    @Test
    fun `a handle that is used again and again`() {
        val count = AtomicInteger()
        repeat(2000) {
            val listening = kevy.subscribe("c") { count.incrementAndGet() }
            assertEquals(1, kevy.publish("c", "x"))
            listening.close()
            assertEquals(0, kevy.publish("c", "x"))
        }
        settle()
        assertTrue(count.get() <= 2000)
        eventually("no thread is left") { pushThreads().size <= 1 }
    }

    @Test
    fun `messages that are missing are told`() {
        val gate = CountDownLatch(1)
        val missing = AtomicInteger()
        val listener =
            object : MessageListener {
                override fun onMessage(message: Message) {
                    gate.await()
                    heard += message.text
                }

                override fun onDropped(count: Long) {
                    missing.addAndGet(count.toInt())
                }
            }
        kevy.subscribe("c", listener)
        val total = 70_000
        for (i in 1..total) kevy.publish("c", "x")
        gate.countDown()
        eventually("all is told") { heard.size + missing.get() >= total }
        Thread.sleep(20)
        assertEquals(total, heard.size + missing.get())
        assertTrue(missing.get() > 0)
    }

    @Test
    fun `100 000 deliveries without returning to Java leave no references behind`() {
        val count = AtomicInteger()
        kevy.subscribe("c") { count.incrementAndGet() }
        for (i in 1..10) {
            repeat(10_000) { kevy.publish("c", "message") }
            eventually("they came") { count.get() == i * 10_000 }
        }
    }

    @Test
    fun `a flow begins with its collector and ends with it`() = runBlocking {
        assertEquals(0, kevy.publish("c", "early"))
        withTimeout(PATIENCE_SECONDS.seconds) {
            val flow = kevy.messages("c", "d").map { "${it.channel}:${it.text}" }.take(3)
            val first = launch(Dispatchers.Default) { heard += flow.toList() }
            eventually("it has subscribed") { kevy.publish("c", "1") == 1L }
            kevy.publish("d", "2")
            kevy.publish("c", "3")
            first.join()
        }
        assertEquals(listOf("c:1", "d:2", "c:3"), heard.toList())
        eventually("it has unsubscribed") { kevy.publish("c", "x") == 0L }
    }

    @Test
    fun `a flow that is cancelled while nothing comes, and one whose store is closed`() =
        runBlocking {
            withTimeout(PATIENCE_SECONDS.seconds) {
                val cancelled = launch(Dispatchers.Default) { kevy.patternMessages("c*").collect() }
                eventually("it has subscribed") { kevy.publish("cc", "1") == 1L }
                cancelled.cancel()
                cancelled.join()
                eventually("it has unsubscribed") { kevy.publish("cc", "x") == 0L }

                var thrown: Throwable? = null
                val closed =
                    launch(Dispatchers.Default) {
                        try {
                            kevy.messages("c").collect()
                        } catch (failure: IllegalStateException) {
                            thrown = failure
                        }
                    }
                eventually("it has subscribed") { kevy.publish("c", "1") == 1L }
                kevy.close()
                closed.join()
                assertNotNull(thrown)
            }
            Unit
        }

    @Test
    fun `a cancelled flow ends as cancelled, also when its thread is the first to see it`() {
        cancelledFlowEnds(kevy.messages("c"))
        cancelledFlowEnds(kevy.changes())
        assertEquals(0, kevy.publish("c", "x"))
    }

    private fun cancelledFlowEnds(flow: Flow<*>) {
        val cancelling = AtomicBoolean()
        val flowThreads = { Thread.getAllStackTraces().keys.filter { it.name == "kevy-flow" } }
        eventually("those of other flows have ended") { flowThreads().isEmpty() }
        // Cancelling goes to the subscription, then to the collector: here with all time between.
        val inTurn =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    block.run()
                    if (!cancelling.get() || Thread.currentThread() in flowThreads()) return
                    eventually("the flow's thread ends") { flowThreads().isEmpty() }
                }
            }
        runBlocking {
            val collector = launch(inTurn) { flow.collect() }
            cancelling.set(true)
            collector.cancel()
            collector.join()
        }
    }
}
