/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import static io.kolibri.TaggedFormat.count;
import static io.kolibri.TaggedFormat.isDouble;
import static io.kolibri.TaggedFormat.offset;
import static io.kolibri.TaggedFormat.tag;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;

/**
 * Makes Java's values of a checked message. Each is a copy, and refers to nothing of the message.
 * The methods are small, so that the VM compiles the common ones into one. One thread.
 */
final class TaggedDecoder {
    /** A text area up to this size is copied once, and strings are cut out of the copy. */
    private static final int TEXT_COPY = 1 << 20;

    /** So many keys of mixed plain classes are left to HashMap. */
    private static final int FEW = 8;

    private static final Object[] NO_VALUES = {};

    private final ByteBuffer bytes;
    private final int base;
    private final int text;
    private final byte[] textCopy;
    private final TaggedShapes shapes;
    private final TaggedCodecs codecs;

    /** For the value of the whole message, or for a part of it. */
    TaggedDecoder(TaggedReader reader, boolean isWhole) {
        bytes = reader.bytes;
        base = reader.base;
        text = reader.text;
        shapes = reader.shapes;
        codecs = reader.codecs;
        int size = reader.textSize;
        boolean isCopied = isWhole && size > 0 && size <= TEXT_COPY;
        textCopy = isCopied ? TaggedText.bytes(bytes, base + text, size) : null;
    }

    Object value(long slot) {
        if (isDouble(slot)) {
            return Double.longBitsToDouble(slot);
        }
        switch (tag(slot)) {
            case TaggedFormat.CONST:
                return constant((int) slot);
            case TaggedFormat.INT32:
                return (int) slot;
            case TaggedFormat.INT48:
                return TaggedFormat.int48(slot);
            case TaggedFormat.TEXT8:
                return text8(slot);
            case TaggedFormat.TEXT16:
                return TaggedText.string(bytes, base, text, slot);
            case TaggedFormat.LIST:
                return new ValueList(values(base + offset(slot), count(slot)));
            case TaggedFormat.RECORD:
                return record(slot);
            case TaggedFormat.OBJECT:
                return pairs(base + offset(slot), count(slot), false);
            default:
                return block(count(slot), base + offset(slot));
        }
    }

    private static Object constant(int number) {
        switch (number) {
            case 0:
                return Undefined.UNDEFINED;
            case 1:
                return null;
            default:
                return number == 3;
        }
    }

    private String text8(long slot) {
        byte[] copy = textCopy;
        int count = count(slot);
        if (copy == null || count == 0) {
            return TaggedText.string(bytes, base, text, slot);
        }
        return new String(copy, offset(slot), count, StandardCharsets.ISO_8859_1);
    }

    private Object[] values(int at, int count) {
        if (count == 0) {
            return NO_VALUES;
        }
        Object[] values = new Object[count];
        for (int i = 0; i < count; i++) {
            values[i] = value(bytes.getLong(at + i * 8));
        }
        return values;
    }

    private Object record(long slot) {
        TaggedShape shape = shapes.get(count(slot));
        return new ValueMap(shape, values(base + offset(slot), shape.keys.length), 0);
    }

    /** A key that comes again has its first place and its last value: so does LinkedHashMap. */
    private Object pairs(int at, int count, boolean isMap) {
        Map<Object, Object> pairs =
                isMap && needIndex(at, count, 16)
                        ? new ValueIndex(count)
                        : new LinkedHashMap<>(count + count / 3 + 1);
        for (int i = 0; i < count; i++) {
            Object key = value(bytes.getLong(at + i * 16));
            pairs.put(key, value(bytes.getLong(at + i * 16 + 8)));
        }
        return new ValueMap.OfPairs(isMap, pairs);
    }

    /**
     * Whether keys could be made that cost HashMap more than about n log n. It orders keys of one
     * hash that are all of one class with an order, and of few plain ones it does not matter.
     */
    private boolean needIndex(int at, int count, int size) {
        int first = 0;
        boolean isMixed = false;
        for (int i = 0; i < count; i++) {
            int order = order(bytes.getLong(at + i * size));
            first = i == 0 ? order : first;
            if (order == 0 || isMixed && count > FEW) {
                return true;
            }
            isMixed |= order != first;
        }
        return isMixed && count > FEW;
    }

