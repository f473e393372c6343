/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;
import io.kolibri.Owner;

/** An owner's, plain natives. */
@NativeClass(NativeKind.OWNER)
public final class OwnedCell extends NativeObject implements Cell {
    public OwnedCell(int value, Owner owner) {
        super(create(value), owner);
    }

    private static native long create(int value);

    @Override
    public native int slow(int micros);

    private native int both(OwnedCell other, int micros);

    @Override
    public int both(Cell other, int micros) {
        return both((OwnedCell) other, micros);
    }
}
