/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package test;

import io.kolibri.AsNativePointer;
import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;
import io.kolibri.Owner;

@NativeClass(value = NativeKind.OWNER, freeAnywhere = true)
public class Owned extends NativeObject {
    public Owned(Owner owner, int start) {
        super(create(start), owner);
    }

    private static native long create(int start);

    @NativeMethod
    public native int add(int by);

    @NativeMethod
    public native int join(@AsNativePointer(nullable = true) Owned other);

    @NativeMethod
    public native int any(@AsNativePointer NativeObject other);

    @NativeMethod(leaf = true)
    public native int get();
}
