/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The Kotlin quickstart that README quotes; a test of doors/jvm runs it. */
// region quickstart
import io.kevy.Kevy
import kotlin.time.Duration.Companion.minutes

fun main() {
    Kevy.open("visits").use { kevy -> // made if it is not there; throws why it cannot be
        kevy.set("greeting", "hello", ttl = 1.minutes)
        println(kevy.getText("greeting"))
        println("${kevy.incr("visits")} visits") // a kill loses nothing

        kevy.subscribe("news").use { news ->
            kevy.publish("news", "kevy ${Kevy.version()} is up")
            println("news: ${news.next().text}")
        }
    }
}
// end region
