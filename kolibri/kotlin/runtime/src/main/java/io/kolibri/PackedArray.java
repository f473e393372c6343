/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.math.BigInteger;
import java.util.Arrays;

/**
 * An array of numbers of an exact kind, for the typed arrays of C and JavaScript: Java has no array
 * of unsigned ints, and its {@code byte[]} means an array of bytes. Reading a message makes one for
 * the kinds I8, U8, U8_CLAMPED, U16, U32 and U64; the others become Java's own arrays.
 *
 * <p>The array it was made of is not copied. Any thread, while nobody changes it.
 */
public final class PackedArray {
    /** The kinds, in the order of their numbers in messages. */
    public enum Kind {
        /** In a byte[]. */
        I8(byte[].class),
        /** In a byte[]. */
        U8(byte[].class),
        /** In a short[]. */
        I16(short[].class),
        /** In a char[]. */
        U16(char[].class),
        /** In an int[]. */
        I32(int[].class),
        /** In an int[]. */
        U32(int[].class),
        /** In a long[]. */
        I64(long[].class),
        /** In a long[]. */
        U64(long[].class),
        /** In a float[]. */
        F32(float[].class),
        /** In a double[]. */
        F64(double[].class),
        /** In a byte[]; written to in JavaScript, numbers are clamped to 0 and 255. */
        U8_CLAMPED(byte[].class);

        private static final Kind[] ALL = values();
        private final Class<?> array;

        Kind(Class<?> array) {
            this.array = array;
        }

        int number() {
            return TaggedFormat.KIND_PACKED + ordinal();
        }

        /** Java's own array is as exact as this class. */
        boolean isJavas() {
            return this == I16 || this == I32 || this == I64 || this == F32 || this == F64;
        }

        static Kind of(int number) {
            return ALL[number - TaggedFormat.KIND_PACKED];
        }
    }

    private final Kind kind;
    private final Object array;

    /** An array of a kind over Java's array for that kind; see {@link Kind}. */
    public PackedArray(Kind kind, Object array) {
        if (!kind.array.isInstance(array)) {
            throw new IllegalArgumentException(kind + " is in a " + kind.array.getSimpleName());
        }
        this.kind = kind;
        this.array = array;
    }

    /** What its elements are. */
    public Kind kind() {
        return kind;
    }

    /** Java's array with the elements: this one's own, no copy. */
    public Object array() {
        return array;
    }

    /** How many elements there are. */
    public int count() {
        return java.lang.reflect.Array.getLength(array);
    }

    /**
     * An element of any kind of integers; of U64 its bits, so that large ones are negative. Throws
     * IllegalStateException for kinds of floats.
     */
    public long longAt(int index) {
        switch (kind) {
            case I8:
                return ((byte[]) array)[index];
            case U8:
            case U8_CLAMPED:
                return ((byte[]) array)[index] & 0xff;
            case I16:
                return ((short[]) array)[index];
            case U16:
                return ((char[]) array)[index];
            case I32:
                return ((int[]) array)[index];
            case U32:
                return ((int[]) array)[index] & 0xffffffffL;
            case I64:
            case U64:
                return ((long[]) array)[index];
            default:
                throw new IllegalStateException(kind + " has no longs");
        }
    }

    /** An element as a number: Long, of U64 a BigInteger, of floats Float or Double. */
    public Number get(int index) {
        switch (kind) {
            case F32:
                return ((float[]) array)[index];
            case F64:
                return ((double[]) array)[index];
            case U64:
                BigInteger number = BigInteger.valueOf(longAt(index));
                return number.signum() < 0 ? number.add(BigInteger.ONE.shiftLeft(64)) : number;
            default:
                return longAt(index);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PackedArray
                && kind == ((PackedArray) other).kind
                && Arrays.deepEquals(
                        new Object[] {array}, new Object[] {((PackedArray) other).array});
    }

    @Override
    public int hashCode() {
        return 31 * kind.ordinal() + Arrays.deepHashCode(new Object[] {array});
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(kind.toString()).append('[');
        for (int i = 0; i < count(); i++) {
            text.append(i == 0 ? "" : ", ").append(get(i));
        }
        return text.append(']').toString();
    }
}
