/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The shapes of one direction of a connection. A sender looks shapes up by their keys and gives
 * them numbers, a receiver learns the numbers from messages. Shapes are only ever added, at most
 * 1,024 with together at most 2^18 characters. Any thread; looking up takes no lock.
 */
public final class TaggedShapes {
    static final int SHAPES_MAX = 1024;
    static final int KEYS_MAX = 256;
    static final int KEY_MAX = 1024;
    static final int UNITS_MAX = 1 << 18;
    private static final int CHAINS = 1024;

    private final AtomicReferenceArray<TaggedShape> byNumber =
            new AtomicReferenceArray<>(SHAPES_MAX);
    private final AtomicReferenceArray<TaggedShape> byKeys = new AtomicReferenceArray<>(CHAINS);
    private int count;
    private int units;
    private volatile boolean isFull;

    TaggedShapes() {}

    /** How many shapes there are. */
    public synchronized int count() {
        return count;
    }

    /**
     * The shape with these keys in this order, made if it is new; for a sender's table. Null if it
     * can be none, or the table has no room for it: too many or too long keys, a key twice.
     */
    public TaggedShape of(String... keys) {
        return of(keys, 0, keys.length, 1);
    }

    /** The keys are every `stride`th object of an array; all of them are strings. */
    TaggedShape of(Object[] keys, int from, int count, int stride) {
        int hash = count;
        for (int i = 0; i < count; i++) {
            hash = hash * 31 + keys[from + i * stride].hashCode();
        }
        TaggedShape known = find(hash, keys, from, count, stride);
        return known != null || isFull ? known : add(hash, keys, from, count, stride);
    }

    private TaggedShape find(int hash, Object[] keys, int from, int count, int stride) {
        TaggedShape shape = byKeys.get(chain(hash));
        while (shape != null && !(shape.hash == hash && same(shape, keys, from, count, stride))) {
            shape = shape.next;
        }
        return shape;
    }

    /** Whether every `stride`th of these objects is the key of a shape, in order. */
    static boolean same(TaggedShape shape, Object[] keys, int from, int count, int stride) {
        if (shape.keys.length != count) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            Object key = keys[from + i * stride];
            if (key != shape.keys[i] && !shape.keys[i].equals(key)) {
                return false;
            }
        }
        return true;
    }

    private static int chain(int hash) {
        return hash * 0x9e3779b9 >>> 22;
    }

    private synchronized TaggedShape add(
            int hash, Object[] keys, int from, int count, int stride) {
        TaggedShape known = find(hash, keys, from, count, stride);
        if (known != null || count > KEYS_MAX) {
            return known;
        }
        String[] own = new String[count];
        for (int i = 0; i < count; i++) {
            own[i] = (String) keys[from + i * stride];
            if (own[i].length() > KEY_MAX) {
                return null;
            }
        }
        // A number that a message gave out is never given to other keys.
        if (!hasRoom(own) || byNumber.get(this.count) != null) {
            return null;
        }
        TaggedShape made = new TaggedShape(this.count, own, byKeys.get(chain(hash)));
        return made.isDistinct() ? publish(made, true) : null;
    }

    private static int units(String[] keys) {
        int sum = 0;
        for (String key : keys) {
            sum += key.length();
        }
        return sum;
    }

    private boolean hasRoom(String[] keys) {
        isFull = isFull || count == SHAPES_MAX;
        return !isFull && units(keys) <= UNITS_MAX - units;
    }

    private TaggedShape publish(TaggedShape made, boolean isSent) {
        count++;
        units += units(made.keys);
        byNumber.set(made.number, made);
        if (isSent) {
            byKeys.set(chain(made.hash), made);
        }
        return made;
    }

    /** The shape of a number, or null. */
    TaggedShape get(int number) {
        return number < SHAPES_MAX ? byNumber.get(number) : null;
    }

    /** A receiver's: a number's keys. Null if the number has others, or there is no room. */
    TaggedShape define(int number, String[] keys) {
        TaggedShape known = byNumber.get(number);
        return known != null ? sameOrNull(known, keys) : addAs(number, keys);
    }

    private static TaggedShape sameOrNull(TaggedShape known, String[] keys) {
        return same(known, keys, 0, keys.length, 1) ? known : null;
    }

    private synchronized TaggedShape addAs(int number, String[] keys) {
        TaggedShape known = byNumber.get(number);
        if (known != null) {
            return sameOrNull(known, keys);
        }
        if (!hasRoom(keys)) {
            return null;
        }
        TaggedShape made = new TaggedShape(number, keys, null);
        return made.isDistinct() ? publish(made, false) : null;
    }
}