    /** A number for the class of plain values that are in order, 0 for others. */
    private static int order(long slot) {
        if (isDouble(slot)) {
            return 1;
        }
        int tag = tag(slot);
        int kind = tag == TaggedFormat.BLOCK ? count(slot) : 0;
        if (tag == TaggedFormat.TEXT8 || tag == TaggedFormat.TEXT16
                || kind == TaggedFormat.KIND_TEXT8 || kind == TaggedFormat.KIND_TEXT16) {
            return 2;
        }
        if (tag == TaggedFormat.INT48 || kind == TaggedFormat.KIND_INT64) {
            return 3;
        }
        return tag == TaggedFormat.INT32 ? 4 : tag == TaggedFormat.CONST ? 5 : 0;
    }

    private Object block(int kind, int at) {
        long head = bytes.getLong(at);
        switch (kind) {
            case TaggedFormat.KIND_INT64:
                return head;
            case TaggedFormat.KIND_DATE:
                return new Date((long) Double.longBitsToDouble(head));
            case TaggedFormat.KIND_BIGINT:
                return bigint(at + 8, head);
            case TaggedFormat.KIND_TEXT8:
                return TaggedText.latin1(bytes, at + 8, (int) head);
            case TaggedFormat.KIND_TEXT16:
                return TaggedText.utf16(bytes, at + 8, (int) head);
            case TaggedFormat.KIND_LIST:
                return new ValueList(values(at + 8, (int) head));
            case TaggedFormat.KIND_OBJECT:
                return pairs(at + 8, (int) head, false);
            case TaggedFormat.KIND_MAP:
                return pairs(at + 8, (int) head, true);
            case TaggedFormat.KIND_SET:
                return set(at + 8, (int) head);
            case TaggedFormat.KIND_ERROR:
                return error(at + 8);
            case TaggedFormat.KIND_CUSTOM:
                return codecs.read((int) head, new ValueList(values(at + 8, (int) (head >>> 32))));
            case TaggedFormat.KIND_RECORDS:
                return records(at + 8, (int) head, (int) (head >>> 32));
            default:
                return numbers(kind, at + 8, (int) head);
        }
    }

    private Object bigint(int at, long head) {
        byte[] magnitude = TaggedText.bytes(bytes, at, (int) head);
        for (int i = 0, j = magnitude.length - 1; i < j; i++, j--) {
            byte low = magnitude[i];
            magnitude[i] = magnitude[j];
            magnitude[j] = low;
        }
        return new BigInteger(head < 0 ? -1 : magnitude.length == 0 ? 0 : 1, magnitude);
    }

    private Object set(int at, int count) {
        if (needIndex(at, count, 8)) {
            ValueIndex index = new ValueIndex(count);
            for (int i = 0; i < count; i++) {
                index.put(value(bytes.getLong(at + i * 8)), Boolean.TRUE);
            }
            return new ValueSet(index, null);
        }
        LinkedHashSet<Object> set = new LinkedHashSet<>(count + count / 3 + 1);
        for (int i = 0; i < count; i++) {
            set.add(value(bytes.getLong(at + i * 8)));
        }
        return new ValueSet(null, set);
    }

    private Object error(int at) {
        Object[] parts = values(at, TaggedFormat.ERROR_FIELDS);
        return new TaggedError((String) parts[0], (String) parts[1],
                parts[2] instanceof String ? (String) parts[2] : null, parts[3], parts[4]);
    }

    /** One array holds the values of all objects. */
    private Object records(int at, int number, int count) {
        TaggedShape shape = shapes.get(number);
        int keys = shape.keys.length;
        Object[] values = values(at, count * keys);
        Object[] maps = new Object[count];
        for (int i = 0; i < count; i++) {
            maps[i] = new ValueMap(shape, values, i * keys);
        }
        return new ValueList(maps);
    }

    private Object numbers(int kind, int at, int count) {
        switch (kind) {
            case TaggedFormat.KIND_DOUBLES:
                return new ValueList.OfDoubles(TaggedNumbers.doubles(bytes, at, count));
            case TaggedFormat.KIND_INTS:
                return new ValueList.OfInts(TaggedNumbers.ints(bytes, at, count));
            case TaggedFormat.KIND_BYTES:
                return TaggedText.bytes(bytes, at, count);
            default:
                PackedArray.Kind exact = PackedArray.Kind.of(kind);
                Object array = TaggedNumbers.get(bytes, at, exact, count);
                return exact.isJavas() ? array : new PackedArray(exact, array);
        }
    }
}
