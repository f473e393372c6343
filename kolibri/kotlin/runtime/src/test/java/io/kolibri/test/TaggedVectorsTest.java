/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.SharedBuffers;
import io.kolibri.TaggedException;
import io.kolibri.TaggedReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The vectors that every implementation reads, and what becomes of damaged ones. */
class TaggedVectorsTest {
    private static final Path FOLDER = Path.of("../../test/vectors/tagged");
    private static final Map<String, Integer> STATUSES = Map.of(
            "KOL_EFORMAT", TaggedException.EFORMAT, "KOL_EDEPTH", TaggedException.EDEPTH,
            "KOL_ERANGE", TaggedException.ERANGE);

    /** One record of a file. */
    static final class Vector {
        String name = "";
        String value;
        String error;
        String problem;
        final StringBuilder hex = new StringBuilder();

        byte[] bytes() {
            byte[] bytes = new byte[hex.length() / 2];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(hex.substring(i * 2, i * 2 + 2), 16);
            }
            return bytes;
        }
    }

    static List<Vector> vectors(String name) throws Exception {
        List<Vector> all = new ArrayList<>();
        Vector vector = new Vector();
        for (String line : Files.readAllLines(FOLDER.resolve(name))) {
            int colon = line.indexOf(": ");
            if (line.startsWith("name: ")) {
                vector = new Vector();
                vector.name = line.substring(colon + 2);
                all.add(vector);
            } else if (line.startsWith("value: ")) {
                vector.value = line.substring(colon + 2);
            } else if (line.startsWith("error: ")) {
                vector.error = line.substring(colon + 2);
            } else if (line.startsWith("problem: ")) {
                vector.problem = line.substring(colon + 2);
            } else if (line.startsWith("bytes:") || line.startsWith(" ")) {
                vector.hex.append(line.replace("bytes:", "").replace(" ", ""));
            }
        }
        assertTrue(all.size() >= 8, name + " has " + all.size());
        return all;
    }

    @Test
    void goodMessagesAreReadAndWrittenAgain() throws Exception {
        try (SharedBuffers buffers = new SharedBuffers(256, 1, 1)) {
            for (Vector each : vectors("good.txt")) {
                TaggedReader reader = TaggedReader.of(ByteBuffer.wrap(each.bytes()));
                assertEquals(each.value, Notation.of(reader), each.name);
                Object value = reader.value();
                byte[] written = Notation.message(buffers, value, true);
                String again = Notation.of(TaggedReader.of(Notation.direct(written)));
                if (!each.name.contains("duplicate")) {
                    assertEquals(each.value, again, each.name);
                }
                Object same = TaggedReader.of(ByteBuffer.wrap(written)).value();
                byte[] third = Notation.message(buffers, same, true);
                assertArrayEquals(written, third, each.name);
            }
            assertEquals(0, buffers.leases());
        }
    }

    @Test
    void sessionsKeepTheirShapes() throws Exception {
        try (SharedBuffers from = new SharedBuffers(); SharedBuffers to = new SharedBuffers()) {
            for (Vector each : vectors("session.txt")) {
                TaggedReader reader = from.reader((long) each.bytes().length << 32,
                        Notation.direct(each.bytes()));
                assertEquals(each.value, Notation.of(reader), each.name);
                byte[] written = Notation.message(from, reader.value(), false);
                TaggedReader again = to.reader((long) written.length << 32,
                        Notation.direct(written));
                assertEquals(each.value, Notation.of(again), each.name);
            }
        }
    }

    private static int status(byte[] bytes, SharedBuffers buffers) {
        try {
            if (buffers != null) {
                Notation.of(buffers.reader((long) bytes.length << 32, Notation.direct(bytes)));
            } else {
                Notation.of(TaggedReader.of(ByteBuffer.wrap(bytes)));
                TaggedReader.of(ByteBuffer.wrap(bytes)).value();
            }
            return 0;
        } catch (TaggedException e) {
            return e.status();
        }
    }

    @Test
    void damagedMessagesAreRefused() throws Exception {
        for (Vector each : vectors("damaged.txt")) {
            TaggedException e = assertThrows(TaggedException.class,
                    () -> TaggedReader.of(ByteBuffer.wrap(each.bytes())), each.name);
            assertEquals(STATUSES.get(each.error), e.status(), each.name);
            assertEquals(each.problem, e.getMessage(), each.name);
            assertTrue(e.path() == null || e.getMessage().endsWith(" at " + e.path()), each.name);
            assertEquals(each.problem.contains(" at $"), e.path() != null, each.name);
        }
    }

    /** A message that is read has the length it says, so no part of one is a message. */
    @Test
    void truncatedMessagesAreRefused() throws Exception {
        for (Vector each : vectors("good.txt")) {
            byte[] bytes = each.bytes();
            for (int size = 0; size < Math.min(bytes.length, 4096); size++) {
                int status = status(Arrays.copyOf(bytes, size), null);
                assertEquals(TaggedException.EFORMAT, status, each.name + " cut at " + size);
            }
        }
    }

    /** Every bit of every message: refused, or another message; nothing else is ever thrown. */
    @Test
    void flippedBitsAreRefusedOrAnotherMessage() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        int refused = 0;
        int read = 0;
        List<Vector> all = vectors("good.txt");
        for (Vector each : all) {
            byte[] bytes = each.bytes();
            int bits = bytes.length * 8;
            for (int i = 0; i < Math.min(bits, 4096); i++) {
                int bit = bits <= 4096 ? i : random.nextInt(bits);
                bytes[bit >> 3] ^= (byte) (1 << (bit & 7));
                int status = status(bytes, null);
                assertTrue(status == 0 || STATUSES.containsValue(status), each.name + " " + bit);
                refused += status != 0 ? 1 : 0;
                read += status == 0 ? 1 : 0;
                bytes[bit >> 3] ^= (byte) (1 << (bit & 7));
            }
        }
        assertTrue(refused > 10_000 && read > 1000, refused + " refused, " + read + " read");
    }

    /** What damaged messages take of Java's memory is in proportion to their size. */
    @Test
    void damageAllocatesNoMoreThanTheMessageCanHold() throws Exception {
        var threads = (com.sun.management.ThreadMXBean)
                java.lang.management.ManagementFactory.getThreadMXBean();
        SplittableRandom random = new SplittableRandom(2);
        List<Vector> all = vectors("good.txt");
        all.addAll(vectors("damaged.txt"));
        status(all.get(0).bytes(), null);
        long self = Thread.currentThread().getId();
        for (Vector each : all) {
            for (int round = 0; round < 50; round++) {
                byte[] bytes = each.bytes();
                for (int i = random.nextInt(4); i >= 0 && bytes.length > 0; i--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                long before = threads.getThreadAllocatedBytes(self);
                try {
                    TaggedReader.of(ByteBuffer.wrap(bytes)).value();
                } catch (TaggedException refused) {
                    assertTrue(STATUSES.containsValue(refused.status()));
                }
                long taken = threads.getThreadAllocatedBytes(self) - before;
                assertTrue(taken < 64 * 1024 + 64L * bytes.length, each.name + ": " + taken);
            }
        }
    }
}
