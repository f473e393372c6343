/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** What takes a process of its own: exits, kills, small heaps, ways of loading. */
class ProcessTest {
    @TempDir lateinit var folder: Path

    private val store
        get() = folder.resolve("store").toString()

    private fun run(jvm: List<String>, vararg arguments: String): String {
        val child = Child(OtherProcess::class.java, jvm, *arguments)
        val code = child.waitFor()
        val text = child.text()
        assertEquals(0, code, text)
        for (report in listOf("FATAL ERROR", "WARNING in native method", "WARNING: JNI ")) {
            assertFalse(report in text, text)
        }
        return text
    }

    @Test
    fun `a program that does not close ends and loses nothing`() {
        val text = run(listOf("-Xcheck:jni"), "leave", store)
        assertTrue("published" in text, text)
        Kevy.open(store).use { assertEquals("v", it.getText("k")) }
    }

    @Test
    fun `a kill loses nothing that was acknowledged`() {
        val child = Child(OtherProcess::class.java, emptyList(), "write", store)
        try {
            eventually("it has written") { child.text().lines().size > 2000 }
        } finally {
            child.process.destroyForcibly().waitFor()
        }
        val acknowledged = child.text().lines().dropLast(1).mapNotNull { it.toIntOrNull() }
        Kevy.open(store).use { kevy ->
            for (i in acknowledged) assertEquals("$i", kevy.getText("key:$i"))
            assertTrue(kevy.size() - acknowledged.size in 0..2)
        }
    }

    @Test
    fun `a value that the heap has no room for is an OutOfMemoryError and nothing else`() {
        assertTrue("went on" in run(listOf("-Xmx32m", "-Xcheck:jni"), "full"))
    }

    @Test
    fun `the quickstart does what it says`() {
        for (visits in 1..2) {
            val main = Class.forName("QuickstartKt")
            val child = Child(main, emptyList(), folder = folder.toFile())
            assertEquals(0, child.waitFor(), child.text())
            val news = "news: kevy ${Kevy.version()} is up"
            val said = child.text().lines().takeLast(4) // newer Java warns before it
            assertEquals(listOf("hello", "$visits visits", news, ""), said)
        }
    }

    @Test
    fun `several class loaders load it and share one engine`() {
        assertTrue("loaded 3 times" in run(emptyList(), "loaders", store))
        val there = listOf("-Dkevy.library.path=" + System.getProperty("native.build") + "/jvm")
        assertTrue("loaded 3 times" in run(there, "loaders", "$store-2"))
    }

    @Test
    fun `a path that has no library is an error that names it`() {
        val child = Child(OtherProcess::class.java, listOf("-Dkevy.library.path=/nowhere"), "load")
        assertEquals(1, child.waitFor(), child.text())
        assertTrue("UnsatisfiedLinkError" in child.text(), child.text())
        assertTrue("/nowhere/libkevyjvm.so does not exist" in child.text(), child.text())
    }

    @Test
    fun `where native access is denied the error says what to do`() {
        assumeTrue(Runtime.version().feature() >= 24, "older Java denies nothing")
        val deny = "--illegal-native-access=deny"
        val child = Child(OtherProcess::class.java, listOf(deny), "load")
        assertEquals(1, child.waitFor(), child.text())
        assertTrue("--enable-native-access" in child.text(), child.text())
        val allowed = run(listOf(deny, "--enable-native-access=ALL-UNNAMED"), "load")
        assertTrue("loaded PONG" in allowed, allowed)
    }
}
