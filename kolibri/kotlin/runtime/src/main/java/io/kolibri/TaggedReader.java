/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import static io.kolibri.TaggedFormat.isDouble;
import static io.kolibri.TaggedFormat.offset;
import static io.kolibri.TaggedFormat.tag;

import java.nio.ByteBuffer;

/**
 * A message that was validated, once, when its reader was made. {@link #value()} makes Java's
 * values of all of it: copies, which refer to nothing of the message. Or walk it where it lies, by
 * slots, without making objects:
 *
 * <pre>{@code
 * TaggedReader reader = buffers.reader(where, big);
 * long users = reader.root();
 * for (int i = 0; i < reader.count(users); i++) {
 *     sum += reader.asLong(reader.get(reader.at(users, i), "age"));
 * }
 * }</pre>
 *
 * <p>A slot is a long that means something to the reader it came from, as long as the message lies
 * there: until the call that brought it returns, or the frame of the answer is closed. Asking a
 * value for what it is not is a TaggedException with ETYPE. Any thread, and several at once.
 */
public final class TaggedReader {
    /** What a value is, by the names of section 7 of docs/tagged-format.md; LONG has 64 bits. */
    public enum Type {
        UNDEFINED, NULL, BOOL, INT, LONG, DOUBLE, BIGINT, TEXT, LIST, OBJECT, MAP, SET, DATE, BYTES,
        PACKED, ERROR, CUSTOM
    }

    private static final Type[] BLOCKS = {
        null, Type.LONG, Type.DATE, Type.BIGINT, Type.TEXT, Type.TEXT, Type.LIST, Type.OBJECT,
        Type.MAP, Type.SET, Type.ERROR, Type.CUSTOM, Type.LIST, Type.LIST, Type.LIST, Type.BYTES
    };

    final ByteBuffer bytes;
    final int base;
    final int text;
    final int textSize;
    final TaggedShapes shapes;
    final TaggedCodecs codecs;

    /** Validates; the buffer is in little-endian order and nobody else's to change. */
    TaggedReader(ByteBuffer bytes, int base, int size, TaggedShapes received, TaggedCodecs codecs) {
        this.shapes = TaggedCheck.message(bytes, base, size, received);
        this.bytes = bytes;
        this.base = base;
        this.text = bytes.getInt(base + TaggedFormat.AT_TEXT);
        this.textSize = bytes.getInt(base + TaggedFormat.AT_TEXT_SIZE);
        this.codecs = codecs;
    }

    /**
     * Reads a message that stands alone: all bytes between the buffer's position and its limit,
     * which stay as they are. Throws TaggedException with EFORMAT, EDEPTH or ERANGE.
     */
    public static TaggedReader of(ByteBuffer message) {
        ByteBuffer view = TaggedFormat.at(message, 0);
        return new TaggedReader(
                view, message.position(), message.remaining(), null, TaggedCodecs.NONE);
    }

    /** The whole message as values of Java; docs/tagged-format.md has the table. */
    public Object value() {
        return new TaggedDecoder(this, true).value(root());
    }

    /** A value and all that is in it. */
    public Object value(long slot) {
        return new TaggedDecoder(this, false).value(slot);
    }

    /** The slot of the message's value. */
    public long root() {
        return bytes.getLong(base + TaggedFormat.AT_ROOT);
    }

    /** What a value is. */
    public Type type(long slot) {
        if (isDouble(slot)) {
            return Type.DOUBLE;
        }
        switch (tag(slot)) {
            case TaggedFormat.CONST:
                return (int) slot >= 2 ? Type.BOOL : (int) slot == 1 ? Type.NULL : Type.UNDEFINED;
            case TaggedFormat.INT32:
                return Type.INT;
            case TaggedFormat.INT48:
                return Type.LONG;
            case TaggedFormat.TEXT8:
            case TaggedFormat.TEXT16:
                return Type.TEXT;
            case TaggedFormat.LIST:
                return Type.LIST;
            case TaggedFormat.RECORD:
            case TaggedFormat.OBJECT:
                return Type.OBJECT;
            default:
                return kind(slot) < BLOCKS.length ? BLOCKS[kind(slot)] : Type.PACKED;
        }
    }

