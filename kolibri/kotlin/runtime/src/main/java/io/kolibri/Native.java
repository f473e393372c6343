/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * The one native method of this package, the same code in every library that links Kolibri. The
 * first library of the process registers it, under this class's monitor, and sets the flag.
 */
@CalledFromNative
final class Native {
    @CalledFromNative static boolean registered;

    private Native() {}

    /** Calls a C function of one pointer. */
    static native void call(long function, long argument);

    @CalledFromNative
    static void bind(Class<?> cls, long destroyer, long ender) {
        NativeType.bind(cls, destroyer, ender);
    }

    @CalledFromNative
    static void leaf(Class<?> cls, String name, String descriptor, long address) {
        NativeBinding.register(cls, name, descriptor, address);
    }
}
