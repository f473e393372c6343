/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.tally

// region kotlin
import io.kolibri.AsNativePointer
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

/** Counts numbers and knows their mean. */
class Tally : NativeObject(create()) {
    @NativeMethod external fun add(x: Double)

    @NativeMethod external fun merge(@AsNativePointer other: Tally)

    @get:NativeMethod(leaf = true)
    val count: Int
        @JvmName("count") external get

    @NativeMethod(leaf = true) external fun mean(): Double

    private companion object {
        @JvmStatic external fun create(): Long
    }
}
// end region
