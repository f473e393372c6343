/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import com.sun.jna.Native;

/** JNA's direct mapping, its fastest form. */
final class Jna {
    static {
        Native.register(Jna.class, System.getProperty("bench.library"));
    }

    private Jna() {}

    static native int cell_get(long self);

    static native int cell_sum(long self, long other);

    static native int cell_add(int a, int b);
}
