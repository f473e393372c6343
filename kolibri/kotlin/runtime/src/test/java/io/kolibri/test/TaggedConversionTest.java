/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.PackedArray;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedCustom;
import io.kolibri.TaggedError;
import io.kolibri.TaggedException;
import io.kolibri.TaggedReader;
import io.kolibri.Undefined;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The conversion table of docs/tagged-format.md, row by row, from Java to Java. */
class TaggedConversionTest {
    private static void same(Object value) {
        assertEquals(value, Notation.through(value));
    }

    /** What a value becomes. */
    private static void becomes(Object expected, Object value) {
        Object read = Notation.through(value);
        assertEquals(expected, read);
        if (expected != null && !(expected instanceof List) && !(expected instanceof Map)) {
            assertSame(expected.getClass(), read.getClass());
        }
    }

    private static String notation(Object value) {
        try (SharedBuffers buffers = new SharedBuffers()) {
            byte[] message = Notation.message(buffers, value, true);
            return Notation.of(TaggedReader.of(Notation.direct(message)));
        }
    }

    @Test
    void constants() {
        becomes(Undefined.UNDEFINED, Undefined.UNDEFINED);
        assertNull(Notation.through(null));
        same(true);
        same(false);
        same(Arrays.asList(null, Undefined.UNDEFINED, true, false));
    }

    @Test
    void intsAndLongsStayWhatTheyAre() {
        for (int number : new int[] {0, 1, -1, 5, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            becomes(number, number);
            becomes((long) number, (long) number);
        }
        becomes(-128, (byte) -128);
        becomes(-32768, (short) -32768);
        for (int bits = 0; bits < 64; bits++) {
            becomes(1L << bits, 1L << bits);
            becomes((1L << bits) - 1, (1L << bits) - 1);
            becomes(-(1L << bits) - 1, -(1L << bits) - 1);
        }
        same(Arrays.asList(9007199254740991L, 9007199254740992L, 9007199254740993L));
    }

    @Test
    void doublesKeepTheirBitsButNaNs() {
        for (double number : new double[] {0.0, -0.0, 1.5, 5.0, Double.MIN_VALUE, Double.MAX_VALUE,
            Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, 9007199254740994.0}) {
            becomes(number, number);
        }
        becomes(0.5, 0.5f);
        double odd = Double.longBitsToDouble(0xfff8123456789abcL);
        becomes(Double.NaN, odd);
        assertEquals("[d7ff8000000000000,d7ff8000000000000,1]",
                notation(Arrays.asList(odd, odd, 1)));
        assertEquals("[d7ff8000000000000,d8000000000000000]", notation(Arrays.asList(odd, -0.0)));
        assertEquals("f64(fff8123456789abc)", notation(new double[] {odd}));
    }

    @Test
    void bigIntegersAreNeverInts() {
        becomes(BigInteger.ONE, BigInteger.ONE);
        becomes(BigInteger.ZERO, BigInteger.ZERO);
        for (int bits = 1; bits < 300; bits += 7) {
            BigInteger power = BigInteger.ONE.shiftLeft(bits);
            becomes(power, power);
            becomes(power.negate(), power.negate());
            becomes(power.subtract(BigInteger.ONE), power.subtract(BigInteger.ONE));
            becomes(power.not(), power.not());
        }
    }

    private enum Colour {
        RED {
            @Override
            public String toString() {
                return "rot";
            }
        }
    }

    @Test
    void stringsAreExact() {
        String[] all = {"", "a", "Ada", "\u0000", "\u00ff", "\u0100", "\u20ac", "\ud83d\ude00",
            "\ud83d", "\ude00", "x\ude00\ud83d", "__proto__", "\"\\\n"};
        for (String each : all) {
            becomes(each, each);
            becomes(each.repeat(100), each.repeat(100));
            same(Arrays.asList(each, "behind", each));
        }
        becomes("text", new StringBuilder("text"));
        becomes("\u20ac", '\u20ac');
        becomes("RED", Colour.RED);
        becomes("SECONDS", TimeUnit.SECONDS);
    }

    @Test
    void listsAreReadOnlyWithRandomAccess() {
        becomes(List.of(), new ArrayList<>());
        becomes(Arrays.asList(1, "b", 2.5), new ArrayDeque<Object>(List.of(1, "b", 2.5)));
        becomes(Arrays.asList("a", null), new String[] {"a", null});
        becomes(Arrays.asList(true, false), new boolean[] {true, false});
        for (Object each : new Object[] {List.of("a", 1), List.of(1, 2), List.of(1.5, 2.5),
            List.of(Map.of("a", 1), Map.of("a", 2))}) {
            List<?> list = assertInstanceOf(List.class, Notation.through(each));
            assertEquals(each, list);
            assertInstanceOf(RandomAccess.class, list);
            assertThrows(UnsupportedOperationException.class, () -> list.remove(0));
            assertThrows(UnsupportedOperationException.class, list::clear);
            assertThrows(IndexOutOfBoundsException.class, () -> list.get(2));
            assertThrows(UnsupportedOperationException.class, () -> set(list, 0));
        }
        same(List.of(1, 2.0));
        same(List.of(1, 2L));
        same(List.of(1.0, 2));
    }

    @SuppressWarnings("unchecked")
    private static void set(List<?> list, Object value) {
        ((List<Object>) list).set(0, value);
    }

    @SuppressWarnings("unchecked")
    private static void put(Map<?, ?> map) {
        ((Map<Object, Object>) map).put("new", 1);
    }

    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }

