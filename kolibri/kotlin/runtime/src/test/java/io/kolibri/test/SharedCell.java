/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeObject;

/** Shared, plain natives. */
public final class SharedCell extends NativeObject implements Cell {
    public SharedCell(int value) {
        super(create(value));
    }

    private static native long create(int value);

    @Override
    public native int slow(int micros);

    private native int both(SharedCell other, int micros);

    @Override
    public int both(Cell other, int micros) {
        return both((SharedCell) other, micros);
    }
}
