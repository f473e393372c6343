/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/*
 * * The library in a class loader of its own, next to the one of the other tests, and its
 * unloading.
 */
class UnloadTest {
    @TempDir static Path folder;

    /** Defines the test classes itself; the runtime is its parent's. */
    private static final class Child extends ClassLoader {
        Child() {
            super(UnloadTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded == null && name.startsWith("io.kolibri.test.")) {
                    loaded = define(name);
                }
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private static WeakReference<ClassLoader> useInAChild(int round) throws Exception {
        Path original = Path.of(System.getProperty("native.build"), "jvm-test", "libruntime.so");
        Path copy = folder.resolve("copy" + round + ".so");
        Files.copy(original, copy);
        String build = System.getProperty("native.build");
        Path home = folder.resolve("build" + round);
        Files.createDirectories(home.resolve("jvm-test"));
        Files.move(copy, home.resolve("jvm-test").resolve("libruntime.so"));
        ClassLoader child = new Child();
        Class<?> counts;
        try {
            System.setProperty("native.build", home.toString());
            counts = Class.forName("io.kolibri.test.Counts", true, child);
            assertNotSame(Counts.class, counts);
        } finally {
            System.setProperty("native.build", build);
        }
        Object found =
                counts.getMethod("findOnThread", String.class)
                        .invoke(null, "io/kolibri/test/WovenCell");
        assertSame(Class.forName("io.kolibri.test.WovenCell", false, child), found);
        Class<?> cells = Class.forName("io.kolibri.test.SharedCell", true, child);
        Object cell = cells.getConstructor(int.class).newInstance(9);
        assertEquals(9, cells.getMethod("slow", int.class).invoke(cell, 0));
        return new WeakReference<>(child);
    }

    @Test
    void twoCopiesLiveTogetherAndOneIsUnloaded() throws Exception {
        assertEquals(0, Counts.touchedDead());
        /* The child starts the cleaner's thread, and an object of ours keeps that running. */
        Await.noCells();
        Await.until(() -> LifetimeTest.cleaners().isEmpty());
        SharedCell ours = null;
        for (int round = 0; round < 3; round++) {
            System.clearProperty("kolibri.test.unloaded");
            WeakReference<ClassLoader> loader = useInAChild(round);
            ours = ours == null ? new SharedCell(4) : ours;
            Await.until(() -> System.getProperty("kolibri.test.unloaded") != null);
            assertNull(loader.get(), "the loader is still reachable");
            assertEquals("yes", System.getProperty("kolibri.test.unloaded"));
        }
        /* The first copy works on. */
        assertEquals(4, ours.slow(0));
    }
}
