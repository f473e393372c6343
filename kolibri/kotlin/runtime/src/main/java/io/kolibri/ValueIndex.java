/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;

/**
 * Pairs in order, found by {@link KeyHash}: for maps and sets of messages whose keys HashMap cannot
 * put in order, so that keys made to have one hashCode would cost it the square of their number.
 * Filled by one thread, then read-only.
 */
final class ValueIndex extends AbstractMap<Object, Object> {
    /** Keys of a consumer's class that have one hash, at most. */
    static final int SAME_MAX = 128;

    private final Object[] keys;
    private final Object[] values;
    private final long[] hashes;
    /** Numbers of pairs plus one; at least twice as long as there are pairs, a power of two. */
    private final int[] table;
    private int count;
    /** Of the hashes of all keys. */
    long sum;

    /** Room for so many pairs. */
    ValueIndex(int room) {
        keys = new Object[room];
        values = new Object[room];
        hashes = new long[room];
        table = new int[Math.max(2, Integer.highestOneBit(room) * 4)];
    }

    /** The place in the table of a key, or of the hole where it would be; so many comparisons. */
    private int place(Object key, long hash, int max) {
        int at = (int) hash & table.length - 1;
        int same = 0;
        while (table[at] != 0) {
            int pair = table[at] - 1;
            if (hashes[pair] == hash) {
                if (Objects.equals(keys[pair], key)) {
                    return at;
                }
                same++;
                if (same == max) {
                    throw new TaggedException(TaggedException.ERANGE,
                            "more than " + max + " keys of one map or set with one hashCode");
                }
            }
            at = at + 1 & table.length - 1;
        }
        return at;
    }

    /** A key that comes again has its first place and its last value. */
    @Override
    public Object put(Object key, Object value) {
        long hash = KeyHash.of(key);
        int at = place(key, hash, SAME_MAX);
        if (table[at] != 0) {
            int pair = table[at] - 1;
            Object old = values[pair];
            values[pair] = value;
            return old;
        }
        keys[count] = key;
        values[count] = value;
        hashes[count] = hash;
        sum += hash;
        count++;
        table[at] = count;
        return null;
    }

    private int find(Object key) {
        return table[place(key, KeyHash.of(key), Integer.MAX_VALUE)] - 1;
    }

    @Override
    public Object get(Object key) {
        int pair = find(key);
        return pair < 0 ? null : values[pair];
    }

    @Override
    public boolean containsKey(Object key) {
        return find(key) >= 0;
    }

    @Override
    public int size() {
        return count;
    }

    /** What KeyHash makes of a map, without a second look at its keys. */
    long sumOfPairs() {
        long all = 0;
        for (int i = 0; i < count; i++) {
            all += KeyHash.ofPair(hashes[i], values[i]);
        }
        return all;
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        return new AbstractSet<Map.Entry<Object, Object>>() {
            @Override
            public int size() {
                return count;
            }

            @Override
            public Iterator<Map.Entry<Object, Object>> iterator() {
                return new Each();
            }
        };
    }

    private final class Each implements Iterator<Map.Entry<Object, Object>> {
        private int next;

        @Override
        public boolean hasNext() {
            return next < count;
        }

        @Override
        public Map.Entry<Object, Object> next() {
            if (next == count) {
                throw new NoSuchElementException();
            }
            int pair = next++;
            return new SimpleImmutableEntry<>(keys[pair], values[pair]);
        }
    }
}