    @Test
    void objectsAreReadOnlyMapsInOrder() {
        same(map());
        Map<String, Object> large = new LinkedHashMap<>();
        for (int i = 0; i < 300; i++) {
            large.put("key" + i * 7919 % 300, i);
        }
        Map<String, Object> wide = new LinkedHashMap<>();
        for (int i = 0; i < 256; i++) {
            wide.put("key" + i, i);
        }
        for (Map<String, Object> each : List.of(map("z", 1, "a", "x", "\u20ac", null, "", 2),
                large, wide, map("k".repeat(1025), 1),
                map("\ud83d", 1, "__proto__", 2))) {
            Map<?, ?> read = assertInstanceOf(Map.class, Notation.through(each));
            assertEquals(each, read);
            assertEquals(each.hashCode(), read.hashCode());
            assertEquals(new ArrayList<>(each.keySet()), new ArrayList<>(read.keySet()));
            each.forEach((key, value) -> assertEquals(value, read.get(new String(key))));
            assertNull(read.get("absent"));
            assertNull(read.get(5));
            assertTrue(!read.containsKey("absent") && read.containsKey(each.keySet().toArray()[0]));
            assertThrows(UnsupportedOperationException.class, () -> put(read));
            assertThrows(UnsupportedOperationException.class, read::clear);
            Map.Entry<?, ?> entry = read.entrySet().iterator().next();
            assertThrows(UnsupportedOperationException.class, () -> entry.setValue(null));
            Iterator<?> keys = read.keySet().iterator();
            keys.next();
            assertThrows(UnsupportedOperationException.class, keys::remove);
        }
        becomes(map("a", 1, "b", 2), new TreeMap<>(map("b", 2, "a", 1)));
    }

    /** Strings of one hash: the search for a perfect one cannot succeed. */
    @Test
    void keysOfEqualHashesAreFound() {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < 256; i++) {
            StringBuilder key = new StringBuilder();
            for (int bit = 0; bit < 8; bit++) {
                key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            map.put(key.toString(), i);
        }
        assertEquals(1, map.keySet().stream().mapToInt(String::hashCode).distinct().count());
        Map<?, ?> read = (Map<?, ?>) Notation.through(map);
        map.forEach((key, value) -> assertEquals(value, read.get(key)));
        assertNull(read.get("C#" + "AaAaAaAaAaAaAa"));
        same(map);
    }

