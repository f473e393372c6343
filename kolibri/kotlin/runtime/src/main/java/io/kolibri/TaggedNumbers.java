/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;

/** Arrays of numbers between Java and messages, by one copy where the bits stay what they are. */
final class TaggedNumbers {
    private TaggedNumbers() {}

    /** Copies an array into a message, whose bytes are little-endian. */
    static void put(ByteBuffer bytes, int at, int kind, Object array) {
        if (kind == TaggedFormat.KIND_DOUBLES) {
            putDoubles(bytes, at, (double[]) array);
        } else if (array instanceof byte[]) {
            TaggedSpace.put(bytes, at, (byte[]) array, ((byte[]) array).length);
        } else if (array instanceof short[]) {
            TaggedFormat.at(bytes, at).asShortBuffer().put((short[]) array);
        } else if (array instanceof char[]) {
            TaggedFormat.at(bytes, at).asCharBuffer().put((char[]) array);
        } else if (array instanceof int[]) {
            TaggedFormat.at(bytes, at).asIntBuffer().put((int[]) array);
        } else if (array instanceof long[]) {
            TaggedFormat.at(bytes, at).asLongBuffer().put((long[]) array);
        } else if (array instanceof float[]) {
            TaggedFormat.at(bytes, at).asFloatBuffer().put((float[]) array);
        } else {
            TaggedFormat.at(bytes, at).asDoubleBuffer().put((double[]) array);
        }
    }

    /** Elements of a list have one NaN. */
    private static void putDoubles(ByteBuffer bytes, int at, double[] numbers) {
        for (int i = 0; i < numbers.length; i++) {
            bytes.putLong(at + i * 8, TaggedFormat.doubleSlot(numbers[i]));
        }
    }

    /** Java's array for a kind, with elements of a message. */
    static Object get(ByteBuffer bytes, int at, PackedArray.Kind kind, int count) {
        switch (kind) {
            case I16:
                short[] shorts = new short[count];
                TaggedFormat.at(bytes, at).asShortBuffer().get(shorts);
                return shorts;
            case U16:
                char[] chars = new char[count];
                TaggedFormat.at(bytes, at).asCharBuffer().get(chars);
                return chars;
            case I32:
            case U32:
                return ints(bytes, at, count);
            case I64:
            case U64:
                long[] longs = new long[count];
                TaggedFormat.at(bytes, at).asLongBuffer().get(longs);
                return longs;
            case F32:
                float[] floats = new float[count];
                TaggedFormat.at(bytes, at).asFloatBuffer().get(floats);
                return floats;
            case F64:
                return doubles(bytes, at, count);
            default:
                return TaggedText.bytes(bytes, at, count);
        }
    }

    static double[] doubles(ByteBuffer bytes, int at, int count) {
        double[] doubles = new double[count];
        TaggedFormat.at(bytes, at).asDoubleBuffer().get(doubles);
        return doubles;
    }

    static int[] ints(ByteBuffer bytes, int at, int count) {
        int[] ints = new int[count];
        TaggedFormat.at(bytes, at).asIntBuffer().get(ints);
        return ints;
    }
}
