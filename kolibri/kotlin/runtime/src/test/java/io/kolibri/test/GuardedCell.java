/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;

/** Guarded, plain natives. */
@NativeClass(NativeKind.GUARDED)
public final class GuardedCell extends NativeObject implements Cell {
    public GuardedCell(int value) {
        super(create(value));
    }

    private static native long create(int value);

    @Override
    public native int slow(int micros);

    private native int both(GuardedCell other, int micros);

    @Override
    public int both(Cell other, int micros) {
        return both((GuardedCell) other, micros);
    }
}
