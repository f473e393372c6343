/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedCustom;
import io.kolibri.TaggedException;
import io.kolibri.TaggedReader;
import io.kolibri.TaggedShape;
import io.kolibri.TaggedWriter;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The builder, its shapes, and the limits of messages. */
class TaggedWriterTest {
    private static int misuse(Runnable action) {
        return SharedBuffersTest.misuse(action);
    }

    private static BinaryBuffer write(SharedBuffers buffers, Object value) {
        return SharedBuffersTest.write(buffers, value);
    }

    private static Object read(SharedBuffers buffers, BinaryBuffer frame) {
        return SharedBuffersTest.read(buffers, frame);
    }

    @Test
    void aNumberThatAMessageGaveOutIsNeverGivenToOtherKeys() {
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            buffers.sent().of("x");
            frame.writer().record(buffers.sent().of("y")).integer(5).end();
            frame.finish();
            TaggedReader reader = buffers.reader(frame.where(), frame.big());
            assertNull(buffers.received().of("z"));
            assertEquals(1, buffers.received().count());
            assertEquals(List.of("y"), reader.shape(reader.root()).keys());
            assertEquals(Map.of("y", 5), reader.value());
        }
    }

    @Test
    void theBuilderRefusesWhatIsNoMessage() {
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            TaggedWriter writer = frame.writer();
            assertEquals(TaggedException.EMISUSE, misuse(frame::where));
            assertEquals(TaggedException.EMISUSE, misuse(frame::finish));
            assertEquals(TaggedException.EMISUSE, misuse(writer::end));
            assertEquals(TaggedException.EMISUSE, misuse(() -> writer.list(-1)));
            writer.object(2).key("a").integer(1);
            assertEquals("$", writer.path());
            assertEquals(TaggedException.EMISUSE, misuse(() -> writer.integer(1)));
            assertEquals(TaggedException.EMISUSE, misuse(writer::end));
            assertEquals(TaggedException.EMISUSE, misuse(frame::finish));
            writer.key("b");
            assertEquals("$.b", writer.path());
            assertEquals(TaggedException.EMISUSE, misuse(() -> writer.key("c")));
            writer.list(0).end().end();
            assertEquals(TaggedException.EMISUSE, misuse(() -> writer.integer(1)));
            assertEquals(TaggedException.EMISUSE, misuse(() -> writer.value(1)));
            frame.finish();
            assertEquals(Map.of("a", 1, "b", List.of()), read(buffers, frame));
        }
    }

    @Test
    void theBuilderWritesEveryKind() {
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            TaggedShape shape = buffers.sent().of("x", "y");
            frame.writer().list(6).record(shape).number(1.5).bool(true).end()
                    .map(1).nothing().undefined().end()
                    .set(2).longInteger(1).string("s").end()
                    .custom(9, 1).integer(1).end()
                    .doubles(new double[] {1}).ints(new int[] {1, 2}).end();
            frame.finish();
            TaggedReader reader = buffers.reader(frame.where(), frame.big());
            assertEquals("[{\"x\":d3ff8000000000000,\"y\":true},map(null=undefined),set(1L,\"s\"),"
                    + "custom(9,1),[d3ff0000000000000],[1,2]]", Notation.of(reader));
        }
    }

    /** What the cursor says of values, and what it does not take for another. */
    @Test
    void theCursorReadsWhereValuesLie() {
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            frame.writer().value(List.of(1, 1L << 50, 2.0, 2.5, 1e300, true, "text", Map.of("k", 7),
                    new TaggedCustom(3, List.of("f")), new float[] {1.5f}, new byte[] {-1}));
            frame.finish();
            TaggedReader reader = buffers.reader(frame.where(), frame.big());
            long root = reader.root();
            assertEquals(TaggedReader.Type.LIST, reader.type(root));
            assertEquals(11, reader.count(root));
            assertEquals(1, reader.asInt(reader.at(root, 0)));
            assertEquals(1L << 50, reader.asLong(reader.at(root, 1)));
            assertEquals(2, reader.asInt(reader.at(root, 2)));
            assertEquals(2.5, reader.asDouble(reader.at(root, 3)));
            assertEquals(1.0, reader.asDouble(reader.at(root, 0)));
            assertTrue(reader.asBoolean(reader.at(root, 5)));
            assertEquals("text", reader.asString(reader.at(root, 6)));
            assertEquals("text", reader.value(reader.at(root, 6)));
            long object = reader.at(root, 7);
            assertEquals(7, reader.asInt(reader.get(object, "k")));
            assertTrue(reader.isNothing(reader.get(object, "absent")));
            assertEquals(0, reader.shape(object).find("k"));
            assertEquals(3, reader.schema(reader.at(root, 8)));
            assertEquals(1.5, reader.doubleAt(reader.at(root, 9), 0));
            assertEquals(-1, reader.longAt(reader.at(root, 10), 0));

            assertEquals(TaggedException.ERANGE, misuse(() -> reader.asInt(reader.at(root, 1))));
            assertEquals(TaggedException.ERANGE, misuse(() -> reader.asLong(reader.at(root, 4))));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.asLong(reader.at(root, 3))));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.asLong(reader.at(root, 6))));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.asString(root)));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.get(root, "k")));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.keyAt(root, 0)));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.longAt(root, 0)));
            assertEquals(TaggedException.ETYPE, misuse(() -> reader.at(reader.at(root, 10), 0)));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.at(root, 11));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.at(root, -1));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.at(reader.at(root, 0), 0));
        }
    }

    @Test
    void shapesAreSentOnce() {
        try (SharedBuffers buffers = new SharedBuffers()) {
            Map<String, Object> value = Map.of("key", 1);
            int[] sizes = new int[4];
            for (int i = 0; i < 4; i++) {
                try (BinaryBuffer frame = write(buffers, value)) {
                    sizes[i] = (int) (frame.where() >>> 32);
                    assertEquals(value, read(buffers, frame));
                    if (i == 1) {
                        frame.delivered();
                    }
                }
            }
            assertEquals(sizes[0], sizes[1], "nobody said that it was delivered");
            assertTrue(sizes[2] == 40 && sizes[3] == 40, Arrays.toString(sizes));
            assertEquals(1, buffers.sent().count());
            assertEquals(1, buffers.received().count());
        }
    }

    /** Beyond 1,024 shapes objects go with inline keys, and everything still arrives. */
    @Test
    void theTableOfShapesIsBounded() {
        try (SharedBuffers buffers = new SharedBuffers()) {
            for (int i = 0; i < 1100; i++) {
                Map<String, Object> value = Map.of("key " + i, i);
                try (BinaryBuffer frame = write(buffers, value)) {
                    assertEquals(value, read(buffers, frame));
                    frame.delivered();
                }
            }
            assertEquals(1024, buffers.sent().count());
        }
        try (SharedBuffers buffers = new SharedBuffers()) {
            for (int i = 0; i < 300; i++) {
                String key = String.format("%1024d", i);
                try (BinaryBuffer frame = write(buffers, Map.of(key, i))) {
                    assertEquals(Map.of(key, i), read(buffers, frame));
                }
            }
            assertEquals(256, buffers.sent().count());
            assertNull(buffers.sent().of("k".repeat(1025)));
            assertNull(buffers.sent().of("twice", "twice"));
        }
    }

    private static Object nested(int levels) {
        Object value = 5;
        for (int i = 0; i < levels; i++) {
            value = i % 3 == 0 ? Map.of("k", value) : i % 3 == 1 ? new Object[] {value}
                    : Map.of(1, value);
        }
        return value;
    }

    @Test
    void depthHasALimit() {
        Object deepest = Notation.through(nested(512));
        assertNotNull(deepest);
        TaggedException e = TaggedFailureTest.fails(TaggedException.EDEPTH,
                "$" + cut(), nested(513));
        assertEquals(200, e.path().length());
        Object list = List.of(1, 2);
        for (int i = 0; i < 511; i++) {
            list = new Object[] {list};
        }
        assertNotNull(Notation.through(list));
        Object tooDeep = new Object[] {list};
        assertEquals(TaggedException.EDEPTH, misuse(() -> Notation.through(tooDeep)));
        Object rows = List.of(Map.of("a", 1), Map.of("a", 2));
        for (int i = 0; i < 511; i++) {
            rows = new Object[] {rows};
        }
        Object tooDeepRows = rows;
        assertEquals(TaggedException.EDEPTH, misuse(() -> Notation.through(tooDeepRows)));
        assertNotNull(Notation.through(((Object[]) rows)[0]));
    }

    /** The path of level 513 of {@link #nested}, without its middle. */
    private static String cut() {
        StringBuilder path = new StringBuilder();
        for (int i = 512; i > 0; i--) {
            path.append(i % 3 == 0 ? ".k" : i % 3 == 1 ? "[0]" : "{0}");
        }
        return path.substring(0, 97) + "..." + path.substring(path.length() - 99);
    }

    @Test
    void sizeHasALimit() {
        Assumptions.assumeTrue(Runtime.getRuntime().maxMemory() >= 900L << 20, "a heap of 900 MB");
        byte[] most = new byte[(1 << 28) - 40];
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            TaggedException e = assertThrows(TaggedException.class,
                    () -> frame.writer().value(List.of("x", new byte[1 << 28])));
            assertEquals(TaggedException.ERANGE, e.status());
            assertEquals("$[1]", e.path());
            assertEquals(TaggedException.ERANGE, misuse(() -> frame.writer().list(1 << 30)));
            assertEquals(TaggedException.ERANGE,
                    misuse(() -> frame.writer().value(new byte[(1 << 28) - 39])));
            most[most.length - 1] = 5;
            frame.writer().value(most);
            frame.finish();
            assertEquals(1 << 28, frame.where() >>> 32);
            TaggedReader reader = buffers.reader(frame.where(), frame.big());
            assertEquals(5, reader.longAt(reader.root(), most.length - 1));
        }
    }

    /** Strings and lists past the 20 bits of a slot's count. */
    @Test
    void longFormsBeginAt2To20() {
        for (int count : new int[] {(1 << 20) - 1, 1 << 20, (1 << 20) + 1}) {
            String latin1 = "a".repeat(count);
            String utf16 = "\u20ac".repeat(count);
            assertEquals(latin1, Notation.through(latin1));
            assertEquals(utf16, Notation.through(utf16));
            assertEquals(Collections.nCopies(count, null),
                    Notation.through(Collections.nCopies(count, null)));
        }
    }
}