    @Test
    void mapsKeepTheirKeys() {
        Map<Object, Object> map = new LinkedHashMap<>();
        map.put(5, "int");
        map.put("k", 1);
        map.put(null, 2);
        map.put(5L, "long");
        map.put(List.of(1, 2), map("a", 1));
        Map<?, ?> read = (Map<?, ?>) Notation.through(map);
        assertEquals(map, read);
        assertEquals(new ArrayList<>(map.keySet()), new ArrayList<>(read.keySet()));
        assertThrows(UnsupportedOperationException.class, () -> put(read));
        assertEquals("map(5=\"int\",\"k\"=1,null=2,5L=\"long\",[1,2]={\"a\":1})", notation(map));
        assertEquals(notation(map), notation(read));
        /* What was read as a map is written as one. */
        Map<?, ?> strings = (Map<?, ?>) TaggedReader.of(Notation.direct(mapOfStrings())).value();
        assertEquals(Map.of("k", 7), strings);
        assertEquals("map(\"k\"=7)", notation(strings));
        assertEquals("[map(\"k\"=7),map(\"k\"=7)]", notation(List.of(strings, strings)));
        assertEquals("[{\"k\":7},{\"k\":7}]", notation(List.of(Map.of("k", 7), Map.of("k", 7))));
    }

