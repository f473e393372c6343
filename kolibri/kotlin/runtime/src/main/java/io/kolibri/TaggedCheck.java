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

    /* What can be wrong; C says the same in its tagged_check.c. */
    private static final String SHORT = "a message that is too short or not aligned";
    private static final String LARGE = "a message of more than 256 MiB";
    private static final String HEADER = "a header that is damaged or of another version";
    private static final String NO_TABLE =
            "definitions of shapes for a connection, and there is none";
    private static final String DEFINITION = "a definition of a shape that is damaged";
    private static final String NO_PLACE = "a place outside of the message, or used twice";
    private static final String NO_SHAPE = "a shape that nobody defined";
    private static final String NO_KEYS = "records without keys";
    private static final String NO_KEY = "a key that is no string";
    private static final String NO_VALUE = "a slot that is no value";
    private static final String NO_KIND = "a kind of block that nobody knows";
    private static final String DATE = "a date that is none";
    private static final String BIGINT = "a BigInt with a wrong head or a zero on top";
    private static final String NO_PARTS = "an error without its five parts";
    private static final String PARTS = "an error whose name, message or stack is no string";
    private static final String DEPTH = "containers nested too deeply";

    private final ByteBuffer bytes;
    private final int base;
    private final int text;
    private final int textSize;
    private TaggedShapes shapes;
    private long bodyLeft;
    private long textLeft;
    /** The offset of the definition that is looked at, 0 before and after. */
    private int definition;
    /** Where: the number of the slot in each run, the innermost first. Filled while it unwinds. */
    private int[] steps;
    private int stepCount;

    /** Looks at the header. */
    private TaggedCheck(ByteBuffer bytes, int base, int size) {
        this.bytes = bytes;
        this.base = base;
        require(size >= TaggedFormat.HEADER_SIZE, SHORT);
        if (size > TaggedFormat.SIZE_MAX) {
            throw new TaggedException(TaggedException.ERANGE, LARGE);
        }
        require((size & 7) == 0, HEADER);
        require(bytes.getInt(base) == TaggedFormat.MAGIC, HEADER);
        require(bytes.get(base + TaggedFormat.AT_VERSION) == TaggedFormat.VERSION, HEADER);
        require(bytes.getInt(base + TaggedFormat.AT_VERSION) >>> 9 == 0, HEADER);
        require(bytes.getInt(base + TaggedFormat.AT_SIZE) == size, HEADER);
        text = bytes.getInt(base + TaggedFormat.AT_TEXT);
        textSize = bytes.getInt(base + TaggedFormat.AT_TEXT_SIZE);
        require(text >= TaggedFormat.HEADER_SIZE && text <= size && (text & 7) == 0, HEADER);
        require(textSize >= 0 && textSize <= size - text, HEADER);
        require(size - text - textSize < 8, HEADER);
        bodyLeft = text - TaggedFormat.HEADER_SIZE;
        textLeft = textSize;
    }

    /**
     * Checks the message at an index of a buffer in little-endian order. `received` is the table of
     * the connection, null if there is none. Returns the table that the message's numbers are of.
     */
    static TaggedShapes message(ByteBuffer bytes, int base, int size, TaggedShapes received) {
        TaggedCheck check = new TaggedCheck(bytes, base, size);
        int newest = bytes.getInt(base + TaggedFormat.AT_SHAPES);
        boolean isOfConnection = (bytes.get(base + TaggedFormat.AT_VERSION + 1) & 1) != 0;
        require(!isOfConnection || received != null || newest == 0, NO_TABLE);
        check.shapes = isOfConnection ? received : null;
        try {
            check.definitions(newest);
            check.value(bytes.getLong(base + TaggedFormat.AT_ROOT), 0);
        } catch (TaggedException e) {
            throw check.located(e);
        }
        return check.shapes;
    }

    private TaggedException located(TaggedException e) {
        return definition != 0
                ? new TaggedException(TaggedException.EFORMAT,
                        DEFINITION + " at byte " + (definition & 0xffffffffL))
                : new TaggedException(e.status(), e.getMessage(), path());
    }

    private static void require(boolean isRight, String what) {
        if (!isRight) {
            throw new TaggedException(TaggedException.EFORMAT, what);
        }
    }

    private static int deeper(int depth, int levels) {
        if (depth + levels > TaggedFormat.DEPTH_MAX) {
            throw new TaggedException(TaggedException.EDEPTH, DEPTH);
        }
        return depth + levels;
    }

    /** Notes the way back to what is wrong in a slot of a run. */
    private TaggedException from(int index, TaggedException e) {
        if (steps == null) {
            steps = new int[TaggedFormat.DEPTH_MAX + 1];
        }
        steps[stepCount++] = index;
        return e;
    }

    /** The containers on the way to what is wrong are in order. */
    private String path() {
        StringBuilder path = new StringBuilder("$");
        long slot = bytes.getLong(base + TaggedFormat.AT_ROOT);
        for (int i = stepCount - 1; i >= 0; i--) {
            int tag = tag(slot);
            int start = base + offset(slot);
            int run = tag == BLOCK ? start + 8 : start;
            addStep(path, tag == BLOCK ? count(slot) : tag, slot, start, steps[i]);
            slot = bytes.getLong(run + steps[i] * 8);
        }
        return TaggedPath.cut(path);
    }

    /** The step from a container, whose tag or kind of block this is, into a slot of its run. */
    private void addStep(StringBuilder path, int kind, long slot, int start, int index) {
        switch (kind) {
            case OBJECT:
                addKeyStep(path, start, index);
                break;
            case TaggedFormat.KIND_OBJECT:
                addKeyStep(path, start + 8, index);
                break;
            case TaggedFormat.KIND_MAP:
                TaggedPath.addPair(path, index);
                break;
            case TaggedFormat.KIND_ERROR:
                TaggedPath.addPart(path, index);
                break;
            case RECORD:
                TaggedPath.addKey(path, shapes.get(count(slot)).keys[index]);
                break;
            case TaggedFormat.KIND_RECORDS:
                String[] keys = shapes.get(bytes.getInt(start)).keys;
                path.append('[').append(index / keys.length).append(']');
                TaggedPath.addKey(path, keys[index % keys.length]);
                break;
            default:
                path.append('[').append(index).append(']');
        }
    }

    private void addKeyStep(StringBuilder path, int run, int index) {
        if ((index & 1) == 1) {
            long key = bytes.getLong(run + (index - 1) * 8);
            int at = base + offset(key);
            TaggedPath.addKey(path, tag(key) != BLOCK
                    ? TaggedText.string(bytes, base, text, key)
                    : count(key) == TaggedFormat.KIND_TEXT8
                            ? TaggedText.latin1(bytes, at + 8, bytes.getInt(at))
                            : TaggedText.utf16(bytes, at + 8, bytes.getInt(at)));
        }
    }

    /** Takes a run from the body's budget; its size is below 2^62. */
    private void take(int at, long size) {
        require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE && at <= text, NO_PLACE);
        require(size <= text - at, NO_PLACE);
        bodyLeft -= TaggedFormat.roundUp(size);
        require(bodyLeft >= 0, NO_PLACE);
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
            require(textLeft >= 0 && offset(slot) <= textSize - size, NO_PLACE);
        }
    }

    private void values(int at, long count, int depth) {
        int i = base + at;
        try {
            for (int end = i + (int) count * 8; i < end; i += 8) {
                long slot = bytes.getLong(i);
                if (!isDouble(slot)) {
                    tagged(slot, depth);
                }
            }
        } catch (TaggedException e) {
            throw from((i - base - at) / 8, e);
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
                require((slot << 16) >>> 16 <= 3, NO_VALUE);
                break;
            case INT32:
                require((slot >>> 32 & 0xffff) == 0, NO_VALUE);
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
                record(slot, depth);
                break;
            case OBJECT:
                run(offset(slot), count(slot) * 16L);
                pairs(offset(slot), count(slot), deeper(depth, 1));
                break;
            case BLOCK:
                block(count(slot), offset(slot), depth);
                break;
            default:
                require(false, NO_VALUE);
        }
    }

    private TaggedShape shape(long number) {
        TaggedShape shape =
                shapes != null && number < TaggedShapes.SHAPES_MAX
                        ? shapes.get((int) number)
                        : null;
        require(shape != null, NO_SHAPE);
        return shape;
    }

    private void record(long slot, int depth) {
        int keys = shape(count(slot)).count();
        run(offset(slot), keys * 8L);
        values(offset(slot), keys, deeper(depth, 1));
    }

    private void pairs(int at, long count, int depth) {
        int i = 0;
        try {
            for (; i < count * 2; i++) {
                string(bytes.getLong(base + at + i * 8), depth, NO_KEY);
                i++;
                value(bytes.getLong(base + at + i * 8), depth);
            }
        } catch (TaggedException e) {
            throw from(i, e);
        }
    }

    private void string(long slot, int depth, String what) {
        int tag = tag(slot);
        int kind = tag == BLOCK ? count(slot) : 0;
        require(tag == TEXT8 || tag == TEXT16
                || kind == TaggedFormat.KIND_TEXT8 || kind == TaggedFormat.KIND_TEXT16, what);
        tagged(slot, depth);
    }

    private void block(int kind, int at, int depth) {
        require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE && at <= text - 8, NO_PLACE);
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
                error(at, head, depth);
                break;
            case TaggedFormat.KIND_CUSTOM:
                counted(at, head >>> 32, 8);
                values(at + 8, head >>> 32, deeper(depth, 1));
                break;
            case TaggedFormat.KIND_RECORDS:
                records(at, head, depth);
                break;
            default:
                numbers(kind, at, head, depth);
        }
    }

    private void numbers(int kind, int at, long count, int depth) {
        int size = TaggedFormat.elementSize(kind);
        require(size != 0, NO_KIND);
        counted(at, count, size);
        if (kind == TaggedFormat.KIND_DOUBLES || kind == TaggedFormat.KIND_INTS) {
            deeper(depth, 1);
        }
    }

    /** A block whose data are so many elements of a size. */
    private void counted(int at, long count, int size) {
        require(count >= 0 && count <= (text - at - 8) / size, NO_PLACE);
        take(at, 8 + count * size);
    }

    private static void date(long bits) {
        double date = Double.longBitsToDouble(bits);
        require(Math.abs(date) <= TaggedFormat.DATE_MAX && date == Math.rint(date)
                && bits != MINUS_ZERO, DATE);
    }

    private void bigint(int at, long head) {
        long size = head & 0xffffffffL;
        require((head >>> 32 & 0x7fffffff) == 0, BIGINT);
        counted(at, size, 1);
        require(size == 0 ? head == 0 : bytes.get(base + at + 8 + (int) size - 1) != 0, BIGINT);
    }

    private void error(int at, long head, int depth) {
        require(head == TaggedFormat.ERROR_FIELDS, NO_PARTS);
        counted(at, head, 8);
        int inner = deeper(depth, 1);
        int i = 0;
        try {
            for (; i < TaggedFormat.ERROR_FIELDS; i++) {
                long slot = bytes.getLong(base + at + 8 + i * 8);
                if (i < 2 || i == 2 && slot != TaggedFormat.UNDEFINED_SLOT) {
                    string(slot, inner, PARTS);
                } else {
                    value(slot, inner);
                }
            }
        } catch (TaggedException e) {
            throw from(i, e);
        }
    }

    private void records(int at, long head, int depth) {
        int keys = shape(head & 0xffffffffL).count();
        require(keys > 0, NO_KEYS);
        counted(at, head >>> 32, keys * 8);
        values(at + 8, (head >>> 32) * keys, deeper(depth, 2));
    }

    /** The shapes that the message brings, the newest first. */
    private void definitions(int newest) {
        int at = newest;
        while (at != 0) {
            definition = at;
            require((at & 7) == 0 && at >= TaggedFormat.HEADER_SIZE
                    && at <= text - TaggedFormat.SHAPE_HEAD, DEFINITION);
            int count = bytes.getInt(base + at + 4);
            require(count >= 0 && count <= TaggedShapes.KEYS_MAX, DEFINITION);
            take(at, TaggedFormat.SHAPE_HEAD + count * 8L);
            define(bytes.getInt(base + at), at + TaggedFormat.SHAPE_HEAD, count);
            long older = bytes.getLong(base + at + 8);
            require(older >= 0 && older < at, DEFINITION);
            at = (int) older;
        }
        definition = 0;
    }

    private void define(int number, int at, int count) {
        require(number >= 0 && number < TaggedShapes.SHAPES_MAX, DEFINITION);
        for (int i = 0; i < count; i++) {
            long slot = bytes.getLong(base + at + i * 8);
            require(tag(slot) == TEXT8 || tag(slot) == TEXT16, DEFINITION);
            require(count(slot) <= TaggedShapes.KEY_MAX, DEFINITION);
            tagged(slot, 0);
        }
        String[] keys = new String[count];
        for (int i = 0; i < count; i++) {
            keys[i] = TaggedText.string(bytes, base, text, bytes.getLong(base + at + i * 8));
        }
        if (shapes == null) {
            shapes = new TaggedShapes();
        }
        require(shapes.define(number, keys) != null, DEFINITION);
    }
}
