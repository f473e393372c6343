/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example.tally;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.NativeBinding;
import io.kolibri.ReleasedException;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TallyTest {
    @BeforeAll
    static void load() {
        System.load(Path.of(System.getProperty("native.build"), "jvm-test", "libtally.so")
                .toString());
    }

    @Test
    void kotlin() {
        Tally a = new Tally();
        Tally b = new Tally();
        a.add(1);
        a.add(2);
        b.add(6);
        a.merge(b);
        assertEquals(3, a.count());
        assertEquals(3.0, a.mean());
        assertThrows(IllegalArgumentException.class, () -> a.add(Double.NaN));
        b.close();
        assertThrows(ReleasedException.class, () -> a.merge(b));
        assertThrows(ReleasedException.class, b::mean);
        a.close();
    }

    @Test
    void java() {
        try (JavaTally a = new JavaTally()) {
            a.add(1);
            a.add(2);
            assertEquals(1.5, a.mean());
            assertThrows(IllegalArgumentException.class, () -> a.add(Double.NaN));
        }
    }

    @Test
    void bothAreRewritten() throws Exception {
        for (Class<?> each : new Class<?>[] {Tally.class, JavaTally.class}) {
            assertFalse(Modifier.isNative(
                    each.getMethod("add", double.class).getModifiers()), each::toString);
            assertTrue(Modifier.isNative(each.getDeclaredMethod("add", long.class, double.class)
                    .getModifiers()), each::toString);
        }
    }

    @Test
    void leavesAreBoundAsTheVmAllows() {
        try (Tally a = new Tally(); JavaTally b = new JavaTally()) {
            assertEquals(0, a.count());
            assertEquals(0.0, b.mean());
        }
        boolean isNew = Runtime.version().feature() >= 22;
        NativeBinding.Mode wanted = isNew ? NativeBinding.Mode.FFM : NativeBinding.Mode.JNI;
        assertEquals(wanted, NativeBinding.mode(Tally.class, "count"));
        assertEquals(wanted, NativeBinding.mode(JavaTally.class, "mean"));
    }
}
