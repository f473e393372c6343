/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.Handles;
import io.kolibri.KolibriException;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedCustom;
import io.kolibri.TaggedError;
import io.kolibri.TaggedException;
import io.kolibri.TaggedReader;
import io.kolibri.Undefined;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Java and C over one connection: calls with messages, answers, pushes, threads. */
class TaggedNativeTest {
    private SharedBuffers buffers;
    private long self;

    @BeforeEach
    void open() {
        connect(4096, 2, 2);
    }

    private void connect(int chunkSize, int javaCount, int nativeCount) {
        buffers = new SharedBuffers(chunkSize, javaCount, nativeCount);
        self = TaggedNatives.open(buffers.block(), buffers.chunkSize(), buffers.nativeCount());
    }

    @AfterEach
    void close() {
        assertEquals(0, buffers.leases());
        assertEquals(0, TaggedNatives.leases(self));
        TaggedNatives.close(self);
        buffers.close();
    }

    private void reconnect(int chunkSize, int javaCount, int nativeCount) {
        close();
        connect(chunkSize, javaCount, nativeCount);
    }

    /** To C and back. */
    private Object echo(Object value) {
        // region call
        try (BinaryBuffer frame = buffers.frame()) {
            frame.writer().value(value);
            frame.finish();
            long result = TaggedNatives.echo(self, frame.where(), frame.big(), frame.room());
            frame.delivered();
            return buffers.answer(frame, result);
        }
        // end region
    }

    /** What C reads. */
    private String print(Object value) {
        try (BinaryBuffer frame = buffers.frame()) {
            frame.writer().value(value);
            frame.finish();
            String text = TaggedNatives.print(self, frame.where(), frame.big());
            frame.delivered();
            return text;
        }
    }

    private Object parse(String notation) {
        try (BinaryBuffer room = buffers.frame()) {
            return buffers.answer(room, TaggedNatives.parse(self, notation, room.room()));
        }
    }

    /** Both sides read what the other one writes of each vector, and say the same of it. */
    @Test
    void everyVectorCrossesBothWays() throws Exception {
        for (TaggedVectorsTest.Vector each : TaggedVectorsTest.vectors("good.txt")) {
            byte[] bytes = each.bytes();
            ByteBuffer big = Notation.direct(bytes);
            long where = (long) bytes.length << 32;
            assertEquals(each.value, TaggedNatives.print(self, where, big), each.name);
            Object value = buffers.read(where, big);
            if (!each.name.contains("duplicate")) {
                assertEquals(each.value, print(value), each.name);
                try (BinaryBuffer room = buffers.frame()) {
                    long answer = TaggedNatives.echo(self, where, big, room.room());
                    byte[] again = Notation.message(buffers, buffers.answer(room, answer), true);
                    assertEquals(each.value,
                            Notation.of(TaggedReader.of(Notation.direct(again))), each.name);
                }
                assertEquals(each.value, print(parse(each.value)), each.name);
            }
        }
    }

    @Test
    void damagedMessagesAreRefusedByBoth() throws Exception {
        for (TaggedVectorsTest.Vector each : TaggedVectorsTest.vectors("damaged.txt")) {
            byte[] bytes = each.bytes();
            ByteBuffer big = Notation.direct(bytes);
            if (each.name.startsWith("definition for the connection")) {
                continue; /* Here is one. */
            }
            KolibriException e = assertThrows(KolibriException.class,
                    () -> TaggedNatives.print(self, (long) bytes.length << 32, big), each.name);
            assertTrue(e.status() < 0, each.name);
            KolibriException java = assertThrows(KolibriException.class,
                    () -> buffers.read((long) bytes.length << 32, big), each.name);
            assertEquals(java.status(), e.status(), each.name);
            if (each.problem.contains(" at ") && !each.problem.contains("shape")) {
                assertEquals(java.getMessage(), e.getMessage(), each.name);
            }
        }
        KolibriException nowhere = assertThrows(KolibriException.class,
                () -> TaggedNatives.print(self, -1, null));
        assertTrue(nowhere.getMessage().contains("not in the buffer"), nowhere.getMessage());
        assertThrows(KolibriException.class, () -> TaggedNatives.print(self, 64L << 32 | 4, null));
        assertThrows(KolibriException.class,
                () -> TaggedNatives.print(self, 64L << 32, ByteBuffer.allocate(64)));
    }