    private static byte[] mapOfStrings() {
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            frame.writer().standAlone().map(1).string("k").integer(7).end();
            frame.finish();
            return Notation.bytes(buffers, frame);
        }
    }

    @Test
    void setsKeepTheirOrder() {
        Set<Object> set = new LinkedHashSet<>(Arrays.asList(3, 1, "b", null, 2.5));
        Set<?> read = assertInstanceOf(Set.class, Notation.through(set));
        assertEquals(set, read);
        assertEquals(new ArrayList<>(set), new ArrayList<>(read));
        assertThrows(UnsupportedOperationException.class, read::clear);
        same(Set.of());
        assertEquals("set(3,1,\"b\",null,d4004000000000000)", notation(read));
    }

    @Test
    void datesAreThoseOfJavaScript() {
        becomes(new Date(0), new Date(0));
        becomes(new Date(1700000000123L), new Date(1700000000123L));
        becomes(new Date(-8640000000000000L), new Date(-8640000000000000L));
        TaggedFailureTest.fails(
                TaggedException.ERANGE, "$[1]", List.of(1, new Date(8640000000000001L)));
        TaggedFailureTest.fails(TaggedException.ERANGE, "$", new Date(Long.MIN_VALUE));
    }

    @Test
    void bytesAreCopied() {
        byte[] bytes = {0, 1, -1, 127, -128, 5, 6, 7, 8, 9, 10};
        assertArrayEquals(bytes, (byte[]) Notation.through(bytes));
        assertArrayEquals(new byte[0], (byte[]) Notation.through(new byte[0]));
        ByteBuffer part = ByteBuffer.wrap(bytes, 2, 3);
        assertArrayEquals(new byte[] {-1, 127, -128}, (byte[]) Notation.through(part));
        assertEquals(2, part.position());
        ByteBuffer direct = Notation.direct(bytes).asReadOnlyBuffer();
        assertArrayEquals(bytes, (byte[]) Notation.through(direct));
    }

    @Test
    void arraysOfNumbersAreExact() {
        assertArrayEquals(new short[] {1, -2}, (short[]) Notation.through(new short[] {1, -2}));
        int[] ints = {1, -2, Integer.MIN_VALUE};
        assertArrayEquals(ints, (int[]) Notation.through(ints));
        long[] longs = {1, Long.MIN_VALUE};
        assertArrayEquals(longs, (long[]) Notation.through(longs));
        float[] floats = {1.5f, Float.NaN, -0f};
        assertArrayEquals(floats, (float[]) Notation.through(floats));
        double[] doubles = {1.5, Double.NaN, -0.0};
        assertArrayEquals(doubles, (double[]) Notation.through(doubles));
        assertArrayEquals(new int[0], (int[]) Notation.through(new int[0]));
        assertEquals(new PackedArray(PackedArray.Kind.U16, new char[] {'a', 0xffff}),
                Notation.through(new char[] {'a', 0xffff}));
        assertEquals("u64(18446744073709551615,0)",
                notation(new PackedArray(PackedArray.Kind.U64, new long[] {-1, 0})));
        assertEquals("u32(4294967295)",
                notation(new PackedArray(PackedArray.Kind.U32, new int[] {-1})));
        assertEquals("i8(-1,2)",
                notation(new PackedArray(PackedArray.Kind.I8, new byte[] {-1, 2})));
        for (PackedArray.Kind kind : PackedArray.Kind.values()) {
            assertThrows(IllegalArgumentException.class, () -> new PackedArray(kind, "no array"));
        }
        PackedArray clamped = new PackedArray(PackedArray.Kind.U8_CLAMPED, new byte[] {-1, 5});
        same(clamped);
        assertEquals(255, clamped.longAt(0));
        assertEquals("U8_CLAMPED[255, 5]", clamped.toString());
        assertNotEquals(clamped, new PackedArray(PackedArray.Kind.U8, new byte[] {-1, 5}));
    }

    @Test
    void errorsKeepTheirParts() {
        TaggedError inner = new TaggedError("RangeError", "", null, Undefined.UNDEFINED, 5);
        TaggedError error = new TaggedError("TypeError", "no\u20ac", "at x", inner, map("a", 1));
        same(error);
        RuntimeException thrown = error.toThrowable();
        assertEquals("TypeError: no\u20ac", thrown.getMessage());
        assertEquals("RangeError", thrown.getCause().getMessage());
        assertEquals(error, ((TaggedError.Thrown) thrown).error());
        becomes(error, thrown);

        Exception cause = new IllegalStateException("inner");
        TaggedError of = (TaggedError) Notation.through(new RuntimeException("outer", cause));
        assertEquals("java.lang.RuntimeException", of.name());
        assertEquals("outer", of.message());
        assertTrue(of.stack().contains("errorsKeepTheirParts"), of.stack());
        assertEquals("inner", ((TaggedError) of.cause()).message());
        assertEquals(Undefined.UNDEFINED, of.data());
        assertEquals("", ((TaggedError) Notation.through(new Error())).message());

        Exception circle = new Exception("a");
        circle.initCause(new Exception("b", circle));
        TaggedFailureTest.fails(TaggedException.ECYCLE, "$.cause.cause", circle);
    }

    /** Has a point, which nothing in the table has. */
    private static class Point {
        final int x;
        final int y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Point && ((Point) other).x == x && ((Point) other).y == y;
        }

        @Override
        public int hashCode() {
            return x * 31 + y;
        }
    }

    private static final class PointCodec implements TaggedCustom.Codec<Point> {
        @Override
        public List<?> fields(Point value) {
            return List.of(value.x, value.y);
        }

        @Override
        public Point value(List<?> fields) {
            return new Point((int) fields.get(0), (int) fields.get(1));
        }
    }

    @Test
    void customValuesAreReadByWhoKnowsThem() {
        try (SharedBuffers buffers = new SharedBuffers()) {
            buffers.register(7, Point.class, new PointCodec());
            Object value = List.of(new Point(1, 2), new Point(3, 4) { });
            try (BinaryBuffer frame = buffers.frame()) {
                frame.writer().value(value);
                frame.finish();
                assertEquals(List.of(new Point(1, 2), new Point(3, 4)),
                        buffers.read(frame.where(), frame.big()));
                byte[] bytes = Notation.bytes(buffers, frame);
                Object unknown = TaggedReader.of(Notation.direct(bytes)).value();
                assertEquals(List.of(new TaggedCustom(7, List.of(1, 2)),
                        new TaggedCustom(7, List.of(3, 4))), unknown);
            }
            assertThrows(IllegalArgumentException.class,
                    () -> buffers.register(7, String.class, null));
            assertThrows(IllegalArgumentException.class,
                    () -> buffers.register(8, Point.class, new PointCodec()));
        }
        same(new TaggedCustom(-1, Arrays.asList("x", null)));
        assertEquals("custom(4294967295,\"x\")", notation(new TaggedCustom(-1, List.of("x"))));
    }

    @Test
    void listsOfObjectsWithOtherKeysAreReadAllTheSame() {
        same(List.of(map("a", 1, "b", 2), map("b", 1, "a", 2)));
        same(List.of(map("a", 1, "b", 2), map("a", 1)));
        same(List.of(map("a", 1), Map.of(5, 1)));
        same(Arrays.asList(map("a", 1), null));
        same(List.of(map("a", 1), List.of()));
        same(List.of(map(), map()));
        List<Object> mixed = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            mixed.add(new HashMap<>(map("id", i, "name", "n" + i)));
        }
        same(mixed);
        Object read = Notation.through(mixed);
        same(read);
        same(Collections.unmodifiableList(mixed));
    }
}
