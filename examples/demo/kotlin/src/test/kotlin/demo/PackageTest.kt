/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package demo

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** What the demo reads in a record, and what it writes. */
class PackageTest {
    private val record =
        """
        Package: demo
        Installed-Size: 20480
        Pre-Depends: libc6 (>= 2.36)
        Depends: perl:any, awk | mawk(>= 1),
         zlib1g,
        ${"\t"}libstdc++6
        Description: Depends: nothing
        """
            .trimIndent() + "\n"

    @Test
    fun `relations name packages`() {
        val one = Package.of("demo", record)
        assertEquals(20480, one.installedKiB)
        assertEquals(setOf("libc6", "perl", "awk", "mawk", "zlib1g", "libstdc++6"), one.dependsOn)
        assertEquals(0, Package.of("x", "name: x\ninstalled-size: big\n").installedKiB)
    }

    @Test
    fun `answers are JSON`() {
        val demo = Package.of("demo", record)
        val libc = Package("libc6", 1536, emptySet())
        assertEquals(
            """{"step":"answer","question":"the ten largest packages",""" +
                """"rows":[["demo","20 MB"],["libc6","1.5 MB"]]}""",
            largest(listOf(libc, demo, Package("none", 0, emptySet()))),
        )
        assertEquals(
            """{"step":"answer","question":"what depends on libc6","count":1,"rows":[["demo"]]}""",
            dependents(listOf(libc, demo)),
        )
        assertEquals("awk", subject(listOf(Package("a", 0, setOf("awk")))))
        val text = json("a" to "\"\\\n\uD83D", "b" to 1.5)
        assertEquals("""{"a":"\"\\\u000a\ud83d","b":1.5}""", text)
    }

    @Test
    fun `the digest covers lengths, keys and values`() {
        fun of(vararg pairs: Pair<String, String>): String {
            val digest = Digest()
            for ((key, value) in pairs) digest.add(key.toByteArray(), value.toByteArray())
            return digest.line(0)
        }
        val empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        val line = """{"step":"digest","records":0,"bytes":0,"sha256":"$empty","ms":0}"""
        assertEquals(line, of())
        val cut = listOf("a" to "bc", "ab" to "c", "" to "abc").map { of(it) }
        val abc = cut + of("a" to "b", "c" to "")
        assertEquals(abc, abc.distinct())
    }
}
