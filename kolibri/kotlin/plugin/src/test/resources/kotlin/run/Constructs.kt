/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test

import io.kolibri.AsNativePointer
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

interface Named {
    fun named(x: Int): Int
}

abstract class Base(pointer: Long) : NativeObject(pointer) {
    abstract fun over(x: Int): Int

    open fun plain(x: Int): Int = x
}

/** One member for each construct that works. */
open class Constructs<E>(start: Int) : Base(create(start)), Named {
    @NativeMethod external override fun over(x: Int): Int

    @NativeMethod external fun over(x: String): Int

    @NativeMethod external fun defaulted(x: Int = 5): Int

    @NativeMethod external fun many(vararg x: String): Int

    @NativeMethod external fun <T> generic(x: T): T

    @NativeMethod external fun <T : NativeObject> handle(@AsNativePointer x: T): Int

    var size: Int
        @NativeMethod external get
        @NativeMethod external set

    @NativeMethod external override fun named(x: Int): Int

    @NativeMethod external operator fun plus(x: Int): Int

    @NativeMethod
    @JvmName("first")
    internal external fun firstOf(x: IntArray): Int

    @NativeMethod protected external fun boxed(x: Int?): Int?

    fun boxedToo(x: Int?): Int? = boxed(x)

    @NativeMethod private external fun nullable(@AsNativePointer x: Constructs<E>?): Int

    fun nullableToo(x: Constructs<E>?): Int = nullable(x)

    @NativeMethod @Synchronized external fun locked(): Int

    @NativeMethod @Throws(UnsupportedOperationException::class) external fun never(): Nothing

    private companion object {
        @JvmStatic external fun create(start: Int): Long
    }
}

class Sub(start: Int) : Constructs<String>(start) {
    override fun over(x: Int): Int = super.over(x) * 100
}
