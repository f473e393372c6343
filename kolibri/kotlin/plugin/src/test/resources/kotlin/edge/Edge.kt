/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package edge

import io.kolibri.AsNativePointer
import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

typealias Alias = Outer.Nested

class Outer {
    @NativeClass(NativeKind.GUARDED)
    open class Nested(pointer: Long) : NativeObject(pointer) {
        @NativeMethod external fun aliased(@AsNativePointer x: Alias): Int
    }

    inner class Deep(pointer: Long) : Nested(pointer) {
        @NativeMethod external fun wide(
            a: Long, @AsNativePointer b: Deep, c: Double, @AsNativePointer d: Shared?,
        ): Double

        @NativeMethod external fun nothing(@AsNativePointer x: NativeObject)
    }
}

class Shared(pointer: Long) : NativeObject(pointer) {
    @NativeMethod
    external fun <T> bounded(@AsNativePointer x: T): Long where T : Comparable<T>, T : Alias
}

class Generic<T : Outer.Nested>(pointer: Long) : NativeObject(pointer) {
    @NativeMethod external fun both(@AsNativePointer x: T, @AsNativePointer y: T?): Boolean
}

abstract class Shape<T>(pointer: Long) : NativeObject(pointer) {
    abstract fun same(x: T): Any
}

/** Its override has a bridge, to which the compiler copies the annotation. */
class Square(pointer: Long) : Shape<Int>(pointer) {
    @NativeMethod external override fun same(x: Int): String
}

fun local(): Class<*> {
    class Local(pointer: Long) : NativeObject(pointer) {
        @NativeMethod external fun own(): Int
    }
    return Local::class.java
}

class WithCompanion {
    companion object : NativeObject(1) {
        @NativeMethod external fun ofCompanion(): Int
    }
}
