/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test

import io.kolibri.NativeBinding
import io.kolibri.ReleasedException
import kotlin.concurrent.thread

/** What woven classes must do, run inside their own class loader; each function throws to fail. */
object Scenario {
    @JvmStatic fun load(library: String) = System.load(library)

    private fun same(wanted: Any?, got: Any?) {
        if (wanted != got) throw AssertionError("wanted $wanted, got $got")
    }

    private inline fun <reified T : Throwable> refuses(action: () -> Unit) {
        try {
            action()
        } catch (thrown: Throwable) {
            if (thrown is T) return
            throw AssertionError("wanted ${T::class.java}", thrown)
        }
        throw AssertionError("nothing thrown, wanted ${T::class.java}")
    }

    @JvmStatic
    fun calls() {
        val a = Counter(40)
        val b = Counter(2)
        same(42, a.add(2))
        same(42, a.addFrom(b))
        same(40, a.addMaybe(null))
        same(42, a.addMaybe(b))
        same(380.0, a.leafWide(3, -1, '\u0001', 2.0, -1, 1.0f, true, null))
        same(396.0, a.wide(3, -1, '\u0001', 2.0, -1, 1.0f, true, b))
        val x = Any()
        same(x, a.same(x))
        same(null, a.same(null))
        refuses<UnsupportedOperationException> { a.fail() }
        b.close()
        refuses<ReleasedException> { b.add(1) }
        refuses<ReleasedException> { b.get() }
        refuses<ReleasedException> { a.addFrom(b) }
        refuses<ReleasedException> { a.addMaybe(b) }
        same(0, Counts.touchedDead())
    }

    @JvmStatic
    fun guarded() {
        val a = Guarded(1)
        val b = Guarded(2)
        val closed = Guarded(3)
        val c = Counter(4)
        closed.close()
        same(4021, a.three(b, null, c))
        same(4221, a.three(b, b, c))
        refuses<ReleasedException> { a.three(b, closed, c) }
        refuses<ReleasedException> { a.three(closed, b, c) }
        refuses<ReleasedException> { closed.add(1) }
        refuses<UnsupportedOperationException> { a.fail() }
        same(3, a.peek(b))
        same(8, c.mix(b))
        val caller = thread { same(1, a.slow(-1)) }
        while (Counts.waiting() == 0) Thread.sleep(1)
        a.close()
        same(1, Counts.destroyed())
        same(1, Counts.waiting())
        Counts.letGo()
        caller.join()
        b.close()
        same(3, Counts.destroyed())
        same(0, Counts.touchedDead())
    }

    @JvmStatic
    fun leaves(wantedMode: String) {
        val a = Counter(40)
        same(40, a.get())
        same(43L, a.sum(Counter(2), 1))
        for (each in listOf("get", "sum")) {
            val mode = NativeBinding.mode(Counter::class.java, each)
            val reason = NativeBinding.reason(Counter::class.java, each)
            if (mode.name != wantedMode) throw AssertionError("$each: $reason")
        }
    }

    @JvmStatic
    fun constructs() {
        val a = Constructs<String>(7)
        same(8, a.over(1))
        same(10, a.over("abc"))
        same(12, a.defaulted())
        same(8, a.defaulted(1))
        same(9, a.many("x", "y"))
        same("z", a.generic("z"))
        same(14, a.handle(Counter(2)))
        same(21, a.handle(Guarded(3)))
        same(7, a.size)
        a.size = 9
        same(9, a.size)
        same(8, (a as Named).named(1))
        same(11, a + 2)
        same(14, a.firstOf(intArrayOf(5, 6)))
        same(null, a.boxedToo(null))
        same(3, a.boxedToo(3))
        same(-9, a.nullableToo(null))
        same(9, a.nullableToo(a))
        same(9, a.locked())
        refuses<UnsupportedOperationException> { a.never() }
        val b: Base = Sub(1)
        same(300, b.over(2))
        same(5, b.plain(5))
    }

    @JvmStatic
    fun stackTrace() {
        try {
            Counter(1).fail()
        } catch (thrown: UnsupportedOperationException) {
            val bridge = thrown.stackTrace[1]
            same("Counter.kt", bridge.fileName)
            if (bridge.lineNumber <= 0) throw AssertionError("no line: $bridge")
            return
        }
        throw AssertionError("nothing thrown")
    }
}
