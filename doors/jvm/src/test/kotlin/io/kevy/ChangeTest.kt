/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Change listeners: what they are told, from when to when, and what they may do. */
class ChangeTest {
    @TempDir lateinit var folder: Path
    private val kevy = Kevy.openMemory()
    private val heard = ConcurrentLinkedQueue<String>()

    @AfterEach fun close() = kevy.close()

    private fun threads() = Thread.getAllStackTraces().keys.count { it.name == "kevy-changes" }

    private fun listen(name: String, also: (Change) -> Unit = {}) =
        kevy.onChange { heard += "$name:${it.key}"; also(it) }

    /** Waits until all is told that changed before. */
    private fun settle() {
        val told = CountDownLatch(1)
        kevy.onChange { if (it.key == "settle") told.countDown() }.use {
            kevy["settle"] = ""
            assertTrue(told.await(30, TimeUnit.SECONDS))
        }
    }

    @Test
    fun `each change once, with its cause, in order`() {
        val changes = ConcurrentLinkedQueue<Change>()
        kevy.onChange { changes += it }
        kevy["a"] = "1"
        kevy.setMany(linkedMapOf("b" to "2", "c" to "3"))
        kevy.del("a", "nothing")
        kevy["b"]
        kevy.cmd("EXPIRE", "b", -1)
        kevy.clear()
        kevy.set("d", "4", 20.milliseconds)
        eventually("all was told") { changes.size == 8 }
        assertEquals(
            "SET a, SET b, SET c, DELETE a, EXPIRE b, CLEAR, SET d, EXPIRE d",
            changes.joinToString { it.toString().removePrefix("Change(").removeSuffix(")") },
        )
        assertEquals(listOf(4, 7), changes.indices.filter { changes.elementAt(it).isOther })
        assertTrue(changes.all { it.database == 0 && it.lost == 0L })
        assertNull(changes.elementAt(5).key)
    }

    @Test
    fun `keys are exact`() {
        val keys = ConcurrentLinkedQueue<Change>()
        val names = listOf("", "\u0000", "a\u0000b", "\uD800", "\uDC00", "\uD83D\uDE00", "é")
        kevy.onChange { keys += it }
        names.forEach { kevy[it] = "v" }
        kevy[bytes(0xFF, 0, 0xFE)] = "v"
        eventually("all was told") { keys.size == names.size + 1 }
        assertEquals(names, keys.take(names.size).map { it.key })
        assertArrayEquals(bytes(0xFF, 0, 0xFE), keys.last().keyBytes)
    }

    @Test
    fun `a listener hears what changes from its add to its close`() {
        val a = listen("a")
        kevy["1"] = ""
        listen("b")
        kevy["2"] = ""
        settle()
        a.close()
        a.close()
        kevy["3"] = ""
        settle()
        val told = heard.filter { "settle" !in it }
        assertEquals(listOf("a:1", "a:2"), told.filter { it.startsWith("a") })
        assertEquals(listOf("b:2", "b:3"), told.filter { it.startsWith("b") })
        assertEquals(listOf("a:2", "b:2"), told.filter { it.endsWith("2") }.sorted())
    }

    @Test
    fun `listeners share one daemon thread that ends with the last of them`() {
        val before = threads()
        val first = kevy.onChange {}
        val second = kevy.onChange {}
        assertEquals(before + 1, threads())
        first.close()
        second.close()
        eventually("the thread has ended") { threads() == before }
        listen("again")
        kevy["k"] = ""
        eventually("it was told") { heard.contains("again:k") }
        kevy.close()
        eventually("the thread has ended") { threads() == before }
        fails<IllegalStateException> { kevy.onChange {} }
    }

    @Test
    fun `listeners may read, write, change each other and close the store`() {
        val d = AtomicReference<Listening>()
        val ended = CountDownLatch(1)
        listen("a") { if (it.key == "1") kevy["2"] = kevy.getText("1") + "!" }
        listen("c") { if (it.key == "1") d.get().close() }
        d.set(listen("d"))
        listen("e") {
            if (it.key == "2") {
                assertEquals("x!", kevy.getText("2"))
                kevy.close()
                ended.countDown()
            }
        }
        kevy["1"] = "x"
        assertTrue(ended.await(30, TimeUnit.SECONDS))
        assertEquals(1, heard.count { it == "a:1" })
        assertEquals(1, heard.count { it == "e:2" })
        assertTrue(kevy.isClosed)
    }

