/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.Handles;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedException;
import io.kolibri.TaggedWriter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Frames, leases, growth, threads, and the limits of the pool. */
class SharedBuffersTest {
    static int misuse(Runnable action) {
        return assertThrows(TaggedException.class, action::run).status();
    }

    static BinaryBuffer write(SharedBuffers buffers, Object value) {
        BinaryBuffer frame = buffers.frame();
        frame.writer().value(value);
        frame.finish();
        return frame;
    }

    static Object read(SharedBuffers buffers, BinaryBuffer frame) {
        return buffers.read(frame.where(), frame.big());
    }

    @Test
    void sizesHaveLimits() {
        int[][] wrong = {{128, 1, 1}, {300, 1, 1}, {1 << 25, 1, 1}, {0, 1, 1}, {256, 0, 1},
            {256, 1, 0}, {256, 65, 1}, {256, 1, 65}, {1 << 24, 64, 64}, {256, -1, 1}};
        for (int[] each : wrong) {
            assertThrows(IllegalArgumentException.class,
                    () -> new SharedBuffers(each[0], each[1], each[2]), Arrays.toString(each));
        }
        try (SharedBuffers all = new SharedBuffers(256, 64, 64)) {
            assertEquals(256 * 128, all.block().capacity());
            List<BinaryBuffer> frames = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                frames.add(write(all, i));
                assertNull(frames.get(i).big());
                assertTrue((int) frames.get(i).where() >= 64 * 256, "C's part of the block");
            }
            assertEquals(0, all.oneOffs());
            for (int i = 0; i < 64; i++) {
                assertEquals(i, read(all, frames.get(i)));
                frames.get(i).close();
            }
        }
    }

    @Test
    void anEmptyPoolGivesMemoryOfItsOwn() {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1);
                BinaryBuffer first = write(buffers, "first");
                BinaryBuffer second = write(buffers, "second")) {
            assertNull(first.big());
            assertNotNull(second.big());
            assertTrue(second.big().isDirect());
            assertEquals("first", read(buffers, first));
            assertEquals("second", read(buffers, second));
            assertEquals(1, buffers.oneOffs());
            assertEquals(2, buffers.leases());
            assertEquals(0, second.room() >>> 32);
        }
    }

    /** Messages around the size of a chunk, and far beyond it, are written once and contiguous. */
    @Test
    void messagesOutgrowTheirChunk() {
        try (SharedBuffers buffers = new SharedBuffers(256, 2, 1)) {
            for (int size = 0; size < 600; size++) {
                for (Object value : List.of("x".repeat(size), "\u20ac".repeat(size / 2),
                        new byte[size], Collections.nCopies(size / 8, "y"))) {
                    try (BinaryBuffer frame = write(buffers, value)) {
                        long bytes = frame.where() >>> 32;
                        assertEquals(bytes > 256, frame.big() != null, size + ": " + bytes);
                        Object back = read(buffers, frame);
                        if (value instanceof byte[]) {
                            assertArrayEquals((byte[]) value, (byte[]) back);
                        } else {
                            assertEquals(value, back);
                        }
                    }
                }
            }
            List<Object> large = new ArrayList<>();
            for (int i = 0; i < 20_000; i++) {
                large.add(List.of("element " + i, i, i / 3.0, "\u20ac" + i, List.of(1L << i % 63)));
            }
            try (BinaryBuffer frame = write(buffers, large)) {
                assertEquals(large, read(buffers, frame));
            }
            assertEquals(0, buffers.leases());
        }
    }

    /** H10: a message that is begun while another is written or read does not overwrite it. */
    @Test
    void messagesNest() {
        try (SharedBuffers buffers = new SharedBuffers(1024, 3, 1)) {
            AtomicInteger inner = new AtomicInteger();
            CharSequence getter = new LateText(() -> {
                try (BinaryBuffer frame = write(buffers, "inner " + inner.get())) {
                    assertEquals("inner " + inner.getAndIncrement(), read(buffers, frame));
                }
                return "got";
            });
            try (BinaryBuffer outer = write(buffers, List.of(1, getter, Map.of("a", getter), 2))) {
                BinaryBuffer second = buffers.frame(outer);
                second.writer().value("second");
                second.finish();
                assertEquals((int) outer.where() / 1024, (int) second.where() / 1024);
                try (BinaryBuffer third = buffers.frame(second);
                        BinaryBuffer fourth = buffers.frame(outer)) {
                    third.writer().value("third");
                    third.finish();
                    fourth.writer().value("fourth");
                    fourth.finish();
                    assertEquals("third", read(buffers, third));
                    assertEquals("fourth", read(buffers, fourth));
                    assertEquals("second", read(buffers, second));
                    second.close();
                    assertEquals("third", read(buffers, third));
                }
                assertEquals(List.of(1, "got", Map.of("a", "got"), 2), read(buffers, outer));
            }
            assertEquals(2, inner.get());
            assertEquals(0, buffers.leases());
            allFree(buffers, 3);
        }
    }

    private static void allFree(SharedBuffers buffers, int count) {
        long before = buffers.oneOffs();
        List<BinaryBuffer> frames = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            frames.add(buffers.frame());
        }
        assertEquals(before, buffers.oneOffs());
        frames.forEach(BinaryBuffer::close);
    }

    /** H11: nothing of an earlier message is in a later one. */
    @Test
    void aShortMessageHasNothingOfALongOne() {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1)) {
            try (BinaryBuffer frame = write(buffers, List.of("long", 1, 2, 3, "message"))) {
                assertEquals(88, frame.where() >>> 32);
            }
            try (BinaryBuffer frame = write(buffers, null)) {
                assertEquals(32, frame.where() >>> 32);
                assertNull(read(buffers, frame));
            }
            try (BinaryBuffer frame = write(buffers, "")) {
                assertEquals(32, frame.where() >>> 32);
                assertEquals("", read(buffers, frame));
            }
        }
    }

    @Test
    void aClosedFrameIsNoFrame() {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1)) {
            BinaryBuffer frame = buffers.frame();
            TaggedWriter writer = frame.writer();
            assertSame(writer, frame.writer());
            writer.list(2).value(1);
            frame.close();
            frame.close();
            assertEquals(0, buffers.leases());
            try (BinaryBuffer next = buffers.frame()) {
                next.writer().list(2).value("a");
                assertEquals(TaggedException.EMISUSE, misuse(() -> writer.value(2)));
                assertEquals(TaggedException.EMISUSE, misuse(writer::end));
                assertEquals(TaggedException.EMISUSE, misuse(writer::reset));
                assertEquals(TaggedException.EMISUSE, misuse(frame::where));
                assertEquals(TaggedException.EMISUSE, misuse(frame::writer));
                next.writer().value("b").end();
                next.finish();
                assertEquals(List.of("a", "b"), read(buffers, next));
                TaggedWriter finished = next.writer();
                assertEquals(TaggedException.EMISUSE, misuse(() -> finished.value(1)));
            }
        }
    }

    @Test
    void messagesOutsideOfTheMemoryAreRefused() {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1)) {
            long[] wrong = {32L << 32 | 4, 32L << 32 | 512, 64L << 32 | 480, -1, -8,
                Long.MIN_VALUE, 1L << 62};
            for (long each : wrong) {
                assertEquals(TaggedException.ERANGE, misuse(() -> buffers.read(each, null)));
                assertEquals(TaggedException.ERANGE,
                        misuse(() -> buffers.read(each, ByteBuffer.allocateDirect(512))));
            }
            assertEquals(TaggedException.EFORMAT, misuse(() -> buffers.read(0, null)));
            assertEquals(TaggedException.EFORMAT, misuse(() -> buffers.read(31L << 32, null)));
        }
    }

    /** The answer as C gives it: in the room, or by the handle of a buffer of its own. */
    @Test
    void answersAreReadFromTheRoomOrByHandle() {
        try (SharedBuffers buffers = new SharedBuffers(256, 2, 1);
                BinaryBuffer room = buffers.frame()) {
            byte[] message = Notation.message(buffers, "answer", true);
            long place = room.room();
            assertEquals(place, room.room());
            assertEquals(256, place >>> 32);
            ByteBuffer memory = buffers.block().duplicate();
            memory.position((int) place);
            memory.put(message);
            assertEquals("answer", buffers.answer(room, message.length));
            int handles = Handles.count();
            for (int i = 0; i < 5000; i++) {
                long handle = Handles.add(Notation.direct(message)) & 0xffffffffL;
                assertEquals("answer", buffers.answer(room, ~handle));
            }
            assertEquals(handles, Handles.count());
            assertEquals(TaggedException.EMISUSE, misuse(() -> buffers.answer(room, 0)));
            assertEquals(TaggedException.EMISUSE, misuse(() -> buffers.answer(room, 257)));
            assertEquals(TaggedException.EMISUSE, misuse(() -> buffers.answer(room, -77)));
            int other = Handles.add("no answer");
            long claimed = ~(other & 0xffffffffL);
            assertEquals(TaggedException.EMISUSE, misuse(() -> buffers.answer(room, claimed)));
            assertTrue(Handles.remove(other));
            assertEquals(TaggedException.EMISUSE, misuse(room::writer));
            try (BinaryBuffer call = write(buffers, "question")) {
                assertEquals(256 - 40, call.room() >>> 32);
                assertEquals("question", read(buffers, call));
            }
        }
    }

    /** H24: what one message took is not kept for the next. */
    @Test
    void nothingKeepsALargeMessage() {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1)) {
            Object value = new Object[] {new byte[1 << 20], "x".repeat(1 << 19)};
            WeakReference<Object> written = new WeakReference<>(value);
            BinaryBuffer frame = write(buffers, value);
            WeakReference<Object> big = new WeakReference<>(frame.big());
            frame.close();
            value = null;
            Await.until(() -> written.get() == null && big.get() == null);
        }
    }

    @Test
    void closingReportsFramesThatAreOpen() {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setProperty("kolibri.check", "2");
        System.setErr(new PrintStream(said, true));
        try {
            SharedBuffers buffers = new SharedBuffers();
            BinaryBuffer frame = write(buffers, "open");
            buffers.close();
            buffers.close();
            assertEquals("open", read(buffers, frame));
            frame.close();
            assertEquals(TaggedException.EENDED, misuse(buffers::frame));
        } finally {
            System.setErr(before);
            System.clearProperty("kolibri.check");
        }
        assertEquals("kolibri: SharedBuffers.close: 1 frames are still open",
                said.toString().trim());
    }

    @Test
    void eightThreadsShareAConnection() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (SharedBuffers buffers = new SharedBuffers(1024, 4, 1)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int self = i;
                threads.add(new Thread(() -> {
                    for (int round = 0; round < 2000; round++) {
                        exchange(buffers, self * 10_000 + round);
                    }
                }));
            }
            threads.forEach(t -> t.setUncaughtExceptionHandler((u, e) -> failure.set(e)));
            threads.forEach(Thread::start);
            for (Thread each : threads) {
                each.join();
            }
            assertNull(failure.get());
            assertEquals(0, buffers.leases());
            allFree(buffers, 4);
        }
    }

    private static void exchange(SharedBuffers buffers, int number) {
        Object value = List.of(Map.of("id", number, "k" + number % 50, "v" + number), number);
        try (BinaryBuffer frame = write(buffers, value)) {
            assertEquals(value, read(buffers, frame));
            frame.delivered();
        }
    }

    /** H14: frames are held while virtual threads are parked, on whatever carrier they go on. */
    @Test
    void virtualThreadsHoldFramesWhileTheyAreParked() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "virtual threads: Java 21");
        AtomicInteger right = new AtomicInteger();
        try (SharedBuffers buffers = new SharedBuffers(256, 8, 1)) {
            List<Thread> threads = new ArrayList<>();
            CountDownLatch go = new CountDownLatch(1);
            for (int i = 0; i < 1000; i++) {
                int self = i;
                Runnable work = () -> hold(buffers, self, go, right);
                threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, work));
            }
            Await.until(() -> buffers.leases() == 1000);
            go.countDown();
            for (Thread each : threads) {
                each.join();
            }
            assertEquals(1000, right.get());
            assertEquals(0, buffers.leases());
            assertTrue(buffers.oneOffs() > 0, "1,000 frames at once, 8 chunks");
            allFree(buffers, 8);
        }
    }

    private static void hold(SharedBuffers buffers, int self, CountDownLatch go,
            AtomicInteger right) {
        try (BinaryBuffer frame = buffers.frame()) {
            go.await();
            TaggedWriter writer = frame.writer().list(3).value(self);
            Thread.sleep(1);
            writer.value("thread " + self);
            Thread.yield();
            writer.value(Map.of("self", self)).end();
            frame.finish();
            Thread.sleep(1);
            Object expected = List.of(self, "thread " + self, Map.of("self", self));
            right.addAndGet(expected.equals(read(buffers, frame)) ? 1 : 0);
            assertFalse(Thread.interrupted());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
