/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.AsNativePointer;
import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;

/** The same, guarded: its memory goes at close, when the last call has left. */
@NativeClass(NativeKind.GUARDED)
public final class Guarded extends NativeObject {
    public Guarded() {
        super(create());
    }

    private static native long create();

    @NativeMethod
    public native int get();

    @NativeMethod
    public native int sum(@AsNativePointer Guarded other);

    @NativeMethod(leaf = true)
    public native int leaf();
}
