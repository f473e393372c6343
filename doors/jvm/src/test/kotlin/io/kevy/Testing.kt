/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.io.File
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertTrue

/* What several tests need: failures that are expected, conditions that come, threads, processes. */

/** How long a test waits for what must come: only what hangs takes it, however slow the machine. */
internal const val PATIENCE_SECONDS = 120L

/** The failure of this class that the body ends with. */
internal inline fun <reified T : Throwable> fails(body: () -> Unit): T {
    try {
        body()
    } catch (failure: Throwable) {
        if (failure is T) return failure
        throw AssertionError("${failure.javaClass.name} in place of ${T::class.java.name}", failure)
    }
    throw AssertionError("no ${T::class.java.name}")
}

/** Waits until a condition holds. */
internal fun eventually(what: String, condition: () -> Boolean) {
    val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
    while (!condition()) {
        assertTrue(System.nanoTime() < end, "never: $what")
        Thread.sleep(2)
    }
}

internal fun bytes(vararg values: Int): ByteArray = ByteArray(values.size) { values[it].toByte() }

/** Threads that run at once, and the first failure of one of them. */
internal class Crew {
    private val failure = AtomicReference<Throwable>()
    private val threads = mutableListOf<Thread>()

    fun run(name: String = "crew", body: () -> Unit): Thread {
        val thread = Thread({
            try {
                body()
            } catch (thrown: Throwable) {
                failure.compareAndSet(null, thrown)
            }
        }, name)
        thread.isDaemon = true
        threads += thread
        thread.start()
        return thread
    }

    fun join() {
        val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
        for (thread in threads) {
            TimeUnit.NANOSECONDS.timedJoin(thread, maxOf(1, end - System.nanoTime()))
            assertTrue(!thread.isAlive, "${thread.name} hangs: ${thread.stackTrace.joinToString()}")
        }
        failure.get()?.let { throw AssertionError("a thread failed", it) }
    }
}

/** A Java process of the same runtime and class path. */
internal class Child(
    main: Class<*>,
    jvm: List<String>,
    vararg arguments: String,
    folder: File? = null,
) {
    private val output = File.createTempFile("child", ".txt").also { it.deleteOnExit() }
    val process: Process

    init {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val classPath = System.getProperty("java.class.path")
        val command = listOf(java) + jvm + listOf("-cp", classPath, main.name) + arguments
        process =
            ProcessBuilder(command)
                .directory(folder)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .also { it.environment().remove("JAVA_TOOL_OPTIONS") }
                .start()
    }

    fun text(): String = output.readText()

    /** Its exit code. */
    fun waitFor(): Int {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly()
            throw AssertionError("the process did not end: ${text()}")
        }
        return process.exitValue()
    }
}
