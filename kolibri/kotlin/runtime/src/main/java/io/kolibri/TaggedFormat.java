/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of the tagged format as numbers, and slots taken apart; docs/tagged-format.md is the
 * specification.
 *
 * <pre>
 *     slot    63      48 47        28 27          0
 *             |  tag    |   count   |   offset    |     tags over fff0; else a double
 * </pre>
 */
final class TaggedFormat {
    static final int MAGIC = 0x544c4f4b;
    static final int VERSION = 1;
    static final int AT_VERSION = 4;
    static final int AT_SIZE = 8;
    static final int AT_TEXT = 12;
    static final int AT_TEXT_SIZE = 16;
    static final int AT_SHAPES = 20;
    static final int AT_ROOT = 24;
    static final int HEADER_SIZE = 32;
    static final int SIZE_MAX = 1 << 28;
    static final int DEPTH_MAX = 512;
    static final int SHAPE_HEAD = 16;
    static final int ERROR_FIELDS = 5;
    static final double DATE_MAX = 8.64e15;

    static final int CONST = 0xfff1;
    static final int INT32 = 0xfff2;
    static final int INT48 = 0xfff3;
    static final int TEXT8 = 0xfff4;
    static final int TEXT16 = 0xfff5;
    static final int LIST = 0xfff6;
    static final int RECORD = 0xfff7;
    static final int OBJECT = 0xfff8;
    static final int BLOCK = 0xfff9;

    static final long UNDEFINED_SLOT = (long) CONST << 48;
    static final long NULL_SLOT = UNDEFINED_SLOT + 1;
    static final long FALSE_SLOT = UNDEFINED_SLOT + 2;
    static final long TRUE_SLOT = UNDEFINED_SLOT + 3;
    static final long NAN_SLOT = 0x7ff8000000000000L;

    static final int KIND_INT64 = 1;
    static final int KIND_DATE = 2;
    static final int KIND_BIGINT = 3;
    static final int KIND_TEXT8 = 4;
    static final int KIND_TEXT16 = 5;
    static final int KIND_LIST = 6;
    static final int KIND_OBJECT = 7;
    static final int KIND_MAP = 8;
    static final int KIND_SET = 9;
    static final int KIND_ERROR = 10;
    static final int KIND_CUSTOM = 11;
    static final int KIND_RECORDS = 12;
    static final int KIND_DOUBLES = 13;
    static final int KIND_INTS = 14;
    static final int KIND_BYTES = 15;
    static final int KIND_PACKED = 16;
    static final int KIND_LAST = 26;

    static final int COUNT_MAX = (1 << 20) - 1;
    private static final long FIRST_TAGGED = 0xfff1000000000000L;

    private TaggedFormat() {}

    static boolean isDouble(long slot) {
        return slot >= 0 || slot < FIRST_TAGGED;
    }

    static int tag(long slot) {
        return (int) (slot >>> 48);
    }

    static int count(long slot) {
        return (int) (slot >>> 28) & COUNT_MAX;
    }

    static int offset(long slot) {
        return (int) slot & SIZE_MAX - 1;
    }

    static long slot(int tag, int count, int offset) {
        return (long) tag << 48 | (long) count << 28 | offset;
    }

    static long intSlot(int number) {
        return (long) INT32 << 48 | number & 0xffffffffL;
    }

    /** The slot of a double; there is one NaN. */
    static long doubleSlot(double number) {
        return Double.doubleToLongBits(number);
    }

    static long int48(long slot) {
        return slot << 16 >> 16;
    }

    static boolean fitsInt48(long number) {
        return number << 16 >> 16 == number;
    }

    static long roundUp(long size) {
        return size + 7 & ~7L;
    }

    /** The size of an element of bytes, doubles, ints and packed arrays; 0 for other kinds. */
    static int elementSize(int kind) {
        switch (kind) {
            case KIND_BYTES:
            case 16:
            case 17:
            case 26:
                return 1;
            case 18:
            case 19:
                return 2;
            case KIND_INTS:
            case 20:
            case 21:
            case 24:
                return 4;
            case KIND_DOUBLES:
            case 22:
            case 23:
            case 25:
                return 8;
            default:
                return 0;
        }
    }

    /** A view of its own position, for bulk copies from or to an index. */
    static ByteBuffer at(ByteBuffer bytes, int index) {
        ByteBuffer view = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        // Buffer's methods: on Android ByteBuffer has none of its own in API 24.
        ((Buffer) view).clear();
        ((Buffer) view).position(index);
        return view;
    }
}
