/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kotlin sources compiled by real compilers with the plugin, run against the native library. What
 * was compiled is kept under target/lab, so that a second Java, which the oldest compilers do not
 * run on, runs the same classes.
 */
class WovenKotlinTest {
    static Stream<String> versions() {
        return Kotlinc.versions();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void callsCrossAndClosedObjectsThrow(String version, @TempDir Path folder) throws Exception {
        call(load(version, folder), "calls");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void guardedObjectsAreLeased(String version, @TempDir Path folder) throws Exception {
        call(load(version, folder), "guarded");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void leavesAreBoundAsTheVmAllows(String version, @TempDir Path folder) throws Exception {
        call(load(version, folder), "leaves", Runtime.version().feature() < 22 ? "JNI" : "FFM");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void everyConstructThatIsAllowedWorks(String version, @TempDir Path folder) throws Exception {
        call(load(version, folder), "constructs");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void aStackTraceNamesTheSourceLine(String version, @TempDir Path folder) throws Exception {
        call(load(version, folder), "stackTrace");
    }

    private static Class<?> load(String version, Path folder) throws Exception {
        Path classes = compiled(version);
        Path library = Path.of(System.getProperty("native.build"), "jvm-test", "libwoven.so");
        assertTrue(Files.exists(library), library + " is not built");
        Path copy = Files.copy(library, folder.resolve("libwoven-copy.so"));
        URL[] urls = {classes.toUri().toURL(), Kotlinc.of(version).stdlib().toUri().toURL()};
        Class<?> scenario = new URLClassLoader(urls, WovenKotlinTest.class.getClassLoader())
                .loadClass("test.Scenario");
        call(scenario, "load", copy.toString());
        return scenario;
    }

    private static synchronized Path compiled(String version) throws Exception {
        Path kept = Path.of("target", "lab", version).toAbsolutePath();
        if (Runtime.version().feature() == 17 && !COMPILED.contains(version)) {
            delete(kept);
            Kotlinc.Result result = Kotlinc.of(version).compile(sources(), kept);
            assertEquals(0, result.code(), result::output);
            COMPILED.add(version);
        }
        Assumptions.assumeTrue(Files.isDirectory(kept), "compilers run on Java 17 only");
        return kept;
    }

    private static final List<String> COMPILED = new java.util.ArrayList<>();

    private static List<Path> sources() throws Exception {
        Path run = Path.of(WovenKotlinTest.class.getResource("/kotlin/run").toURI());
        try (Stream<Path> files = Files.list(run)) {
            return files.sorted().toList();
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    private static void call(Class<?> cls, String method, Object... arguments) throws Exception {
        for (var each : cls.getDeclaredMethods()) {
            if (each.getName().equals(method)) {
                try {
                    each.invoke(null, arguments);
                    return;
                } catch (java.lang.reflect.InvocationTargetException thrown) {
                    throw new AssertionError(method, thrown.getCause());
                }
            }
        }
        throw new NoSuchMethodException(method);
    }
}
