/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Kotlin half of the demo: opens the store that Node has loaded, reads everything back, and
 * writes one JSON object a line. The form of each is in examples/demo/README.md.
 */
package demo

import io.kevy.Kevy
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.minutes

fun main(arguments: Array<String>) {
    if (arguments.size != 1) {
        System.err.println("usage: run STORE")
        exitProcess(2)
    }
    Kevy.open(arguments[0]).use { kevy ->
        val (digest, packages) = readEverything(kevy)
        println(digest)
        println(verbs(kevy, packages))
        println(largest(packages))
        println(dependents(packages))
    }
    println(timing())
}

/** Reads every record: the line with its digest, and what the questions are about. */
private fun readEverything(kevy: Kevy): Pair<String, List<Package>> {
    val start = System.nanoTime()
    val keys = kevy.scanBytes().toMutableList()
    keys.sortWith(java.util.Arrays::compareUnsigned)
    val digest = Digest()
    val packages = ArrayList<Package>(keys.size)
    for (key in keys) {
        val value = kevy[key] ?: continue // its time to live has ended since
        digest.add(key, value)
        packages += Package.of(String(key), String(value))
    }
    val millis = (System.nanoTime() - start) / 1_000_000
    return digest.line(millis) to packages
}

/** A few commands, on keys of our own that are removed again. */
private fun verbs(kevy: Kevy, packages: List<Package>): String {
    val known = subject(packages)
    val counter = "demo:kotlin:counter"
    val note = "demo:kotlin:note"
    val lines = mutableListOf<String>()
    fun show(said: String, answer: Any?) {
        lines += "$said → $answer"
    }
    show("PING", kevy.cmd("PING"))
    show("DBSIZE", kevy.size())
    show("STRLEN $known", kevy.strlen(known))
    show("TTL $known", kevy.cmd("TTL", known))
    show("INCRBY $counter 41", kevy.incr(counter, 41))
    show("INCR $counter", kevy.incr(counter))
    kevy.set(note, "remember ", 1.minutes)
    show("APPEND $note milk", kevy.append(note, "milk"))
    show("GET $note", kevy.getText(note))
    show("TTL $note", kevy.cmd("TTL", note))
    show("EXISTS $counter $note", kevy.exists(counter, note))
    show("DEL $counter $note", kevy.del(counter, note))
    return json("step" to "verbs", "lines" to lines)
}
