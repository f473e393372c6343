/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package refused

import io.kolibri.AsNativePointer
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

@NativeMethod external fun topLevel(): Int // refused: @NativeMethod needs

@NativeMethod external fun Handle.topLevelExtension(): Int // refused: @NativeMethod needs

class Stranger {
    @NativeMethod external fun member(): Int // refused: @NativeMethod needs a
}

@JvmInline
value class Boxed(val value: Long) {
    @NativeMethod external fun ofValueClass(): Int // refused: @NativeMethod needs
}

open class Handle(pointer: Long) : NativeObject(pointer) {
    @NativeMethod suspend external fun suspended(): Int // refused: a suspend function

    @NativeMethod external fun String.extension(): Int // refused: cannot be an extension

    @NativeMethod fun withBody(): Int = 1 // refused: has a body already

    @NativeMethod internal external fun internalOne(): Int // refused: give it one with @JvmName

    @NativeMethod external fun boxed(x: Boxed): Int // refused: give it one with @JvmName

    @NativeMethod external fun unsigned(x: UInt): Int // refused: give it one with @JvmName

    @NativeMethod external fun text(@AsNativePointer x: String): Int // refused: a subclass of Nat

    @NativeMethod external fun many(@AsNativePointer vararg x: Handle): Int // refused: one by one

    @NativeMethod external fun list(@AsNativePointer x: Array<Handle>): Int // refused: one by one

    external fun unmarked(@AsNativePointer x: Handle): Int // refused: an effect only on parameters

    fun ordinary(@AsNativePointer x: Handle): Int = x.hashCode() // refused: an effect only on par

    @NativeMethod(leaf = true) external fun leafText(x: String): Int // refused: a leaf takes only

    @NativeMethod(leaf = true) external fun leafHandle(x: Handle): Int // refused: a leaf takes only

    @NativeMethod(leaf = true) external fun leafResult(): String // refused: a leaf returns

    @NativeMethod(leaf = true) @Synchronized external fun locked(): Int // refused: may not block

    @NativeMethod external fun nine( // refused: at most 8 parameters
        a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int,
    ): Int

    companion object : NativeObject(1L) {
        @JvmStatic @NativeMethod external fun inCompanion(): Int // refused: a static native has
    }
}

abstract class Abstract(pointer: Long) : NativeObject(pointer) {
    @NativeMethod abstract fun later(): Int // refused: is not inherited
}