    /** Whether a value is undefined or null. */
    public boolean isNothing(long slot) {
        return slot == TaggedFormat.UNDEFINED_SLOT || slot == TaggedFormat.NULL_SLOT;
    }

    /** A boolean. */
    public boolean asBoolean(long slot) {
        if (slot != TaggedFormat.TRUE_SLOT && slot != TaggedFormat.FALSE_SLOT) {
            throw not("a boolean", slot);
        }
        return slot == TaggedFormat.TRUE_SLOT;
    }

    /** An int or a long, or a double that is integral; ERANGE if it does not fit. */
    public int asInt(long slot) {
        long number = asLong(slot);
        if (number != (int) number) {
            throw new TaggedException(TaggedException.ERANGE, number + " is no int");
        }
        return (int) number;
    }

    /** An int or a long, or a double that is integral; ERANGE if it does not fit. */
    public long asLong(long slot) {
        if (isDouble(slot)) {
            return integral(Double.longBitsToDouble(slot), slot);
        }
        if (tag(slot) == TaggedFormat.INT32) {
            return (int) slot;
        }
        if (tag(slot) == TaggedFormat.INT48) {
            return TaggedFormat.int48(slot);
        }
        if (kind(slot) != TaggedFormat.KIND_INT64) {
            throw not("a number", slot);
        }
        return bytes.getLong(base + offset(slot));
    }

    private long integral(double number, long slot) {
        if (number != Math.rint(number) || Double.isInfinite(number)) {
            throw not("an integral number", slot);
        }
        if (!(number >= -0x1p63 && number < 0x1p63)) {
            throw new TaggedException(TaggedException.ERANGE, number + " is no long");
        }
        return (long) number;
    }

    /** Any number but a BigInt. */
    public double asDouble(long slot) {
        return isDouble(slot) ? Double.longBitsToDouble(slot) : asLong(slot);
    }

    /** A string; it is made each time. */
    public String asString(long slot) {
        if (tag(slot) == TaggedFormat.TEXT8 || tag(slot) == TaggedFormat.TEXT16) {
            return TaggedText.string(bytes, base, text, slot);
        }
        if (type(slot) != Type.TEXT) {
            throw not("a string", slot);
        }
        return (String) value(slot);
    }

    /**
     * How many: elements of a list, a set, a byte array or a packed array, pairs of an object or a
     * map, fields of a custom value, 5 for an error; 0 for everything else.
     */
    public int count(long slot) {
        if (isDouble(slot) || tag(slot) <= TaggedFormat.TEXT16) {
            return 0;
        }
        if (tag(slot) == TaggedFormat.RECORD) {
            return shapes.get(TaggedFormat.count(slot)).count();
        }
        if (tag(slot) != TaggedFormat.BLOCK) {
            return TaggedFormat.count(slot);
        }
        int kind = TaggedFormat.count(slot);
        long head = bytes.getLong(base + offset(slot));
        boolean isHigh = kind == TaggedFormat.KIND_CUSTOM || kind == TaggedFormat.KIND_RECORDS;
        return kind < TaggedFormat.KIND_LIST ? 0 : (int) (isHigh ? head >>> 32 : head);
    }

    /**
     * The element of a list or set, the value of a pair, the part of an error or the field of a
     * custom value with this index. For packed arrays there are {@link #longAt} and {@link
     * #doubleAt}.
     */
    public long at(long slot, int index) {
        bounds(slot, index);
        int start = base + offset(slot);
        switch (isDouble(slot) ? 0 : tag(slot)) {
            case TaggedFormat.LIST:
            case TaggedFormat.RECORD:
                return bytes.getLong(start + index * 8);
            case TaggedFormat.OBJECT:
                return bytes.getLong(start + index * 16 + 8);
            default:
                return inBlock(kind(slot), start, index, slot);
        }
    }

