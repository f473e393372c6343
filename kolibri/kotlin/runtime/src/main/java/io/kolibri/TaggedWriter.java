/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import io.kolibri.TaggedStack.Kind;
import io.kolibri.TaggedStack.Level;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/**
 * Writes the value of a message. Either all of it at once by {@link #value}, or piece by piece: a
 * container is begun with the count of what follows in it, and ended by {@link #end}.
 *
 * <pre>{@code
 * writer.object(2).key("name").string("Ada").key("born").integer(1815).end();
 * }</pre>
 *
 * <p>Failures are {@link TaggedException}s with the path of the value; what a getter, an iterator
 * or a codec throws comes through unchanged. After a failure nothing of the value was written,
 * and another one can be; only where a container inside of an open one is half written, {@link
 * #reset} is what is left.
 *
 * <p>It belongs to its {@link BinaryBuffer} and ends with it. One thread at a time.
 */
public final class TaggedWriter {
    private static final String ENDED = "the message is finished, or its frame was closed";

    private final BinaryBuffer frame;
    private final TaggedShapes sent;
    private final TaggedEncoder encoder;
    private TaggedSpace space;
    private TaggedStack stack;
    private boolean isAlone;
    private boolean isFailed;
    private boolean usesConnection;
    private int newestShape;
    private List<TaggedShape> defined;
    private long[] definedBits;

    TaggedWriter(BinaryBuffer frame, TaggedSpace space, TaggedStack stack) {
        this.frame = frame;
        this.sent = frame.buffers().sent();
        this.space = space;
        this.stack = stack;
        this.encoder = new TaggedEncoder(this, frame.buffers(), stack);
        reset();
    }

    /** Forgets everything written, and failures; what follows is the whole message. */
    public TaggedWriter reset() {
        open();
        frame.begin(space);
        stack.begin(space.header(), space.headerAt() + TaggedFormat.AT_ROOT);
        isAlone = false;
        isFailed = false;
        usesConnection = false;
        newestShape = 0;
        defined = null;
        return this;
    }

    /**
     * Makes a message that needs no connection to be read: it carries the definitions of all shapes
     * that it uses. Before the first value.
     */
    public TaggedWriter standAlone() {
        if (open().depth() > 0 || stack.top.left == 0) {
            throw misuse("a message stands alone from its beginning");
        }
        isAlone = true;
        return this;
    }

    /**
     * Writes a value and everything in it; docs/tagged-format.md has the table of what becomes
     * what. A class that is not in it needs a codec ({@link SharedBuffers#register}), or is an
     * error, ETYPE. What contains itself is ECYCLE.
     */
    public TaggedWriter value(Object value) {
        int depth = open().depth();
        int left = stack.top.left;
        boolean isDone = false;
        try {
            encoder.value(value);
            isDone = true;
        } finally {
            if (!isDone && space != null) {
                fail(depth, left);
            }
        }
        return this;
    }

    /** Undoes a value that failed in a container of this depth; what is half written cannot be. */
    private void fail(int depth, int left) {
        boolean wasAlone = isAlone;
        boolean isHalf = stack.depth() != depth || stack.top.left != left;
        isFailed = isFailed || isHalf;
        if (isHalf && depth == 0) {
            reset();
            isAlone = wasAlone;
        }
    }

    /** JavaScript's undefined. */
    public TaggedWriter undefined() {
        return put(TaggedFormat.UNDEFINED_SLOT);
    }

    /** null. */
    public TaggedWriter nothing() {
        return put(TaggedFormat.NULL_SLOT);
    }

    /** A boolean. */
    public TaggedWriter bool(boolean isTrue) {
        return put(isTrue ? TaggedFormat.TRUE_SLOT : TaggedFormat.FALSE_SLOT);
    }

    /** An int. */
    public TaggedWriter integer(int number) {
        return put(TaggedFormat.intSlot(number));
    }

