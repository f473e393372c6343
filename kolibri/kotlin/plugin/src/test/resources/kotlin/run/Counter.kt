/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test

import io.kolibri.AsNativePointer
import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

open class Counter(start: Int) : NativeObject(create(start)) {
    @NativeMethod external fun add(by: Int): Int

    @NativeMethod external fun addFrom(@AsNativePointer other: Counter): Int

    @NativeMethod external fun addMaybe(@AsNativePointer other: Counter?): Int

    @NativeMethod
    external fun wide(
        a: Byte, b: Long, c: Char, d: Double, e: Short, f: Float, g: Boolean,
        @AsNativePointer h: Counter,
    ): Double

    @NativeMethod external fun same(x: Any?): Any?

    @NativeMethod external fun slow(millis: Int): Int

    @NativeMethod external fun fail()

    @NativeMethod external fun mix(@AsNativePointer other: Guarded): Int

    @NativeMethod(leaf = true) external fun get(): Int

    @NativeMethod(leaf = true) external fun sum(@AsNativePointer other: Counter, more: Long): Long

    @NativeMethod(leaf = true)
    external fun leafWide(
        a: Byte, b: Long, c: Char, d: Double, e: Short, f: Float, g: Boolean,
        @AsNativePointer h: Counter?,
    ): Double

    private companion object {
        @JvmStatic external fun create(start: Int): Long
    }
}

@NativeClass(NativeKind.GUARDED)
class Guarded(start: Int) : NativeObject(create(start)) {
    @NativeMethod external fun add(by: Int): Int

    @NativeMethod
    external fun three(
        @AsNativePointer a: Guarded,
        @AsNativePointer b: Guarded?,
        @AsNativePointer c: Counter,
    ): Int

    @NativeMethod external fun slow(millis: Int): Int

    @NativeMethod external fun fail()

    @NativeMethod(leaf = true) external fun peek(@AsNativePointer other: Guarded): Int

    private companion object {
        @JvmStatic external fun create(start: Int): Long
    }
}

object Counts {
    @JvmStatic external fun touchedDead(): Int

    @JvmStatic external fun destroyed(): Int

    /** How many calls of slow(-1) are inside and wait for [letGo]. */
    @JvmStatic external fun waiting(): Int

    @JvmStatic external fun letGo()

    /** The native rows of Counter and Guarded, one a line. */
    @JvmStatic external fun rows(): String
}
