/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.NativeClass;
import io.kolibri.NativeKind;
import io.kolibri.NativeObject;

/** Guarded, as the weaver writes it. */
@NativeClass(NativeKind.GUARDED)
public final class WovenGuardedCell extends NativeObject implements Cell {
    public WovenGuardedCell(int value) {
        super(create(value));
    }

    private static native long create(int value);

    @Override
    public int slow(int micros) {
        long self = enter(this);
        try {
            return slow(self, micros);
        } finally {
            leave(this);
        }
    }

    private static native int slow(long self, int micros);

    @Override
    public int both(Cell other, int micros) {
        WovenGuardedCell cell = (WovenGuardedCell) other;
        long self = enter(this);
        try {
            long second = enter(cell);
            try {
                return both(self, second, micros);
            } finally {
                leave(cell);
            }
        } finally {
            leave(this);
        }
    }

    private static native int both(long self, long other, int micros);
}
