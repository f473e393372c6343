/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.io.File
import java.lang.ref.WeakReference
import java.nio.ByteBuffer
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger
import kotlin.io.path.readSymbolicLink
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** After a close, during one, and without one. */
class CloseTest {
    @TempDir lateinit var folder: Path

    @Test
    fun `every call after a close is an IllegalStateException`() {
        val kevy = Kevy.openMemory()
        val subscription = kevy.subscribe("c")
        val listening = kevy.subscribe("d") {}
        kevy.close()
        kevy.close()
        val calls =
            listOf<() -> Any?>(
                { kevy["k"] },
                { kevy.getText("k") },
                { kevy.getInto("k", ByteBuffer.allocateDirect(8)) },
                { kevy["k"] = "v" },
                { kevy["k"] = bytes(1) },
                { kevy["k"] = ByteBuffer.allocateDirect(8) },
                { kevy.cmd("PING") },
                { kevy.keys() },
                { kevy.publish("c", "x") },
                { kevy.subscribe("c") },
                { kevy.subscribe("c") {} },
                { kevy.psubscribe("c") {} },
                { kevy.openReport() },
                { kevy.sync() },
                { kevy.shutdown() },
                { subscription.poll() },
                { subscription.next() },
                { subscription.next(10L) },
                { subscription.drain() },
                { subscription.add("e") },
            )
        for ((i, call) in calls.withIndex()) {
            val thrown = fails<IllegalStateException> { call() }
            assertTrue("already" in thrown.message!!, "call $i: $thrown")
        }
        assertTrue(kevy.isClosed)
        listening.close()
        listening.close()
        subscription.close()
        subscription.close()
        fails<IllegalStateException> { subscription.poll() }
    }

    @Test
    fun `a close under the calls of eight threads`() {
        repeat(150) { round ->
            val isFile = round % 3 == 0
            val kevy = if (isFile) Kevy.open(folder.resolve("$round")) else Kevy.openMemory()
            val crew = Crew()
            val refused = AtomicInteger()
            for (i in 0 until 8) {
                crew.run("caller $i") {
                    try {
                        while (true) call(kevy, i)
                    } catch (closed: IllegalStateException) {
                        refused.incrementAndGet()
                    }
                }
            }
            if (round % 2 == 0) Thread.sleep(0, (round * 7919) % 999_999)
            kevy.close()
            crew.join()
            assertEquals(8, refused.get())
        }
    }

    private fun call(kevy: Kevy, kind: Int) {
        when (kind) {
            0, 1 -> kevy["k"]
            2 -> kevy["k"] = "some text"
            3 -> kevy.getText("k")
            4 -> kevy.publish("c", "x")
            5 -> kevy.incr("n")
            6 -> kevy.subscribe("c").use { it.poll() }
            else -> kevy.subscribe("c") {}.close()
        }
    }

    @Test
    fun `when a close returns the files are free`() {
        val path = folder.resolve("store")
        repeat(40) {
            val kevy = Kevy.open(path)
            kevy.incr("n")
            val crew = Crew()
            repeat(4) { crew.run { fails<IllegalStateException> { while (true) kevy.incr("n") } } }
            kevy.close()
            assertTrue(isFree(path))
            crew.join()
        }
    }

    /** No file below the path is open in this process. */
    private fun isFree(path: Path): Boolean =
        File("/proc/self/fd").listFiles()!!.none {
            runCatching { it.toPath().readSymbolicLink().startsWith(path) }.getOrDefault(false)
        }

    @Test
    fun `a store that nobody holds is closed by the collector`() {
        val path = folder.resolve("forgotten")
        val gone = forget(path)
        eventually("it was collected") {
            System.gc()
            gone.get() == null
        }
        eventually("its files are free") { isFree(path) }
        val child = Child(OtherProcess::class.java, emptyList(), "leave", path.toString())
        assertEquals(0, child.waitFor(), child.text())
    }

    private fun forget(path: Path): WeakReference<Kevy> {
        val kevy = Kevy.open(path)
        kevy["k"] = "v"
        kevy.subscribe("c")
        return WeakReference(kevy)
    }

    @Test
    fun `a store is not collected while one of its calls runs`() {
        val crew = Crew()
        crew.run("garbage") { repeat(60) { System.gc(); Thread.sleep(5) } }
        repeat(4) {
            crew.run {
                repeat(300) { i ->
                    val value = Kevy.openMemory().also { it["k"] = bytes(i) }["k"]
                    assertArrayEquals(bytes(i), value)
                }
            }
        }
        crew.join()
    }

    @Test
    fun `a store with a listener stays until the listener is closed`() {
        val heard = AtomicInteger()
        val path = folder.resolve("listening")
        var listening: Listening? = Kevy.open(path).subscribe("c") { heard.incrementAndGet() }
        val other = Kevy.open(path)
        repeat(5) { System.gc(); Thread.sleep(20) }
        assertEquals(1, other.publish("c", "x"))
        eventually("it was heard") { heard.get() == 1 }
        listening!!.close()
        assertEquals(0, other.publish("c", "x"))
        other.close()
        listening = null
        eventually("its files are free") {
            System.gc()
            isFree(path)
        }
    }

    @Test
    fun `virtual threads may call everything`() {
        val start =
            try {
                Thread::class.java.getMethod("startVirtualThread", Runnable::class.java)
            } catch (_: NoSuchMethodException) {
                return // before Java 21
            }
        Kevy.openMemory().use { kevy ->
            val done = AtomicInteger()
            repeat(500) { i ->
                start.invoke(null, Runnable {
                    kevy["k$i"] = "v$i"
                    Thread.sleep(1)
                    if (kevy.getText("k$i") == "v$i" && kevy.incr("n") > 0) done.incrementAndGet()
                })
            }
            eventually("all are done") { done.get() == 500 }
            assertEquals("500", kevy.getText("n"))
        }
    }
}
