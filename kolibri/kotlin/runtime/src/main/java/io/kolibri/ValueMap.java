/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The read-only maps that readers make. This one is a record: the keys are those of a shape and are
 * shared, the values an array. {@link OfPairs} holds pairs with keys of any kind.
 */
final class ValueMap extends AbstractMap<String, Object> {
    final TaggedShape shape;
    final Object[] values;
    private final int from;

    /** As many values as the shape has keys, from an index of the array on. */
    ValueMap(TaggedShape shape, Object[] values, int from) {
        this.shape = shape;
        this.values = values;
        this.from = from;
    }

    @Override
    public int size() {
        return shape.keys.length;
    }

    Object at(int index) {
        return values[from + index];
    }

    @Override
    public Object get(Object key) {
        int index = key instanceof String ? shape.find((String) key) : -1;
        return index < 0 ? null : values[from + index];
    }

    @Override
    public boolean containsKey(Object key) {
        return key instanceof String && shape.find((String) key) >= 0;
    }

    @Override
    public Set<Entry<String, Object>> entrySet() {
        return new Entries();
    }

    private final class Entries extends AbstractSet<Entry<String, Object>> {
        @Override
        public int size() {
            return shape.keys.length;
        }

        @Override
        public Iterator<Entry<String, Object>> iterator() {
            return new Each();
        }
    }

    private final class Each implements Iterator<Entry<String, Object>> {
        private int next;

        @Override
        public boolean hasNext() {
            return next < shape.keys.length;
        }

        @Override
        public Entry<String, Object> next() {
            if (next == shape.keys.length) {
                throw new NoSuchElementException();
            }
            int index = next++;
            return new SimpleImmutableEntry<>(shape.keys[index], at(index));
        }
    }

    /** Pairs, in order: an object with inline keys, or a map, which is written as a map again. */
    static final class OfPairs extends AbstractMap<Object, Object> {
        final boolean isMap;
        /** Null when HashMap's order will do. */
        final ValueIndex index;

        private final Map<Object, Object> pairs;

        OfPairs(boolean isMap, Map<Object, Object> pairs) {
            this.isMap = isMap;
            this.index = pairs instanceof ValueIndex ? (ValueIndex) pairs : null;
            this.pairs = Collections.unmodifiableMap(pairs);
        }

        @Override
        public int size() {
            return pairs.size();
        }

        @Override
        public Object get(Object key) {
            return pairs.get(key);
        }

        @Override
        public boolean containsKey(Object key) {
            return pairs.containsKey(key);
        }

        @Override
        public Set<Entry<Object, Object>> entrySet() {
            return pairs.entrySet();
        }
    }
}