    /** A long; it stays one, however small. */
    public TaggedWriter longInteger(long number) {
        if (TaggedFormat.fitsInt48(number)) {
            return put((long) TaggedFormat.INT48 << 48 | number & 0xffffffffffffL);
        }
        return putBlock(TaggedFormat.KIND_INT64, number);
    }

    /** A double; there is one NaN. */
    public TaggedWriter number(double number) {
        return put(TaggedFormat.doubleSlot(number));
    }

    /** A BigInt, however small. */
    public TaggedWriter bigint(BigInteger number) {
        byte[] digits = number.abs().toByteArray();
        int size = number.signum() == 0 ? 0 : digits.length - (digits[0] == 0 ? 1 : 0);
        long head = number.signum() < 0 ? Long.MIN_VALUE | size : size;
        open();
        int at = space.block(head, size);
        for (int i = 0; i < size; i++) {
            space.bytes.put(at + 8 + i, digits[digits.length - 1 - i]);
        }
        return put(blockSlot(TaggedFormat.KIND_BIGINT, at));
    }

    /** A date; ERANGE outside of what JavaScript has, 8.64e15 ms from 1970. */
    public TaggedWriter date(Date date) {
        double time = date.getTime();
        if (Math.abs(time) > TaggedFormat.DATE_MAX) {
            throw failure(TaggedException.ERANGE, "a date that JavaScript does not have");
        }
        return putBlock(TaggedFormat.KIND_DATE, Double.doubleToLongBits(time));
    }

    /** A string, unit by unit: half a surrogate pair stays what it is. */
    public TaggedWriter string(CharSequence string) {
        return put(textSlot(string.toString()));
    }

    /** A byte array. */
    public TaggedWriter bytes(byte[] bytes) {
        return numbers(TaggedFormat.KIND_BYTES, bytes);
    }

    /** What lies between a buffer's position and its limit, as a byte array; both stay. */
    public TaggedWriter bytes(ByteBuffer bytes) {
        open();
        ByteBuffer view = bytes.duplicate();
        int at = space.block(view.remaining(), view.remaining());
        TaggedFormat.at(space.bytes, at + 8).put(view);
        return put(blockSlot(TaggedFormat.KIND_BYTES, at));
    }

    /** A list of doubles, without a box for any. */
    public TaggedWriter doubles(double[] numbers) {
        return level(1).numbers(TaggedFormat.KIND_DOUBLES, numbers);
    }

    /** A list of ints, without a box for any. */
    public TaggedWriter ints(int[] numbers) {
        return level(1).numbers(TaggedFormat.KIND_INTS, numbers);
    }

    /** A packed array, a typed array in JavaScript. */
    public TaggedWriter packed(PackedArray array) {
        return numbers(array.kind().number(), array.array());
    }

    /** Begins a list: so many values follow. */
    public TaggedWriter list(int count) {
        return begin(Kind.ELEMENTS, count, TaggedFormat.LIST, TaggedFormat.KIND_LIST, null);
    }

    /** Begins a set: so many values follow. */
    public TaggedWriter set(int count) {
        return beginBlock(Kind.ELEMENTS, counted(count), count, TaggedFormat.KIND_SET, null);
    }

    /** Begins an object with keys of its own: {@link #key} and a value, so many times. */
    public TaggedWriter object(int count) {
        return begin(Kind.OBJECT, counted(count), TaggedFormat.OBJECT, TaggedFormat.KIND_OBJECT,
                null);
    }

    /** Begins a map: a value that is the key and a value, so many times. */
    public TaggedWriter map(int count) {
        return beginBlock(Kind.MAP, counted(count), count * 2L, TaggedFormat.KIND_MAP, null);
    }

    /** Begins a custom value: its fields follow. */
    public TaggedWriter custom(int id, int count) {
        return custom(id, count, null);
    }

    /**
     * Begins an object whose keys are those of a shape of {@link SharedBuffers#sent}: its values
     * follow, in the order of the keys.
     */
    public TaggedWriter record(TaggedShape shape) {
        if (sent.get(shape.number) != shape) {
            throw misuse("a shape of another table");
        }
        return record(shape, null);
    }