    /** What one of the two takes, the other takes too; and they read the same out of it. */
    @Test
    void bothAgreeOnFlippedBits() throws Exception {
        SplittableRandom random = new SplittableRandom(3);
        int taken = 0;
        for (TaggedVectorsTest.Vector each : TaggedVectorsTest.vectors("good.txt")) {
            byte[] good = each.bytes();
            for (int round = 0; round < 200; round++) {
                byte[] bytes = good.clone();
                int bit = random.nextInt(bytes.length * 8);
                bytes[bit >> 3] ^= (byte) (1 << (bit & 7));
                ByteBuffer big = Notation.direct(bytes);
                long where = (long) bytes.length << 32;
                String java = said(() -> Notation.of(TaggedReader.of(big)));
                if ((bytes[5] & 1) == 0) {
                    String c = said(() -> TaggedNatives.print(self, where, big));
                    assertEquals(java, c, each.name + " " + bit);
                    taken += java.startsWith("status") ? 0 : 1;
                }
            }
        }
        assertTrue(taken > 1000, taken + " taken");
    }

    private interface Saying {
        String say();
    }

    private static String said(Saying saying) {
        try {
            return saying.say().replaceAll("d[7f]ff[0-9a-f]{13}", "nan").replaceAll("n0*", "n");
        } catch (KolibriException e) {
            return "status " + e.status();
        }
    }

