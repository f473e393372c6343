/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeObject;
import java.nio.ByteBuffer;

/** A native object with a field that Java reads without a call. */
public final class Gauge extends NativeObject {
    private final ByteBuffer shown = publish(8);

    public Gauge() {
        super(create());
        show(shown);
    }

    private static native long create();

    private native void show(ByteBuffer memory);

    public native void add(int by);

    public int value() {
        return shown.getInt(0);
    }

    ByteBuffer memory() {
        return shown.asReadOnlyBuffer().order(shown.order());
    }
}