    /** Writes a key of an object. */
    public TaggedWriter key(String key) {
        Level top = open().top;
        if (top.kind != Kind.OBJECT || top.left == 0 || (top.left & 1) != 0) {
            throw misuse("a key where none is due");
        }
        long slot = textSlot(key);
        top.key = key;
        top.bytes.putLong(top.at, slot);
        top.at += 8;
        top.left--;
        return this;
    }

    /** Ends the container begun last. */
    public TaggedWriter end() {
        if (open().depth() == 0 || stack.top.left != 0) {
            throw misuse(stack.depth() == 0 ? "nothing to end" : "the container is not full");
        }
        stack.pop();
        return this;
    }

    /** Where the next value goes: {@code $.users[3].name}. */
    public String path() {
        return open().path();
    }

    /** Finishes the message: the frame's {@link BinaryBuffer#finish}. */
    public void finish() {
        frame.finish();
    }

    // What the encoder and the frame need.

    TaggedWriter custom(int id, int count, Object identity) {
        long head = (long) counted(count) << 32 | id & 0xffffffffL;
        return beginBlock(Kind.ELEMENTS, head, count, TaggedFormat.KIND_CUSTOM, identity);
    }

    TaggedWriter record(TaggedShape shape, Object identity) {
        enter(1, identity);
        define(shape);
        int count = shape.count();
        int at = space.alloc(count * 8L);
        put(TaggedFormat.slot(TaggedFormat.RECORD, shape.number, count > 0 ? space.offset(at) : 0));
        push(Kind.RECORD, at, count, identity).shape = shape;
        return this;
    }

    /** A list of so many objects of a shape; {@link #row} begins each. */
    void rows(TaggedShape shape, int count, Object identity) {
        enter(2, identity);
        define(shape);
        long head = (long) count << 32 | shape.number;
        int at = space.block(head, (long) count * shape.count() * 8);
        put(blockSlot(TaggedFormat.KIND_RECORDS, at));
        push(Kind.ROWS, at + 8, count, identity).shape = shape;
    }

    void row(Object identity) {
        enter(1, identity);
        Level rows = stack.top;
        int keys = rows.shape.count();
        rows.left--;
        int at = rows.at;
        rows.at += keys * 8;
        Level row = stack.push(Kind.RECORD, rows.bytes, at, keys);
        row.shape = rows.shape;
        row.identity = identity;
    }

    TaggedWriter begin(Kind kind, int count, int tag, int longKind, Object identity) {
        int slots = kind == Kind.OBJECT ? 2 : 1;
        if (counted(count) > TaggedFormat.COUNT_MAX) {
            return beginBlock(kind, count, (long) count * slots, longKind, identity);
        }
        enter(1, identity);
        int at = space.alloc((long) count * slots * 8);
        put(TaggedFormat.slot(tag, count, count > 0 ? space.offset(at) : 0));
        push(kind, at, count * slots, identity);
        return this;
    }

    TaggedWriter beginBlock(Kind kind, long head, long slots, int blockKind, Object identity) {
        enter(1, identity);
        int at = space.block(head, slots * 8);
        put(blockSlot(blockKind, at));
        push(kind, at + 8, (int) slots, identity);
        return this;
    }

    TaggedWriter level(int levels) {
        if (open().depth() + levels > TaggedFormat.DEPTH_MAX) {
            throw failure(TaggedException.EDEPTH, "the value is nested too deeply");
        }
        return this;
    }

    private void enter(int levels, Object identity) {
        level(levels);
        if (identity != null && stack.isOpen(identity)) {
            throw failure(TaggedException.ECYCLE, "the value contains itself");
        }
    }

    private Level push(Kind kind, int at, int slots, Object identity) {
        Level level = stack.push(kind, space.bytes, at, slots);
        level.identity = identity;
        return level;
    }

