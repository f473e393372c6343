/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedCustom;
import io.kolibri.TaggedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Maps and sets whose keys are of any kind, and keys made to be slow. */
class TaggedKeysTest {
    /** A value of a consumer's, that counts how often it is compared. */
    static final class Probe {
        static long compared;
        final int hash;
        final int number;

        Probe(int hash, int number) {
            this.hash = hash;
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            compared++;
            return other instanceof Probe && number == ((Probe) other).number
                    && hash == ((Probe) other).hash;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        static SharedBuffers buffers() {
            SharedBuffers buffers = new SharedBuffers();
            buffers.register(7, Probe.class, new TaggedCustom.Codec<Probe>() {
                @Override
                public List<?> fields(Probe value) {
                    return List.of(value.hash, value.number);
                }

                @Override
                public Probe value(List<?> fields) {
                    return new Probe((Integer) fields.get(0), (Integer) fields.get(1));
                }
            });
            return buffers;
        }
    }

    private static Object through(SharedBuffers buffers, Object value) {
        try (BinaryBuffer frame = buffers.frame()) {
            frame.writer().value(value);
            frame.finish();
            return buffers.read(frame.where(), frame.big());
        }
    }

    /** A list of what is in no way a duplicate, written as a set or the keys of a map. */
    private static Set<Object> set(List<?> keys) {
        return new java.util.AbstractSet<>() {
            @Override
            public java.util.Iterator<Object> iterator() {
                return Collections.<Object>unmodifiableList(keys).iterator();
            }

            @Override
            public int size() {
                return keys.size();
            }
        };
    }

    /** Lists of one hashCode, which HashMap compares each with each. */
    @Test
    void listsOfOneHashCostNoComparisons() {
        int count = 20_000;
        List<Object> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add(List.of(new Probe(i, 1), new Probe(-31 * i, 1)));
        }
        assertEquals(1, new HashSet<>(keys.stream().map(Object::hashCode).toList()).size());
        try (SharedBuffers buffers = Probe.buffers()) {
            Probe.compared = 0;
            Set<?> read = (Set<?>) through(buffers, set(keys));
            assertEquals(count, read.size());
            assertTrue(Probe.compared <= count, Probe.compared + " comparisons");
            assertTrue(read.contains(keys.get(count / 2)));
            assertFalse(read.contains(List.of(new Probe(1, 1))));
        }
    }

    /** Sets and maps of equal hashCodes in each other: their comparisons would multiply. */
    @Test
    void nestedSetsCostNoComparisons() {
        List<Object> level = new ArrayList<>();
        for (int i = 0; i < 4096; i++) {
            level.add(List.of(new Probe(i, 1), new Probe(-31 * i, 1)));
        }
        while (level.size() > 1) {
            List<Object> next = new ArrayList<>();
            for (int i = 0; i < level.size(); i += 4) {
                next.add(set(level.subList(i, i + 4)));
            }
            level = next;
        }
        try (SharedBuffers buffers = Probe.buffers()) {
            Probe.compared = 0;
            Object read = through(buffers, set(List.of(level.get(0), level.get(0), 1)));
            assertEquals(2, ((Set<?>) read).size());
            assertTrue(Probe.compared <= 4 * 4096 * 7, Probe.compared + " comparisons");
        }
    }

    /** Numbers of two classes, which HashMap cannot order. */
    @Test
    void mixedNumbersOfOneHashAreFound() {
        List<Object> keys = new ArrayList<>();
        for (long i = 1; i <= 5000; i++) {
            keys.add(i << 32 | i ^ 0x1234567);
            keys.add(Double.longBitsToDouble(i << 32 | i ^ 0x1234567));
        }
        assertEquals(1, new HashSet<>(keys.stream().map(Object::hashCode).toList()).size());
        Object read = Notation.through(set(keys));
        assertEquals(keys, new ArrayList<>((Set<?>) read));
    }

