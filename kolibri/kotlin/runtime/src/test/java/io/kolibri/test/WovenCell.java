/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeObject;

/** Shared, as the weaver writes it. */
public final class WovenCell extends NativeObject implements Cell {
    public WovenCell(int value) {
        super(create(value));
    }

    private static native long create(int value);

    @Override
    public int slow(int micros) {
        int result = slow(ptr(this), micros);
        fence(this);
        return result;
    }

    private static native int slow(long self, int micros);

    @Override
    public int both(Cell other, int micros) {
        WovenCell cell = (WovenCell) other;
        int result = both(ptr(this), ptr(cell), micros);
        fence(this);
        fence(cell);
        return result;
    }

    private static native int both(long self, long other, int micros);
}
