/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Many small operations in one crossing: commands are collected here, and one native call hands the
 * buffer to C, which runs them (kolibri/commands.h has the layout and the C side). The other way
 * round C fills the buffer and {@link #next} reads it.
 *
 * <p>Arguments are longs; a double goes as its bits. One thread at a time.
 */
public final class CommandBuffer {
    private final ByteBuffer bytes;
    private int used;
    private int at;
    private int nextAt;

    /** A buffer of so many 8-byte slots; a command takes one, and one an argument. */
    public CommandBuffer(int slots) {
        bytes = ByteBuffer.allocateDirect(Math.multiplyExact(slots, 8));
        bytes.order(ByteOrder.nativeOrder());
    }

    /** The memory, for the native call. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /** How many slots are in use: the native call's size. */
    public int slots() {
        return used >>> 3;
    }

    /** Forgets everything. */
    public void clear() {
        used = 0;
        at = 0;
        nextAt = 0;
    }

    /** Adds a command; false if it does not fit, so that the caller can flush and add it again. */
    public boolean add(int operation) {
        return begin(operation, 0);
    }

    public boolean add(int operation, long a) {
        if (!begin(operation, 1)) {
            return false;
        }
        bytes.putLong(used - 8, a);
        return true;
    }

    public boolean add(int operation, long a, long b) {
        if (!begin(operation, 2)) {
            return false;
        }
        bytes.putLong(used - 16, a);
        bytes.putLong(used - 8, b);
        return true;
    }

    public boolean add(int operation, long a, long b, long c) {
        if (!begin(operation, 3)) {
            return false;
        }
        bytes.putLong(used - 24, a);
        bytes.putLong(used - 16, b);
        bytes.putLong(used - 8, c);
        return true;
    }

    public boolean add(int operation, long[] arguments) {
        if (!begin(operation, arguments.length)) {
            return false;
        }
        int start = used - arguments.length * 8;
        for (int i = 0; i < arguments.length; i++) {
            bytes.putLong(start + i * 8, arguments[i]);
        }
        return true;
    }

    /** Starts reading: C has filled so many slots. */
    public void filled(int slots) {
        if (slots < 0 || slots > bytes.capacity() >>> 3) {
            throw new IllegalArgumentException("slots: " + slots);
        }
        used = slots * 8;
        at = 0;
        nextAt = 0;
    }

    /** Goes to the next command; false behind the last one. A command that is cut off throws. */
    public boolean next() {
        if (nextAt == used) {
            return false;
        }
        at = nextAt;
        long end = at + 8L + count() * 8L;
        if (count() < 0 || end > used) {
            throw new IllegalStateException("a command is cut off at slot " + (at >>> 3));
        }
        nextAt = (int) end;
        return true;
    }

    /** The operation of the command that {@link #next} went to. */
    public int operation() {
        return (int) bytes.getLong(at);
    }

    /** How many arguments it has. */
    public int count() {
        return (int) (bytes.getLong(at) >>> 32);
    }

    /** One of its arguments. */
    public long argument(int index) {
        if (index < 0 || index >= count()) {
            throw new IndexOutOfBoundsException("argument " + index + " of " + count());
        }
        return bytes.getLong(at + 8 + index * 8);
    }

    public double argumentAsDouble(int index) {
        return Double.longBitsToDouble(argument(index));
    }

    private boolean begin(int operation, int count) {
        int size = 8 + count * 8;
        if (size > bytes.capacity() - used) {
            return false;
        }
        bytes.putLong(used, (long) count << 32 | operation & 0xFFFFFFFFL);
        used += size;
        return true;
    }
}
