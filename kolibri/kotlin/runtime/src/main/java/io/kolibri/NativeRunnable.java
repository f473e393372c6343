/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/** A C callback as a Runnable; only C makes one. Running a closed one throws ReleasedException. */
@CalledFromNative
@NativeClass(NativeKind.GUARDED)
public final class NativeRunnable extends NativeObject implements Runnable {
    private final long runner;

    @CalledFromNative
    private NativeRunnable(long pointer, long runner) {
        super(pointer);
        this.runner = runner;
    }

    @Override
    public void run() {
        long self = enter(this);
        try {
            Native.call(runner, self);
        } finally {
            leave(this);
        }
    }
}
