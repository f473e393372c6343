/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.AsNativePointer;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;
import java.nio.ByteBuffer;

/** A number in C, as a shared native object. */
public final class Cell extends NativeObject {
    private final ByteBuffer published = publish(4);

    public Cell() {
        super(create());
        publishTo(published);
    }

    static native long create();

    @NativeMethod
    public native int get();

    @NativeMethod
    public native int sum(@AsNativePointer Cell other);

    @NativeMethod(leaf = true)
    public native int leaf();

    @NativeMethod(leaf = true)
    public native int leafSum(@AsNativePointer Cell other);

    @NativeMethod
    public native void run(Object commands, int slots);

    @NativeMethod
    private native void publishTo(Object buffer);

    /** Without a call. */
    public int field() {
        return published.getInt(0);
    }
}
