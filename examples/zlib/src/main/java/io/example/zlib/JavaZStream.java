/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.zlib;

// region java
import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeMethod;
import io.kolibri.NativeObject;
import java.util.zip.DataFormatException;

/** The same in Java. */
@NativeClass(NativeKind.GUARDED)
public final class JavaZStream extends NativeObject {
    private JavaZStream(boolean inflating, int level) {
        super(create(inflating, level));
    }

    public static JavaZStream deflating(int level) {
        return new JavaZStream(false, level);
    }

    public static JavaZStream inflating() {
        return new JavaZStream(true, 0);
    }

    @NativeMethod
    public synchronized native byte[] write(byte[] bytes, boolean last) throws DataFormatException;

    @NativeMethod(leaf = true)
    public native long written();

    private static native long create(boolean inflating, int level);
}
// end region
