/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import io.kolibri.AsNativePointer;
import io.kolibri.CommandBuffer;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;

/** A number in C, as a shared native object. */
public final class Cell extends NativeObject {
    private final IntBuffer published;
    private final CommandBuffer commands = new CommandBuffer(publish(128 * 8));

    public Cell() {
        super(create());
        ByteBuffer memory = publish(4);
        publishTo(memory);
        published = memory.asIntBuffer();
        commandsAt(commands.bytes());
    }

    static native long create();

    static native int add(int a, int b);

    @NativeMethod
    public native int get();

    @NativeMethod
    public native int sum(@AsNativePointer Cell other);

    @NativeMethod(leaf = true)
    public native int leaf();

    @NativeMethod(leaf = true)
    public native int leafSum(@AsNativePointer Cell other);

    @NativeMethod
    private native void commandsAt(Object buffer);

    @NativeMethod(leaf = true)
    private native int run(int slots);

    @NativeMethod
    private native void publishTo(Object buffer);

    /** Without a call. */
    public int field() {
        return published.get(0);
    }

    /** Sets the value so many times in one crossing. */
    public int set(int times) {
        CommandBuffer buffer = commands;
        buffer.clear();
        for (int i = 0; i < times; i++) {
            buffer.add(0, i);
        }
        return run(buffer.slots());
    }
}
