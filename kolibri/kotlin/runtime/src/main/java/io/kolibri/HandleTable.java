/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.Arrays;

/**
 * Objects that C knows by an int, for one thread at a time: what {@link Handles} is for all
 * threads, without its lock. For bridges that always run on one thread, or under one lock.
 *
 * <p>A handle is an index of 20 bits and, above it, a generation of 12, which is never 0; one that
 * was removed is not mistaken for the objects that came after it. The same handle comes again when
 * its index was used 4,095 times more.
 */
public final class HandleTable {
    private static final int INDEX_BITS = 20;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_ONE = 1 << INDEX_BITS;

    private Object[] objects = new Object[16];

    /** The handle of each index that has an object; 0 for the others. */
    private int[] handles = new int[16];

    /** The next handles of those whose objects were removed. */
    private int[] free = new int[16];
    private int freeCount;
    private int used;

    /** A handle of an object, which it keeps reachable until {@link #remove}. Never 0. */
    public int add(Object object) {
        if (object == null) {
            throw new NullPointerException("a handle of null");
        }
        int handle = freeCount > 0 ? free[--freeCount] : takeNew();
        int index = handle & INDEX_MASK;
        objects[index] = object;
        handles[index] = handle;
        return handle;
    }

    /** The object of a handle; null if it was removed, or never was one. */
    public Object get(int handle) {
        int index = handle & INDEX_MASK;
        int[] all = handles;
        return index < all.length && all[index] == handle ? objects[index] : null;
    }

    /** Lets go of an object; false if the handle has none. */
    public boolean remove(int handle) {
        int index = handle & INDEX_MASK;
        int[] all = handles;
        if (handle == 0 || index >= all.length || all[index] != handle) {
            return false;
        }
        objects[index] = null;
        all[index] = 0;
        int next = handle + GENERATION_ONE;
        free[freeCount++] = next >>> INDEX_BITS != 0 ? next : next + GENERATION_ONE;
        return true;
    }

    /** How many handles there are. */
    public int count() {
        return used - freeCount;
    }

    private int takeNew() {
        if (used > INDEX_MASK) {
            throw new IllegalStateException("no handle is left of " + used);
        }
        if (used == objects.length) {
            objects = Arrays.copyOf(objects, used * 2);
            handles = Arrays.copyOf(handles, used * 2);
            free = Arrays.copyOf(free, used * 2);
        }
        return GENERATION_ONE | used++;
    }
}
