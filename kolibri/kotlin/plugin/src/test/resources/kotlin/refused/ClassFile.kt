/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package refused

import io.kolibri.AsNativePointer
import io.kolibri.NativeClass
import io.kolibri.NativeKind
import io.kolibri.NativeMethod
import io.kolibri.NativeObject

class First(pointer: Long) : NativeObject(pointer)

open class Second(pointer: Long) : NativeObject(pointer) {
    @NativeMethod external fun same(@AsNativePointer x: First): Int // refused: another overload

    @NativeMethod external fun same(@AsNativePointer x: Second): Int // refused: another overload

    @NativeMethod external fun taken(): Int // refused: another method of this class

    fun taken(x: Long): Int = x.toInt()

    fun inherited(x: Long): Int = x.toInt()
}

class Third(pointer: Long) : Second(pointer) {
    @NativeMethod external fun inherited(): Int // refused: would hide an inherited method
}

@NativeClass(NativeKind.GUARDED) class Fourth : Second(1) // refused: cannot change the kind

@NativeClass class Fifth // refused: no subclass of NativeObject
