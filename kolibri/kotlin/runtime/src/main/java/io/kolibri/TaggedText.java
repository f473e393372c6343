/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Strings out of and into messages, unit by unit: half a surrogate pair stays what it is. */
final class TaggedText {
    /** From here on a view and a bulk copy cost less than a loop. */
    private static final int BULK = 16;

    private TaggedText() {}

    /** The string of a TEXT8 or TEXT16 slot of the message at `base`. */
    static String string(ByteBuffer bytes, int base, int text, long slot) {
        int count = TaggedFormat.count(slot);
        int offset = TaggedFormat.offset(slot);
        if (count == 0) {
            return "";
        }
        return TaggedFormat.tag(slot) == TaggedFormat.TEXT8
                ? latin1(bytes, base + text + offset, count)
                : utf16(bytes, base + offset, count);
    }

    static String latin1(ByteBuffer bytes, int index, int count) {
        return new String(bytes(bytes, index, count), StandardCharsets.ISO_8859_1);
    }

    static byte[] bytes(ByteBuffer bytes, int index, int count) {
        byte[] copy = new byte[count];
        if (count < BULK) {
            for (int i = 0; i < count; i++) {
                copy[i] = bytes.get(index + i);
            }
        } else {
            TaggedFormat.at(bytes, index).get(copy);
        }
        return copy;
    }

    static String utf16(ByteBuffer bytes, int index, int count) {
        char[] units = new char[count];
        if (count < BULK) {
            for (int i = 0; i < count; i++) {
                units[i] = bytes.getChar(index + i * 2);
            }
        } else {
            TaggedFormat.at(bytes, index).asCharBuffer().get(units);
        }
        return new String(units);
    }

    /** Puts a string into a message that is being written; returns its slot. */
    static long write(TaggedSpace space, String string) {
        int count = string.length();
        if (count > TaggedFormat.COUNT_MAX) {
            return writeLong(space, string, count);
        }
        byte[] text = space.textRoom(count);
        int from = space.textUsed;
        int seen = 0;
        for (int i = 0; i < count; i++) {
            char unit = string.charAt(i);
            seen |= unit;
            text[from + i] = (byte) unit;
        }
        if (seen > 0xff) {
            return TaggedFormat.slot(TaggedFormat.TEXT16, count, units(space, string, count));
        }
        space.textUsed = from + count;
        return TaggedFormat.slot(TaggedFormat.TEXT8, count, count > 0 ? from : 0);
    }

    private static int units(TaggedSpace space, String string, int count) {
        int at = space.run(count * 2L);
        putUnits(space.bytes, at, string, count);
        return space.offset(at);
    }

    private static void putUnits(ByteBuffer bytes, int at, String string, int count) {
        if (count < BULK) {
            for (int i = 0; i < count; i++) {
                bytes.putChar(at + i * 2, string.charAt(i));
            }
        } else {
            TaggedFormat.at(bytes, at).asCharBuffer().put(string);
        }
    }

    private static long writeLong(TaggedSpace space, String string, int count) {
        int seen = 0;
        for (int i = 0; i < count; i++) {
            seen |= string.charAt(i);
        }
        int kind = seen > 0xff ? TaggedFormat.KIND_TEXT16 : TaggedFormat.KIND_TEXT8;
        int at = space.block(count, seen > 0xff ? count * 2L : count);
        if (seen > 0xff) {
            putUnits(space.bytes, at + 8, string, count);
        } else {
            byte[] latin1 = string.getBytes(StandardCharsets.ISO_8859_1);
            TaggedSpace.put(space.bytes, at + 8, latin1, count);
        }
        return TaggedFormat.slot(TaggedFormat.BLOCK, kind, space.offset(at));
    }
}
