/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kolibri.BridgeBinding;
import io.kolibri.BridgeBinding.Mode;
import io.kolibri.NativeObject;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Static bridges through JNI and as upcalls: the same values, the same exceptions. */
class BridgeTest {
    private static final boolean HAS_UPCALLS = Runtime.version().feature() >= 22;

    private static final String WITHOUT_UPCALLS =
            "3 false Java " + Runtime.version().feature() + " has no upcalls";

    @TempDir Path folder;

    @BeforeAll
    static void load() {
        assertEquals(3, Bridges.callAdd(1, 2));
    }

    @Test
    void upcallsAreForTheClassesThatAskAndTheVmsThatCan() {
        Mode expected = HAS_UPCALLS ? Mode.FFM : Mode.JNI;
        assertEquals(expected, BridgeBinding.mode(Bridges.class));
        assertEquals(expected, BridgeBinding.mode(Bridges.class, "add"));
        assertEquals(HAS_UPCALLS, Bridges.isUpcall());
        String reason = BridgeBinding.reason(Bridges.class, "add");
        assertEquals(HAS_UPCALLS ? null
                : "Java " + Runtime.version().feature() + " has no upcalls", reason);

        assertEquals(Mode.JNI, BridgeBinding.mode(PlainBridges.class, "add"));
        assertFalse(PlainBridges.isUpcall());
        reason = BridgeBinding.reason(PlainBridges.class, "add");
        assertTrue(!HAS_UPCALLS || reason.endsWith("has not called BridgeBinding.allow"), reason);

        assertNull(BridgeBinding.mode(Bridges.class, "unknown"));
        assertThrows(IllegalArgumentException.class,
                () -> BridgeBinding.allow(MethodHandles.publicLookup()));
    }

    @Test
    void valuesOfEveryPrimitiveArrive() {
        assertEquals(7, Bridges.callNone());
        assertEquals(7, PlainBridges.callNone());
        assertEquals(1, Bridges.callAll());
        assertEquals(1, PlainBridges.callAll());
        assertEquals(Integer.MAX_VALUE, Bridges.callAdd(Integer.MAX_VALUE - 1, 1));
    }

    @Test
    void whatABridgeCaughtIsThrownAgain() {
        List<IntFunction<Integer>> both = List.of(Bridges::callFail, PlainBridges::callFail);
        for (IntFunction<Integer> each : both) {
            Exception thrown = assertThrows(IllegalStateException.class, () -> each.apply(0));
            assertEquals("caught", thrown.getMessage());
        }
        assertEquals(3, Bridges.callAdd(1, 2));
    }

    /** Without its net an upcall would end the process here. */
    @Test
    void whatABridgeForgotToCatchIsThrownToo() {
        Exception thrown = assertThrows(NumberFormatException.class, () -> Bridges.callFail(1));
        assertTrue(thrown.getMessage().contains("escaped"));
        assertThrows(StackOverflowError.class, () -> Bridges.callFail(2));
        assertEquals(3, Bridges.callAdd(1, 2));
    }

    private static int dive(int depth, AtomicInteger calls) {
        if (Bridges.callAdd(depth, 1) == depth + 1) {
            calls.incrementAndGet();
        }
        return dive(depth + 1, calls) + 1;
    }

