/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.zlib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kolibri.ReleasedException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DataFormatException;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ZStreamTest {
    /** 300 kB of which half is noise, so that it is no multiple of any buffer. */
    private static final byte[] PLAIN = plain();

    @BeforeAll
    static void load() {
        for (String name : new String[] {"libZStream.so", "libJavaZStream.so"}) {
            Path library = Path.of(System.getProperty("native.build"), "jvm-test", name);
            assumeTrue(Files.exists(library), "zlib1g-dev was not there when C was built");
            System.load(library.toString());
        }
    }

    @Test
    void kotlinRoundTrip() throws Exception {
        try (ZStream deflating = ZStream.deflating(9); ZStream inflating = ZStream.inflating()) {
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            for (int at = 0; at < PLAIN.length; at += 7000) {
                int size = Math.min(7000, PLAIN.length - at);
                byte[] piece = Arrays.copyOfRange(PLAIN, at, at + size);
                packed.write(deflating.write(piece, at + size == PLAIN.length));
            }
            assertTrue(packed.size() < PLAIN.length * 2 / 3, () -> packed.size() + " bytes");
            assertEquals(packed.size(), deflating.written());
            assertArrayEquals(PLAIN, unpacked(packed.toByteArray()));
            assertArrayEquals(PLAIN, inflating.write(packed.toByteArray(), true));
            assertEquals(PLAIN.length, inflating.written());
        }
    }

    @Test
    void javaRoundTrip() throws Exception {
        try (JavaZStream deflating = JavaZStream.deflating(-1);
                JavaZStream inflating = JavaZStream.inflating()) {
            byte[] packed = deflating.write(PLAIN, true);
            assertArrayEquals(PLAIN, unpacked(packed));
            ByteArrayOutputStream plain = new ByteArrayOutputStream();
            for (byte each : packed) {
                plain.write(inflating.write(new byte[] {each}, false));
            }
            assertArrayEquals(PLAIN, plain.toByteArray());
        }
    }

    @Test
    void errorsAreExceptions() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> ZStream.deflating(10));
        assertThrows(IllegalArgumentException.class, () -> JavaZStream.deflating(-2));
        byte[] packed;
        try (JavaZStream deflating = JavaZStream.deflating(1)) {
            packed = deflating.write("some text".getBytes("UTF-8"), true);
            assertThrows(IllegalStateException.class, () -> deflating.write(packed, true));
            assertThrows(NullPointerException.class,
                    () -> JavaZStream.inflating().write(null, true));
        }
        assertEquals("the stream is cut off", refused(Arrays.copyOf(packed, 5)));
        packed[packed.length - 1] ^= 1;
        assertEquals("incorrect data check", refused(packed));
        assertEquals("incorrect header check", refused("no zlib stream".getBytes("UTF-8")));
    }

    @Test
    void aClosedStreamSaysSo() {
        ZStream closed = ZStream.inflating();
        closed.close();
        closed.close();
        assertThrows(ReleasedException.class, () -> closed.write(PLAIN, false));
        assertThrows(ReleasedException.class, closed::written);
    }

    private static String refused(byte[] packed) {
        try (ZStream inflating = ZStream.inflating()) {
            DataFormatException thrown = assertThrows(DataFormatException.class,
                    () -> inflating.write(packed, true));
            assertThrows(IllegalStateException.class, () -> inflating.write(packed, true));
            return thrown.getMessage();
        }
    }

    private static byte[] unpacked(byte[] packed) throws Exception {
        return new InflaterInputStream(new ByteArrayInputStream(packed)).readAllBytes();
    }

    private static byte[] plain() {
        byte[] made = new byte[300_001];
        new Random(1).nextBytes(made);
        for (int i = 0; i < made.length; i++) {
            made[i] = i % 1000 < 500 ? (byte) (i / 1000) : made[i];
        }
        return made;
    }
}
