/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test;

import io.kolibri.AsNativePointer;
import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;

@NativeClass(NativeKind.GUARDED)
public class Guarded extends NativeObject {
    public Guarded(int start) {
        super(create(start));
    }

    private static native long create(int start);

    @NativeMethod
    public native int add(int by);

    @NativeMethod
    public native int three(
            @AsNativePointer Guarded a,
            @AsNativePointer(nullable = true) Guarded b,
            @AsNativePointer Counter c);

    @NativeMethod
    public native int slow(int millis);

    @NativeMethod
    public native void fail();

    @NativeMethod(leaf = true)
    public native int peek(@AsNativePointer Guarded other);
}
