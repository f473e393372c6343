/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import static io.kolibri.TaggedFormat.BLOCK;
import static io.kolibri.TaggedFormat.CONST;
import static io.kolibri.TaggedFormat.INT32;
import static io.kolibri.TaggedFormat.INT48;
import static io.kolibri.TaggedFormat.LIST;
import static io.kolibri.TaggedFormat.OBJECT;
import static io.kolibri.TaggedFormat.RECORD;
import static io.kolibri.TaggedFormat.TEXT16;
import static io.kolibri.TaggedFormat.TEXT8;
import static io.kolibri.TaggedFormat.count;
import static io.kolibri.TaggedFormat.isDouble;
import static io.kolibri.TaggedFormat.offset;
import static io.kolibri.TaggedFormat.tag;

import java.nio.ByteBuffer;

/**
 * The one look at everything in a message that can be reached, before any of it is used: after it
 * reads need no check. Nothing is allocated but shapes.
 *
 * <p>Each run of slots and each text is paid for out of the size of its area. So areas cannot be
 * used over and over, cycles end, and the work is bounded by the size of the message.
 */
final class TaggedCheck {
    private static final long MINUS_ZERO = Double.doubleToRawLongBits(-0.0);

    private final ByteBuffer bytes;
    private final int base;
    private final int text;
    private final int textSize;
    private TaggedShapes shapes;
    private long bodyLeft;
    private long textLeft;

    /** Looks at the header. */
    private TaggedCheck(ByteBuffer bytes, int base, int size) {
        this.bytes = bytes;
        this.base = base;
        require(size >= TaggedFormat.HEADER_SIZE && (size & 7) == 0);
        require(bytes.getInt(base) == TaggedFormat.MAGIC);
        require(bytes.get(base + TaggedFormat.AT_VERSION) == TaggedFormat.VERSION);
        require(bytes.getInt(base + TaggedFormat.AT_VERSION) >>> 9 == 0);
        require(bytes.getInt(base + TaggedFormat.AT_SIZE) == size);
        if (size > TaggedFormat.SIZE_MAX) {
            throw new TaggedException(TaggedException.ERANGE, "a message of " + size + " bytes");
        }
        text = bytes.getInt(base + TaggedFormat.AT_TEXT);
        textSize = bytes.getInt(base + TaggedFormat.AT_TEXT_SIZE);
        require(text >= TaggedFormat.HEADER_SIZE && text <= size && (text & 7) == 0);
        require(textSize >= 0 && textSize <= size - text && size - text - textSize < 8);
        bodyLeft = text - TaggedFormat.HEADER_SIZE;
        textLeft = textSize;
    }

    /**
     * Checks the message at an index of a buffer in little-endian order. `received` is the table of
     * the connection, null if there is none. Returns the table that the message's numbers are of.
     */
    static TaggedShapes message(ByteBuffer bytes, int base, int size, TaggedShapes received) {
        TaggedCheck check = new TaggedCheck(bytes, base, size);
        boolean isOfConnection = (bytes.get(base + TaggedFormat.AT_VERSION + 1) & 1) != 0;
        require(!isOfConnection || received != null);
        check.shapes = isOfConnection ? received : null;
        check.definitions(bytes.getInt(base + TaggedFormat.AT_SHAPES));
        check.value(bytes.getLong(base + TaggedFormat.AT_ROOT), 0);
        return check.shapes;
    }

    private static void require(boolean isRight) {
        if (!isRight) {
            throw damaged();
        }
    }

    private static TaggedException damaged() {
        return new TaggedException(
                TaggedException.EFORMAT, "the message is damaged or of another version");
    }

    private static int deeper(int depth, int levels) {
        if (depth + levels > TaggedFormat.DEPTH_MAX) {
            throw new TaggedException(TaggedException.EDEPTH, "the value is nested too deeply");
        }
        return depth + levels;
    }

