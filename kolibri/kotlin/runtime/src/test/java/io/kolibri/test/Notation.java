/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import io.kolibri.PackedArray;
import io.kolibri.SharedBuffers;
import io.kolibri.BinaryBuffer;
import io.kolibri.TaggedReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;

/** The notation of docs/tagged-format.md, section 9, of messages where they lie; and messages. */
final class Notation {
    private Notation() {}

    static String of(TaggedReader reader) {
        StringBuilder text = new StringBuilder();
        print(text, reader, reader.root());
        return text.toString();
    }

    /** The message of a value, alone or of the connection. */
    static byte[] message(SharedBuffers buffers, Object value, boolean isAlone) {
        try (BinaryBuffer frame = buffers.frame()) {
            if (isAlone) {
                frame.writer().standAlone();
            }
            frame.writer().value(value);
            frame.finish();
            byte[] bytes = bytes(buffers, frame);
            frame.delivered();
            return bytes;
        }
    }

    static byte[] bytes(SharedBuffers buffers, BinaryBuffer frame) {
        ByteBuffer from = (frame.big() != null ? frame.big() : buffers.block()).duplicate();
        byte[] bytes = new byte[(int) (frame.where() >>> 32)];
        from.position((int) frame.where());
        from.get(bytes);
        return bytes;
    }

    static ByteBuffer direct(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(bytes);
        buffer.flip();
        return buffer;
    }

    /** What another connection, or none, reads of a value. */
    static Object through(Object value) {
        try (SharedBuffers buffers = new SharedBuffers()) {
            return TaggedReader.of(direct(message(buffers, value, true))).value();
        }
    }

    private static void print(StringBuilder text, TaggedReader reader, long slot) {
        switch (reader.type(slot)) {
            case UNDEFINED:
            case NULL:
            case BOOL:
                text.append(reader.value(slot));
                break;
            case INT:
                text.append(reader.asInt(slot));
                break;
            case LONG:
                text.append(reader.asLong(slot)).append('L');
                break;
            case DOUBLE:
                text.append('d').append(hex(Double.doubleToRawLongBits(reader.asDouble(slot)), 16));
                break;
            case BIGINT:
                text.append('n').append(((BigInteger) reader.value(slot)).toString(16));
                break;
            case TEXT:
                quote(text, reader.asString(slot));
                break;
            case OBJECT:
                object(text, reader, slot);
                break;
            case MAP:
                map(text, reader, slot);
                break;
            case DATE:
                long time = ((java.util.Date) reader.value(slot)).getTime();
                text.append("date(").append(time).append(')');
                break;
            case BYTES:
                bytes(text, reader, slot);
                break;
            case PACKED:
                packed(text, reader, slot);
                break;
            default:
                list(text, reader, slot);
        }
    }

    private static void list(StringBuilder text, TaggedReader reader, long slot) {
        switch (reader.type(slot)) {
            case SET:
                text.append("set(");
                break;
            case ERROR:
                text.append("error(");
                break;
            case CUSTOM:
                text.append("custom(").append(reader.schema(slot) & 0xffffffffL);
                text.append(reader.count(slot) > 0 ? "," : "");
                break;
            default:
                text.append('[');
        }
        for (int i = 0; i < reader.count(slot); i++) {
            text.append(i > 0 ? "," : "");
            print(text, reader, reader.at(slot, i));
        }
        text.append(reader.type(slot) == TaggedReader.Type.LIST ? ']' : ')');
    }

    private static void object(StringBuilder text, TaggedReader reader, long slot) {
        text.append('{');
        for (int i = 0; i < reader.count(slot); i++) {
            text.append(i > 0 ? "," : "");
            quote(text, reader.shape(slot) != null
                    ? reader.shape(slot).keys().get(i)
                    : reader.asString(reader.keyAt(slot, i)));
            text.append(':');
            print(text, reader, reader.at(slot, i));
        }
        text.append('}');
    }

    private static void map(StringBuilder text, TaggedReader reader, long slot) {
        text.append("map(");
        for (int i = 0; i < reader.count(slot); i++) {
            text.append(i > 0 ? "," : "");
            print(text, reader, reader.keyAt(slot, i));
            text.append('=');
            print(text, reader, reader.at(slot, i));
        }
        text.append(')');
    }

    private static void bytes(StringBuilder text, TaggedReader reader, long slot) {
        text.append("bytes(");
        for (int i = 0; i < reader.count(slot); i++) {
            text.append(hex(reader.longAt(slot, i) & 0xff, 2));
        }
        text.append(')');
    }

    private static PackedArray packedOf(Object value) {
        PackedArray.Kind kind = value instanceof short[] ? PackedArray.Kind.I16
                : value instanceof int[] ? PackedArray.Kind.I32
                : value instanceof long[] ? PackedArray.Kind.I64
                : value instanceof float[] ? PackedArray.Kind.F32
                : PackedArray.Kind.F64;
        return value instanceof PackedArray ? (PackedArray) value : new PackedArray(kind, value);
    }

    private static void packed(StringBuilder text, TaggedReader reader, long slot) {
        PackedArray array = packedOf(reader.value(slot));
        String name = array.kind() == PackedArray.Kind.U8_CLAMPED ? "u8c"
                : array.kind().toString().toLowerCase(Locale.ROOT);
        text.append(name).append('(');
        for (int i = 0; i < array.count(); i++) {
            text.append(i > 0 ? "," : "");
            switch (array.kind()) {
                case F32:
                    text.append(hex(Float.floatToRawIntBits((float) array.get(i)), 8));
                    break;
                case F64:
                    text.append(hex(Double.doubleToRawLongBits((double) array.get(i)), 16));
                    break;
                default:
                    text.append(array.get(i));
            }
        }
        text.append(')');
    }

    private static String hex(long number, int digits) {
        String all = String.format("%016x", number);
        return all.substring(16 - digits);
    }

    static void quote(StringBuilder text, String string) {
        text.append('"');
        for (char c : string.toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c >= 0x20 && c <= 0x7e) {
                text.append(c);
            } else {
                text.append(String.format("\\u%04x", (int) c));
            }
        }
        text.append('"');
    }
}