    /** A call at every depth, down to where not even a method can be called. */
    @Test
    void theEndOfTheStackIsAnError() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        List<Throwable> thrown = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            Thread thread = new Thread(null, () -> {
                try {
                    dive(0, calls);
                } catch (Throwable t) {
                    thrown.add(t);
                }
                calls.addAndGet(Bridges.callAdd(0, 1));
            }, "diver", 600_000 + round * 1111);
            thread.start();
            thread.join();
        }
        assertEquals(20, thrown.size());
        for (Throwable each : thrown) {
            assertEquals(StackOverflowError.class, each.getClass());
        }
        assertTrue(calls.get() > 20 * 1000, calls + " calls");
    }

    /** Bridges that call C that calls bridges: not what they are for, and no reason to die. */
    @Test
    void nestingToTheEndOfTheStackEnds() throws Exception {
        for (int round = 0; round < 5; round++) {
            Thread thread = new Thread(null, () -> {
                assertThrows(StackOverflowError.class, () -> Bridges.callNest(0));
            }, "nest", 700_000 + round * 3333);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
            thread.start();
            thread.join();
            assertNull(failure.get());
        }
        assertTrue(Bridges.deepest > 100, Bridges.deepest + " deep");
        assertEquals(3, Bridges.callAdd(1, 2));
    }

    @Test
    void threadsOfCCallBridges() {
        assertEquals(10_000, Bridges.callOnThread(10_000));
        assertEquals(10_000, PlainBridges.callOnThread(10_000));
    }

    @Test
    void virtualThreadsCallBridges() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "virtual threads: Java 21");
        AtomicInteger right = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int value = i;
            Runnable work = () -> {
                for (int j = 0; j < 100; j++) {
                    right.addAndGet(Bridges.callAdd(value, j) == value + j ? 1 : 0);
                    Thread.yield();
                }
            };
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, work));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertEquals(100 * 100, right.get());
    }

    /** Has its own copies of the bridges' classes, whose library is a copy too. */
    private static final class Child extends ClassLoader {
        Child() {
            super(BridgeTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded == null && name.endsWith("Bridges")) {
                    loaded = define(name);
                }
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (var in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private WeakReference<ClassLoader> callInAChild() throws Exception {
        String build = System.getProperty("native.build");
        Files.createDirectories(folder.resolve("jvm-test"));
        Files.copy(Path.of(build, "jvm-test", "libbridge.so"),
                folder.resolve("jvm-test").resolve("libbridge.so"));
        ClassLoader child = new Child();
        Class<?> bridges;
        try {
            System.setProperty("native.build", folder.toString());
            bridges = Class.forName("io.kolibri.test.Bridges", true, child);
        } finally {
            System.setProperty("native.build", build);
        }
        assertEquals(child, bridges.getClassLoader());
        assertEquals(HAS_UPCALLS ? Mode.FFM : Mode.JNI, BridgeBinding.mode(bridges, "add"));
        var add = bridges.getDeclaredMethod("callAdd", int.class, int.class);
        add.setAccessible(true);
        assertEquals(5, add.invoke(null, 2, 3));
        return new WeakReference<>(child);
    }

    @Test
    void stubsKeepNoClassLoader() throws Exception {
        WeakReference<ClassLoader> loader = callInAChild();
        Await.until(() -> loader.get() == null);
        assertEquals(3, Bridges.callAdd(1, 2));
    }

    /** What a VM of its own says; the program of {@link #fork}. */
    public static void main(String[] arguments) {
        System.out.println(Bridges.callAdd(1, 2) + " " + Bridges.isUpcall() + " "
                + BridgeBinding.reason(Bridges.class, "add"));
    }

    private String fork(String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                place(BridgeTest.class) + ":" + place(NativeObject.class) + ":"
                        + place(Test.class),
                "-Dnative.build=" + System.getProperty("native.build"),
                BridgeTest.class.getName()));
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        boolean isDone = process.waitFor(5, TimeUnit.MINUTES);
        process.destroyForcibly();
        String text = Files.readString(output).strip();
        assertTrue(isDone && process.exitValue() == 0, text);
        return text.substring(text.lastIndexOf('\n') + 1);
    }

    private static Path place(Class<?> cls) throws Exception {
        return Path.of(cls.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    @Test
    void upcallsCanBeTurnedOff() throws Exception {
        assertEquals(HAS_UPCALLS ? "3 false kolibri.bridge=jni" : WITHOUT_UPCALLS,
                fork("-Dkolibri.bridge=jni", "--enable-native-access=ALL-UNNAMED"));
    }

    @Test
    void theModuleOfTheBridgeMustHaveNativeAccess() throws Exception {
        String said = fork();
        String refused = "3 false native access is not enabled for unnamed module";
        /* Where System.load itself asks for access, it has given it by then, with a warning. */
        assertTrue(said.equals(HAS_UPCALLS ? "3 true null" : WITHOUT_UPCALLS)
                || said.startsWith(refused), said);
        assertEquals(HAS_UPCALLS ? "3 true null" : WITHOUT_UPCALLS,
                fork("--enable-native-access=ALL-UNNAMED"));
    }
}
