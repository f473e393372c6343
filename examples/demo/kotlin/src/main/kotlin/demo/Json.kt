/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package demo

/** One JSON object of text, numbers, lists and objects (maps), in the given order. */
fun json(vararg members: Pair<String, Any>): String = jsonOf(members.toMap())

private fun jsonOf(value: Any?): String =
    when (value) {
        is Number -> value.toString()
        is List<*> -> value.joinToString(",", "[", "]") { jsonOf(it) }
        is Map<*, *> ->
            value.entries.joinToString(",", "{", "}") { (name, of) ->
                "${quoted(name.toString())}:${jsonOf(of)}"
            }
        else -> quoted(value.toString())
    }

private fun quoted(text: String): String =
    text.asIterable().joinToString("", "\"", "\"") { c ->
        when {
            c == '"' || c == '\\' -> "\\$c"
            c < ' ' || c.isSurrogate() -> "\\u%04x".format(c.code)
            else -> c.toString()
        }
    }
