/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

/**
 * Objects that C knows by an int. Reading takes no lock; a handle carries a generation, so one that
 * was dropped is not mistaken for the objects that came after it.
 *
 * <p>A handle is an index of 20 bits and, above it, a generation of 12, which is never 0: the same
 * handle comes again when its index was used 4,095 times more.
 */
public final class Handles {
    private static final int INDEX_BITS = 20;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_MAX = (1 << 12) - 1;

    private static final Object LOCK = new Object();
    private static volatile Entry[] table = new Entry[64];
    private static int[] generations = new int[64];
    private static int[] free = new int[64];
    private static int freeCount;
    private static int used;

    /** Immutable, so that a reader sees all of it or none. */
    private static final class Entry {
        final int handle;
        final Object object;

        Entry(int handle, Object object) {
            this.handle = handle;
            this.object = object;
        }
    }

    private Handles() {}

    /** A handle of an object, which it keeps reachable until {@link #remove}. Never 0. */
    @CalledFromNative
    public static int add(Object object) {
        if (object == null) {
            throw new NullPointerException("a handle of null");
        }
        synchronized (LOCK) {
            int index = takeIndex();
            generations[index] = generations[index] % GENERATION_MAX + 1;
            int handle = generations[index] << INDEX_BITS | index;
            Entry[] changed = table;
            changed[index] = new Entry(handle, object);
            table = changed;
            return handle;
        }
    }

    /** The object of a handle; null if it was removed, or never was one. */
    @CalledFromNative
    public static Object get(int handle) {
        Entry[] entries = table;
        int index = handle & INDEX_MASK;
        Entry entry = index < entries.length ? entries[index] : null;
        return entry != null && entry.handle == handle ? entry.object : null;
    }

    /** Lets go of an object; false if the handle has none. */
    @CalledFromNative
    public static boolean remove(int handle) {
        synchronized (LOCK) {
            if (get(handle) == null) {
                return false;
            }
            int index = handle & INDEX_MASK;
            table[index] = null;
            free[freeCount++] = index;
            return true;
        }
    }

    /** How many handles there are. */
    public static int count() {
        synchronized (LOCK) {
            return used - freeCount;
        }
    }

    private static int takeIndex() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        if (used > INDEX_MASK) {
            throw new IllegalStateException("no handle is left of " + used);
        }
        if (used == table.length) {
            grow(used * 2);
        }
        return used++;
    }

    private static void grow(int size) {
        generations = java.util.Arrays.copyOf(generations, size);
        free = java.util.Arrays.copyOf(free, size);
        table = java.util.Arrays.copyOf(table, size);
    }
}
