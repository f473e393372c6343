/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test;

import io.kolibri.AsNativePointer;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;

public class Counter extends NativeObject {
    public Counter(int start) {
        super(create(start));
    }

    private static native long create(int start);

    @NativeMethod
    public native int add(int by);

    @NativeMethod
    public native int addFrom(@AsNativePointer Counter other);

    @NativeMethod
    public native int addMaybe(@AsNativePointer(nullable = true) Counter other);

    @NativeMethod
    public native double wide(
            byte a, long b, char c, double d, short e, float f, boolean g,
            @AsNativePointer Counter h);

    @NativeMethod
    public native Object same(Object x);

    @NativeMethod
    public native int slow(int millis);

    @NativeMethod
    public native void fail();

    @NativeMethod
    public native int mix(@AsNativePointer Guarded other);

    @NativeMethod(leaf = true)
    public native int get();

    @NativeMethod(leaf = true)
    public native long sum(@AsNativePointer Counter other, long more);

    @NativeMethod(leaf = true)
    public native double leafWide(
            byte a, long b, char c, double d, short e, float f, boolean g,
            @AsNativePointer(nullable = true) Counter h);
}
