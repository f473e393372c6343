/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.zlib

// region kotlin
import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject
import java.util.zip.DataFormatException

/** A zlib stream: bytes go in, deflated or inflated bytes come out. Close it when it is done. */
@NativeClass(NativeKind.GUARDED)
class ZStream private constructor(inflating: Boolean, level: Int) :
    NativeObject(create(inflating, level)) {

    /** What is ready after [bytes]; with [last] the rest of it, and the stream has ended. */
    @Synchronized
    @Throws(DataFormatException::class)
    @NativeMethod external fun write(bytes: ByteArray, last: Boolean): ByteArray

    /** How many bytes came out so far; from any thread. */
    @get:NativeMethod(leaf = true)
    val written: Long
        @JvmName("written") external get

    companion object {
        /** A stream that deflates; [level] is 0 to 9, or -1 for zlib's choice. */
        @JvmStatic fun deflating(level: Int = -1) = ZStream(false, level)

        @JvmStatic fun inflating() = ZStream(true, 0)

        @JvmStatic private external fun create(inflating: Boolean, level: Int): Long
    }
}
// end region
