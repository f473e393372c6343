/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.RandomAccess;

/** A read-only list over an array that is its own. */
final class ValueList extends AbstractList<Object> implements RandomAccess {
    final Object[] values;

    ValueList(Object[] values) {
        this.values = values;
    }

    @Override
    public Object get(int index) {
        return values[index];
    }

    @Override
    public int size() {
        return values.length;
    }

    @Override
    public Object[] toArray() {
        return Arrays.copyOf(values, values.length, Object[].class);
    }

    /** A list of doubles without boxes. */
    static final class OfDoubles extends AbstractList<Object> implements RandomAccess {
        final double[] numbers;

        OfDoubles(double[] numbers) {
            this.numbers = numbers;
        }

        @Override
        public Object get(int index) {
            return numbers[index];
        }

        @Override
        public int size() {
            return numbers.length;
        }
    }

    /** A list of ints without boxes. */
    static final class OfInts extends AbstractList<Object> implements RandomAccess {
        final int[] numbers;

        OfInts(int[] numbers) {
            this.numbers = numbers;
        }

        @Override
        public Object get(int index) {
            return numbers[index];
        }

        @Override
        public int size() {
            return numbers.length;
        }
    }
}
