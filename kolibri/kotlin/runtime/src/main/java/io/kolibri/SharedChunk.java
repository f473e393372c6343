/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A chunk of the block that Java leases, and what is kept with it: the memory of its writer, and
 * the stack of frames that share it, each in the rest that the one below left.
 */
final class SharedChunk {
    final int index;
    final int start;
    final int end;
    final TaggedStack stack = new TaggedStack();
    final TaggedSpace space = new TaggedSpace(stack);
    final AtomicReference<BinaryBuffer> top = new AtomicReference<>();

    SharedChunk(int index, int start, int end) {
        this.index = index;
        this.start = start;
        this.end = end;
    }

    /** Takes closed frames off; true if this call took the last one. */
    boolean pop() {
        BinaryBuffer frame = top.get();
        while (frame != null && frame.isClosed()) {
            if (top.compareAndSet(frame, frame.below) && frame.below == null) {
                return true;
            }
            frame = top.get();
        }
        return false;
    }
}
