/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The memory of a message that is being written: first the leased chunk, then parts of the heap.
 * None of them moves, so a run of slots can be filled while others are added behind it. The text
 * area grows on its own.
 *
 * <pre>
 *     part 0 (chunk)     part 1           part 2
 *     |header|runs...|   |runs...|        |runs...   |      offset = index in its part + shift
 * </pre>
 */
final class TaggedSpace {
    private static final int PART_MIN = 1 << 12;
    private static final int TEXT_MIN = 1 << 9;
    /** A text array up to this size is kept for the chunk's next message. */
    private static final int TEXT_KEPT = 1 << 14;

    private static final class Part {
        final ByteBuffer bytes;
        final int from;
        final int to;

        Part(ByteBuffer bytes, int from, int to) {
            this.bytes = bytes;
            this.from = from;
            this.to = to;
        }
    }

    /** The part that is written now. */
    ByteBuffer bytes;

    byte[] text = new byte[TEXT_MIN];
    int textUsed;
    private ByteBuffer chunk;
    private ByteBuffer header;
    private int headerAt;
    private int from;
    private int at;
    private int end;
    private int shift;
    private final List<Part> full = new ArrayList<>(0);
    private final TaggedStack stack;

    /** Memory for the writer that has these levels; they name the value that is too large. */
    TaggedSpace(TaggedStack stack) {
        this.stack = stack;
    }

    /** Begins a message in a part of a chunk; with null and no room, in the heap. */
    void begin(ByteBuffer leased, int start, int limit) {
        forget();
        chunk = leased;
        bytes = leased;
        from = start;
        at = start;
        end = limit;
        shift = -start;
        headerAt = alloc(TaggedFormat.HEADER_SIZE);
        header = bytes;
        for (int i = 0; i < TaggedFormat.HEADER_SIZE; i += 8) {
            bytes.putLong(headerAt + i, 0);
        }
    }

    /** Lets go of everything that is not the chunk's. */
    void forget() {
        full.clear();
        textUsed = 0;
        if (text.length > TEXT_KEPT) {
            text = new byte[TEXT_MIN];
        }
        chunk = null;
        bytes = null;
        header = null;
    }

    ByteBuffer header() {
        return header;
    }

    int headerAt() {
        return headerAt;
    }

    /** The offset in the message of an index of the present part. */
    int offset(int index) {
        return index + shift;
    }

    /** Takes bytes, rounded up to slots; their index is in {@link #bytes} as it is afterwards. */
    int alloc(long size) {
        long rounded = TaggedFormat.roundUp(size);
        if (rounded > end - at) {
            grow(rounded);
        }
        int taken = at;
        at += (int) rounded;
        return taken;
    }

    /** A run that need not be of whole slots: the last one is zeros. */
    int run(long size) {
        int taken = alloc(size);
        if ((size & 7) != 0) {
            bytes.putLong(at - 8, 0);
        }
        return taken;
    }

    /** A block: its head, then data of a size. Returns the index of the head. */
    int block(long head, long size) {
        int taken = run(8 + size);
        bytes.putLong(taken, head);
        return taken;
    }

    private void grow(long size) {
        int used = at + shift;
        limit(used + size);
        int wanted = (int) Math.max(size, Math.max(PART_MIN, Math.min(used, 1 << 24)));
        ByteBuffer more = ByteBuffer.allocate(wanted).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes != null) {
            full.add(new Part(bytes, from, at));
        }
        bytes = more;
        from = 0;
        at = 0;
        end = wanted;
        shift = used;
    }

    private void limit(long body) {
        if (body + textUsed > TaggedFormat.SIZE_MAX) {
            throw new TaggedException(
                    TaggedException.ERANGE, "a message of more than 256 MiB", stack.path());
        }
    }

    /** The text array, with room for so many bytes more. */
    byte[] textRoom(int count) {
        if (count > text.length - textUsed) {
            limit((long) at + shift + count);
            long doubled = Math.max(textUsed + (long) count, text.length * 2L);
            text = Arrays.copyOf(text, (int) Math.min(doubled, TaggedFormat.SIZE_MAX));
        }
        return text;
    }

    /** The size of the body so far. */
    int bodySize() {
        return at + shift;
    }

    /** The size of the whole message; ERANGE if it is too large. */
    int size() {
        long size = TaggedFormat.roundUp((long) at + shift + textUsed);
        limit(size - textUsed);
        return (int) size;
    }

    /** Puts the text behind the body, in the chunk; false if there is no room or no chunk. */
    boolean finishInChunk() {
        if (chunk == null || bytes != chunk || size() - bodySize() > end - at) {
            return false;
        }
        putText(bytes, at);
        return true;
    }

    /** Brings the parts together in a buffer of the exact size. */
    ByteBuffer gather() {
        ByteBuffer whole = ByteBuffer.allocateDirect(size()).order(ByteOrder.LITTLE_ENDIAN);
        for (Part part : full) {
            copy(part.bytes, part.from, part.to, whole);
        }
        copy(bytes, from, at, whole);
        putText(whole, bodySize());
        ((Buffer) whole).clear();
        return whole;
    }

    private static void copy(ByteBuffer part, int from, int to, ByteBuffer whole) {
        ByteBuffer view = TaggedFormat.at(part, from);
        ((Buffer) view).limit(to);
        whole.put(view);
    }

    private void putText(ByteBuffer to, int index) {
        if (textUsed > 0) {
            to.putLong(index + (int) TaggedFormat.roundUp(textUsed) - 8, 0);
            put(to, index, text, textUsed);
        }
    }

    /** Copies bytes to an index. */
    static void put(ByteBuffer to, int index, byte[] from, int count) {
        if (count <= 16) {
            for (int i = 0; i < count; i++) {
                to.put(index + i, from[i]);
            }
        } else {
            TaggedFormat.at(to, index).put(from, 0, count);
        }
    }
}
