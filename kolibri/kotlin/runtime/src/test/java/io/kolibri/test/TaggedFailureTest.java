/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BinaryBuffer;
import io.kolibri.SharedBuffers;
import io.kolibri.TaggedError;
import io.kolibri.TaggedException;
import io.kolibri.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What cannot be written is an error with its path, and leaves no message. */
class TaggedFailureTest {
    static TaggedException fails(int status, String path, Object value) {
        try (SharedBuffers buffers = new SharedBuffers();
                BinaryBuffer frame = buffers.frame()) {
            TaggedException e = assertThrows(TaggedException.class,
                    () -> frame.writer().value(value));
            assertEquals(status, e.status(), e.getMessage());
            assertEquals(path, e.path());
            assertTrue(e.getMessage().endsWith(" at " + path), e.getMessage());
            frame.writer().value("after");
            frame.finish();
            assertEquals("after", buffers.read(frame.where(), frame.big()));
            return e;
        }
    }

    private static Map<String, Object> map(Object... pairs) {
        return TaggedConversionTest.map(pairs);
    }

    @Test
    void otherObjectsAreErrorsWithTheirPath() {
        fails(TaggedException.ETYPE, "$", new Object());
        Map<String, Object> deep = map("users", List.of(1, 2, 3, map("name", new Object())));
        fails(TaggedException.ETYPE, "$.users[3].name", deep);
        fails(TaggedException.ETYPE, "$[\"any key\"][\"\"][\"q\\\"\\\\\"].$_9",
                map("any key", map("", map("q\"\\", map("$_9", Thread.currentThread())))));
        fails(TaggedException.ETYPE, "$[\"9\"]", map("9", new Object()));
        fails(TaggedException.ETYPE, "$[\"a\\u0000b\\u000a\\u001f\"].c",
                map("a\0b\n\u001f", map("c", new Object())));
        Map<Object, Object> value = new LinkedHashMap<>();
        value.put(1, 1);
        value.put(2, new Object());
        fails(TaggedException.ETYPE, "${1}", value);
        value.put(2, 2);
        value.put(List.of(new Object()), 3);
        fails(TaggedException.ETYPE, "${2}key[0]", value);
        fails(TaggedException.ETYPE, "$[2][1]",
                List.of(1, 2, new LinkedHashSet<>(List.of(5, new Object()))));
        fails(TaggedException.ETYPE, "$[1].b", List.of(map("a", 1, "b", 2),
                map("a", 1, "b", new Object())));
        fails(TaggedException.ETYPE, "$.data",
                new TaggedError("E", "", null, Undefined.UNDEFINED, new Object()));
        String key = "k".repeat(300);
        TaggedException cut = fails(TaggedException.ETYPE, "$." + "k".repeat(96) + "..."
                + "k".repeat(99), map(key, new Object()));
        assertEquals(200, cut.path().length());
    }

    @Test
    void cyclesAreFoundWhereTheValueComesAgain() {
        List<Object> list = new ArrayList<>();
        list.add(list);
        fails(TaggedException.ECYCLE, "$[0]", list);
        Map<String, Object> map = map("a", map("b", List.of()));
        map.put("c", List.of(1, map));
        fails(TaggedException.ECYCLE, "$.c[1]", map);
        List<Object> rows = new ArrayList<>(List.of(map("a", 1)));
        rows.add(map("a", rows));
        fails(TaggedException.ECYCLE, "$[1].a", rows);
        Object[] array = {null};
        array[0] = Map.of(5, array);
        fails(TaggedException.ECYCLE, "$[0]{0}", array);

        List<?> twice = List.of(1);
        Object value = List.of(twice, twice, map("a", twice));
        assertEquals(value, Notation.through(value));
    }

    @Test
    void collectionsThatChangeAreErrors() {
        List<Object> list = new ArrayList<>();
        list.add(new LateText(() -> "" + list.add(1)));
        fails(TaggedException.EMISUSE, "$", list);
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("a", new LateText(() -> "" + map.put("new" + map.size(), 1)));
        fails(TaggedException.EMISUSE, "$", map);
        Set<Object> set = new LinkedHashSet<>();
        set.add(new LateText(() -> "" + set.add(set.size())));
        fails(TaggedException.EMISUSE, "$.x", map("x", set));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("a", new LateText(() -> "" + row.put("b", 1)));
        fails(TaggedException.EMISUSE, "$[1]", List.of(map("a", 1), row));
    }

    @Test
    void whatGettersThrowComesThrough() {
        IllegalStateException mine = new IllegalStateException("mine");
        Iterable<Object> broken = () -> {
            throw mine;
        };
        List<Object> list = new java.util.AbstractList<>() {
            @Override
            public Object get(int index) {
                throw mine;
            }

            @Override
            public int size() {
                return 2;
            }
        };
        try (SharedBuffers buffers = new SharedBuffers(); BinaryBuffer frame = buffers.frame()) {
            assertSame(mine, assertThrows(IllegalStateException.class,
                    () -> frame.writer().value(map("a", 1, "b", list))));
            assertThrows(TaggedException.class, () -> frame.finish());
            assertThrows(TaggedException.class, () -> frame.writer().value(broken));
            frame.writer().list(1);
            assertSame(mine, assertThrows(IllegalStateException.class,
                    () -> frame.writer().value(list)));
            assertThrows(TaggedException.class, () -> frame.finish());
            frame.writer().reset().value("good");
            frame.finish();
            assertEquals("good", buffers.read(frame.where(), frame.big()));
        }
    }
}