    /** Takes a run from the body's budget; its size is below 2^62. */
    private void take(int at, long size) {
        require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE && at <= text);
        require(size <= text - at);
        bodyLeft -= TaggedFormat.roundUp(size);
        require(bodyLeft >= 0);
    }

    private void run(int at, long size) {
        if (size > 0) {
            take(at, size);
        }
    }

    private void text8(long slot) {
        int size = count(slot);
        if (size > 0) {
            textLeft -= size;
            require(textLeft >= 0 && offset(slot) <= textSize - size);
        }
    }

    private void values(int at, long count, int depth) {
        for (int i = base + at, end = i + (int) count * 8; i < end; i += 8) {
            long slot = bytes.getLong(i);
            if (!isDouble(slot)) {
                tagged(slot, depth);
            }
        }
    }

    private void value(long slot, int depth) {
        if (!isDouble(slot)) {
            tagged(slot, depth);
        }
    }

    private void tagged(long slot, int depth) {
        switch (tag(slot)) {
            case CONST:
                require((slot << 16) >>> 16 <= 3);
                break;
            case INT32:
                require((slot >>> 32 & 0xffff) == 0);
                break;
            case INT48:
                break;
            case TEXT8:
                text8(slot);
                break;
            case TEXT16:
                run(offset(slot), count(slot) * 2L);
                break;
            case LIST:
                run(offset(slot), count(slot) * 8L);
                values(offset(slot), count(slot), deeper(depth, 1));
                break;
            case RECORD:
                record(slot, deeper(depth, 1));
                break;
            case OBJECT:
                run(offset(slot), count(slot) * 16L);
                pairs(offset(slot), count(slot), deeper(depth, 1));
                break;
            case BLOCK:
                block(count(slot), offset(slot), depth);
                break;
            default:
                throw damaged();
        }
    }

    private TaggedShape shape(long number) {
        TaggedShape shape =
                shapes != null && number < TaggedShapes.SHAPES_MAX
                        ? shapes.get((int) number)
                        : null;
        require(shape != null);
        return shape;
    }

    private void record(long slot, int depth) {
        int keys = shape(count(slot)).count();
        run(offset(slot), keys * 8L);
        values(offset(slot), keys, depth);
    }

    private void pairs(int at, long count, int depth) {
        for (int i = 0; i < count; i++) {
            string(bytes.getLong(base + at + i * 16), depth);
            value(bytes.getLong(base + at + i * 16 + 8), depth);
        }
    }

    private void string(long slot, int depth) {
        int tag = tag(slot);
        int kind = tag == BLOCK ? count(slot) : 0;
        require(tag == TEXT8 || tag == TEXT16
                || kind == TaggedFormat.KIND_TEXT8 || kind == TaggedFormat.KIND_TEXT16);
        tagged(slot, depth);
    }

    private void block(int kind, int at, int depth) {
        require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE && at <= text - 8);
        long head = bytes.getLong(base + at);
        switch (kind) {
            case TaggedFormat.KIND_INT64:
                take(at, 8);
                break;
            case TaggedFormat.KIND_DATE:
                take(at, 8);
                date(head);
                break;
            case TaggedFormat.KIND_BIGINT:
                bigint(at, head);
                break;
            case TaggedFormat.KIND_TEXT8:
                counted(at, head, 1);
                break;
            case TaggedFormat.KIND_TEXT16:
                counted(at, head, 2);
                break;
            case TaggedFormat.KIND_LIST:
            case TaggedFormat.KIND_SET:
                counted(at, head, 8);
                values(at + 8, head, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_OBJECT:
                counted(at, head, 16);
                pairs(at + 8, head, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_MAP:
                counted(at, head, 16);
                values(at + 8, head * 2, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_ERROR:
                error(at, head, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_CUSTOM:
                counted(at, head >>> 32, 8);
                values(at + 8, head >>> 32, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_RECORDS:
                records(at, head, deeper(depth, 2));
                break;
            default:
                numbers(kind, at, head, depth);
        }
    }

    private void numbers(int kind, int at, long count, int depth) {
        int size = TaggedFormat.elementSize(kind);
        require(size != 0);
        if (kind == TaggedFormat.KIND_DOUBLES || kind == TaggedFormat.KIND_INTS) {
            deeper(depth, 1);
        }
        counted(at, count, size);
    }

    /** A block whose data are so many elements of a size. */
    private void counted(int at, long count, int size) {
        require(count >= 0 && count <= (text - at - 8) / size);
        take(at, 8 + count * size);
    }

    private static void date(long bits) {
        double date = Double.longBitsToDouble(bits);
        require(Math.abs(date) <= TaggedFormat.DATE_MAX && date == Math.rint(date)
                && bits != MINUS_ZERO);
    }

    private void bigint(int at, long head) {
        long size = head & 0xffffffffL;
        require((head >>> 32 & 0x7fffffff) == 0);
        counted(at, size, 1);
        require(size == 0 ? head == 0 : bytes.get(base + at + 8 + (int) size - 1) != 0);
    }

    private void error(int at, long head, int depth) {
        require(head == TaggedFormat.ERROR_FIELDS);
        counted(at, head, 8);
        int i = base + at + 8;
        string(bytes.getLong(i), depth);
        string(bytes.getLong(i + 8), depth);
        if (bytes.getLong(i + 16) != TaggedFormat.UNDEFINED_SLOT) {
            string(bytes.getLong(i + 16), depth);
        }
        values(at + 8 + 24, 2, depth);
    }

    private void records(int at, long head, int depth) {
        int keys = shape(head & 0xffffffffL).count();
        require(keys > 0);
        counted(at, head >>> 32, keys * 8);
        values(at + 8, (head >>> 32) * keys, depth);
    }

    /** The shapes that the message brings, the newest first. */
    private void definitions(int newest) {
        int at = newest;
        while (at != 0) {
            require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE
                    && at <= text - TaggedFormat.SHAPE_HEAD);
            int count = bytes.getInt(base + at + 4);
            require(count >= 0 && count <= TaggedShapes.KEYS_MAX);
            take(at, TaggedFormat.SHAPE_HEAD + count * 8L);
            define(bytes.getInt(base + at), at + TaggedFormat.SHAPE_HEAD, count);
            long older = bytes.getLong(base + at + 8);
            require(older >= 0 && older < at);
            at = (int) older;
        }
    }

    private void define(int number, int at, int count) {
        require(number >= 0 && number < TaggedShapes.SHAPES_MAX);
        for (int i = 0; i < count; i++) {
            long slot = bytes.getLong(base + at + i * 8);
            require(tag(slot) == TEXT8 || tag(slot) == TEXT16);
            require(count(slot) <= TaggedShapes.KEY_MAX);
            tagged(slot, 0);
        }
        String[] keys = new String[count];
        for (int i = 0; i < count; i++) {
            keys[i] = TaggedText.string(bytes, base, text, bytes.getLong(base + at + i * 8));
        }
        if (shapes == null) {
            shapes = new TaggedShapes();
        }
        require(shapes.define(number, keys) != null);
    }
}
