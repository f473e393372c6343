/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/**
 * Many small operations in one crossing: commands are collected here, and one native call hands the
 * buffer to C, which runs them (kolibri/commands.h has the layout and the C side). The other way
 * round C fills the buffer and {@link #next} reads it.
 *
 * <p>Arguments are longs; a double goes as its bits. One thread at a time.
 */
public final class CommandBuffer {
    private final ByteBuffer bytes;
    private final LongBuffer slots;
    private final int slotsMax;

    /* In slots: the end, the arguments of the command being read, and the command behind it. */
    private int used;
    private int at;
    private int nextAt;
    private long header;

    /** A buffer of so many 8-byte slots; a command takes one, and one an argument. */
    public CommandBuffer(int slots) {
        this(ByteBuffer.allocateDirect(Math.multiplyExact(slots, 8)));
    }

    /**
     * Commands in direct memory that C knows already, as that of {@link NativeObject#publish}: then
     * the native call needs no more than the number of slots, and can be a leaf.
     */
    public CommandBuffer(ByteBuffer memory) {
        if (!memory.isDirect()) {
            throw new IllegalArgumentException("C sees direct memory only");
        }
        bytes = memory.duplicate();
        ((Buffer) bytes).clear();
        bytes.order(ByteOrder.nativeOrder());
        slots = bytes.asLongBuffer();
        slotsMax = bytes.capacity() >>> 3;
    }

    /** The memory, for the native call. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /** How many slots are in use: the native call's size. */
    public int slots() {
        return used;
    }

    /** Forgets everything. */
    public void clear() {
        reset(0);
    }

    /** Adds a command; false if it does not fit, so that the caller can flush and add it again. */
    public boolean add(int operation) {
        int start = used;
        if (slotsMax - start < 1) {
            return false;
        }
        slots.put(start, headerOf(operation, 0));
        used = start + 1;
        return true;
    }

    public boolean add(int operation, long a) {
        int start = used;
        if (slotsMax - start < 2) {
            return false;
        }
        slots.put(start, headerOf(operation, 1));
        slots.put(start + 1, a);
        used = start + 2;
        return true;
    }

    public boolean add(int operation, long a, long b) {
        int start = used;
        if (slotsMax - start < 3) {
            return false;
        }
        slots.put(start, headerOf(operation, 2));
        slots.put(start + 1, a);
        slots.put(start + 2, b);
        used = start + 3;
        return true;
    }

    public boolean add(int operation, long a, long b, long c) {
        int start = used;
        if (slotsMax - start < 4) {
            return false;
        }
        slots.put(start, headerOf(operation, 3));
        slots.put(start + 1, a);
        slots.put(start + 2, b);
        slots.put(start + 3, c);
        used = start + 4;
        return true;
    }

    public boolean add(int operation, long[] arguments) {
        int start = used;
        if (slotsMax - start - 1 < arguments.length) {
            return false;
        }
        slots.put(start, headerOf(operation, arguments.length));
        for (int i = 0; i < arguments.length; i++) {
            slots.put(start + 1 + i, arguments[i]);
        }
        used = start + 1 + arguments.length;
        return true;
    }

    /** Starts reading: C has filled so many slots. */
    public void filled(int slots) {
        if (slots < 0 || slots > slotsMax) {
            throw new IllegalArgumentException("slots: " + slots);
        }
        reset(slots);
    }

    /** Goes to the next command; false behind the last one. A command that is cut off throws. */
    public boolean next() {
        int start = nextAt;
        if (start == used) {
            return false;
        }
        long found = slots.get(start);
        int count = (int) (found >>> 32);
        if (count < 0 || count > used - start - 1) {
            throw new IllegalStateException("a command is cut off at slot " + start);
        }
        header = found;
        at = start + 1;
        /* A branch, so that where the next command begins is predicted, not waited for. */
        nextAt = count == 1 ? start + 2 : start + 1 + count;
        return true;
    }

    /** The operation of the command that {@link #next} went to. */
    public int operation() {
        return (int) header;
    }

    /** How many arguments it has. */
    public int count() {
        return (int) (header >>> 32);
    }

    /** One of its arguments. */
    public long argument(int index) {
        if (index < 0 || index >= count()) {
            throw new IndexOutOfBoundsException("argument " + index + " of " + count());
        }
        return slots.get(at + index);
    }

    public double argumentAsDouble(int index) {
        return Double.longBitsToDouble(argument(index));
    }

    private void reset(int slots) {
        used = slots;
        at = 0;
        nextAt = 0;
        header = 0;
    }

    private static long headerOf(int operation, int count) {
        return (long) count << 32 | operation & 0xFFFFFFFFL;
    }
}