    @Test
    void answersThatOutgrowTheirRoomComeInABuffer() {
        reconnect(256, 1, 1);
        int handles = Handles.count();
        for (int size = 0; size < 600; size += 7) {
            String text = "x".repeat(size);
            assertEquals(List.of(text, size), echo(List.of(text, size)));
        }
        List<Object> large = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            large.add(List.of("element " + i, i, "\u20ac"));
        }
        assertEquals(large, echo(large));
        assertEquals(handles, Handles.count());
    }

    /** Java has no chunk left: no room. */
    @Test
    void anEmptyPoolHasNoRoom() {
        reconnect(256, 1, 1);
        try (BinaryBuffer held = buffers.frame()) {
            assertEquals("answer", parse("\"answer\""));
            assertEquals(List.of(1, 2), echo(List.of(1, 2)));
            assertTrue(buffers.oneOffs() >= 2);
            assertEquals(0, TaggedNatives.leases(self), held.toString());
        }
    }

    @Test
    void pushedMessagesAreRead() {
        reconnect(256, 1, 1);
        AtomicReference<Object> got = new AtomicReference<>();
        TaggedNatives.Receiver receiver = (where, big) -> got.set(buffers.read(where, big));
        int handle = Handles.add(receiver);
        try {
            TaggedNatives.push(self, "[1,\"two\",{\"x\":3}]", handle);
            assertEquals(List.of(1, "two", Map.of("x", 3)), got.get());
            TaggedNatives.push(self, "[{\"x\":4},{\"x\":5}]", handle);
            assertEquals(List.of(Map.of("x", 4), Map.of("x", 5)), got.get());
            String large = "\"" + "y".repeat(5000) + "\"";
            TaggedNatives.push(self, large, handle);
            assertEquals("y".repeat(5000), got.get());
            assertTrue(TaggedNatives.oneOffs(self) > 0);
        } finally {
            Handles.remove(handle);
        }
    }

    /** What the receiver throws arrives at the caller: the same object. */
    @Test
    void whatAReceiverThrowsComesBack() {
        IllegalStateException mine = new IllegalStateException("mine");
        int handle = Handles.add((TaggedNatives.Receiver) (where, big) -> {
            throw mine;
        });
        assertSame(mine, assertThrows(IllegalStateException.class,
                () -> TaggedNatives.push(self, "5", handle)));
        Handles.remove(handle);
    }

    /** C pushes while Java is being answered while C is being read, on both pools of one chunk. */
    @Test
    void callsNest() {
        reconnect(1024, 1, 1);
        List<Object> seen = new ArrayList<>();
        int[] handle = {0};
        TaggedNatives.Receiver receiver = (where, big) -> {
            TaggedReader reader = buffers.reader(where, big);
            int depth = reader.asInt(reader.root());
            if (depth < 20) {
                assertEquals(List.of(depth), echo(List.of(depth)));
                TaggedNatives.push(self, Integer.toString(depth + 1), handle[0]);
            }
            seen.add(reader.value());
        };
        handle[0] = Handles.add(receiver);
        try {
            TaggedNatives.push(self, "0", handle[0]);
        } finally {
            Handles.remove(handle[0]);
        }
        assertEquals(21, seen.size());
        for (int i = 0; i < 21; i++) {
            assertEquals(20 - i, seen.get(i));
        }
    }

    @Test
    void shapesAreLearntBothWays() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("name", "Ada");
        value.put("born", 1815);
        List<Object> rows = Collections.nCopies(50, value);
        for (int i = 0; i < 5; i++) {
            assertEquals(value, echo(value));
            assertEquals(rows, echo(rows));
            assertEquals(rows, parse(print(rows)));
        }
        assertEquals(1, buffers.sent().count());
        assertEquals(1, buffers.received().count());
    }

    @Test
    void failuresOfCHaveTheirPath() {
        String deep = "[".repeat(513) + "]".repeat(513);
        KolibriException e = assertThrows(KolibriException.class, () -> parse(deep));
        assertEquals(TaggedException.EDEPTH, e.status());
        assertTrue(e.getMessage().contains("at $[0][0]"), e.getMessage());
        KolibriException none = assertThrows(KolibriException.class, () -> parse("?"));
        assertEquals(TaggedException.EMISUSE, none.status());
    }

    static Object random(SplittableRandom random, int depth) {
        int kind = random.nextInt(depth > 0 ? 20 : 12);
        int count = kind >= 12 ? random.nextInt(6) : random.nextInt(40);
        switch (kind) {
            case 0:
                return random.nextInt();
            case 1:
                return random.nextLong() >> random.nextInt(64);
            case 2:
                return Double.longBitsToDouble(random.nextLong());
            case 3:
                return text(random, count);
            case 4:
                return random.nextBoolean();
            case 5:
                return null;
            case 6:
                return Undefined.UNDEFINED;
            case 7:
                return new BigInteger(random.nextInt(200), new java.util.Random(random.nextLong()))
                        .multiply(BigInteger.valueOf(random.nextInt(-1, 2)));
            case 8:
                return new Date(random.nextLong(-8640000000000000L, 8640000000000001L));
            case 9:
                return "k" + random.nextInt(100);
            case 10:
                return random.nextInt(-100, 100);
            case 11:
                return random.nextDouble();
            case 12:
                return map(random, depth, count, "k");
            case 13:
                List<Object> rows = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    rows.add(map(random, depth, 2, "row"));
                }
                return rows;
            case 14:
                return new LinkedHashSet<>(list(random, 0, count));
            case 15:
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < count; i++) {
                    map.put(random(random, 0), random(random, depth - 1));
                }
                map.put(0, "an int as key");
                return map;
            case 16:
                return new TaggedError(text(random, 3), text(random, 9), null,
                        random(random, depth - 1), random(random, depth - 1));
            case 17:
                return new TaggedCustom(random.nextInt(), list(random, depth, count));
            default:
                return list(random, depth, count);
        }
    }

    private static Map<String, Object> map(SplittableRandom random, int depth, int count,
            String prefix) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            map.put(prefix + i, random(random, depth - 1));
        }
        return map;
    }

    private static List<Object> list(SplittableRandom random, int depth, int count) {
        List<Object> list = new ArrayList<>();
        int kind = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            list.add(kind == 0 ? (Object) i : kind == 1 ? (Object) (i / 2.0)
                    : random(random, depth - 1));
        }
        return list;
    }

    private static String text(SplittableRandom random, int count) {
        char[] units = new char[count];
        int bound = random.nextBoolean() ? 256 : 65536;
        for (int i = 0; i < count; i++) {
            units[i] = (char) random.nextInt(bound);
        }
        return new String(units);
    }

    @Test
    void randomValuesComeBack() {
        for (int chunkSize : new int[] {256, 65536}) {
            reconnect(chunkSize, 2, 2);
            for (int seed = 0; seed < 1500; seed++) {
                Object value = random(new SplittableRandom(seed), 1 + seed % 5);
                assertEquals(value, Notation.through(value), "seed " + seed);
                assertEquals(value, echo(value), "seed " + seed);
                String c = print(value);
                byte[] message = Notation.message(buffers, value, true);
                assertEquals(Notation.of(TaggedReader.of(Notation.direct(message))), c);
                if (seed % 10 == 0) {
                    assertEquals(value, parse(c), "seed " + seed);
                }
            }
        }
    }

    @Test
    void eightThreadsShareAConnection() throws Exception {
        reconnect(1024, 3, 3);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int start = i * 1000;
            threads.add(new Thread(() -> {
                for (int j = 0; j < 300; j++) {
                    Map<String, Object> value = Map.of("id", start + j, "k" + j % 40, "v" + j);
                    assertEquals(List.of(value, value), echo(List.of(value, value)));
                    assertEquals(List.of(value), parse(print(List.of(value))));
                }
            }));
        }
        threads.forEach(t -> t.setUncaughtExceptionHandler((u, e) -> failure.set(e)));
        threads.forEach(Thread::start);
        for (Thread each : threads) {
            each.join();
        }
        assertNull(failure.get());
    }
}
