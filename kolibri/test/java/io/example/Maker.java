/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;

/** A guarded native object that C makes, by a constructor that fails at different moments. */
@NativeClass(NativeKind.GUARDED)
public final class Maker extends NativeObject {
    Maker(long pointer, int failing) {
        super(check(pointer, failing));
        if (failing == 2) {
            throw new IllegalArgumentException("after taking it");
        }
    }

    private static long check(long pointer, int failing) {
        if (failing == 1) {
            throw new IllegalArgumentException("before taking it");
        }
        return pointer;
    }
}