    @Test
    void aConsumersKeysOfOneHashAreRefusedFrom129On() {
        List<Object> keys = new ArrayList<>();
        for (int i = 0; i < 128; i++) {
            keys.add(new Probe(5, i));
        }
        try (SharedBuffers buffers = Probe.buffers()) {
            Set<?> read = (Set<?>) through(buffers, set(keys));
            assertEquals(keys, new ArrayList<>(read));
            assertFalse(read.contains(new Probe(5, 128)));
            keys.add(new Probe(5, 3));
            assertEquals(128, ((Set<?>) through(buffers, set(keys))).size());
            keys.add(new Probe(5, 128));
            TaggedException e =
                    assertThrows(TaggedException.class, () -> through(buffers, set(keys)));
            assertEquals(TaggedException.ERANGE, e.status());
            assertTrue(e.getMessage().contains("128 keys"), e.getMessage());
            Map<Object, Object> map = new LinkedHashMap<>();
            keys.forEach(each -> map.put(each, 1));
            assertThrows(TaggedException.class, () -> through(buffers, map));
        }
    }

    /** Equal keys of every kind are one key, with the first place and the last value. */
    @Test
    void equalKeysAreOne() {
        Map<Object, Object> first = new LinkedHashMap<>();
        first.put(1, List.of(2));
        first.put("a", null);
        Map<Object, Object> turned = new LinkedHashMap<>();
        turned.put("a", null);
        turned.put(1, List.of(2));
        List<Object> keys = Arrays.asList(
                first, new LinkedHashSet<>(List.of(1, List.of(), 3.5)), List.of(1.0, 2.0), "x",
                turned, new LinkedHashSet<>(List.of(3.5, 1, List.of())), List.of(1.0, 2.0), "x",
                new java.math.BigInteger("99"), new Date(5), Map.of(), Set.of(), null,
                new java.math.BigInteger("99"), new Date(5), Map.of(), Set.of(), null,
                new TaggedCustom(1, List.of(2)), new io.kolibri.TaggedError("E", "", null, 1, 2),
                new TaggedCustom(1, List.of(2)), new io.kolibri.TaggedError("E", "", null, 1, 2),
                new io.kolibri.PackedArray(io.kolibri.PackedArray.Kind.U8, new byte[] {1}),
                new io.kolibri.PackedArray(io.kolibri.PackedArray.Kind.U8, new byte[] {1}),
                true, 1, 1L, true, -0.0, 0.0, Double.NaN, Double.NaN, 1.0, 1);
        Set<Object> want = new LinkedHashSet<>(keys);
        Set<?> read = (Set<?>) Notation.through(set(keys));
        assertEquals(new ArrayList<>(want), new ArrayList<>(read));
        assertEquals(want, read);
        assertEquals(want.hashCode(), read.hashCode());
        for (Object each : keys) {
            assertTrue(read.contains(each), "" + each);
        }
        assertThrows(UnsupportedOperationException.class, () -> read.remove("x"));
        assertThrows(UnsupportedOperationException.class, read::clear);
        Map<Object, Object> map = new LinkedHashMap<>();
        for (Object each : want) {
            map.put(each, map.size());
        }
        Map<?, ?> again = (Map<?, ?>) Notation.through(map);
        assertEquals(new ArrayList<>(map.entrySet()), new ArrayList<>(again.entrySet()));
        assertEquals(map, again);
        map.forEach((key, value) -> assertEquals(value, again.get(key), "" + key));
        assertNull(again.get(List.of("no")));
        assertFalse(again.containsKey(Set.of("no")));
        assertThrows(UnsupportedOperationException.class, () -> again.remove("x"));
    }

    @Test
    void randomKeysAreFoundAsHashMapFindsThem() {
        for (int seed = 0; seed < 1000; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = random.nextInt(40); i >= 0; i--) {
                map.put(TaggedNativeTest.random(random, random.nextInt(4)), i);
            }
            map.put(List.of(), "not a string as key");
            Map<?, ?> read = (Map<?, ?>) Notation.through(map);
            assertEquals(map, read, "seed " + seed);
            assertEquals(read, map, "seed " + seed);
            assertEquals(new ArrayList<>(map.keySet()), new ArrayList<>(read.keySet()));
            Set<?> keys = (Set<?>) Notation.through(map.keySet());
            assertEquals(map.keySet(), keys, "seed " + seed);
            assertEquals(keys, map.keySet(), "seed " + seed);
        }
    }
}