    @Test
    fun `what a listener throws takes nothing from the others`() {
        val thrown = ConcurrentLinkedQueue<Throwable>()
        kevy.onChange {
            Thread.currentThread().setUncaughtExceptionHandler { _, failure -> thrown += failure }
            throw IllegalStateException(it.key)
        }
        listen("b")
        kevy["1"] = ""
        kevy["2"] = ""
        eventually("all was told") { heard.contains("b:2") && thrown.size == 2 }
        assertEquals(listOf("1", "2"), thrown.map { it.message })
    }

    @Test
    fun `no call begins after a close has returned, and a close waits for nobody`() {
        val isClosed = AtomicBoolean()
        val late = AtomicBoolean()
        val isIn = CountDownLatch(1)
        val goOn = CountDownLatch(1)
        val slow = kevy.onChange { isIn.countDown(); goOn.await(30, TimeUnit.SECONDS) }
        val other = kevy.onChange { if (isClosed.get()) late.set(true) }
        repeat(100) { kevy["$it"] = "" }
        assertTrue(isIn.await(30, TimeUnit.SECONDS))
        slow.close()
        other.close()
        isClosed.set(true)
        goOn.countDown()
        repeat(100) { kevy["$it"] = "" }
        settle()
        assertFalse(late.get())
    }

    @Test
    fun `who does not keep up is told how much is missing`() {
        val goOn = CountDownLatch(1)
        val changes = ConcurrentLinkedQueue<Change>()
        kevy.onChange { changes += it; goOn.await(30, TimeUnit.SECONDS) }
        kevy["first"] = ""
        eventually("it is in the listener") { changes.size == 1 }
        val key = "k".repeat(60_000)
        val writes = 400
        repeat(writes) { kevy["$key$it"] = "" }
        goOn.countDown()
        eventually("the loss was told") { changes.any { it.cause == ChangeCause.LOST } }
        kevy["after"] = ""
        eventually("it goes on") { changes.last().key == "after" }
        val lost = changes.single { it.cause == ChangeCause.LOST }
        val told = changes.drop(1).takeWhile { it !== lost }
        told.forEachIndexed { i, change -> assertEquals("$key$i", change.key) }
        assertEquals(writes.toLong(), told.size + lost.lost)
        assertNull(lost.key)
    }

    @Test
    fun `changes of other handles, threads and a handle that closes meanwhile`() {
        val path = folder.resolve("store").toString()
        val crew = Crew()
        Kevy.open(path).use { here ->
            val others = ConcurrentLinkedQueue<Change>()
            here.onChange { others += it }
            for (i in 0 until 4) crew.run {
                Kevy.open(path).use { there -> repeat(500) { n -> there["$i:$n"] = "" } }
            }
            crew.join()
            eventually("all was told") { others.size == 2000 }
            for (i in 0 until 4) {
                val mine = others.map { it.key!! }.filter { it.startsWith("$i:") }
                assertEquals((0 until 500).map { "$i:$it" }, mine)
            }
            assertTrue(others.all { it.isOther && it.cause == ChangeCause.SET })
        }
    }

    @Test
    fun `eight threads write while listeners come and go and the store closes`() {
        repeat(20) { round ->
            val crew = Crew()
            val store = Kevy.openMemory()
            val start = CountDownLatch(1)
            for (i in 0 until 6) crew.run {
                start.await()
                try {
                    var n = 0
                    while (true) store["$i"] = "${n++}"
                } catch (_: IllegalStateException) {
                    // It was closed.
                }
            }
            for (i in 0 until 2) crew.run {
                start.await()
                try {
                    while (true) store.onChange { store["0"] }.close()
                } catch (_: IllegalStateException) {
                    // It was closed.
                }
            }
            store.onChange { if (round % 2 == 0) store["x"] }
            start.countDown()
            Thread.sleep(2L * round)
            store.close()
            crew.join()
        }
    }

    @Test
    fun `changes as a flow, until the store closes`() = runBlocking {
        val few = async(Dispatchers.IO) { kevy.changes().take(3).toList() }
        eventually("three were told") {
            kevy["probe"] = ""
            few.isCompleted
        }
        assertEquals(listOf("probe", "probe", "probe"), few.await().map { it.key })
        val failed =
            async(Dispatchers.IO) {
                runCatching { kevy.changes().first { heard += "flow"; false } }
            }
        eventually("somebody listens") {
            kevy["probe"] = ""
            "flow" in heard
        }
        kevy.close()
        assertTrue(failed.await().exceptionOrNull() is IllegalStateException)
    }
}
