/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;
import io.kolibri.Owner;

/** An owner's, as the weaver writes it; may be freed anywhere once its owner is gone. */
@NativeClass(value = NativeKind.OWNER, freeAnywhere = true)
public final class WovenOwnedCell extends NativeObject implements Cell {
    public WovenOwnedCell(int value, Owner owner) {
        super(create(value), owner);
    }

    private static native long create(int value);

    @Override
    public int slow(int micros) {
        int result = slow(owned(this), micros);
        fence(this);
        return result;
    }

    private static native int slow(long self, int micros);

    @Override
    public int both(Cell other, int micros) {
        WovenOwnedCell cell = (WovenOwnedCell) other;
        int result = both(owned(this), owned(cell), micros);
        fence(this);
        fence(cell);
        return result;
    }

    private static native int both(long self, long other, int micros);
}
