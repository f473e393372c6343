/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.ByteBuffer
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Subscriptions whose owner takes the messages. */
class PubSubTest {
    private val kevy = Kevy.openMemory()

    @AfterEach fun close() = kevy.close()

    @Test
    fun `messages come in order, of channels and of patterns`() {
        val news = kevy.subscribe("news", "more")
        val all = kevy.psubscribe("n*", "x?")
        assertNull(news.poll())
        assertEquals(2, kevy.publish("news", "1"))
        assertEquals(1, kevy.publish("more", bytes(2)))
        assertEquals(1, kevy.publish("xy", "3"))
        assertEquals(0, kevy.publish("other", "4"))
        assertEquals(2, kevy.publish("news", ""))

        val taken = List(3) { news.next() }.map { "${it.channel}:${it.text}" }
        assertEquals(listOf("news:1", "more:\u0002", "news:"), taken)
        assertNull(news.poll())
        val matched = List(3) { all.next() }
        assertEquals(listOf("n*", "x?", "n*"), matched.map { it.pattern })
        assertEquals(listOf("news", "xy", "news"), matched.map { it.channel })
        assertNull(all.poll())
        news.close()
        all.close()
        assertEquals(0, kevy.publish("news", "5"))
    }

    @Test
    fun `channels are added and removed`() {
        kevy.subscribe("a").use {
            it.add("b")
            it.add("b")
            it.addPattern("c*")
            it.remove("a")
            it.remove("never")
            assertEquals(0, kevy.publish("a", "x"))
            assertEquals(1, kevy.publish("b", "y"))
            assertEquals(1, kevy.publish("cc", "z"))
            assertEquals("y", it.next().text)
            assertEquals("z", it.next().text)
            it.removePattern("c*")
            assertEquals(0, kevy.publish("cc", "z"))
        }
        fails<IllegalArgumentException> { kevy.subscribe() }
    }

    @Test
    fun `a wait ends with a message or with its time`() {
        kevy.subscribe("c").use {
            val start = System.nanoTime()
            assertNull(it.next(40.milliseconds))
            assertNull(it.next(40L))
            assertTrue(System.nanoTime() - start >= 75_000_000)
            assertNull(it.next(0L))
            assertNull(it.next(-5L))
            val crew = Crew()
            crew.run { Thread.sleep(30); kevy.publish("c", "late") }
            assertEquals("late", it.next(1.hours)!!.text)
            crew.join()
        }
    }

    @Test
    fun `a close wakes everyone who waits`() {
        for (closing in listOf<(Subscription) -> Unit>({ it.close() }, { kevy.close() })) {
            repeat(20) {
                if (kevy.isClosed) return
                val subscription = kevy.subscribe("c")
                val crew = Crew()
                val started = CountDownLatch(6)
                repeat(6) { i ->
                    crew.run("waiter $i") {
                        started.countDown()
                        fails<IllegalStateException> {
                            if (i < 3) subscription.next() else subscription.drain(3_600_000)
                        }
                    }
                }
                started.await()
                Thread.sleep(it.toLong() % 4)
                closing(subscription)
                crew.join()
            }
        }
    }

    @Test
    fun `a batch holds what is there`() {
        val subscription = kevy.subscribe("c")
        assertEquals(0, subscription.drain().size)
        assertEquals(0, subscription.drain(20).size)
        for (i in 0 until 1000) kevy.publish("c", ByteArray(i % 50) { i.toByte() })
        val batch = subscription.drain(1000)
        assertEquals(1000, batch.size)
        assertEquals(0, batch.dropped)
        for ((i, message) in batch.withIndex()) {
            assertEquals("c", message.channel)
            assertArrayEquals(ByteArray(i % 50) { i.toByte() }, message.payload)
            assertEquals(ByteBuffer.wrap(message.payload), batch.payload(i))
        }
        assertTrue(batch.payload(7).isReadOnly)
        kevy.publish("c", ByteArray(100))
        kevy.publish("c", ByteArray(100))
        assertEquals(1, subscription.drain(0, 1).size)
        assertEquals(1, subscription.drain().size)
        fails<IllegalArgumentException> { subscription.drain(0, 0) }
        fails<IndexOutOfBoundsException> { batch[1000] }
    }

    @Test
    fun `a full queue drops, counts and says where`() {
        val subscription = kevy.subscribe("c")
        subscription.limit(10)
        for (i in 1..25) kevy.publish("c", "$i")
        assertEquals(15, subscription.dropped)
        val batch = subscription.drain()
        assertEquals(15, batch.dropped)
        assertEquals((16..25).map { "$it" }, batch.map { it.text })
        subscription.limit(3, 0, true)
        for (i in 1..5) kevy.publish("c", "$i")
        assertEquals(listOf("1", "2", "3"), subscription.drain().map { it.text })
        assertEquals(17, subscription.dropped)
        fails<IllegalArgumentException> { subscription.limit(-1) }
    }

    @Test
    fun `several threads share a queue and lose nothing`() {
        val subscription = kevy.subscribe("c")
        val crew = Crew()
        val sum = AtomicInteger()
        val count = 4000
        repeat(4) {
            crew.run("reader") {
                while (sum.get() < count) {
                    if (subscription.next(50L) != null) sum.incrementAndGet()
                }
            }
        }
        repeat(2) { crew.run("writer") { repeat(count / 2) { kevy.publish("c", "x") } } }
        crew.join()
        assertEquals(count, sum.get())
        assertNull(subscription.poll())
    }
}
