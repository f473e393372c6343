/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.tally;

// region java
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;

/** The same in Java. */
public final class JavaTally extends NativeObject {
    public JavaTally() {
        super(create());
    }

    private static native long create();

    @NativeMethod
    public native void add(double x);

    @NativeMethod(leaf = true)
    public native double mean();
}
// end region
