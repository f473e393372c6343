/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.CommandBuffer;
import io.kolibri.HandleTable;
import io.kolibri.Handles;
import io.kolibri.KolibriException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What replaces calls: published fields, command buffers, handles. */
class HotPathTest {
    @BeforeAll
    static void load() {
        assertEquals(0, Counts.touchedDead());
    }

    @Test
    void aPublishedFieldIsReadWithoutACall() {
        Gauge gauge = new Gauge();
        assertEquals(0, gauge.value());
        gauge.add(5);
        gauge.add(-7);
        assertEquals(-2, gauge.value());
        gauge.close();
        assertEquals(-2, gauge.value());
    }

    @Test
    void itsMemoryOutlivesTheObject() {
        ByteBuffer memory = makeMemory();
        Await.until(() -> memory.getInt(0) == -1);
    }

    private static ByteBuffer makeMemory() {
        Gauge gauge = new Gauge();
        gauge.add(3);
        assertEquals(3, gauge.value());
        return gauge.memory();
    }

    @Test
    void commandsRunInC() {
        CommandBuffer buffer = new CommandBuffer(8);
        assertTrue(buffer.add(1, 5));
        assertTrue(buffer.add(2, -1, 1L << 40));
        assertTrue(buffer.add(0));
        assertTrue(buffer.add(1, new long[] {7}));
        assertFalse(buffer.add(0));
        assertEquals(8, buffer.slots());
        assertEquals((1L << 40) + 11, Counts.runCommands(buffer.bytes(), buffer.slots()));
        buffer.clear();
        assertEquals(0, Counts.runCommands(buffer.bytes(), buffer.slots()));
        assertTrue(buffer.add(2, 1));
        KolibriException thrown =
                assertThrows(
                        KolibriException.class,
                        () -> Counts.runCommands(buffer.bytes(), buffer.slots()));
        assertEquals(-9, thrown.status());
    }

    @Test
    void commandsMayLieInMemoryThatCKnows() {
        ByteBuffer memory = ByteBuffer.allocateDirect(70);
        memory.position(8);
        CommandBuffer buffer = new CommandBuffer(memory);
        for (int i = 0; i < 4; i++) {
            assertTrue(buffer.add(1, i));
        }
        assertFalse(buffer.add(0));
        assertEquals(8, memory.position());
        assertEquals(6, Counts.runCommands(memory, buffer.slots()));
        assertThrows(IllegalArgumentException.class,
                () -> new CommandBuffer(ByteBuffer.allocate(64)));
    }

    @Test
    void commandsOfCAreRead() {
        CommandBuffer buffer = new CommandBuffer(100);
        buffer.filled(Counts.fillCommands(buffer.bytes()));
        long expected = 0;
        while (buffer.next()) {
            assertEquals(7, buffer.operation());
            assertEquals(2, buffer.count());
            assertEquals(expected++, buffer.argument(0));
            assertEquals(0.5, buffer.argumentAsDouble(1));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.argument(2));
        }
        assertEquals(33, expected);
        buffer.filled(2);
        assertThrows(IllegalStateException.class, buffer::next);
        assertThrows(IllegalArgumentException.class, () -> buffer.filled(101));
    }

    @Test
    void handlesAreNeverConfused() {
        int before = Handles.count();
        List<Integer> handles = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            handles.add(Handles.add(i));
        }
        for (int i = 0; i < 5000; i++) {
            assertEquals(i, Handles.get(handles.get(i)));
        }
        assertEquals(5000, Handles.count() - before);
        for (int handle : handles) {
            assertTrue(Handles.remove(handle));
            assertFalse(Handles.remove(handle));
            assertNull(Handles.get(handle));
        }
        Object object = new Object();
        int again = Handles.add(object);
        assertFalse(handles.contains(again));
        assertSame(object, Handles.get(again));
        assertTrue(Handles.remove(again));
        assertNull(Handles.get(0));
        assertNull(Handles.get(-1));
        assertThrows(NullPointerException.class, () -> Handles.add(null));
        assertEquals(before, Handles.count());
    }

    @Test
    void handlesOfATableAreNeverConfused() {
        HandleTable table = new HandleTable();
        List<Integer> handles = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            handles.add(table.add(i));
        }
        for (int i = 0; i < 5000; i++) {
            assertEquals(i, table.get(handles.get(i)));
        }
        for (int handle : handles) {
            assertTrue(table.remove(handle));
            assertFalse(table.remove(handle));
            assertNull(table.get(handle));
        }
        assertEquals(0, table.count());
        int last = table.add("first");
        for (int i = 0; i < 4094; i++) {
            assertTrue(table.remove(last));
            int next = table.add("other");
            assertNull(table.get(last));
            assertFalse(table.remove(last));
            last = next;
        }
        assertEquals("other", table.get(last));
        assertNull(table.get(0));
        assertNull(table.get(-1));
        assertFalse(table.remove(0));
        assertThrows(NullPointerException.class, () -> table.add(null));
        assertEquals(1, table.count());
    }
}
