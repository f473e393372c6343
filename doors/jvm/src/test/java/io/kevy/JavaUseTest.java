/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The API as Java sees it. */
class JavaUseTest {
    @TempDir Path folder;

    @Test
    void everythingHasAJavaName() throws Exception {
        try (Kevy kevy = Kevy.open(folder.resolve("a"), new KevyOptions(Fsync.ALWAYS))) {
            kevy.set("k", "text");
            kevy.set("t", "text", 3_600_000);
            kevy.set("b", new byte[] {1, 2});
            assertEquals("text", kevy.getText("k"));
            assertEquals(2, kevy.get("b").length);
            assertNull(kevy.get("none"));
            ByteBuffer buffer = ByteBuffer.allocateDirect(8);
            assertEquals(4, kevy.getInto("k", buffer));
            assertTrue(kevy.ttlMillis("t") > 0);
            assertTrue(kevy.expireMillis("k", 3_600_000));
            assertEquals(1, kevy.incr("n"));
            assertEquals(11, kevy.incr("n", 10));
            kevy.setMany(Map.of("x", "1", "y", new byte[] {50}));
            assertEquals(2, kevy.mget("x", "y").size());
            assertEquals(50, kevy.getMany("x", "y").get(1)[0]);
            assertEquals(1, kevy.getMany(List.of("none")).size());
            assertEquals("PONG", kevy.cmd("PING").toText());
            assertEquals(6, kevy.keys().size());
            List<String> seen = new ArrayList<>();
            kevy.scan().iterator().forEachRemaining(seen::add);
            assertEquals(6, seen.size());
            assertEquals(0, kevy.openReport().getDroppedBytes());
            kevy.sync();
        }
        try (Kevy kevy = Kevy.open(folder.resolve("a").toString())) {
            assertEquals("text", kevy.getText("t"));
        }
    }

    @Test
    void listeningAndTaking() throws Exception {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch two = new CountDownLatch(2);
        try (Kevy kevy = Kevy.openMemory();
                Subscription taken = kevy.subscribe("c", "d");
                Listening listening =
                        kevy.subscribe(
                                "c",
                                message -> {
                                    heard.add(message.getText());
                                    two.countDown();
                                })) {
            assertNotNull(listening);
            assertEquals(2, kevy.publish("c", "1"));
            assertEquals(2, kevy.publish("c", "2".getBytes(StandardCharsets.UTF_8)));
            assertTrue(two.await(120, TimeUnit.SECONDS));
            assertEquals(List.of("1", "2"), heard);
            assertEquals("1", taken.next().getText());
            assertEquals("2", taken.drain(100).get(0).getText());
            assertNull(taken.next(1));
            assertNull(taken.poll());
        }
    }

    @Test
    void changes() throws Exception {
        CountDownLatch two = new CountDownLatch(2);
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        try (Kevy kevy = Kevy.openMemory();
                Listening listening =
                        kevy.onChange(
                                change -> {
                                    heard.add(change.getCause() + " " + change.getKey());
                                    two.countDown();
                                })) {
            assertNotNull(listening);
            kevy.set("k", "v");
            kevy.del("k");
            assertTrue(two.await(30, TimeUnit.SECONDS));
            assertEquals(List.of("SET k", "DELETE k"), heard);
        }
    }

    @Test
    void failuresAreOnesThatJavaKnows() {
        KevyOpenException open = assertThrows(KevyOpenException.class, () -> Kevy.open(""));
        assertEquals(KevyStatus.PATH, open.getStatus());
        Kevy kevy = Kevy.openMemory();
        assertThrows(NullPointerException.class, () -> kevy.set("k", (String) null));
        assertThrows(NullPointerException.class, () -> kevy.set((String) null, "v"));
        assertThrows(NullPointerException.class, () -> kevy.get((byte[]) null));
        assertThrows(NullPointerException.class, () -> kevy.cmd((Object[]) null));
        assertThrows(IllegalArgumentException.class, () -> kevy.cmd("GET", null));
        KevyReplyException reply =
                assertThrows(KevyReplyException.class, () -> kevy.cmd("INCRBY", "k", "x"));
        assertEquals("ERR", reply.getCode());
        kevy.close();
        assertThrows(IllegalStateException.class, () -> kevy.get("k"));
    }
}
