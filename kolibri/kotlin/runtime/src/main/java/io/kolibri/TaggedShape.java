/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.AbstractList;
import java.util.List;

/**
 * A list of different keys that goes by a number in messages. Immutable; any thread.
 *
 * <p>Keys are found in a hash table whose multiplier is searched for, so that few keys or none
 * share a place. The search is bounded: hostile keys of equal hashes only make it slower, at most
 * one comparison a key.
 */
public final class TaggedShape {
    /** Tries of multipliers for one size of the table. */
    private static final int TRIES = 32;

    final int number;
    final String[] keys;
    final int hash;
    private final String[] table;
    private final short[] places;
    private final int multiplier;
    private final int shift;
    /** The next shape of the same chain in its table. */
    final TaggedShape next;
    /** A message with the definition has been validated by the receiver. */
    volatile boolean isDelivered;

    /** The keys are the shape's from now on; with a key twice, {@link #isDistinct} is false. */
    TaggedShape(int number, String[] keys, TaggedShape next) {
        this.number = number;
        this.keys = keys;
        this.next = next;
        this.hash = hash(keys);
        int bits = 1;
        while (1 << bits < keys.length * 2) {
            bits++;
        }
        int found = 0;
        int last = keys.length <= 32 ? bits + 2 : bits;
        for (int tried = bits; found == 0 && tried <= last; tried++) {
            bits = tried;
            found = search(keys, bits);
        }
        multiplier = found != 0 ? found : candidate(0);
        shift = 32 - bits;
        table = new String[1 << bits];
        places = new short[1 << bits];
        for (int i = 0; i < keys.length; i++) {
            int at = place(keys[i]);
            table[at] = keys[i];
            places[at] = (short) i;
        }
    }

    /** How many keys it has. */
    public int count() {
        return keys.length;
    }

    /** The keys, in order, read-only. */
    public List<String> keys() {
        return new AbstractList<String>() {
            @Override
            public String get(int index) {
                return keys[index];
            }

            @Override
            public int size() {
                return keys.length;
            }
        };
    }

    /** The index of a key, -1 if there is no such key. */
    public int find(String key) {
        int at = key.hashCode() * multiplier >>> shift;
        String found = table[at];
        while (found != null) {
            if (found == key || found.equals(key)) {
                return places[at];
            }
            at = at + 1 & table.length - 1;
            found = table[at];
        }
        return -1;
    }

    boolean isDistinct() {
        int held = 0;
        for (String key : table) {
            held += key != null ? 1 : 0;
        }
        return held == keys.length;
    }

    static int hash(String[] keys) {
        int hash = keys.length;
        for (String key : keys) {
            hash = hash * 31 + key.hashCode();
        }
        return hash;
    }

    /** Where a key is or belongs. The table is at least twice as large as the keys are many. */
    private int place(String key) {
        int at = key.hashCode() * multiplier >>> shift;
        while (table[at] != null && !table[at].equals(key)) {
            at = at + 1 & table.length - 1;
        }
        return at;
    }

    private static int candidate(int attempt) {
        return (attempt * 2 + 1) * 0x9e3779b9 | 1;
    }

    /** A multiplier that gives each key a place of its own; 0 if none was found. */
    private static int search(String[] keys, int bits) {
        boolean[] taken = new boolean[1 << bits];
        for (int attempt = 0; attempt < TRIES; attempt++) {
            int multiplier = candidate(attempt);
            int i = 0;
            while (i < keys.length) {
                int at = keys[i].hashCode() * multiplier >>> 32 - bits;
                if (taken[at]) {
                    break;
                }
                taken[at] = true;
                i++;
            }
            if (i == keys.length) {
                return multiplier;
            }
            java.util.Arrays.fill(taken, false);
        }
        return 0;
    }
}