    private int counted(int count) {
        if (count < 0) {
            throw misuse("a count of " + count);
        }
        return count;
    }

    private long blockSlot(int kind, int at) {
        return TaggedFormat.slot(TaggedFormat.BLOCK, kind, space.offset(at));
    }

    private TaggedWriter putBlock(int kind, long head) {
        open();
        int at = space.block(head, 0);
        return put(blockSlot(kind, at));
    }

    TaggedWriter put(long slot) {
        Level top = open().top;
        if (top.left == 0 || top.kind == Kind.OBJECT && (top.left & 1) == 0) {
            throw misuse(top.left == 0 ? "a value too many" : "a value where a key is due");
        }
        top.bytes.putLong(top.at, slot);
        top.at += 8;
        top.left--;
        return this;
    }

    /** A block of numbers of a kind, from Java's array. */
    private TaggedWriter numbers(int kind, Object array) {
        open();
        int count = java.lang.reflect.Array.getLength(array);
        int at = space.block(count, (long) count * TaggedFormat.elementSize(kind));
        TaggedNumbers.put(space.bytes, at + 8, kind, array);
        return put(blockSlot(kind, at));
    }

    long textSlot(String string) {
        open();
        return TaggedText.write(space, string);
    }

    /** Sees to it that the receiver knows the shape when it reads this message. */
    private void define(TaggedShape shape) {
        usesConnection = true;
        long bit = 1L << shape.number;
        if (shape.isDelivered && !isAlone
                || defined != null && (definedBits[shape.number >>> 6] & bit) != 0) {
            return;
        }
        int count = shape.count();
        int at = space.alloc(TaggedFormat.SHAPE_HEAD + count * 8L);
        ByteBuffer bytes = space.bytes;
        int offset = space.offset(at);
        bytes.putInt(at, shape.number);
        bytes.putInt(at + 4, count);
        bytes.putLong(at + 8, newestShape);
        for (int i = 0; i < count; i++) {
            bytes.putLong(at + TaggedFormat.SHAPE_HEAD + i * 8, textSlot(shape.keys[i]));
        }
        newestShape = offset;
        if (defined == null) {
            defined = new ArrayList<>();
            definedBits = new long[TaggedShapes.SHAPES_MAX / 64];
        }
        defined.add(shape);
        definedBits[shape.number >>> 6] |= bit;
    }

    /** Writes the header; the sizes are known now. Returns the size of the message. */
    int seal() {
        if (isFailed || open().depth() > 0 || stack.top.left != 0) {
            throw misuse(isFailed ? "something failed before" : "the message is not complete");
        }
        int size = space.size();
        ByteBuffer header = space.header();
        int at = space.headerAt();
        header.putInt(at, TaggedFormat.MAGIC);
        header.putInt(at + TaggedFormat.AT_VERSION,
                TaggedFormat.VERSION | (usesConnection && !isAlone ? 0x100 : 0));
        header.putInt(at + TaggedFormat.AT_SIZE, size);
        header.putInt(at + TaggedFormat.AT_TEXT, space.bodySize());
        header.putInt(at + TaggedFormat.AT_TEXT_SIZE, space.textUsed);
        header.putInt(at + TaggedFormat.AT_SHAPES, newestShape);
        return size;
    }

    void delivered() {
        if (defined != null && !isAlone) {
            for (TaggedShape shape : defined) {
                shape.isDelivered = true;
            }
        }
    }

    /** The frame closes, or lets another one have the rest of its chunk. */
    void detach() {
        if (space != null) {
            stack.forget();
            space.forget();
        }
        space = null;
        stack = null;
    }

    TaggedException misuse(String what) {
        return failure(TaggedException.EMISUSE, what);
    }

    TaggedException failure(int status, String what) {
        return new TaggedException(status, what, stack.path());
    }

    private TaggedStack open() {
        if (space == null) {
            throw new TaggedException(TaggedException.EMISUSE, ENDED);
        }
        return stack;
    }
}