    private long inBlock(int kind, int start, int index, long slot) {
        switch (kind) {
            case TaggedFormat.KIND_LIST:
            case TaggedFormat.KIND_SET:
            case TaggedFormat.KIND_ERROR:
            case TaggedFormat.KIND_CUSTOM:
                return bytes.getLong(start + 8 + index * 8);
            case TaggedFormat.KIND_OBJECT:
            case TaggedFormat.KIND_MAP:
                return bytes.getLong(start + 8 + index * 16 + 8);
            case TaggedFormat.KIND_RECORDS:
                int number = bytes.getInt(start);
                int keys = shapes.get(number).count();
                return TaggedFormat.slot(
                        TaggedFormat.RECORD, number, start - base + 8 + index * keys * 8);
            case TaggedFormat.KIND_DOUBLES:
                return TaggedFormat.doubleSlot(bytes.getDouble(start + 8 + index * 8));
            case TaggedFormat.KIND_INTS:
                return TaggedFormat.intSlot(bytes.getInt(start + 8 + index * 4));
            default:
                throw not("a container of values", slot);
        }
    }

    /** An element of a packed array of integers or of a byte array; of u64 its bits. */
    public long longAt(long slot, int index) {
        bounds(slot, index);
        int start = base + offset(slot) + 8;
        switch (kind(slot)) {
            case TaggedFormat.KIND_BYTES:
            case 16:
                return bytes.get(start + index);
            case 17:
            case 26:
                return bytes.get(start + index) & 0xff;
            case 18:
                return bytes.getShort(start + index * 2);
            case 19:
                return bytes.getChar(start + index * 2);
            case 20:
                return bytes.getInt(start + index * 4);
            case 21:
                return bytes.getInt(start + index * 4) & 0xffffffffL;
            case 22:
            case 23:
                return bytes.getLong(start + index * 8);
            default:
                throw not("an array of integers", slot);
        }
    }

    /** An element of a packed array of floats or doubles. */
    public double doubleAt(long slot, int index) {
        bounds(slot, index);
        int start = base + offset(slot) + 8;
        if (kind(slot) == PackedArray.Kind.F32.number()) {
            return bytes.getFloat(start + index * 4);
        }
        if (kind(slot) != PackedArray.Kind.F64.number()) {
            throw not("an array of floats", slot);
        }
        return bytes.getDouble(start + index * 8);
    }

    /** The key of a pair; objects that have a shape keep theirs there, {@link #shape}. */
    public long keyAt(long slot, int index) {
        bounds(slot, index);
        int start = base + offset(slot);
        if (tag(slot) == TaggedFormat.OBJECT) {
            return bytes.getLong(start + index * 16);
        }
        if (kind(slot) != TaggedFormat.KIND_OBJECT && kind(slot) != TaggedFormat.KIND_MAP) {
            throw not("pairs with keys of their own", slot);
        }
        return bytes.getLong(start + 8 + index * 16);
    }

    /**
     * The shape of an object that has one, or that all objects of a list have; else null. An index
     * that it finds is good for all values of the same shape.
     */
    public TaggedShape shape(long slot) {
        if (isDouble(slot)) {
            return null;
        }
        if (tag(slot) == TaggedFormat.RECORD) {
            return shapes.get(TaggedFormat.count(slot));
        }
        return kind(slot) == TaggedFormat.KIND_RECORDS
                ? shapes.get(bytes.getInt(base + offset(slot)))
                : null;
    }

    /** The value of a key of an object, of equal keys the last; undefined if there is none. */
    public long get(long slot, String key) {
        if (type(slot) != Type.OBJECT) {
            throw not("an object", slot);
        }
        TaggedShape shape = shape(slot);
        int index = shape != null ? shape.find(key) : count(slot) - 1;
        while (shape == null && index >= 0 && !key.equals(asString(keyAt(slot, index)))) {
            index--;
        }
        return index < 0 ? TaggedFormat.UNDEFINED_SLOT : at(slot, index);
    }

    /** The schema id of a custom value. */
    public int schema(long slot) {
        if (kind(slot) != TaggedFormat.KIND_CUSTOM) {
            throw not("a custom value", slot);
        }
        return bytes.getInt(base + offset(slot));
    }

    private static int kind(long slot) {
        return tag(slot) == TaggedFormat.BLOCK ? TaggedFormat.count(slot) : 0;
    }

    private void bounds(long slot, int index) {
        if (index < 0 || index >= count(slot)) {
            throw new IndexOutOfBoundsException(index + " of " + count(slot));
        }
    }

    private TaggedException not(String what, long slot) {
        return new TaggedException(TaggedException.ETYPE, type(slot) + " is not " + what);
    }
}
