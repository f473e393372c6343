/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.io.File
import java.net.URLClassLoader
import java.util.concurrent.CountDownLatch

/** What child processes of the tests do: the first argument says. */
internal object OtherProcess {
    @JvmStatic
    fun main(arguments: Array<String>) {
        when (arguments[0]) {
            "hold" -> hold(arguments[1])
            "write" -> write(arguments[1])
            "leave" -> leave(arguments[1])
            "full" -> full()
            "load" -> Kevy.openMemory().use { println("loaded ${it.cmd("PING")}") }
            "loaders" -> loaders(arguments[1])
            else -> throw IllegalArgumentException(arguments[0])
        }
    }

    /** Keeps the store open until it is killed, or its parent has gone. */
    private fun hold(path: String) {
        Kevy.open(path).use {
            println("held")
            System.`in`.read()
        }
    }

    /** Writes and tells what was acknowledged, until it is killed. */
    private fun write(path: String) {
        val kevy = Kevy.open(path)
        for (i in 0..Int.MAX_VALUE) {
            kevy["key:$i"] = "$i"
            println(i)
        }
    }

    /** Returns from main with everything open: a store, a listener, a thread that waits. */
    private fun leave(path: String) {
        val kevy = Kevy.open(path)
        kevy["k"] = "v"
        val ready = CountDownLatch(2)
        kevy.subscribe("c") {
            println(it.text)
            ready.countDown()
        }
        val subscription = kevy.subscribe("d")
        Thread {
            subscription.next()
            ready.countDown()
            subscription.next()
        }.also { it.isDaemon = true }.start()
        kevy.publish("c", "published")
        kevy.publish("d", "published")
        ready.await()
    }

    /** A value for which the heap has no room. */
    private fun full() {
        val kevy = Kevy.openMemory()
        kevy.cmd("SETRANGE", "big", (64 shl 20) - 1, "x")
        kevy["small"] = "s"
        repeat(3) {
            fails<OutOfMemoryError> { kevy["big"] }
            fails<OutOfMemoryError> { kevy.getText("big") }
            fails<OutOfMemoryError> { kevy.cmd("GET", "big") }
            check(kevy.getText("small") == "s")
        }
        check(kevy.strlen("big") == 64L shl 20)
        println("went on")
    }

    /**
     * Three class loaders, alive together, each with a copy of the door. They open one folder,
     * which works only if all of them reach the same engine.
     */
    private fun loaders(path: String) {
        val urls =
            System.getProperty("java.class.path")
                .split(File.pathSeparator)
                .map { File(it).toURI().toURL() }
                .toTypedArray()
        val open = mutableListOf<Any>()
        repeat(3) {
            val loader = URLClassLoader(urls, ClassLoader.getPlatformClassLoader())
            val kevy = loader.loadClass("io.kevy.Kevy")
            val options = loader.loadClass("io.kevy.KevyOptions")
            val store =
                kevy
                    .getMethod("open", String::class.java, options)
                    .invoke(null, path, options.getConstructor().newInstance())
            check(kevy.getMethod("incr", String::class.java).invoke(store, "n") == it + 1L)
            open += store
        }
        println("loaded ${open.map { it.javaClass }.toSet().size} times")
    }
}
