/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package demo

import java.util.Locale

/** What the questions ask of a record. */
class Package(val name: String, val installedKiB: Long, val dependsOn: Set<String>) {
    companion object {
        /** Of a record's text: "Field: value" lines, continued by lines that begin with a blank. */
        fun of(name: String, record: String): Package {
            var size = 0L
            val depends = HashSet<String>()
            for (line in unfolded(record)) {
                val value = line.substringAfter(':').trim()
                when (line.substringBefore(':').lowercase(Locale.ROOT)) {
                    "installed-size" -> size = value.toLongOrNull() ?: 0
                    "depends",
                    "pre-depends" -> depends += names(value)
                }
            }
            return Package(name, size, depends)
        }

        private fun unfolded(record: String): List<String> =
            record.replace("\n ", " ").replace("\n\t", " ").split('\n')

        /** "libc6 (>= 2.36), perl:any | awk" names libc6, perl and awk. */
        private fun names(relations: String): List<String> =
            relations
                .split(',', '|')
                .map { it.trim().substringBefore(' ').substringBefore('(').substringBefore(':') }
                .filter { it.isNotEmpty() }
    }
}

fun largest(packages: List<Package>): String =
    answer(
        "the ten largest packages",
        packages
            .filter { it.installedKiB > 0 }
            .sortedWith(compareByDescending<Package> { it.installedKiB }.thenBy { it.name })
            .take(10)
            .map { listOf(it.name, megabytes(it.installedKiB)) },
    )

fun dependents(packages: List<Package>): String {
    val wanted = subject(packages)
    val found = packages.filter { wanted in it.dependsOn }.map { it.name }.sorted()
    val rows = found.take(10).map { listOf(it) }
    return answer("what depends on $wanted", rows, "count" to found.size)
}

/** libc6, or in other data what most records depend on, or else the first record. */
fun subject(packages: List<Package>): String {
    if (packages.any { it.name == LIBC }) return LIBC
    val counts = packages.flatMap { it.dependsOn }.groupingBy { it }.eachCount()
    return counts.maxByOrNull { it.value }?.key ?: packages.firstOrNull()?.name ?: LIBC
}

private fun answer(question: String, rows: List<List<String>>, vararg more: Pair<String, Any>) =
    json("step" to "answer", "question" to question, *more, "rows" to rows)

private fun megabytes(kib: Long): String =
    if (kib < 10 * 1024) "%.1f MB".format(Locale.ROOT, kib / 1024.0)
    else "%,d MB".format(Locale.ROOT, kib / 1024)

private const val LIBC = "libc6"
